#include "weyl/data/base/draft.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "weyl/config/description.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr size_t widest = 110;  // characters of a line
constexpr size_t column = 30;   // where comments begin, if the value ends before it

constexpr int64_t largest_volume = 64, usual_crop = 45;

void collect_help(const Description& d, std::map<std::string, std::string>& help) {
  for (const Description& child : d.children) {
    help.emplace(child.path, child.help);
    collect_help(child, help);
  }
}

/// A comment in lines of its own, each behind `mark`.
std::string wrapped(const std::string& comment, const std::string& mark) {
  std::string out, line = mark;
  size_t at = 0;
  while (at < comment.size()) {
    const size_t blank = std::min(comment.find(' ', at), comment.size());
    const std::string word = comment.substr(at, blank - at);
    if (line.size() + 1 + word.size() > widest && line.size() > mark.size()) {
      out += line + "\n";
      line = mark;
    }
    line += " " + word;
    at = blank + 1;
  }
  return out + line + "\n";
}

/// Where the comment of a line begins, outside of strings; the line's length: it has none. Brackets that the line leaves
/// open are counted in `depth`.
size_t comment_of(std::string_view line, int& depth) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quoted) {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '#') {
      return i;
    } else if (!quoted) {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    }
  }
  return line.size();
}

std::string trimmed(std::string_view s) {
  const size_t begin = s.find_first_not_of(" \t"), end = s.find_last_not_of(" \t");
  return begin == std::string_view::npos ? "" : std::string(s.substr(begin, end - begin + 1));
}

/// What stands behind the `=` of a line.
std::string value_of(std::string_view line) {
  return trimmed(line.substr(line.find('=') + 1));
}

/// The first word of a path, "data" of "data.nbody".
std::string_view beginning(std::string_view path) {
  return path.substr(0, path.find('.'));
}

}  // namespace

TomlText::TomlText(int64_t n) : text(weyl::text(n)) {}
TomlText::TomlText(double x) : text(toml_number(x)) {}
TomlText::TomlText(const std::string& s) : text(toml_string(s)) {}
TomlText::TomlText(const std::vector<std::string>& list)
    : text(toml_list(list, [](const std::string& s) { return toml_string(s); })) {}
TomlText::TomlText(const std::vector<int64_t>& list)
    : text(toml_list(list, [](int64_t n) { return weyl::text(n); })) {}
TomlText::TomlText(const std::vector<double>& list) : text(toml_list(list, toml_number)) {}

TomlText TomlText::raw(std::string text) {
  TomlText value(0);
  value.text = std::move(text);
  return value;
}

ConfigDraft::ConfigDraft(std::string_view recipe) {
  int depth = 0;
  size_t at = 0;
  while (at < recipe.size()) {
    const size_t end = std::min(recipe.find('\n', at), recipe.size());
    const std::string_view line = recipe.substr(at, end - at);
    at = end + 1;
    if (depth > 0) {  // goes on with a value of several lines
      comment_of(line, depth);
      tables_.back().lines.back().text.append("\n").append(line);
      continue;
    }
    int brackets = 0;
    const size_t comment = comment_of(line, brackets);
    const std::string code = trimmed(line.substr(0, comment));
    const std::string said = comment < line.size() ? trimmed(line.substr(comment + 1)) : "";
    if (code.starts_with('[')) {
      tables_.push_back({.path = code.substr(1, code.find(']') - 1)});
    } else if (!tables_.empty() && (!code.empty() || !said.empty())) {
      const size_t equals = code.find('=');
      tables_.back().lines.push_back({.key = trimmed(std::string_view(code).substr(0, equals)),
                                      .text = brackets > 0 ? std::string(line) : code,
                                      .comment = brackets > 0 ? "" : said});
      depth = brackets;
    }
  }
  for (const Table& table : tables_) {
    for (const Line& line : table.lines) {
      if (!line.key.empty()) {
        recipe_.emplace(table.path + "." + line.key, line);
      }
    }
  }
}

ConfigDraft::Table& ConfigDraft::open() {
  return *std::ranges::find(tables_, open_, &Table::path);
}

void ConfigDraft::remark(const std::string& comment) {
  if (open_.empty()) {
    head_.push_back(comment);
  } else {
    open().lines.push_back({.comment = comment, .changed = true});
  }
}

void ConfigDraft::table(const std::string& path) {
  open_ = path;
  const auto known = std::ranges::find(tables_, path, &Table::path);
  if (known != tables_.end()) {
    known->cleared = false;
    return;
  }
  auto place = tables_.end();
  for (auto it = tables_.begin(); it != tables_.end(); ++it) {
    if (beginning(it->path) == beginning(path)) {
      place = it + 1;
    }
  }
  if (path == "interface") {  // says what the data are
    place = std::find_if(tables_.begin(), tables_.end(),
                         [](const Table& t) { return beginning(t.path) != "data"; });
  }
  tables_.insert(place, {.path = path});
}

void ConfigDraft::set(const std::string& key, const TomlText& value, const std::string& reason) {
  std::vector<Line>& lines = open().lines;
  const auto known = std::ranges::find(lines, key, &Line::key);
  const auto of_recipe = recipe_.find(open_ + "." + key);
  const bool same = of_recipe != recipe_.end() && value_of(of_recipe->second.text) == value.text;
  const Line line =
      same ? of_recipe->second
           : Line{.key = key, .text = key + " = " + value.text, .comment = reason, .changed = true};
  if (known != lines.end()) {
    *known = line;
  } else {
    lines.push_back(line);
  }
}

void ConfigDraft::note(const std::string& key, const std::string& comment) {
  const auto line = std::ranges::find(open().lines, key, &Line::key);
  if (line != open().lines.end() && line->comment.empty()) {
    line->comment = comment;
  }
}

void ConfigDraft::uncomment(const std::string& key) {
  const auto line = std::ranges::find(open().lines, key, &Line::key);
  if (line == open().lines.end()) {
    return;
  }
  std::string kept;
  for (size_t at = 0; at < line->text.size();) {
    const size_t end = std::min(line->text.find('\n', at), line->text.size());
    const std::string_view one = std::string_view(line->text).substr(at, end - at);
    int depth = 0;
    const std::string_view code = one.substr(0, comment_of(one, depth));
    kept += (at == 0 ? "" : "\n") + std::string(code.substr(0, code.find_last_not_of(" \t") + 1));
    at = end + 1;
  }
  line->text = kept;
}

void ConfigDraft::drop(const std::string& key) {
  std::erase_if(open().lines, [&](const Line& line) { return line.key == key; });
}

void ConfigDraft::clear(const std::string& path) {
  for (Table& table : tables_) {
    if (table.path == path || table.path.starts_with(path + ".")) {
      table.lines.clear();
      table.cleared = true;
    }
  }
}

std::string ConfigDraft::value(const std::string& table, const std::string& key) const {
  const auto in = std::ranges::find(tables_, table, &Table::path);
  if (in == tables_.end()) {
    return {};
  }
  const auto line = std::ranges::find(in->lines, key, &Line::key);
  return line == in->lines.end() ? "" : value_of(line->text);
}

double ConfigDraft::number(const std::string& table, const std::string& key, double otherwise) const {
  const std::string text = value(table, key);
  return text.empty() ? otherwise : std::strtod(text.c_str(), nullptr);
}

std::string ConfigDraft::file(const Visit& visit) const {
  std::map<std::string, std::string> help;
  collect_help(describe(visit), help);
  std::string out;
  for (const std::string& line : head_) {
    out += wrapped(visible(line), "#");
  }
  for (const Table& table : tables_) {
    if (table.cleared) {
      continue;
    }
    out += "\n[" + table.path + "]\n";
    for (const Line& line : table.lines) {
      const auto known = help.find(table.path + "." + line.key);
      const std::string said = line.comment.empty() && known != help.end() ? known->second : line.comment;
      const std::string comment = visible(said), mark = line.changed ? "#>" : "#";
      const std::string padding(line.text.size() < column ? column - line.text.size() : 2, ' ');
      if (line.text.empty()) {
        out += wrapped(comment, mark);
      } else if (line.text.find('\n') == std::string::npos &&
                 line.text.size() + padding.size() + mark.size() + 1 + comment.size() <= widest) {
        out += line.text + (comment.empty() && !line.changed ? "" : padding + mark) +
               (comment.empty() ? "" : " " + comment) + "\n";
      } else {
        out += wrapped(comment, mark) + line.text + "\n";
      }
    }
  }
  return out;
}

void write_set(ConfigDraft& draft, const std::string& set, const std::string& path, const std::string& why) {
  draft.table("data");
  draft.set("set", set, why);
  draft.table("data." + set);
  draft.set("path", path, "the data given");
}

void count_samples(FoundData& found, const Splits& splits, const std::string& path) {
  require<DataError>(splits.train != nullptr && splits.train->size() > 0, path,
                     ": must have samples for training, got none");
  const Dataset& train = *splits.train;
  found.samples = train.size();
  found.dimension = train.schema().interface.dimension;
  double sum = 0;
  for (int64_t i = 0; i < train.size(); ++i) {
    sum += static_cast<double>(train.tokens(i));
    found.most_tokens = std::max(found.most_tokens, train.tokens(i));
  }
  found.mean_tokens = sum / static_cast<double>(train.size());
}

Classes classes_of(const Splits& splits, const std::string& label) {
  const Schema& schema = splits.train->schema();
  Classes classes;
  if (const Quantity* found = find_quantity(schema.labels, label)) {
    classes.count = found->categories;
  }
  if (const auto names = schema.category_names.find(label); names != schema.category_names.end()) {
    classes.names = names->second;
  }
  return classes;
}

void write_classes(ConfigDraft& draft, const std::string& task, const Classes& classes) {
  draft.table("task." + task);
  if (task == "segmentation") {
    draft.set("cross_entropy", 1.0);
    draft.set("dice", 1.0);
  }
  if (std::ssize(classes.names) == classes.count && classes.count > 0) {
    draft.set("names", classes.names, "those of the files");
  } else if (task == "classification") {
    draft.remark(
        text("The files do not name the ", classes.count, " classes; names = [...] does, for reports."));
  }
}

double two_digits(double x) {
  if (x <= 0) {
    return 0;
  }
  const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
  return unit < 1 ? std::round(x / unit) / std::round(1 / unit) : std::round(x / unit) * unit;
}

bool reads_grids(std::string_view system) {
  return system == "steerable" || system == "cnn" || system == "unet";
}

std::vector<int64_t> crop_of(const std::vector<int64_t>& least, const std::vector<int64_t>& most) {
  std::vector<int64_t> crop;
  if (most.size() != 3 || *std::ranges::max_element(most) <= largest_volume) {
    return crop;
  }
  for (const int64_t n : least) {
    crop.push_back(std::min(n, usual_crop));
  }
  return crop;
}

}  // namespace weyl

#include "weyl/app/config_draft.h"

#include <algorithm>
#include <map>

#include "weyl/config/description.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr size_t widest = 110;  // characters of a line
constexpr size_t column = 30;   // where comments begin, if the value ends before it

void collect_help(const Description& d, std::map<std::string, std::string>& help) {
  for (const Description& child : d.children) {
    help.emplace(child.path, child.help);
    collect_help(child, help);
  }
}

/// A comment in lines of its own.
std::string wrapped(const std::string& comment) {
  std::string out, line = "#";
  size_t at = 0;
  while (at < comment.size()) {
    const size_t blank = std::min(comment.find(' ', at), comment.size());
    const std::string word = comment.substr(at, blank - at);
    if (line.size() + 1 + word.size() > widest && line.size() > 1) {
      out += line + "\n";
      line = "#";
    }
    line += " " + word;
    at = blank + 1;
  }
  return out + line + "\n";
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

void ConfigDraft::remark(const std::string& comment) {
  lines_.push_back({Line::Kind::remark, "", "", comment});
}

void ConfigDraft::table(const std::string& path) {
  table_ = path;
  lines_.push_back({Line::Kind::table, path, "[" + path + "]", ""});
}

void ConfigDraft::set(const std::string& key, const TomlText& value, const std::string& reason) {
  lines_.push_back({Line::Kind::key, table_ + "." + key, key + " = " + value.text, reason});
}

std::string ConfigDraft::file(const Visit& visit) const {
  std::map<std::string, std::string> help;
  collect_help(describe(visit), help);
  std::string out;
  for (const Line& line : lines_) {
    if (line.kind == Line::Kind::table) {
      out += (out.empty() ? "" : "\n") + line.text + "\n";
      continue;
    }
    const auto known = help.find(line.path);
    const std::string said = line.comment.empty() && known != help.end() ? known->second : line.comment;
    const std::string comment = visible(said);
    if (line.kind == Line::Kind::remark) {
      out += wrapped(comment);
      continue;
    }
    const std::string padding(line.text.size() < column ? column - line.text.size() : 2, ' ');
    if (comment.empty()) {
      out += line.text + "\n";
    } else if (line.text.size() + padding.size() + 2 + comment.size() <= widest) {
      out += line.text + padding + "# " + comment + "\n";
    } else {
      out += wrapped(comment) + line.text + "\n";
    }
  }
  return out;
}

}  // namespace weyl

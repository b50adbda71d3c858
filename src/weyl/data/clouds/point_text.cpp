#include "weyl/data/clouds/point_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr size_t kMostColumns = 4096;
constexpr size_t kLongestName = 256;
constexpr double kNanoseconds =
    1e15;  // of the epoch: what EuRoC's rows of 8 to 17 columns begin with, and no place

bool is_cell_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed_cell(std::string_view s) {
  while (!s.empty() && is_cell_blank(s.front())) {
    s.remove_prefix(1);
  }
  while (!s.empty() && is_cell_blank(s.back())) {
    s.remove_suffix(1);
  }
  return s;
}

/// The comment of a line, without its sign; nothing where it is none.
std::optional<std::string_view> comment_of(std::string_view line) {
  if (line.starts_with('#')) {
    return trimmed_cell(line.substr(1));
  }
  if (line.starts_with("//")) {
    return trimmed_cell(line.substr(2));
  }
  return std::nullopt;
}

/// At most one more than the most columns.
std::vector<std::string_view> cells_of(std::string_view line) {
  const bool commas = line.find(',') != std::string_view::npos;
  std::vector<std::string_view> cells;
  while (cells.size() <= kMostColumns) {
    if (!commas) {
      line = trimmed_cell(line);
      if (line.empty()) {
        break;
      }
    }
    const size_t end = commas ? std::min(line.find(','), line.size())
                              : static_cast<size_t>(std::ranges::find_if(line, is_cell_blank) - line.begin());
    cells.push_back(trimmed_cell(line.substr(0, end)));
    if (end == line.size()) {
      break;
    }
    line.remove_prefix(end + 1);
  }
  return cells;
}

std::string name_of_cell(std::string_view cell) {
  if (cell.size() >= 2 && (cell.front() == '"' || cell.front() == '\'') && cell.back() == cell.front()) {
    cell = cell.substr(1, cell.size() - 2);
  }
  return in_small_letters(cell.substr(0, kLongestName));
}

std::vector<std::string> names_of_cells(std::span<const std::string_view> cells) {
  std::vector<std::string> names;
  for (const std::string_view cell : cells) {
    names.push_back(name_of_cell(cell));
  }
  return names;
}

bool names_places(std::span<const std::string> names) {
  return std::ranges::all_of(std::array{"x", "y", "z"},
                             [&](const char* axis) { return std::ranges::count(names, axis) == 1; });
}

bool is_symbol(std::string_view cell) {
  return !cell.empty() && cell.size() <= 3 &&
         std::ranges::all_of(cell, [](unsigned char c) { return std::isalpha(c) != 0; });
}

class TextReader {
 public:
  TextReader(std::string_view file, std::string_view where, std::span<const std::string> columns)
      : where_(where), given_(columns) {
    if (file.starts_with("\xEF\xBB\xBF")) {
      file.remove_prefix(3);
    }
    while (!file.empty()) {
      const size_t end = std::min(file.find('\n'), file.size());
      const std::string_view line = trimmed_cell(file.substr(0, end));
      ++number_;
      check(
          line.find('\r') == std::string_view::npos,
          "must end as lines of Unix or Windows do: a carriage return within a line is the end of one of old "
          "Macintoshs, convert the file");
      const auto comment = comment_of(line);
      if (comment && width_ == 0) {
        comment_ = *comment;
      }
      // The first line may be one of names.
      if (!line.empty() && !comment && (width_ != 0 || begin(line, file))) {
        read_row(line);
      }
      file.remove_prefix(std::min(end + 1, file.size()));
    }
    require<DataError>(found_.rows > 0, where_, ": must hold at least one point, holds none");
    require<DataError>(!count_ || *count_ == found_.rows, where_, ": line ", count_at_,
                       ": says that there are ", count_.value_or(0), " points, the file has ", found_.rows);
    found_.values.shrink_to_fit();
  }
  PointTable done() { return std::move(found_); }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": line ", number_, ": ", parts...);
    }
  }

  /// Learns the columns from the first line that is no comment; false: it names them, or says how many points there
  /// are. `rest` begins with it.
  bool begin(std::string_view line, std::string_view rest) {
    const auto cells = cells_of(line);
    check(cells.size() <= kMostColumns, "must have at most ", kMostColumns, " columns");
    if (header_.empty() && std::ranges::none_of(cells, [](auto c) { return parse_real(c).has_value(); })) {
      header_ = names_of_cells(cells);
      check(names_places(header_), "must be numbers, or names with x, y and z once each, got ",
            quote(line, 60));
      return false;
    }
    if (const auto count = cells.size() == 1 ? parse_integer(cells[0]) : std::nullopt; count && !count_) {
      refuse_molecule(rest);
      count_ = count;
      count_at_ = number_;
      return false;
    }
    check(cells.size() >= 3, "must have the coordinates x y z, got ", cells.size(),
          cells.size() == 1 ? " column" : " columns");
    commas_ = line.find(',') != std::string_view::npos;
    width_ = cells.size();
    learn_names();
    found_.bytes.assign(width_, false);
    const auto lines = static_cast<uint64_t>(std::ranges::count(rest, '\n')) + 1;
    const uint64_t rows = std::min<uint64_t>(lines, rest.size() / (2 * width_) + 1);  // of "0 0 0\n"
    require_memory(rows * width_ * sizeof(double), where_);
    found_.values.reserve(rows * width_);
    return true;
  }

  /// A line with one whole number is a count, of points or of atoms: frames of these have a comment between it and the
  /// rows, which may be empty.
  void refuse_molecule(std::string_view rest) const {
    std::array<std::string_view, 3> lines;
    for (auto& line : lines) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      line = trimmed_cell(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const auto third = cells_of(lines[2]);
    check(third.empty() || (!lines[1].empty() && !is_symbol(third[0])),
          "is the number of atoms of a molecule (a comment and lines of symbols follow): data.set = "
          "\"molecules\" "
          "reads these");
  }

  void learn_names() {
    if (!header_.empty()) {
      check(header_.size() == width_, "must have ", header_.size(), " columns as there are names, got ",
            width_);
      found_.names = header_;
    } else if (const auto words = names_of_cells(cells_of(comment_));
               words.size() == width_ && names_places(words)) {
      found_.names = words;
    }
    if (!given_.empty()) {
      check(given_.size() == width_, "must have the ", given_.size(), " columns that are given, got ",
            width_);
      for (size_t k = 0; k < found_.names.size(); ++k) {
        check(found_.names[k] == given_[k], "column ", k + 1, " is given as ", quote(given_[k], 40),
              ", the file names it ", quote(found_.names[k], 40));
      }
      found_.names.assign(given_.begin(), given_.end());
    }
    if (found_.names.empty()) {
      found_.names = {"x", "y", "z"};
      for (size_t k = 3; k < width_; ++k) {
        found_.names.push_back("column " + std::to_string(k + 1));
      }
    }
    require<DataError>(names_places(found_.names), where_, ": the columns must have x, y and z once each");
    for (int d = 0; d < 3; ++d) {
      axes_[d] = static_cast<size_t>(found_.find(std::array{"x", "y", "z"}[d]));
    }
  }

  void read_row(std::string_view line) {
    const char *at = line.data(), *end = at + line.size();
    const auto skip = [&] {
      while (at != end && is_cell_blank(*at)) {
        ++at;
      }
    };
    for (size_t k = 0; k < width_; ++k) {
      skip();
      const char* begin = at;
      double x = 0;
      auto [stop, error] = std::from_chars(at, end, x);
      if (at == end || error != std::errc() || (stop != end && !is_cell_blank(*stop) && *stop != ','))
          [[unlikely]] {
        stop = std::find_if(begin, end, [&](char c) { return commas_ ? c == ',' : is_cell_blank(c); });
        const std::string_view word = trimmed_cell({begin, static_cast<size_t>(stop - begin)});
        check(!word.empty() || commas_, "must have ", width_, " columns as the first point, got ", k);
        const auto again = parse_real(word);  // with a plus, or too small
        check(again.has_value(), "column ", k + 1, " must be a number, got ", quote(word, 40));
        x = *again;
      }
      at = stop;
      found_.values.push_back(x);
      skip();
      if (k + 1 == width_) {
        break;
      }
      if (commas_) {
        check(at != end, "must have ", width_, " columns as the first point, got ", k + 1);
        if (*at != ',') [[unlikely]] {  // no text is made where nothing is wrong
          check(false, "column ", k + 1, " must be one number, got ",
                quote({begin, static_cast<size_t>(end - begin)}, 40));
        }
        ++at;
      } else {
        check(at == end || *at != ',',
              "columns must be split by blanks as those of the first point, got ',' after column ", k + 1);
      }
    }
    if (at != end) [[unlikely]] {
      check(false, "must have ", width_,
            " columns as the first point, got more: ", quote({at, static_cast<size_t>(end - at)}, 40));
    }
    const double* row = found_.values.data() + found_.values.size() - width_;
    for (int d = 0; d < 3; ++d) {
      check(std::isfinite(row[axes_[d]]), "coordinates must be finite, ", found_.names[axes_[d]], " is ",
            row[axes_[d]]);
    }
    ++found_.rows;
  }

  std::string_view where_, comment_;
  std::span<const std::string> given_;
  PointTable found_;
  std::vector<std::string> header_;
  std::array<size_t, 3> axes_{};
  size_t width_ = 0;
  bool commas_ = false;
  int64_t number_ = 0, count_at_ = 0;
  std::optional<int64_t> count_;  // of points, where the file says it
};

}  // namespace

PointTable parse_point_text(std::string_view file, std::string_view where,
                            std::span<const std::string> columns) {
  return TextReader(file, where, columns).done();
}

PointTable read_point_text(const std::string& path, std::span<const std::string> columns) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_point_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, columns);
}

namespace {

/// How a file begins, by its lines that hold something, and by the comment above them.
struct TextBeginning {
  bool named = false, counted = false;  // by a line of names or a comment, by one whole number
  std::array<std::vector<std::optional<double>>, 2> rows;  // the first lines below these; a word is no number

  bool is_row(size_t k) const {
    return !rows[k].empty() && std::ranges::all_of(rows[k], [](const auto& x) { return x.has_value(); });
  }
};

TextBeginning beginning_of(const std::string& path) {
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
    return {};  // of a pipe nobody may write
  }
  std::ifstream file(path, std::ios::binary);
  std::string begin(8192, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  std::string_view rest = begin;
  TextBeginning found;
  std::string_view comment;  // the last one above the first row, which may name the columns
  for (size_t k = 0; !rest.empty() && k < found.rows.size();) {
    const size_t end = rest.find('\n');
    const std::string_view line = trimmed_cell(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (const auto said = comment_of(line); line.empty() || said) {
      comment = said && k == 0 ? *said : comment;
      continue;
    }
    const auto cells = cells_of(line);
    if (k == 0 && !found.named && names_places(names_of_cells(cells))) {
      found.named = true;
    } else if (k == 0 && !found.counted && cells.size() == 1 && parse_integer(cells[0])) {
      found.counted = true;
    } else {
      std::ranges::transform(cells, std::back_inserter(found.rows[k++]),
                             [](std::string_view cell) { return parse_real(cell); });
    }
  }
  const auto words = names_of_cells(cells_of(comment));
  found.named = found.named || (words.size() == found.rows[0].size() && names_places(words) &&
                                std::ranges::count(words, "qw") == 0);  // of a point no quaternion is known
  return found;
}

}  // namespace

std::optional<bool> looks_like_points(const std::string& path) {
  const TextBeginning found = beginning_of(path);
  if (!found.is_row(0)) {
    return found.counted ? std::optional(false) : std::nullopt;
  }
  const size_t columns = found.rows[0].size();
  if (found.counted && !found.rows[1].empty()) {  // or the first row is the comment of a molecule
    return columns >= 3 && found.is_row(1) && found.rows[1].size() == columns;
  }
  if (columns >= 8 && *found.rows[0][0] >= kNanoseconds) {
    return false;
  }
  return columns >= 3 && (found.named || found.counted || (columns != 8 && columns != 12));
}

bool counts_points(const std::string& path) {
  return beginning_of(path).counted && looks_like_points(path).value_or(false);
}

}  // namespace weyl

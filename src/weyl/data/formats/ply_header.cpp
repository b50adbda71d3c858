#include "weyl/data/formats/ply_header.h"

#include <algorithm>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl::ply {
namespace {

constexpr size_t kLongestLine = 4096;
constexpr size_t kMostLines = 4096;
constexpr std::array<size_t, 8> kSizes{1, 1, 2, 2, 4, 4, 4, 8};

bool is_whole(Number type) {
  return type != Number::f32 && type != Number::f64;
}

std::optional<Number> number_named(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Number>, 16> names{{{"char", Number::i8},
                                                                       {"int8", Number::i8},
                                                                       {"uchar", Number::u8},
                                                                       {"uint8", Number::u8},
                                                                       {"short", Number::i16},
                                                                       {"int16", Number::i16},
                                                                       {"ushort", Number::u16},
                                                                       {"uint16", Number::u16},
                                                                       {"int", Number::i32},
                                                                       {"int32", Number::i32},
                                                                       {"uint", Number::u32},
                                                                       {"uint32", Number::u32},
                                                                       {"float", Number::f32},
                                                                       {"float32", Number::f32},
                                                                       {"double", Number::f64},
                                                                       {"float64", Number::f64}}};
  const auto* found = std::ranges::find(names, word, [](const auto& n) { return n.first; });
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    while (!line.empty() && blank(line.front())) {
      line.remove_prefix(1);
    }
    if (line.empty()) {
      return words;
    }
    const auto end = static_cast<size_t>(std::ranges::find_if(line, blank) - line.begin());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

class HeaderReader {
 public:
  HeaderReader(std::string_view file, std::string_view where) : rest_(file), where_(where) {
    read_header();
    found_.bytes = file.size() - rest_.size();
  }
  Header done() { return std::move(found_); }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": line ", found_.lines, ": ", parts...);
    }
  }

  std::vector<std::string_view> header_line() {
    const size_t end = rest_.substr(0, kLongestLine + 1).find('\n');
    require<DataError>(end != std::string_view::npos, where_, ": line ", found_.lines + 1,
                       ": the header must end with a line end_header, the file or the longest line of ",
                       kLongestLine, " characters ends before");
    const auto words = words_of(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    ++found_.lines;
    check(static_cast<size_t>(found_.lines) <= kMostLines, "the header must have at most ", kMostLines,
          " lines");
    return words;
  }

  void read_header() {
    require<DataError>(rest_.starts_with("ply\n") || rest_.starts_with("ply\r\n"), where_,
                       ": must begin with a line `ply`, got ", quote(rest_.substr(0, 8), 20));
    header_line();
    bool formatted = false;
    for (auto words = header_line(); words.empty() || words[0] != "end_header"; words = header_line()) {
      if (words.empty() || words[0] == "comment" || words[0] == "obj_info") {
        continue;
      }
      if (words[0] == "format") {
        check(words.size() == 3 && words[2] == "1.0" && !formatted,
              "the format must be said once, with version 1.0");
        const std::array<std::string_view, 3> names{"ascii", "binary_little_endian", "binary_big_endian"};
        const auto* at = std::ranges::find(names, words[1]);
        check(at != names.end(), "the format must be ascii, binary_little_endian or binary_big_endian, got ",
              quote(words[1], 40));
        found_.encoding = static_cast<Encoding>(at - names.begin());
        formatted = true;
      } else if (words[0] == "element") {
        add_element(words);
      } else if (words[0] == "property") {
        add_property(words);
      } else {
        check(false, "must be format, element, property, comment or end_header, got ", quote(words[0], 40));
      }
    }
    require<DataError>(formatted, where_, ": the header must say the format");
    const auto vertex = std::ranges::find(found_.elements, "vertex", &Element::name);
    require<DataError>(vertex != found_.elements.end(), where_, ": has no element vertex");
    require<DataError>(vertex->rows > 0, where_, ": must have at least one vertex, has none");
    for (const char* axis : {"x", "y", "z"}) {
      const auto at = std::ranges::find(vertex->properties, axis, &Property::name);
      require<DataError>(at != vertex->properties.end() && !at->count, where_,
                         ": vertices must have the properties x, y and z, there is no number ", axis);
    }
  }

  void add_element(const std::vector<std::string_view>& words) {
    const int64_t rows = words.size() == 3 ? parse_integer(words[2]).value_or(-1) : -1;
    check(rows >= 0, "must be `element NAME NUMBER`");
    check(std::ranges::find(found_.elements, words[1], &Element::name) == found_.elements.end(), "element ",
          quote(words[1], 40), " is there twice");
    found_.elements.push_back({std::string(words[1]), static_cast<uint64_t>(rows), {}});
  }

  void add_property(const std::vector<std::string_view>& words) {
    check(!found_.elements.empty(), "a property must come after its element");
    Element& element = found_.elements.back();
    const bool list = words.size() == 5 && words[1] == "list";
    check(list || words.size() == 3, "must be `property TYPE NAME` or `property list TYPE TYPE NAME`");
    const auto type = number_named(words[list ? 3 : 1]);
    check(type.has_value(), "the type must be char, uchar, short, ushort, int, uint, float or double, got ",
          quote(words[list ? 3 : 1], 40));
    Property property{std::string(words.back()), *type, std::nullopt};
    if (list) {
      property.count = number_named(words[2]);
      check(property.count && is_whole(*property.count), "the length of a list must be a whole number, got ",
            quote(words[2], 40));
    }
    check(std::ranges::find(element.properties, property.name, &Property::name) == element.properties.end(),
          "property ", quote(property.name, 40), " is there twice");
    element.properties.push_back(std::move(property));
  }

  std::string_view rest_, where_;
  Header found_;
};

}  // namespace

size_t size_of(Number type) {
  return kSizes[static_cast<size_t>(type)];
}

bool Element::has_lists() const {
  return std::ranges::any_of(properties, [](const Property& p) { return p.count.has_value(); });
}

uint64_t Element::row_bytes() const {
  uint64_t bytes = 0;
  for (const Property& p : properties) {
    bytes += size_of(p.count.value_or(p.type));
  }
  return bytes;
}

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

Header parse_header(std::string_view file, std::string_view where) {
  return HeaderReader(file, where).done();
}

}  // namespace weyl::ply

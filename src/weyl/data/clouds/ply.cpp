#include "weyl/data/clouds/ply.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
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

namespace weyl {
namespace {

using ply::blank, ply::Element, ply::Encoding, ply::Number, ply::Property, ply::size_of;

/// The value of a type at `at`, as a double.
template <class T>
double value_at(const char* at, bool swap) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), at, sizeof(T));
  if (swap) {
    std::ranges::reverse(bytes);
  }
  return static_cast<double>(std::bit_cast<T>(bytes));
}

/// Calls f with a zero of the type.
template <class F>
auto with_number(Number type, F f) {
  switch (type) {
    case Number::i8:
      return f(int8_t{});
    case Number::u8:
      return f(uint8_t{});
    case Number::i16:
      return f(int16_t{});
    case Number::u16:
      return f(uint16_t{});
    case Number::i32:
      return f(int32_t{});
    case Number::u32:
      return f(uint32_t{});
    case Number::f32:
      return f(float{});
    case Number::f64:
      break;
  }
  return f(double{});
}

class PlyReader {
 public:
  /// `with_faces`: faces are read, and not passed over.
  PlyReader(std::string_view file, std::string_view where, bool with_faces = false)
      : where_(where), header_(ply::parse_header(file, where)) {
    rest_ = file.substr(header_.bytes);
    line_ = header_.lines;
    swap_ = (std::endian::native == std::endian::big) != (header_.encoding == Encoding::big);
    for (const Element& element : header_.elements) {
      if (element.name == "vertex") {
        header_.encoding == Encoding::ascii ? read_lines(element) : read_binary(element);
      } else if (with_faces && element.name == "face") {
        header_.encoding == Encoding::ascii ? read_face_lines(element) : read_binary_faces(element);
      } else {
        header_.encoding == Encoding::ascii ? pass_lines(element) : pass_binary(element);
      }
    }
    const size_t more = rest_.size();
    require<DataError>(std::ranges::all_of(rest_, [](char c) { return blank(c) || c == '\n'; }), where_,
                       ": has ", more, " bytes after its last element",
                       header_.encoding == Encoding::ascii ? "" : " (were its line ends changed?)");
  }
  PointTable done() { return std::move(found_); }

  /// Vertices and faces.
  Mesh mesh() {
    Mesh result{{}, std::move(triangles_)};
    for (int64_t row = 0; row < found_.rows; ++row) {
      for (const int64_t axis : axes_) {
        result.vertices.push_back(found_.values[row * found_.columns() + axis]);
      }
    }
    for (size_t i = 0; i < result.triangles.size(); ++i) {  // the faces may stand before the vertices
      require<DataError>(result.triangles[i] >= 0 && result.triangles[i] < found_.rows, where_,
                         ": corners must be vertices 0 .. ", found_.rows - 1, ", triangle ", i / 3, " has ",
                         result.triangles[i]);
    }
    return result;
  }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": line ", line_, ": ", parts...);
    }
  }

  /// The next line, without its end; nothing at the end of the file.
  std::optional<std::string_view> next_line() {
    if (rest_.empty()) {
      return std::nullopt;
    }
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    return line;
  }

  void require_room(const Element& element, uint64_t row_bytes) const {
    const bool fits = element.rows == 0 || row_bytes == 0 || element.rows <= (rest_.size() + 1) / row_bytes;
    require<DataError>(fits, where_, ": ends before its ", element.rows, " rows of ", quote(element.name, 40),
                       ", ", rest_.size(), " bytes are left for them");
  }

  /// The columns of the vertices, with room for all of them.
  void begin_table(const Element& vertex) {
    for (const Property& p : vertex.properties) {
      if (!p.count) {
        found_.names.push_back(p.name);
        found_.bytes.push_back(p.type == Number::u8);
      }
    }
    require_memory(vertex.rows * found_.names.size() * sizeof(double), where_);
    found_.rows = static_cast<int64_t>(vertex.rows);
    found_.values.resize(vertex.rows * found_.names.size());
    for (int d = 0; d < 3; ++d) {
      axes_[d] = found_.find(std::array{"x", "y", "z"}[d]);
    }
  }

  void check_finite(const double* row, uint64_t index, bool lines) const {
    for (int d = 0; d < 3; ++d) {
      if (!std::isfinite(row[axes_[d]])) [[unlikely]] {
        require<DataError>(false, where_, lines ? ": line " : ": vertex ",
                           lines ? static_cast<uint64_t>(line_) : index, ": coordinates must be finite, ",
                           std::array{"x", "y", "z"}[d], " is ", row[axes_[d]]);
      }
    }
  }

  // --- text ---

  std::string_view row_line(const Element& element, uint64_t row) {
    for (auto line = next_line(); line; line = next_line()) {
      if (!std::ranges::all_of(*line, blank)) {
        return *line;
      }
    }
    throw DataError(
        text(where_, ": ends after ", row, " of ", element.rows, " rows of ", quote(element.name, 40)));
  }

  /// The next number of a line.
  double number(const char*& at, const char* end, const Property& p) const {
    while (at != end && blank(*at)) {
      ++at;
    }
    if (at == end) [[unlikely]] {  // here and below: no text is made where nothing is wrong
      check(false, "must have a number for each property, there is none for ", quote(p.name, 40));
    }
    const char* begin = at;
    double x = 0;
    auto [stop, error] = std::from_chars(at, end, x);
    if (error != std::errc() || (stop != end && !blank(*stop))) [[unlikely]] {
      stop = std::find_if(begin, end, blank);
      const std::string_view word(begin, static_cast<size_t>(stop - begin));
      const auto again = parse_real(word);  // with a plus, or too small
      check(again.has_value(), quote(p.name, 40), " must be a number, got ", quote(word, 40));
      x = *again;
    }
    at = stop;
    return x;
  }

  void read_lines(const Element& vertex) {
    require_room(vertex, 2 * vertex.properties.size());
    begin_table(vertex);
    double* to = found_.values.data();
    for (uint64_t row = 0; row < vertex.rows; ++row) {
      const std::string_view line = row_line(vertex, row);
      const char *at = line.data(), *end = at + line.size();
      const double* begin = to;
      for (const Property& p : vertex.properties) {
        if (p.count) {
          const double count = number(at, end, p);
          check(count >= 0 && count == std::floor(count) && count <= static_cast<double>(line.size()),
                "the length of the list ", quote(p.name, 40),
                " must be a whole number that the line holds, got ", count);
          for (auto k = static_cast<int64_t>(count); k > 0; --k) {
            number(at, end, p);
          }
          continue;
        }
        *to = number(at, end, p);
        if (p.type == Number::u8 && !(*to >= 0 && *to <= 255 && *to == std::floor(*to))) [[unlikely]] {
          check(false, quote(p.name, 40), " must be a whole number 0 .. 255, got ", *to);
        }
        ++to;
      }
      if (!std::all_of(at, end, blank)) [[unlikely]] {
        check(false, "must have ", vertex.properties.size(),
              " properties, has more: ", quote({at, static_cast<size_t>(end - at)}, 40));
      }
      check_finite(begin, row, true);
    }
  }

  void pass_lines(const Element& element) {
    if (element.properties.empty()) {
      return;
    }
    require_room(element, 2);
    for (uint64_t row = 0; row < element.rows; ++row) {
      row_line(element, row);
    }
  }

  // --- binary ---

  void require_left(uint64_t bytes, const Element& element, uint64_t row) const {
    if (bytes > rest_.size()) [[unlikely]] {
      require<DataError>(false, where_, ": ends within row ", row, " of ", element.rows, " of ",
                         quote(element.name, 40));
    }
  }

  /// Passes over a property of a row; where it stood.
  const char* pass(const Property& p, const Element& element, uint64_t row) {
    const size_t first = size_of(p.count.value_or(p.type));
    require_left(first, element, row);
    const char* at = rest_.data();
    rest_.remove_prefix(first);
    if (p.count) {
      const double count =
          with_number(*p.count, [&](auto zero) { return value_at<decltype(zero)>(at, swap_); });
      require<DataError>(count >= 0, where_, ": row ", row, " of ", quote(element.name, 40),
                         ": the length of the list ", quote(p.name, 40), " is ", count);
      const uint64_t bytes = static_cast<uint64_t>(count) * size_of(p.type);
      require_left(bytes, element, row);
      rest_.remove_prefix(bytes);
    }
    return at;
  }

  void read_binary(const Element& vertex) {
    require_room(vertex, vertex.row_bytes());
    if (!vertex.has_lists()) {  // columns of one stride
      require_left(vertex.rows * vertex.row_bytes(), vertex, rest_.size() / vertex.row_bytes());
    }
    begin_table(vertex);
    const auto columns = static_cast<size_t>(found_.columns());
    if (vertex.has_lists()) {
      double* to = found_.values.data();
      for (uint64_t row = 0; row < vertex.rows; ++row) {
        for (const Property& p : vertex.properties) {
          const char* at = pass(p, vertex, row);
          if (!p.count) {
            *to++ = with_number(p.type, [&](auto zero) { return value_at<decltype(zero)>(at, swap_); });
          }
        }
      }
    } else {
      const size_t stride = vertex.row_bytes();
      size_t offset = 0;
      for (size_t k = 0; k < columns; ++k) {
        with_number(vertex.properties[k].type, [&](auto zero) {
          const char* at = rest_.data() + offset;
          double* to = found_.values.data() + k;
          for (uint64_t row = 0; row < vertex.rows; ++row, at += stride, to += columns) {
            *to = value_at<decltype(zero)>(at, swap_);
          }
        });
        offset += size_of(vertex.properties[k].type);
      }
      rest_.remove_prefix(vertex.rows * stride);
    }
    for (uint64_t row = 0; row < vertex.rows; ++row) {
      check_finite(found_.values.data() + row * columns, row, false);
    }
  }

  void pass_binary(const Element& element) {
    require_room(element, element.row_bytes());
    if (!element.has_lists()) {
      const uint64_t bytes = element.rows * element.row_bytes();
      require_left(bytes, element, element.row_bytes() == 0 ? 0 : rest_.size() / element.row_bytes());
      rest_.remove_prefix(bytes);
      return;
    }
    for (uint64_t row = 0; row < element.rows; ++row) {
      for (const Property& p : element.properties) {
        pass(p, element, row);
      }
    }
  }

  // --- faces ---

  static bool holds_corners(const Property& p) {
    return p.count && (p.name == "vertex_indices" || p.name == "vertex_index");
  }

  void add_face(std::span<const double> corners, uint64_t row) {
    require<DataError>(corners.size() >= 3, where_, ": face ", row, " must have at least 3 corners, has ",
                       corners.size());
    for (const double corner : corners) {
      require<DataError>(corner == std::floor(corner) && std::abs(corner) < 1e15, where_, ": face ", row,
                         ": corners must be whole numbers, got ", corner);
    }
    for (size_t k = 2; k < corners.size(); ++k) {
      for (const size_t at : {size_t{0}, k - 1, k}) {
        triangles_.push_back(static_cast<int64_t>(corners[at]));
      }
    }
  }

  void read_face_lines(const Element& element) {
    require_room(element, 2);
    std::vector<double> corners;
    for (uint64_t row = 0; row < element.rows; ++row) {
      const std::string_view line = row_line(element, row);
      const char *at = line.data(), *end = at + line.size();
      for (const Property& p : element.properties) {
        const double count = p.count ? number(at, end, p) : 1;
        check(count >= 0 && count == std::floor(count) && count <= static_cast<double>(line.size()),
              "the length of the list ", quote(p.name, 40),
              " must be a whole number that the line holds, got ", count);
        corners.clear();
        for (auto k = static_cast<int64_t>(count); k > 0; --k) {
          corners.push_back(number(at, end, p));
        }
        if (holds_corners(p)) {
          add_face(corners, row);
        }
      }
    }
  }

  void read_binary_faces(const Element& element) {
    require_room(element, element.row_bytes());
    std::vector<double> corners;
    for (uint64_t row = 0; row < element.rows; ++row) {
      for (const Property& p : element.properties) {
        const char* at = pass(p, element, row);
        if (!holds_corners(p)) {
          continue;
        }
        corners.clear();
        for (at += size_of(*p.count); at != rest_.data(); at += size_of(p.type)) {
          corners.push_back(
              with_number(p.type, [&](auto zero) { return value_at<decltype(zero)>(at, swap_); }));
        }
        add_face(corners, row);
      }
    }
  }

  std::string_view rest_, where_;
  ply::Header header_;
  bool swap_ = false;
  PointTable found_;
  std::array<int64_t, 3> axes_{};
  int64_t line_ = 0;
  std::vector<int64_t> triangles_;
};

}  // namespace

PointTable parse_ply(std::string_view file, std::string_view where) {
  return PlyReader(file, where).done();
}

PointTable read_ply(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_ply({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

Mesh parse_ply_mesh(std::string_view file, std::string_view where) {
  return PlyReader(file, where, true).mesh();
}

Mesh read_ply_mesh(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_ply_mesh({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::array<uint8_t, 3> colour_of_class(int64_t number) {
  constexpr std::array<std::array<uint8_t, 3>, 10> tableau{{{31, 119, 180},
                                                            {255, 127, 14},
                                                            {44, 160, 44},
                                                            {214, 39, 40},
                                                            {148, 103, 189},
                                                            {140, 86, 75},
                                                            {227, 119, 194},
                                                            {127, 127, 127},
                                                            {188, 189, 34},
                                                            {23, 190, 207}}};
  if (number < std::ssize(tableau)) {
    return tableau[static_cast<size_t>(number)];
  }
  const double golden = 0.6180339887498949, turns = golden * static_cast<double>(number);
  const double hue = 6 * (turns - std::floor(turns));
  std::array<uint8_t, 3> colour{};
  for (size_t channel = 0; channel < 3; ++channel) {  // of HSV with saturation 0.75, value 0.9
    const double at = std::fmod(hue + (channel == 0 ? 5 : channel == 1 ? 3 : 1), 6.0);
    const double share = std::clamp(std::min(at, 4 - at), 0.0, 1.0);
    colour[channel] = static_cast<uint8_t>(std::lround(255 * 0.9 * (1 - 0.75 * share)));
  }
  return colour;
}

namespace {

constexpr int64_t kMostComments = 1000;  // readers take so many lines of a header, this one too

template <class T>
void append_little_endian(std::string& to, T value) {
  auto bits = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if constexpr (std::endian::native == std::endian::big) {
    std::ranges::reverse(bits);
  }
  to.append(bits.data(), bits.size());
}

}  // namespace

std::string ply_of(const ClassifiedPoints& p) {
  const size_t points = p.classes.size(), shares = p.probabilities.empty() ? 0 : static_cast<size_t>(p.count);
  require(p.positions.size() == 3 * points && p.probabilities.size() == shares * points,
          "ply: there must be positions (P, 3), classes (P) and probabilities (P, K), got ",
          p.positions.size(), ", ", points, " and ", p.probabilities.size(), " numbers for K = ", p.count);
  std::string file = "ply\nformat binary_little_endian 1.0\n";
  for (int64_t k = 0; k < std::min(p.count, kMostComments); ++k) {
    const auto colour = colour_of_class(k);
    const bool named = std::ssize(p.names) == p.count;
    file += text("comment class ", k, " colour ", int{colour[0]}, " ", int{colour[1]}, " ", int{colour[2]},
                 named ? " " + printable(p.names[static_cast<size_t>(k)], 200) : "", "\n");
  }
  file += text("element vertex ", points, "\n");
  for (const char* axis : {"x", "y", "z"}) {
    file += text("property double ", axis, "\n");
  }
  for (const char* channel : {"red", "green", "blue"}) {
    file += text("property uchar ", channel, "\n");
  }
  file += "property int class\n";
  for (size_t k = 0; k < shares; ++k) {
    file += text("property float p_", k, "\n");
  }
  file += "end_header\n";
  file.reserve(file.size() + points * (3 * sizeof(double) + 3 + sizeof(int32_t) + shares * sizeof(float)));
  for (size_t row = 0; row < points; ++row) {
    for (const double x : p.positions.subspan(3 * row, 3)) {
      append_little_endian(file, x);
    }
    const int64_t k = p.classes[row];
    require(k >= 0 && k < p.count, "ply: classes must be 0 .. ", p.count - 1, ", got ", k);
    for (const uint8_t channel : colour_of_class(k)) {
      file.push_back(static_cast<char>(channel));
    }
    append_little_endian(file, static_cast<int32_t>(k));
    for (const float share : p.probabilities.subspan(shares * row, shares)) {
      append_little_endian(file, share);
    }
  }
  return file;
}

}  // namespace weyl

#include "weyl/data/formats/off.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr std::string_view kBlank = " \t\r\v\f";

/// Lines that hold something, without comments.
class Lines {
 public:
  Lines(std::string_view file, std::string_view where) : rest_(file), where_(where) {}

  /// The next one; nothing at the end of the file.
  bool next() {
    while (!rest_.empty()) {
      const size_t end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
      ++number_;
      line_ = line_.substr(0, line_.find('#'));
      const size_t begin = line_.find_first_not_of(kBlank);
      if (begin != std::string_view::npos) {
        line_ = line_.substr(begin);
        return true;
      }
    }
    return false;
  }

  std::string_view line() const { return line_; }
  void drop(size_t characters) { line_ = line_.substr(characters); }
  bool blank() const { return line_.find_first_not_of(kBlank) == std::string_view::npos; }

  /// The next number of the line.
  template <class T>
  T number(const char* what) {
    const size_t begin = std::min(line_.find_first_not_of(kBlank), line_.size());
    line_ = line_.substr(begin);
    const char* first = line_.data();
    const char* last = first + line_.size();
    if (first != last && *first == '+') {
      ++first;
    }
    T value{};
    const auto [stop, error] = std::from_chars(first, last, value);
    const bool whole = stop == last || kBlank.find(*stop) != std::string_view::npos;
    require<DataError>(
        error == std::errc() && whole, where_, ":", number_, ": ", what, " must be a ",
        std::is_integral_v<T> ? "whole " : "", "number, got ",
        line_.empty() ? "the end of the line" : quote(line_.substr(0, line_.find_first_of(kBlank)), 40));
    line_ = line_.substr(stop - line_.data());
    return value;
  }

  int64_t at() const { return number_; }
  std::string_view where() const { return where_; }

 private:
  std::string_view rest_, line_, where_;
  int64_t number_ = 0;
};

struct Counts {
  int64_t vertices, faces;
};

/// `least` is how many faces there must be.
Counts parse_counts(Lines& lines, size_t size, int64_t least) {
  const std::string_view where = lines.where();
  require<DataError>(lines.next(), where, ": is empty, it must begin with OFF");
  require<DataError>(lines.line().starts_with("OFF"), where, ":", lines.at(), ": must begin with OFF, got ",
                     quote(lines.line(), 20));
  lines.drop(3);
  const std::string_view after = lines.line().substr(0, lines.line().find_first_of(kBlank));
  require<DataError>(after.empty() || (after[0] >= '0' && after[0] <= '9') || lines.blank(), where, ":",
                     lines.at(), ": after OFF must come the number of vertices, got ", quote(after, 20));
  require<DataError>(!lines.line().ends_with("BINARY"), where, ": is a binary OFF; text is read");
  require<DataError>(!lines.blank() || lines.next(), where,
                     ": the numbers of vertices and faces are missing");
  const auto vertices = lines.number<int64_t>("the number of vertices");
  const auto faces = lines.number<int64_t>("the number of faces");
  // Every vertex and every face takes at least six characters ("0 0 0\n") but for the last.
  const auto most = static_cast<int64_t>(size / 6 + 1);
  require<DataError>(vertices > 0 && faces >= least && vertices <= most && faces <= most, where, ":",
                     lines.at(),
                     ": the numbers of vertices and faces must be positive and fit the file, got ", vertices,
                     " and ", faces);
  return {vertices, faces};
}

std::vector<double> parse_vertices(Lines& lines, int64_t count) {
  std::vector<double> vertices;
  vertices.reserve(3 * count);
  for (int64_t v = 0; v < count; ++v) {
    require<DataError>(lines.next(), lines.where(), ": ends after ", v, " of ", count, " vertices");
    for (int d = 0; d < 3; ++d) {
      vertices.push_back(lines.number<double>("a coordinate"));
      require<DataError>(std::isfinite(vertices.back()), lines.where(), ":", lines.at(),
                         ": coordinates must be finite, got ", vertices.back());
    }
  }
  return vertices;
}

void parse_face(Lines& lines, Mesh& mesh) {
  const auto corners = lines.number<int64_t>("the number of corners");
  require<DataError>(corners >= 3, lines.where(), ":", lines.at(),
                     ": a face must have at least 3 corners, got ", corners);
  std::array<int64_t, 3> fan{};
  for (int64_t k = 0; k < corners; ++k) {
    const auto index = lines.number<int64_t>("a corner");
    require<DataError>(index >= 0 && index < mesh.vertex_count(), lines.where(), ":", lines.at(),
                       ": corners must be vertices 0 .. ", mesh.vertex_count() - 1, ", got ", index);
    fan[std::min<int64_t>(k, 2)] = index;
    if (k >= 2) {
      mesh.triangles.insert(mesh.triangles.end(), fan.begin(), fan.end());
      fan[1] = index;
    }
  }
}

}  // namespace

Mesh parse_off(std::string_view file, std::string_view where) {
  Lines lines(file, where);
  const Counts counts = parse_counts(lines, file.size(), 1);
  Mesh mesh;
  mesh.vertices = parse_vertices(lines, counts.vertices);
  mesh.triangles.reserve(3 * counts.faces);
  for (int64_t face = 0; face < counts.faces; ++face) {
    require<DataError>(lines.next(), where, ": ends after ", face, " of ", counts.faces, " faces");
    parse_face(lines, mesh);
  }
  return mesh;
}

Mesh read_off(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_off({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::vector<double> parse_off_vertices(std::string_view file, std::string_view where) {
  Lines lines(file, where);
  const Counts counts = parse_counts(lines, file.size(), 0);
  std::vector<double> vertices = parse_vertices(lines, counts.vertices);
  // Or faces could have been taken for vertices, where several of these share a line, and nobody would see an end cut off.
  for (int64_t face = 0; face < counts.faces; ++face) {
    require<DataError>(lines.next(), where, ": ends after ", face, " of ", counts.faces, " faces");
  }
  return vertices;
}

std::vector<double> read_off_vertices(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_off_vertices({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::string off_text(const Mesh& mesh) {
  std::string result = text("OFF\n", mesh.vertex_count(), " ", mesh.triangle_count(), " 0\n");
  std::array<char, 32> digits{};
  for (size_t i = 0; i < mesh.vertices.size(); ++i) {
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), mesh.vertices[i]);
    result.append(digits.data(), end);
    result += i % 3 == 2 ? '\n' : ' ';
  }
  for (size_t i = 0; i < mesh.triangles.size(); ++i) {
    result += i % 3 == 0 ? "3 " : "";
    result += std::to_string(mesh.triangles[i]);
    result += i % 3 == 2 ? '\n' : ' ';
  }
  return result;
}

}  // namespace weyl

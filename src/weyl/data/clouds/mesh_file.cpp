#include "weyl/data/clouds/mesh_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/core/text_number.h"
#include "weyl/data/clouds/ply.h"
#include "weyl/data/containers/text_lines.h"

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

namespace {

class ObjReader {
 public:
  ObjReader(std::string_view file, std::string_view where) : where_(where) {
    while (!file.empty()) {
      const size_t end = std::min(file.find('\n'), file.size());
      ++at_;
      read_line(file.substr(0, end));
      file.remove_prefix(std::min(end + 1, file.size()));
    }
    require_faces();
    const auto& objects = mesh_.objects;
    if (objects.empty() || objects.front() == objects.back()) {  // they ascend
      mesh_.objects.clear();
    }
  }
  Mesh done() { return std::move(mesh_); }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": line ", at_, ": ", parts...);
    }
  }

  void read_line(std::string_view line) {
    line = line.substr(0, line.find('#'));
    const std::string_view word = take_word(line);
    if (word == "v") {
      read_vertex(line);
    } else if (word == "f") {
      read_face(line);
    } else if (word == "o") {
      named_.push_back(
          {std::string(take_word(line)), at_, mesh_.vertex_count(), std::ssize(mesh_.triangles)});
    }
  }

  /// An object without faces, whose vertices no face of another has, is one whose faces were lost: its vertices would be
  /// nowhere. The faces may stand in another object, as some programs write all vertices first.
  void require_faces() const {
    std::vector<bool> used(mesh_.vertex_count(), false);
    for (const int64_t corner : mesh_.triangles) {
      used[corner] = true;
    }
    for (size_t k = 0; k < named_.size(); ++k) {
      const int64_t begin = named_[k].vertices;
      const int64_t end = k + 1 < named_.size() ? named_[k + 1].vertices : mesh_.vertex_count();
      const int64_t corners = k + 1 < named_.size() ? named_[k + 1].corners : std::ssize(mesh_.triangles);
      const bool lost = begin < end && named_[k].corners == corners &&
                        std::find(used.begin() + begin, used.begin() + end, true) == used.begin() + end;
      require<DataError>(!lost, where_, ": line ", named_[k].line, ": object ", quote(named_[k].name, 40),
                         " must have faces, it has vertices alone");
    }
  }

  void read_vertex(std::string_view line) {
    for (int d = 0; d < 3; ++d) {
      const std::string_view word = take_word(line);
      const auto x = parse_real(word);
      check(x.has_value(), "a vertex must have three numbers, got ",
            word.empty() ? "the end of the line" : quote(word, 40));
      check(std::isfinite(*x), "coordinates must be finite, got ", *x);
      mesh_.vertices.push_back(*x);
    }
  }

  int64_t read_corner(std::string_view word) const {
    const auto number = parse_integer(word.substr(0, word.find('/')));
    check(number.has_value(), "a corner must be a whole number, got ", quote(word, 40));
    const int64_t count = mesh_.vertex_count();
    const int64_t row = *number > 0 ? *number - 1 : *number + count;
    check(*number != 0 && row >= 0 && row < count, "corners must be vertices 1 .. ", count,
          " (or -1 .. back from the last), got ", *number);
    return row;
  }

  void read_face(std::string_view line) {
    std::array<int64_t, 3> fan{};
    int64_t corners = 0;
    for (auto word = take_word(line); !word.empty(); word = take_word(line), ++corners) {
      const int64_t row = read_corner(word);
      fan[std::min<int64_t>(corners, 2)] = row;
      if (corners >= 2) {
        mesh_.triangles.insert(mesh_.triangles.end(), fan.begin(), fan.end());
        mesh_.objects.push_back(std::ssize(named_));
        fan[1] = row;
      }
    }
    check(corners >= 3, "a face must have at least 3 corners, got ", corners);
  }

  std::string_view where_;
  int64_t at_ = 0;
  Mesh mesh_;
  /// An object with the line that names it, and the vertices and corners of triangles before it.
  struct Named {
    std::string name;
    int64_t line, vertices, corners;
  };
  std::vector<Named> named_;
};

}  // namespace

Mesh parse_obj(std::string_view file, std::string_view where) {
  return ObjReader(file, where).done();
}

Mesh read_obj(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_obj({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

namespace {

constexpr size_t kStlHeader = 84, kTriangle = 50, kNormal = 12;
constexpr std::string_view kStlBlank = " \t\r\n\v\f";

/// Corners become vertices, those that differ by rounding alone the same.
class Welder {
 public:
  /// `rounding` is relative to the largest coordinate: of binary files that of float32.
  explicit Welder(double rounding) : rounding_(rounding) {}
  void add(const std::array<double, 3>& p) {
    const auto [at, is_new] = rows_.emplace(p, mesh_.vertex_count());
    if (is_new) {
      mesh_.vertices.insert(mesh_.vertices.end(), p.begin(), p.end());
    }
    mesh_.triangles.push_back(at->second);
  }
  Mesh done() {
    const double within = reach();
    if (within > 0) {
      weld(within);
    }
    return std::move(mesh_);
  }

 private:
  using Cell = std::array<int64_t, 3>;

  /// How near two vertices are the same: 1e-5 of the mesh's size, which is what six digits round to, but less than half the
  /// shortest edge, so that no triangle loses a corner. 0: nothing is that near.
  double reach() const {
    constexpr double kDigits = 1e-5, kLeast = 1e-12;
    const auto& x = mesh_.vertices;
    std::array<double, 3> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    double largest = 0, shortest = INFINITY;
    for (size_t i = 0; i < x.size(); ++i) {
      low[i % 3] = std::min(low[i % 3], x[i]);
      high[i % 3] = std::max(high[i % 3], x[i]);
      largest = std::max(largest, std::abs(x[i]));
    }
    const double size = x.empty() ? 0 : std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    for (size_t t = 0; t < mesh_.triangles.size(); ++t) {
      const int64_t a = mesh_.triangles[t], b = mesh_.triangles[t % 3 == 2 ? t - 2 : t + 1];
      const double edge = distance(a, b);
      shortest = edge > 0 ? std::min(shortest, edge) : shortest;
    }
    const double within = std::min(kDigits * size + rounding_ * largest, 0.49 * shortest);
    return std::isfinite(within) && within > kLeast * largest ? within : 0;
  }

  double distance(int64_t a, int64_t b) const {
    const double *p = &mesh_.vertices[3 * a], *q = &mesh_.vertices[3 * b];
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
  }

  /// Each vertex becomes the first one within reach, if there is one. They lie in cells some reaches wide, so that few cells
  /// are looked at.
  void weld(double within) {
    const double width = 64 * within;
    const auto cell_of = [&](double x) { return static_cast<int64_t>(std::floor(x / width)); };
    std::map<Cell, std::vector<int64_t>> cells;
    std::vector<int64_t> becomes(mesh_.vertex_count());
    std::vector<double> kept;
    std::vector<int64_t> first;  // the old rows of those that are kept
    for (int64_t v = 0; v < mesh_.vertex_count(); ++v) {
      const double* p = &mesh_.vertices[3 * v];
      becomes[v] = -1;
      for (int64_t i = cell_of(p[0] - within); i <= cell_of(p[0] + within); ++i) {
        for (int64_t j = cell_of(p[1] - within); j <= cell_of(p[1] + within); ++j) {
          for (int64_t k = cell_of(p[2] - within); k <= cell_of(p[2] + within); ++k) {
            const auto found = cells.find({i, j, k});
            if (found == cells.end() || becomes[v] >= 0) {
              continue;
            }
            const auto near = std::ranges::find_if(
                found->second, [&](int64_t row) { return distance(first[row], v) <= within; });
            becomes[v] = near == found->second.end() ? -1 : *near;
          }
        }
      }
      if (becomes[v] < 0) {
        becomes[v] = std::ssize(first);
        cells[{cell_of(p[0]), cell_of(p[1]), cell_of(p[2])}].push_back(becomes[v]);
        first.push_back(v);
        kept.insert(kept.end(), p, p + 3);
      }
    }
    mesh_.vertices = std::move(kept);
    for (int64_t& corner : mesh_.triangles) {
      corner = becomes[corner];
    }
  }

  double rounding_;
  Mesh mesh_;
  std::map<std::array<double, 3>, int64_t> rows_;
};

std::string_view next_word(std::string_view& rest) {
  const size_t begin = std::min(rest.find_first_not_of(kStlBlank), rest.size());
  const size_t end = std::min(rest.find_first_of(kStlBlank, begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

Mesh parse_binary(std::string_view file, std::string_view where) {
  Welder welder(2 * std::numeric_limits<float>::epsilon());
  const size_t count = (file.size() - kStlHeader) / kTriangle;
  for (size_t t = 0; t < count; ++t) {
    const char* at = file.data() + kStlHeader + t * kTriangle + kNormal;
    for (int k = 0; k < 3; ++k) {
      std::array<double, 3> corner;
      for (double& x : corner) {
        float number = 0;
        std::memcpy(&number, at, sizeof number);
        at += sizeof number;
        require<DataError>(std::isfinite(number), where, ": triangle ", t,
                           ": coordinates must be finite, got ", number);
        x = number == 0 ? 0 : number;  // -0 is the same place
      }
      welder.add(corner);
    }
  }
  return welder.done();
}

/// Whether a word is this one, in small letters or capitals.
bool is_word(std::string_view word, std::string_view wanted) {
  return std::ranges::equal(word, wanted, {}, [](unsigned char c) { return std::tolower(c); });
}

/// Whether triangles close a surface: along every edge they go as often in one direction as in the other.
bool close_a_surface(std::span<const int64_t> triangles) {
  std::map<std::pair<int64_t, int64_t>, int64_t> edges;
  for (size_t t = 0; t < triangles.size(); t += 3) {
    for (size_t k = 0; k < 3; ++k) {
      const int64_t a = triangles[t + k], b = triangles[t + (k + 1) % 3];
      edges[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  }
  return std::ranges::all_of(edges, [](const auto& edge) { return edge.second == 0; });
}

/// STL as text, solid after solid.
class StlText {
 public:
  StlText(std::string_view file, std::string_view where) : rest_(file), where_(where) {
    for (auto word = next_word(rest_); !word.empty(); word = next_word(rest_)) {
      read(word);
    }
    check(!inside_ && corners_ == 0 && !ends_.empty(), "must end with endsolid, ends after ", triangles_,
          " triangles");
  }

  /// The solids are told apart where each of them closes a surface of its own. Some programs write the patches of one
  /// surface as solids: these hang together.
  Mesh done() {
    Mesh mesh = welder_.done();
    const std::span<const int64_t> corners(mesh.triangles);
    bool closed = ends_.size() > 1;
    for (size_t k = 0, begin = 0; closed && k < ends_.size(); begin = 3 * ends_[k++]) {
      closed = close_a_surface(corners.subspan(begin, 3 * ends_[k] - begin));
    }
    for (size_t k = 0; closed && k < ends_.size(); ++k) {
      mesh.objects.resize(ends_[k], static_cast<int64_t>(k) + 1);
    }
    return mesh;
  }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    require<DataError>(holds, where_, ": ", parts...);
  }

  /// Names are passed over: a solid may be called vertex.
  void pass_name() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

  void read(std::string_view word) {
    if (is_word(word, "solid")) {
      check(!inside_, "solid ", ends_.size() + 1, " must end with endsolid before the next begins");
      inside_ = true;
      pass_name();
    } else if (is_word(word, "vertex")) {
      read_vertex();
    } else if (is_word(word, "endfacet")) {
      check(corners_ == 3, "triangle ", triangles_, " must have 3 corners, has ", corners_);
      corners_ = 0;
      ++triangles_;
    } else if (is_word(word, "endsolid")) {
      check(inside_ && corners_ == 0, "endsolid must end a solid, it stands after triangle ", triangles_,
            inside_ ? " that has not ended" : " where none has begun");
      inside_ = false;
      ends_.push_back(triangles_);
      pass_name();
    }
  }

  void read_vertex() {
    check(inside_, "triangle ", triangles_, " must stand between solid and endsolid");
    std::array<double, 3> corner;
    for (double& x : corner) {
      const std::string_view number = next_word(rest_);
      const auto value = parse_real(number);
      check(value && std::isfinite(*value), "triangle ", triangles_,
            ": coordinates must be finite numbers, got ",
            number.empty() ? "the end of the file" : quote(number, 40));
      x = *value == 0 ? 0 : *value;
    }
    check(corners_ < 3, "triangle ", triangles_, " must have 3 corners, has more");
    welder_.add(corner);
    ++corners_;
  }

  std::string_view rest_, where_;
  Welder welder_{0};
  std::vector<size_t> ends_;  // of each solid, the triangles so far
  size_t triangles_ = 0;
  int64_t corners_ = 0;
  bool inside_ = false;
};

}  // namespace

Mesh parse_stl(std::string_view file, std::string_view where) {
  std::string_view begin = file;
  if (begin.starts_with("\xEF\xBB\xBF")) {
    begin.remove_prefix(3);
  }
  const bool solid = is_word(next_word(begin), "solid");
  if (file.size() >= kStlHeader) {
    uint32_t count = 0;
    std::memcpy(&count, file.data() + kStlHeader - sizeof count, sizeof count);
    if (file.size() == kStlHeader + uint64_t{count} * kTriangle) {
      return parse_binary(file, where);
    }
    require<DataError>(solid, where, ": must have 50 bytes for each of its ", count,
                       " triangles after a header of 84, has ", file.size(), " bytes");
  }
  require<DataError>(solid, where, ": must begin with solid (text) or have a header of 84 bytes (binary)");
  file.remove_prefix(file.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  return StlText(file, where).done();
}

Mesh read_stl(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_stl({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

void require_surface(const Mesh& mesh, std::string_view where) {
  require<DataError>(mesh.vertex_count() > 0, where, ": the mesh must have vertices, it is empty");
  require<DataError>(mesh.triangle_count() > 0, where, ": the mesh must have faces, it has none");
  std::array<double, 3> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < mesh.vertices.size(); ++i) {
    require<DataError>(std::isfinite(mesh.vertices[i]), where, ": vertex ", i / 3,
                       ": coordinates must be finite, got ", mesh.vertices[i]);
    low[i % 3] = std::min(low[i % 3], mesh.vertices[i]);
    high[i % 3] = std::max(high[i % 3], mesh.vertices[i]);
  }
  const double size = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  for (int64_t t = 0; t < mesh.triangle_count(); ++t) {
    const auto corner = [&](int k) { return &mesh.vertices[3 * mesh.triangles[3 * t + k]]; };
    std::array<double, 3> u, v;
    for (int d = 0; d < 3; ++d) {
      u[d] = (corner(1)[d] - corner(0)[d]) / size;
      v[d] = (corner(2)[d] - corner(0)[d]) / size;
    }
    const double area =
        0.5 * std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
    require<DataError>(area > 1e-12, where, ": triangle ", t, " must have an area, it has none (corners ",
                       mesh.triangles[3 * t], ", ", mesh.triangles[3 * t + 1], ", ",
                       mesh.triangles[3 * t + 2], ")");
  }
}

Mesh read_mesh(const std::string& path) {
  const std::string name = in_small_letters(path);
  Mesh mesh;
  if (name.ends_with(".obj")) {
    mesh = read_obj(path);
  } else if (name.ends_with(".off")) {
    mesh = read_off(path);
  } else if (name.ends_with(".ply")) {
    mesh = read_ply_mesh(path);
  } else if (name.ends_with(".stl")) {
    mesh = read_stl(path);
  } else {
    throw DataError(text(path, ": a mesh must be of ", mesh_endings));
  }
  require_surface(mesh, path);
  return mesh;
}

}  // namespace weyl

#include "weyl/data/formats/obj.h"

#include <array>
#include <cmath>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/formats/text_lines.h"

namespace weyl {
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
    end_object();
    if (objects_ < 2) {
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
      end_object();
      ++objects_;
      object_ = std::string(take_word(line));
      object_at_ = at_;
      vertices_before_ = mesh_.vertex_count();
      triangles_before_ = mesh_.triangle_count();
    }
  }

  /// An object of vertices alone is one whose faces were lost: its vertices would be nowhere.
  void end_object() const {
    const bool lost = object_at_ > 0 && mesh_.vertex_count() > vertices_before_ &&
                      mesh_.triangle_count() == triangles_before_;
    require<DataError>(!lost, where_, ": line ", object_at_, ": object ", quote(object_, 40),
                       " must have faces, it has vertices alone");
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
        mesh_.objects.push_back(objects_);
        fan[1] = row;
      }
    }
    check(corners >= 3, "a face must have at least 3 corners, got ", corners);
  }

  std::string_view where_;
  int64_t at_ = 0;
  Mesh mesh_;
  std::string object_;
  int64_t objects_ = 0, object_at_ = 0, vertices_before_ = 0, triangles_before_ = 0;
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

}  // namespace weyl

#include "weyl/data/formats/stl.h"

#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr size_t kStlHeader = 84, kTriangle = 50, kNormal = 12;
constexpr std::string_view kStlBlank = " \t\r\n\v\f";

/// Corners become vertices, equal ones the same.
class Welder {
 public:
  void add(const std::array<double, 3>& p) {
    const auto [at, is_new] = rows_.emplace(p, mesh_.vertex_count());
    if (is_new) {
      mesh_.vertices.insert(mesh_.vertices.end(), p.begin(), p.end());
    }
    mesh_.triangles.push_back(at->second);
  }
  Mesh done() { return std::move(mesh_); }

 private:
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
  Welder welder;
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

Mesh parse_text(std::string_view file, std::string_view where) {
  file.remove_prefix(std::min(file.find('\n'), file.size()));  // solid NAME
  Welder welder;
  int64_t corners = 0, triangles = 0;
  bool ended = false;
  for (auto word = next_word(file); !word.empty(); word = next_word(file)) {
    if (word == "vertex") {
      std::array<double, 3> corner;
      for (double& x : corner) {
        const std::string_view number = next_word(file);
        const auto value = parse_real(number);
        require<DataError>(value && std::isfinite(*value), where, ": triangle ", triangles,
                           ": coordinates must be finite numbers, got ",
                           number.empty() ? "the end of the file" : quote(number, 40));
        x = *value == 0 ? 0 : *value;
      }
      require<DataError>(corners < 3, where, ": triangle ", triangles, " must have 3 corners, has more");
      welder.add(corner);
      ++corners;
    } else if (word == "endfacet") {
      require<DataError>(corners == 3, where, ": triangle ", triangles, " must have 3 corners, has ",
                         corners);
      corners = 0;
      ++triangles;
    } else if (word == "endsolid") {
      ended = true;
      break;
    }
  }
  require<DataError>(ended && corners == 0, where, ": must end with endsolid, ends after ", triangles,
                     " triangles");
  return welder.done();
}

}  // namespace

Mesh parse_stl(std::string_view file, std::string_view where) {
  if (file.size() >= kStlHeader) {
    uint32_t count = 0;
    std::memcpy(&count, file.data() + kStlHeader - sizeof count, sizeof count);
    if (file.size() == kStlHeader + uint64_t{count} * kTriangle) {
      return parse_binary(file, where);
    }
    require<DataError>(file.starts_with("solid"), where, ": must have 50 bytes for each of its ", count,
                       " triangles after a header of 84, has ", file.size(), " bytes");
  }
  require<DataError>(file.starts_with("solid"), where,
                     ": must begin with solid (text) or have a header of 84 bytes (binary)");
  return parse_text(file, where);
}

Mesh read_stl(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_stl({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace weyl

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

struct PythonMember;

/// A value of JSON as Python's `json` writes it, in which NaN, Infinity and -Infinity are numbers. Lists of numbers
/// alone, logicals alone or texts alone are kept as such (integers beside reals as reals; an empty list is a List), so
/// that a number of an array takes eight bytes.
struct PythonJson {
  using List = std::vector<PythonJson>;
  using Members = std::vector<PythonMember>;
  std::variant<std::monostate, bool, int64_t, double, std::string, FrameValues, List, Members> value;

  /// A member of an object; null where there is none of that name, or this is no object.
  const PythonJson* find(std::string_view key) const;
};

struct PythonMember {
  std::string key;
  PythonJson value;
};

/// How deep lists and objects may lie in one another, and what a text may hold: a number of an array counts one,
/// everything else eight.
constexpr int python_json_depth = 64;
constexpr int64_t python_json_limit = int64_t{1} << 25;

/// DataError naming `where` and the byte: a text that is no such JSON, or is beyond these limits.
PythonJson parse_python_json(std::string_view text, std::string_view where);

}  // namespace weyl

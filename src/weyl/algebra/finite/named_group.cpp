#include <charconv>
#include <functional>
#include <string>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/algebra/finite/planar.h"
#include "weyl/algebra/finite/platonic.h"
#include "weyl/core/check.h"
#include "weyl/core/nearest.h"

namespace weyl {
namespace {

using Axis = std::array<double, 3>;

struct Single {
  const char* name;
  FiniteGroup (*make)();
};
constexpr Single singles[] = {
    {"trivial", [] { return FiniteGroup("trivial", 3, {{1, 0, 0, 0, 1, 0, 0, 0, 1}}); }},
    {"tetrahedron", tetrahedron},
    {"tetrahedron_full", tetrahedron_full},
    {"octahedron", octahedron},
    {"octahedron_full", octahedron_full},
    {"icosahedron", icosahedron},
    {"icosahedron_full", icosahedron_full},
    {"octahedron_reflections", octahedron_reflections},
};

// Names that end in a number. A prefix that continues another stands before it.
struct Family {
  const char* prefix;
  int64_t least, most;
  FiniteGroup (*make)(int64_t n, Axis axis);
};
constexpr Family families[] = {
    {"flop_3d_", 1, 3, [](int64_t n, Axis) { return flop_3d(n); }},
    {"cyclic_3d_", 2, 64, cyclic_3d},
    {"dihedral_3d_", 2, 64, dihedral_3d},
    {"flop_2d_", 1, 2, [](int64_t n, Axis) { return flop_2d(n); }},
    {"cyclic_", 2, 64, [](int64_t n, Axis) { return cyclic(n); }},
    {"dihedral_", 2, 64, [](int64_t n, Axis) { return dihedral(n); }},
    {"trivial_", 1, 10, [](int64_t n, Axis) { return trivial(n); }},
};

// The number that is the whole of the text, without sign or leading zeros; -1 otherwise.
int64_t whole_number(std::string_view digits) {
  int64_t n = -1;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), n);
  const bool whole = error == std::errc() && end == digits.end() && std::to_string(n) == digits;
  return whole && n >= 0 ? n : -1;
}

std::string join(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

}  // namespace

GroupPtr named_group(std::string_view name, std::array<double, 3> axis) {
  for (const auto& single : singles) {
    if (name == single.name) {
      return std::make_shared<const FiniteGroup>(single.make());
    }
  }
  for (const auto& family : families) {
    if (name.starts_with(family.prefix)) {
      const int64_t n = whole_number(name.substr(std::string_view(family.prefix).size()));
      if (n < 0) {
        continue;
      }
      require<ConfigError>(n >= family.least && n <= family.most, "group '", name, "': n must be ",
                           family.least, " to ", family.most, " in ", family.prefix, "n, got ", n);
      return std::make_shared<const FiniteGroup>(family.make(n, axis));
    }
  }
  // Families with the number of the word asked for, so that `cyclc_4` finds `cyclic_4`.
  auto candidates = group_names();
  const auto digits = name.substr(name.find_last_not_of("0123456789") + 1);
  for (auto& candidate : candidates) {
    if (candidate.ends_with("_n") && !digits.empty()) {
      candidate.replace(candidate.size() - 1, 1, digits);
    }
  }
  const auto meant = nearest(name, candidates);
  throw ConfigError(text(
      "group: must be one of ", join(group_names()), "; got '", name, "'",
      meant.empty() ? ""
                    : text(", did you mean '", meant, "'", meant.ends_with("_n") ? ", n a number?" : "?")));
}

std::vector<std::string> group_names() {
  std::vector<std::string> names;
  for (const auto& single : singles) {
    names.emplace_back(single.name);
  }
  for (const auto& family : families) {
    names.push_back(text(family.prefix, "n"));
  }
  return names;
}

}  // namespace weyl

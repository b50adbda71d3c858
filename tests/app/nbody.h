#pragma once

#include <string>

namespace weyl {

/// The shortest training on n-body data in `data`, as `weyl data make nbody --out data` makes them: so many steps of a
/// small Platonic model. More keys of [train] may follow.
inline std::string nbody_config(int steps) {
  return R"(
[data]
set = "nbody"
[data.nbody]
path = "data"
train = 0
valid = 0
test = 0
[task]
name = "trajectory"
[model]
system = "platonic"
[model.platonic]
width = 48
heads = 12
blocks = 1
[train]
batch = 4
steps = )" +
         std::to_string(steps) + "\n";
}

}  // namespace weyl

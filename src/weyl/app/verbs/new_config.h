#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weyl/models/systems.h"

namespace weyl {

/// What `weyl config new` is asked for.
struct NewConfigRequest {
  std::string data;    // a file or folder of any format that is trained on
  std::string task;    // empty: the one that the data are for
  std::string system;  // empty: the one that does best on such data
};

/// A config for people to read and change, what was chosen in it, and what the user should know, a line each: what is
/// likely wrong with the data, and what `train` would warn of.
struct NewConfig {
  std::string text, task, system;
  std::vector<std::string> warnings;
};

/// Looks at the data and writes a config that trains on them within minutes: the nearest of the shipped recipes, with a
/// comment beside each key, in which the lines that the data change are marked by `#>`. What it writes was read again,
/// has no option without effect, and has passed all that `train` checks before its first step; where `train` would refuse
/// it, its first line and a warning say why. `systems`: those that configs may name.
/// DataError: there is no such path, no format takes it, or it cannot be read. ConfigError: data that must be cut, split
/// or given as a folder first, with the command; several tasks fit and none is named; a task or system that does not fit,
/// with those that do.
NewConfig new_config(const NewConfigRequest& request, const Systems& systems);

/// The text of a recipe of configs/ that configs are drafted from, by its path there: "nbody/platonic.toml"
/// (cmake/WeylRecipes.cmake has the list). Empty: it is none of them.
std::string_view shipped_recipe(std::string_view path);

}  // namespace weyl

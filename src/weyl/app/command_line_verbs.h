#pragma once

#include <functional>
#include <vector>

#include "weyl/app/command_line.h"

namespace CLI {
class App;
}

namespace weyl {

/// One verb: its place in the tree of verbs, and what makes the command once its arguments are parsed:
/// ConfigError when they do not go together.
struct Verb {
  CLI::App* app;
  std::function<Command()> make;
};

/// Adds every verb with its arguments, in the order of the help page.
std::vector<Verb> add_verbs(CLI::App& root);

}  // namespace weyl

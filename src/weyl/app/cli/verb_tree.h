#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weyl/app/cli/command_line.h"

namespace CLI {
class App;
}

namespace weyl {

/// One verb: its place in the tree of verbs, and what makes the command once its arguments are parsed:
/// ConfigError when they do not go together.
struct Verb {
  CLI::App* app;
  std::function<Command()> make;
  /// The help page of what the arguments name, in place of the verb's own; none, or empty: that one.
  std::function<std::string()> help = {};
};

/// Adds every verb with its arguments, in the order of the help page.
std::vector<Verb> add_verbs(CLI::App& root);

/// Adds `weyl data` with its verbs, whose help pages list makers and file formats.
std::vector<Verb> add_data_verbs(CLI::App& root);

/// `plan` and `run`, below `weyl scale`.
std::vector<Verb> add_sweep_verbs(CLI::App& scale);

/// Adds `weyl scale plot` and `weyl scale report`.
std::vector<Verb> add_scale_figure_verbs(CLI::App& scale);

/// Adds `weyl scale` with its verbs.
std::vector<Verb> add_scale_verbs(CLI::App& root);

}  // namespace weyl

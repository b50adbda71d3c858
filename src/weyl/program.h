#pragma once

#include "weyl/models/systems.h"

namespace weyl {

/// Runs the program `weyl` with these systems, for a program with a `main` of its own. Every verb, configs, checkpoints
/// and training know the systems.
///
///   int main(int argc, char** argv) {
///     weyl::Systems systems = weyl::built_in_systems();
///     systems.push_back(weyl::system_of<MyModel>());
///     return weyl::run_program(argc, argv, systems);
///   }
///
/// Returns the exit code (docs/cli.md). Errors are printed, never thrown. Call it once: it takes over the process's
/// signals, log and memory settings.
int run_program(int argc, char** argv, const Systems& systems);

}  // namespace weyl

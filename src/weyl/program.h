#pragma once

#include "weyl/models/systems.h"

namespace weyl {

/// The program `weyl` with these systems, for the `main` of a program that has one of its own: every verb, configs,
/// checkpoints and training know them.
///
///   int main(int argc, char** argv) {
///     weyl::Systems systems = weyl::built_in_systems();
///     systems.push_back(weyl::system_of<MyModel>());
///     return weyl::run_program(argc, argv, systems);
///   }
///
/// Returns the exit code (docs/cli.md). Errors are printed, never thrown. Meant to be called once: it takes over the
/// process's signals, log and memory settings.
int run_program(int argc, char** argv, const Systems& systems);

}  // namespace weyl

#pragma once

#include <exception>
#include <optional>

namespace weyl {

/// What the program tells its caller (docs/cli.md).
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,       // the result failed: an audit, a check
  exit_usage = 2,        // usage or config
  exit_data = 3,         // a data or model file
  exit_memory = 4,       // out of memory
  exit_interrupted = 5,  // interrupted, state saved
};

/// The exit code of this kind of error (core/fault.h).
int exit_code_of(const std::exception& error);

/// Prints `weyl: <message>` (one line) on stderr and returns the exit code of this kind of error (core/fault.h).
int report(const std::exception& error);

/// From here on an exception for want of memory or threads that nobody can catch (it left a destructor or a thread) ends the
/// program as one that `report` sees does: one line, exit code 4, no unfinished file. Every other one does what it did.
void exit_when_out_of_memory();

/// Where several processes work together: what a fault that ends this one at once asks before it is said, with its exit code. It
/// returns nothing, or the exit code of a fault that another has said before, which is then this one's, and nothing more is said.
/// May be asked by the handler of a signal. Null, as at first: all is said.
using SaidBefore = std::optional<int> (*)(int code);
void ask_before_faults(SaidBefore ask);
/// What it says.
std::optional<int> said_before(int code);

/// From here on a library that ends the process itself (libgomp does when a thread cannot be started) leaves no unfinished
/// file and the exit code 4. For a program that leaves by _exit.
void tidy_up_when_a_library_exits();

}  // namespace weyl

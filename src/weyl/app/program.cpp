#include "weyl/program.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

#include "weyl/app/cli/command_line.h"
#include "weyl/app/engine.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/terminal/visible_output.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/prepared_file.h"

namespace weyl {
namespace {

// LibTorch's warnings belong in the log, not between the lines of a result.
class WarningsToLog : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { log(LogLevel::debug, warning.msg()); }
};

void set_threads(int64_t threads) {
  if (threads > 0) {
    at::set_num_threads(static_cast<int>(threads));
  }
}

/// What a verb asks for: the systems, what a config of them can choose, or neither.
template <class C>
int run_with(const C& command, const Systems& systems) {
  if constexpr (requires { run(command, systems); }) {
    return run(command, systems);
  } else if constexpr (requires(const ModelOptions& known) { run(command, known); }) {
    return run(command, options_of(systems));
  } else {
    return run(command);
  }
}

/// Keeps freed memory for the next step: the tensors of a step are of megabytes, and what goes back to the
/// system is cleared page by page when it is taken again (6 % of a train step of two wide blocks).
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 1 << 26);
#endif
}

/// The same beyond that gigabyte, for verbs that take steps and then end: what the torch expressions beside a benchmark
/// free would else go back, and be cleared again for every step.
void keep_all_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

template <class C>
void prepare(const C& command) {
  start_log(command.output.quiet);
  if constexpr (requires { command.machine; }) {
    set_threads(command.machine.threads);
  } else {
    set_threads(command.output.threads);
  }
  if constexpr (std::is_same_v<C, TrainCommand> || std::is_same_v<C, BenchCommand>) {
    keep_all_freed_memory();
  }
}

int run_command(const std::vector<std::string>& arguments, const Systems& systems) {
  try {
    const Parsed parsed = parse_command_line(arguments);
    if (!parsed.command) {
      std::cout << parsed.out;
      std::cerr << parsed.err;
      return parsed.exit_code;
    }
    static WarningsToLog warnings;
    c10::WarningUtils::set_warning_handler(&warnings);
    return std::visit(
        [&](const auto& c) {
          prepare(c);
          return run_with(c, systems);
        },
        *parsed.command);
  } catch (const std::exception& error) {
    return report(error);
  }
}

}  // namespace

int run_program(int argc, char** argv, const Systems& systems) {
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit (ulimit -f) is an error that names the file
  const VisibleOutput visible_output;
  remove_unfinished_on_signals();
  exit_when_out_of_memory();
  catch_lost_files();
  set_turn_hooks({.say = say, .stop = stop_requested});
  int code = run_command({argv + (argc > 0 ? 1 : 0), argv + argc}, systems);
  std::cout << std::flush;
  if (!std::cout.good() && code == exit_done) {
    code = report(DataError("stdout: must be writable, but a write failed"));
  }
  end_log(code != exit_done && code != exit_interrupted);
  std::fflush(nullptr);
  return code;
}

}  // namespace weyl

int weyl_engine(int argc, char** argv) {
  weyl::tidy_up_when_a_library_exits();
  return weyl::run_program(argc, argv, weyl::built_in_systems());
}

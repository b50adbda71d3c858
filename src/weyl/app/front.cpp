// `weyl`: answers what needs no torch (help, usage, config, info of a model file) in milliseconds, makes data
// sets, and becomes `weyl-engine` for the rest. Linking LibTorch alone costs 0.2 s before main.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weyl/app/cli/command_line.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/terminal/visible_output.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/models/options.h"

namespace {

using namespace weyl;

// Beside this program, by its whole path; empty: not known.
std::string engine_path() {
  char buffer[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer);
  const std::string self(buffer, static_cast<size_t>(std::max<ssize_t>(n, 0)));
  return self.starts_with('/') && n < PATH_MAX ? self.substr(0, self.rfind('/') + 1) + "weyl-engine" : "";
}

// Returns only when that fails; the reason. What the engine lacks (LibTorch, say) it says itself.
std::string become_engine(char** argv) {
  // OpenMP threads that spin long beside a busy neighbour made a 1.5 s training take 5.2 s; threads that do not spin at all
  // have to be woken. Of 18 atoms through the octahedral network of QM9 on two cores: 18.7 ms alone and 22 ms beside another
  // such program with 1000, 14.3 and 29 ms with 2000, 14 and 42 ms with 5000.
  setenv("GOMP_SPINCOUNT", "2000", 0);
  const std::string path = engine_path();
  if (path.empty()) {
    return "/proc/self/exe: must name this program, beside which weyl-engine stands, but cannot be read";
  }
  execv(path.c_str(), argv);
  return path + ": must stand beside weyl and be executable, but cannot be started: " + std::strerror(errno);
}

// A file opened later would take the number of a closed standard stream, and what is said there would be written into
// it. Writes to a closed stdout still fail, as a result that is lost must; talk to a closed stderr is dropped.
void occupy_standard_streams() {
  for (const auto& [stream, mode] :
       {std::pair{STDIN_FILENO, O_RDONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      open("/dev/null", mode);  // takes the lowest number that is free
    }
  }
}

template <class C>
std::optional<int> answer(const C&) {
  return {};
}
std::optional<int> answer(const ConfigSchemaCommand& c) {
  return run(c, ModelOptions{});
}
std::optional<int> answer(const ConfigExplainCommand& c) {
  return run(c, ModelOptions{});
}
std::optional<int> answer(const CompareCommand& c) {
  return run(c);
}
std::optional<int> answer(const ScaleFitCommand& c) {
  return run(c);
}
std::optional<int> answer(const ScalePlotCommand& c) {
  return run(c);
}
std::optional<int> answer(const ScaleReportCommand& c) {
  return run(c);
}
std::optional<int> answer(const CompletionCommand& c) {
  return run(c);
}
std::optional<int> answer(const DataMakeCommand& c) {
  return run(c);
}
std::optional<int> answer(const InfoCommand& c) {
  return run_from_metadata(c, {});
}

void require_stdout() {
  require<DataError>(std::cout.good(), "stdout: must be writable, but a write failed");
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit (ulimit -f) is an error that names the file
  const VisibleOutput visible_output;
  exit_when_out_of_memory();
  catch_lost_files();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const Parsed parsed = parse_command_line(arguments);
    if (!parsed.command) {
      std::cout << parsed.out << std::flush;
      std::cerr << parsed.err;
      require_stdout();
      return parsed.exit_code;
    }
    start_log(output_of(*parsed.command).quiet);
    const auto ended = [](int code) {
      std::cout << std::flush;
      require_stdout();
      return code;
    };
    if (const auto code = std::visit([](const auto& c) { return answer(c); }, *parsed.command)) {
      return ended(*code);
    }
    const std::string reason = become_engine(argv);
    if (const auto* doctor = std::get_if<DoctorCommand>(&*parsed.command)) {
      return run_without_engine(*doctor, reason);
    }
    if (const auto* check = std::get_if<ConfigCheckCommand>(&*parsed.command)) {
      return ended(run(*check, ModelOptions{}));
    }
    throw ConfigError(reason);
  } catch (const std::exception& error) {
    std::cout << std::flush;
    return report(error);
  }
}

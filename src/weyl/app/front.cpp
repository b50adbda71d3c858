// `weyl`: answers what needs no torch (help, usage, config, info of a model file) in milliseconds, makes data
// sets, and becomes `weyl-engine` for the rest. Linking LibTorch alone costs 0.2 s before main.
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "weyl/app/command_line.h"
#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/signals.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/models/options.h"

namespace {

using namespace weyl;

std::string engine_path() {
  char buffer[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer);
  if (n <= 0) {
    return "weyl-engine";
  }
  const std::string self(buffer, static_cast<size_t>(n));
  return self.substr(0, self.rfind('/') + 1) + "weyl-engine";
}

// Returns only when that fails; the reason.
std::string become_engine(char** argv) {
  // OpenMP threads that spin beside a busy neighbour made a 1.5 s training take 5.2 s.
  setenv("GOMP_SPINCOUNT", "1000", 0);
  const std::string path = engine_path();
  execv(path.c_str(), argv);
  return path + ": must stand beside weyl and be executable, but cannot be started: " + std::strerror(errno);
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
std::optional<int> answer(const ConfigCheckCommand& c) {
  return run(c, ModelOptions{});
}
std::optional<int> answer(const DataMakeCommand& c) {
  return run(c);
}
std::optional<int> answer(const InfoCommand& c) {
  return run_from_metadata(c, {});
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit (ulimit -f) is an error that names the file
  catch_lost_files();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const Parsed parsed = parse_command_line(arguments);
    if (!parsed.command) {
      std::cout << parsed.out << std::flush;
      std::cerr << parsed.err;
      return parsed.exit_code;
    }
    start_log(talk_of(*parsed.command).quiet);
    if (const auto code = std::visit([](const auto& c) { return answer(c); }, *parsed.command)) {
      std::cout << std::flush;
      require<DataError>(std::cout.good(), "stdout: must be writable, but a write failed");
      return *code;
    }
    const std::string reason = become_engine(argv);
    if (const auto* doctor = std::get_if<DoctorCommand>(&*parsed.command)) {
      return run_without_engine(*doctor, reason);
    }
    throw Error(reason);
  } catch (const std::exception& error) {
    std::cout << std::flush;
    return report(error);
  }
}

// What is said when the engine's library, or one that it needs, cannot be opened.
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "weyl/app/cli/command_line.h"
#include "weyl/app/engine.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/models/options.h"

namespace weyl {
namespace {

// What the loader said when `library` could not be opened, as a line that says what to do.
std::string what_is_missing(const std::string& library, const std::string& said) {
  const std::string missing = said.substr(0, said.find(": cannot open shared object file"));
  if (missing == said) {
    return said;  // of another kind: a symbol or a version, say
  }
  const std::filesystem::path shown = std::filesystem::path(library).lexically_normal();  // without bin/..
  if (missing == library || missing.starts_with("libweyl")) {
    return (shown.parent_path() / std::filesystem::path(missing).filename()).string() +
           ": must be there, a part of weyl, but cannot be opened; install or build weyl again";
  }
  const bool torch = missing.starts_with("libtorch") || missing.starts_with("libc10");
  return missing + ": is needed by " + shown.string() + ", but is not found; " +
         (torch ? "put LibTorch's libraries, or links to them, into " + shown.parent_path().string() +
                      ", or build weyl with -DWEYL_TORCH_RUNPATH=FOLDER and install it again"
                : "install the package that has it");
}

int answer_without_engine(const std::vector<std::string>& arguments, const std::string& library,
                          const std::string& said) {
  const Parsed parsed = parse_command_line(arguments);
  if (const auto* check = parsed.command ? std::get_if<ConfigCheckCommand>(&*parsed.command) : nullptr) {
    start_log(check->output.quiet);
    const int code = run(*check, ModelOptions{});
    std::cout << std::flush;
    return code;
  }
  for (const char* no_room : {"failed to map segment", "annot allocate memory"}) {
    if (said.find(no_room) != std::string::npos) {
      throw MemoryError("out of memory: LibTorch needs more than this process may take (ulimit -v)");
    }
  }
  const std::string reason = what_is_missing(library, said);
  if (parsed.command) {
    if (const auto* doctor = std::get_if<DoctorCommand>(&*parsed.command)) {
      const int code = run_without_engine(*doctor, reason);
      std::cout << std::flush;
      return code;
    }
  }
  throw ConfigError(reason);
}

}  // namespace
}  // namespace weyl

int weyl_without_engine(int argc, char** argv, const char* library, const char* said) {
  try {
    return weyl::answer_without_engine({argv + (argc > 0 ? 1 : 0), argv + argc}, library, said);
  } catch (const std::exception& error) {
    return weyl::report(error);
  }
}

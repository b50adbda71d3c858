// `weyl-engine`: the verbs that need torch. Started by `weyl`, with the same command line. It opens libweyl.so, and with
// it LibTorch, while it runs: of a linked library that is missing the loader would say so in its own words, and leave
// with 127.
#include "weyl/app/engine.h"

#include <dlfcn.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "weyl/app/command_line.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/library_folder.h"

namespace {

using namespace weyl;

// What the loader said when `library` could not be opened, as a line that says what to do.
std::string what_is_missing(const std::filesystem::path& library, const std::string& said) {
  const std::string missing = said.substr(0, said.find(": cannot open shared object file"));
  if (missing == said) {
    return said;  // of another kind: a symbol or a version, say
  }
  const std::filesystem::path shown = library.lexically_normal();  // without bin/..
  if (missing == library) {
    return shown.string() +
           ": must be there, a part of weyl, but cannot be opened; install or build weyl again";
  }
  const bool torch = missing.starts_with("libtorch") || missing.starts_with("libc10");
  return missing + ": is needed by " + shown.string() + ", but is not found; " +
         (torch ? "put LibTorch's libraries, or links to them, into " + shown.parent_path().string() +
                      ", or build weyl with -DWEYL_TORCH_RUNPATH=FOLDER and install it again"
                : "install the package that has it");
}

using Engine = decltype(&weyl_engine);

// RTLD_LAZY and RTLD_GLOBAL, as for a linked library. ConfigError: what is missing. bad_alloc: there is no room for it.
Engine open_engine() {
  const std::filesystem::path library = library_folder() / WEYL_LIBRARY;
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (handle == nullptr) {
    const std::string said = dlerror();
    for (const char* no_room : {"failed to map segment", "annot allocate memory"}) {
      if (said.find(no_room) != std::string::npos) {
        throw std::bad_alloc();
      }
    }
    throw ConfigError(what_is_missing(library, said));
  }
  const auto engine = reinterpret_cast<Engine>(dlsym(handle, "weyl_engine"));
  require<ConfigError>(engine != nullptr, library.string(),
                       ": must be of this version of weyl, but is another");
  return engine;
}

// What can be said without libweyl.so.
int answer_without(const std::exception& error, const std::vector<std::string>& arguments) {
  const Parsed parsed = parse_command_line(arguments);
  if (parsed.command) {
    if (const auto* doctor = std::get_if<DoctorCommand>(&*parsed.command)) {
      const int code = run_without_engine(*doctor, error.what());
      std::cout << std::flush;
      return code;
    }
  }
  return report(error);
}

}  // namespace

int main(int argc, char** argv) {
  Engine engine = nullptr;
  try {
    engine = open_engine();
  } catch (const std::exception& error) {
    return answer_without(error, {argv + (argc > 0 ? 1 : 0), argv + argc});
  }
  // Without LibTorch's destructors, which take 65 ms for nothing.
  _exit(engine(argc, argv));
}

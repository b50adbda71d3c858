// `weyl-engine`: the verbs that need torch. Started by `weyl`, with the same command line. It opens libweyl_program.so, and with
// it LibTorch, while it runs: of a linked library that is missing the loader would say so in its own words, and leave
// with 127. It is linked to none of weyl's libraries: theirs would be asked first for each of the 50,000 symbols that
// LibTorch looks up, which takes 20 ms.
#include "weyl/app/engine.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

// The library of this name in one of WEYL_LIBRARY_FOLDERS, relative to this program's own folder; by its whole path, so
// that nothing else is taken. Null: `said` is what the loader has to say, `path` the file that was tried last.
void* open_library(const char* name, char (&path)[2 * PATH_MAX], const char*& said) {
  char self[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = '\0';
  char* const slash = std::strrchr(self, '/');
  if (self[0] != '/' || slash == nullptr) {
    std::snprintf(path, sizeof path, "/proc/self/exe");
    said = "/proc/self/exe: must name this program, but cannot be read";
    return nullptr;
  }
  *slash = '\0';
  for (const char* folder : {WEYL_LIBRARY_FOLDERS}) {
    std::snprintf(path, sizeof path, "%s%s%s/%s", folder[0] == '/' ? "" : self, folder[0] == '/' ? "" : "/",
                  folder, name);
    if (access(path, F_OK) == 0) {
      break;
    }
  }
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);  // as a linked library is loaded
  said = handle == nullptr ? dlerror() : "";
  return handle;
}

// Whether LibTorch's initialisers have the room that they need, and 64 MiB are left to begin with, tried in a copy of this
// process: where addresses are limited (ulimit -v) they, and the loader, which gives a thread its variables when they are
// first used, end the process themselves when they have not.
bool has_room_for(const char* name) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return true;
  }
  const pid_t copy = fork();
  if (copy == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    const int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) {
      dup2(nothing, STDERR_FILENO);
    }
    char path[2 * PATH_MAX];
    const char* said = "";
    open_library(name, path,
                 said);  // what it said, if it could not be opened for another reason, is said again
    _exit(mmap(nullptr, 1 << 26, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 1 : 0);
  }
  int status = 0;
  return copy < 0 || waitpid(copy, &status, 0) != copy || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

bool is_openmp(const void* code) {
  Dl_info found{};
  return dladdr(code, &found) != 0 && found.dli_fname != nullptr &&
         std::strstr(found.dli_fname, "gomp") != nullptr;
}

}  // namespace

#ifndef WEYL_SANITIZED
// In front of the system's, for all libraries: where OpenMP cannot start a thread (ulimit -u), it says so in lines of its own
// and ends the process. It is ended here first, as it would have been, so that the one line is that of whoever was
// registered for the end (exit_codes.h). Others are told of the failure and can handle it.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  const int failure = create(thread, attributes, start, argument);
  if (failure != 0 && is_openmp(__builtin_return_address(0))) {
    std::exit(EXIT_FAILURE);
  }
  return failure;
}
#endif

int main(int argc, char** argv) {
  char path[2 * PATH_MAX], base_path[2 * PATH_MAX];
  const char *said = "", *base_said = "";
  const bool has_room = has_room_for(WEYL_LIBRARY);
  void* const library = has_room ? open_library(WEYL_LIBRARY, path, said) : nullptr;
  if (!has_room) {
    said = "cannot allocate memory";
  } else if (library != nullptr) {
    if (const auto engine = reinterpret_cast<decltype(&weyl_engine)>(dlsym(library, "weyl_engine"))) {
      // Without LibTorch's destructors, which take 65 ms for nothing.
      _exit(engine(argc, argv));
    }
    said = dlerror();
  }
  char kept[8192];  // the next error replaces this one
  std::snprintf(kept, sizeof kept, "%s", said);
  if (void* const base = open_library(WEYL_BASE_LIBRARY, base_path, base_said)) {
    if (const auto without =
            reinterpret_cast<decltype(&weyl_without_engine)>(dlsym(base, "weyl_without_engine"))) {
      return without(argc, argv, path, kept);
    }
  }
  std::fprintf(stderr, "weyl: %s\n", kept);
  return 2;
}

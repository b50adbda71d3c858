#include "tests/fuzz/verbs/server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "weyl/core/check.h"

namespace weyl::fuzz {
namespace {

constexpr size_t kKept = 4096;  // bytes of what a run says

/// A file without a name, whose bytes both processes see.
class CapturedMessages {
 public:
  CapturedMessages() : file_(memfd_create("talk", 0)) {
    require<Error>(file_ >= 0, "memfd_create: must give a file, but did not");
  }
  ~CapturedMessages() { close(file_); }
  CapturedMessages(const CapturedMessages&) = delete;
  CapturedMessages& operator=(const CapturedMessages&) = delete;
  int file() const { return file_; }
  std::string text() const {
    std::string said(kKept, '\0');
    const ssize_t n = pread(file_, said.data(), said.size(), 0);
    said.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
    return said;
  }

 private:
  int file_;
};

/// Bytes of this process that RLIMIT_DATA counts: the line "VmData: N kB" of /proc/self/status.
int64_t data_of_this_process() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (int64_t kibibytes = 0; word == "VmData:" && status >> kibibytes) {
      return 1024 * kibibytes;
    }
  }
  return 0;
}

[[noreturn]] void be_the_copy(const std::string& folder, const Limits& limits, int64_t data,
                              const CapturedMessages& out, const CapturedMessages& err,
                              const std::function<int()>& work) {
  const auto limit = [](int what, rlim_t value) {
    const rlimit both{value, value};
    setrlimit(what, &both);
  };
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 1 << 26);
  limit(RLIMIT_DATA, static_cast<rlim_t>(data + limits.memory));
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.seconds) + 1);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out.file(), 1) < 0 || dup2(err.file(), 2) < 0 ||
      chdir(folder.c_str()) != 0) {
    _exit(99);
  }
  _exit(work());
}

/// Bytes that are resident at most in a copy that does nothing: a copy has fewer pages than its parent, those of files
/// come when they are used.
int64_t resident_of_a_copy() {
  const pid_t child = fork();
  require<Error>(child >= 0, "fork: must give a process, but did not");
  if (child == 0) {
    _exit(0);
  }
  rusage usage{};
  wait4(child, nullptr, 0, &usage);
  return 1024 * usage.ru_maxrss;
}

}  // namespace

std::string Ended::fault(bool may_ask_for_memory) const {
  if (hung) {
    return "took more than its time";
  }
  if (code < 0) {
    return "ended by signal " + std::to_string(-code);
  }
  const std::string_view lines = err;
  const auto said = [&](std::string_view words) { return lines.find(words) != std::string_view::npos; };
  const bool foreseen = said("train: loss and gradient must be finite") ||
                        said("not the same, so their metrics are not compared");
  if ((code == 1 && !foreseen) || code > 5) {
    return "ended with the exit code " + std::to_string(code);
  }
  if (code == 4 && !may_ask_for_memory && !said("MiB of memory")) {
    return "took more than its memory";
  }
  for (const std::string_view sign : {"terminate called", "LOG ERROR", "Exception raised from", "frame #"}) {
    if (said(sign)) {
      return "said \"" + std::string(sign) + "\"";
    }
  }
  if (code >= 2 && code <= 4) {  // one line at least that says why, and nobody's escape codes
    if (!said("weyl: ") && out.empty()) {
      return "gave no reason for its exit code " + std::to_string(code);
    }
  }
  if (lines.find('\x1b') != std::string_view::npos || out.find('\x1b') != std::string::npos) {
    return "said an escape code";
  }
  return "";
}

Ended run_forked(const std::string& folder, const Limits& limits, const std::function<int()>& work) {
  const CapturedMessages out, err;
  static const int64_t resident = resident_of_a_copy();
  const int64_t data = data_of_this_process();
  std::fflush(nullptr);
  const pid_t child = fork();
  require<Error>(child >= 0, "fork: must give a process, but did not");
  if (child == 0) {
    be_the_copy(folder, limits, data, out, err, work);
  }
  Ended ended;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd wait{handle, POLLIN, 0};
  if (handle >= 0 && poll(&wait, 1, static_cast<int>(60'000 + 1000 * limits.seconds)) == 0) {
    ended.hung = true;
    kill(child, SIGKILL);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (handle >= 0) {
    close(handle);
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  ended.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  ended.memory = std::max<int64_t>(0, 1024 * usage.ru_maxrss - resident);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  ended.hung = ended.hung || ended.code == -SIGXCPU || ended.seconds > limits.seconds;
  ended.out = out.text();
  ended.err = err.text();
  return ended;
}

}  // namespace weyl::fuzz

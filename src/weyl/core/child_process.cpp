#include "weyl/core/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr char kBytes = 'b', kMessage = 'm';
constexpr uint64_t kLongestMessage = 4096;

struct Header {
  char kind;
  uint64_t size;
};

#ifdef WEYL_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// Addresses in use, in bytes; 0: not known.
uint64_t mapped_addresses() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_AS) what, rlim_t value) {
  struct rlimit now{};
  ::getrlimit(what, &now);
  now.rlim_cur = std::min(value, now.rlim_max);
  ::setrlimit(what, &now);
}

/// Signals that end the child do so whatever handlers the parent has; all others, such as an interrupt from
/// the terminal, are for the parent.
void only_fatal_signals() {
  sigset_t fatal;
  sigemptyset(&fatal);
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGPIPE, SIGXCPU, SIGXFSZ, SIGALRM}) {
    ::signal(signal, SIG_DFL);
    sigaddset(&fatal, signal);
  }
  ::sigprocmask(SIG_UNBLOCK, &fatal, nullptr);
}

void confine(const ChildLimits& limits, uint64_t addresses) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CPU, limits.seconds);
  ::alarm(static_cast<unsigned>(10 * limits.seconds));
  if (!kSanitized) {  // sanitizers reserve addresses and open pipes
    limit(RLIMIT_NOFILE, 0);
    limit(RLIMIT_AS, addresses > 0 ? addresses + limits.memory : RLIM_INFINITY);
  }
}

/// Whether all were written.
bool write_all(int pipe, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(pipe, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  return true;
}

}  // namespace

void ChildProcess::Sender::frame(char kind, std::span<const std::byte> bytes) {
  Header header{};
  header.kind = kind;
  header.size = bytes.size();
  if (!write_all(pipe_, std::as_bytes(std::span(&header, 1))) || !write_all(pipe_, bytes)) {
    ::_exit(1);  // nobody listens
  }
}

void ChildProcess::Sender::send(std::span<const std::byte> bytes) {
  frame(kBytes, bytes);
}

void ChildProcess::Sender::allow(uint64_t bytes) {
  struct rlimit now{};
  ::getrlimit(RLIMIT_AS, &now);
  if (now.rlim_cur != RLIM_INFINITY) {
    limit(RLIMIT_AS, now.rlim_cur + bytes);
  }
}

ChildProcess::ChildProcess(std::string where, const ChildLimits& limits, const Work& work)
    : where_(std::move(where)), seconds_(limits.seconds) {
  const uint64_t addresses = mapped_addresses();
  static std::mutex one_at_a_time;  // or a second child would hold the first one's end of the pipe open
  const std::lock_guard lock(one_at_a_time);
  int pipe[2] = {-1, -1};
  sigset_t all, before;
  sigfillset(&all);
  const auto no_process = [&] {
    return DataError(text(where_, ": there can be no process that reads it: ", std::strerror(errno)));
  };
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    throw no_process();
  }
  // No handler of the parent may run in the child.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  child_ = ::fork();
  if (child_ == 0) {
    ::close(pipe[0]);
    only_fatal_signals();
    confine(limits, addresses);
    Sender sender(pipe[1]);
    std::string message;
    try {
      work(sender);
      ::_exit(0);
    } catch (const std::bad_alloc&) {
      message = where_ + ": needs more memory than its size allows; it is corrupt";
    } catch (const std::exception& error) {
      message = error.what();
    } catch (...) {
      ::_exit(1);
    }
    message.resize(std::min<size_t>(message.size(), kLongestMessage));
    sender.frame(kMessage, std::as_bytes(std::span(message)));
    ::_exit(0);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(pipe[1]);
  pipe_ = pipe[0];
  if (child_ < 0) {
    ::close(pipe_);
    errno = error;
    throw no_process();
  }
}

ChildProcess::~ChildProcess() {
  ::close(pipe_);
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    death();
  }
}

bool ChildProcess::read(std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::read(pipe_, bytes.data(), bytes.size());
    if (n == 0 || (n < 0 && errno != EINTR)) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  return true;
}

void ChildProcess::fail() {
  throw DataError(text(where_, ": what reads it ", death(), "; it is corrupt"));
}

std::string ChildProcess::death() {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(child_, &status, 0);
  } while (ended < 0 && errno == EINTR);
  child_ = -1;
  if (ended < 0 || !WIFSIGNALED(status)) {  // a parent that ignores its children learns nothing
    return "ended early";
  }
  const int signal = WTERMSIG(status);
  return signal == SIGXCPU || signal == SIGALRM ? text("did not end within ", seconds_, " s")
                                                : text("crashed (", ::strsignal(signal), ")");
}

void ChildProcess::receive(std::span<std::byte> bytes) {
  Header header{};
  if (!read(std::as_writable_bytes(std::span(&header, 1)))) {
    fail();
  }
  if (header.kind == kMessage && header.size <= kLongestMessage) {
    std::string message(header.size, ' ');
    if (!read(std::as_writable_bytes(std::span(message)))) {
      fail();
    }
    throw DataError(message);
  }
  require<DataError>(header.kind == kBytes && header.size == bytes.size(), where_,
                     ": what reads it has lost its way; it is corrupt");
  if (!read(bytes)) {
    fail();
  }
}

}  // namespace weyl

#include "weyl/study/sweep/own_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/exec_words.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
  require<Error>(n > 0, "/proc/self/exe: must name this program, but cannot be read: ", std::strerror(errno));
  return {path.data(), static_cast<size_t>(n)};
}

/// In the child: calls nothing but what may be called between fork and exec.
[[noreturn]] void become(const char* program, char* const* argv, char* const* variables, int messages,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);  // it ended meanwhile
  }
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  execve(program, argv, variables);
  _exit(127);
}

}  // namespace

OwnProcess::OwnProcess(const std::vector<std::string>& arguments) {
  const std::string program = own_path();
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "weyl");
  ExecWords argv(std::move(words));
  // It is no rank of what this program may be one of (parallel/place.h).
  ExecWords variables(environment_for_child({"WEYL_ALONE=1"}, [](std::string_view) { return false; }));
  messages_ = memfd_create("stderr", MFD_CLOEXEC);
  require<Error>(messages_ >= 0, "a process cannot be started: ", std::strerror(errno));
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    become(program.c_str(), argv.data(), variables.data(), messages_, parent);
  }
  if (process_ < 0) {
    const int error = errno;
    close(messages_);
    throw Error(text("a process cannot be started: ", std::strerror(error)));
  }
}

OwnProcess::~OwnProcess() {
  if (!ended_) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(messages_);
}

void OwnProcess::send(int signal) const {
  if (!ended_) {
    kill(process_, signal);
  }
}

bool OwnProcess::has_ended() {
  int status = 0;
  const pid_t found = ended_ ? 0 : waitpid(process_, &status, WNOHANG);
  if (found == process_) {
    end_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  ended_ = ended_ || found == process_ ||
           (found < 0 && errno == ECHILD);  // whose end nobody is told of, as under SIG_IGN
  return ended_;
}

std::string OwnProcess::messages() const {
  std::string all;
  std::array<char, 4096> some{};
  ssize_t size = 0;
  while ((size = pread(messages_, some.data(), some.size(), static_cast<off_t>(all.size()))) > 0) {
    all.append(some.data(), static_cast<size_t>(size));
  }
  return all;
}

std::string OwnProcess::reason() const {
  const std::string said = messages();
  constexpr std::string_view mark = "weyl: ";
  const size_t last = said.rfind("\nweyl: ");
  const size_t begin = last != std::string::npos ? last + 1 : said.starts_with(mark) ? 0 : std::string::npos;
  if (end_.signal == 0 && begin != std::string::npos) {
    const size_t from = begin + mark.size();
    return visible(said.substr(from, said.find('\n', from) - from));
  }
  return end_.signal != 0 ? text("ended by signal ", end_.signal, " (", strsignal(end_.signal), ")")
                          : text("ended with exit code ", end_.code);
}

bool OwnProcess::lacked_disk() const {
  const std::string why = reason();
  return std::ranges::any_of(std::array{ENOSPC, EDQUOT, EFBIG, EROFS, EIO},
                             [&](int error) { return why.ends_with(std::strerror(error)); });
}

}  // namespace weyl

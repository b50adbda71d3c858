#include "weyl/study/sweep/own_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
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
[[noreturn]] void become(const char* program, char* const* argv, const char* stderr_path, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);  // it ended meanwhile
  }
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDWR);
  const int messages = open(stderr_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(messages >= 0 ? messages : nothing, STDERR_FILENO);
  execv(program, argv);
  _exit(127);
}

}  // namespace

pid_t start_own_process(const std::vector<std::string>& arguments, const std::string& stderr_path) {
  const std::string program = own_path();
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "weyl");
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  require<Error>(child >= 0, "a process cannot be started: ", std::strerror(errno));
  if (child == 0) {
    become(program.c_str(), argv.data(), stderr_path.c_str(), parent);
  }
  return child;
}

bool has_ended(pid_t process, ProcessEnd& end) {
  int status = 0;
  const pid_t found = waitpid(process, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) {
    return false;
  }
  end.code = found > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = found > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return true;
}

std::string reason_of(const ProcessEnd& end, const std::string& stderr_path) {
  const std::string messages = read_file(stderr_path, size_t{1} << 24).text;
  constexpr std::string_view mark = "weyl: ";
  const size_t last = messages.rfind("\nweyl: ");
  const size_t begin = last != std::string::npos    ? last + 1
                       : messages.starts_with(mark) ? 0
                                                    : std::string::npos;
  if (end.signal == 0 && begin != std::string::npos) {
    const size_t from = begin + mark.size();
    return visible(messages.substr(from, messages.find('\n', from) - from));
  }
  return end.signal != 0 ? text("ended by signal ", end.signal, " (", strsignal(end.signal), ")")
                         : text("ended with exit code ", end.code);
}

}  // namespace weyl

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace weyl {

/// How a process ended.
struct ProcessEnd {
  int code = 0;    // exit code
  int signal = 0;  // that ended it; 0: none
};

/// This program once more, with other arguments, in a process group of its own (Ctrl-C at the terminal does not reach
/// it), that is killed when the thread that started it ends, however that comes about, or this object does. Reads nothing; what
/// it prints on stdout is dropped, what it says on stderr is kept in memory: on a full disk no file would have it.
class OwnProcess {
 public:
  explicit OwnProcess(const std::vector<std::string>& arguments);
  ~OwnProcess();
  OwnProcess(const OwnProcess&) = delete;
  OwnProcess& operator=(const OwnProcess&) = delete;

  void send(int signal) const;
  /// Whether it has ended; does not wait.
  bool has_ended();

  const ProcessEnd& end() const { return end_; }
  std::string messages() const;
  /// Why it ended so: the last line that it said of itself, without "weyl: ", or the signal or exit code where it said
  /// nothing.
  std::string reason() const;
  /// Whether it ended so since something could not be written or read: a full disk, a quota, a disk that fails.
  bool lacked_disk() const;

 private:
  pid_t process_ = -1;
  int messages_ = -1;
  bool ended_ = false;
  ProcessEnd end_;
};

}  // namespace weyl

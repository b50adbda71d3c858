#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace weyl {

/// This program once more, with other arguments, in a process group of its own (Ctrl-C at the terminal does not reach
/// it), that is killed when the thread that started it ends, however that comes about. Reads nothing; what it prints
/// on stdout is dropped, stderr goes into a file.
pid_t start_own_process(const std::vector<std::string>& arguments, const std::string& stderr_path);

/// How a process ended.
struct ProcessEnd {
  int code = 0;    // exit code
  int signal = 0;  // that ended it; 0: none
};

/// Whether it has ended; does not wait. True also of what is no child of this process.
bool has_ended(pid_t process, ProcessEnd& end);

/// Why it ended so: the last line that it said of itself, without "weyl: ", or the signal or exit code where it said
/// nothing. `stderr_path`: as it was started.
std::string reason_of(const ProcessEnd& end, const std::string& stderr_path);

}  // namespace weyl

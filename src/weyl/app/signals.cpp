#include "weyl/app/signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "weyl/app/exit_codes.h"
#include "weyl/core/mapped_file.h"

namespace weyl {
namespace {

volatile sig_atomic_t requested = 0;

extern "C" void ask_to_stop(int signal) {
  if (requested != 0 && signal == SIGINT) {
    constexpr char message[] = "\nweyl: stopped at once; the last checkpoint is whole\n";
    [[maybe_unused]] const auto n = write(STDERR_FILENO, message, sizeof message - 1);
    _exit(128 + SIGINT);
  }
  requested = 1;
}

/// Calls nothing but what a handler may: write, sigaction, raise, _exit and functions of strings.
extern "C" void leave_for_lost_file(int signal, siginfo_t* info, void*) {
  const char* line = info->si_code > 0 ? lost_file(info->si_addr) : nullptr;  // else another process sent it
  if (line == nullptr) {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    raise(signal);  // comes when this handler has returned
    return;
  }
  constexpr char prefix[] = "weyl: ";
  char message[8192];
  size_t size = sizeof prefix - 1;
  std::memcpy(message, prefix, size);
  const size_t length = std::min(std::strlen(line), sizeof message - size - 1);
  std::memcpy(message + size, line, length);
  size += length;
  message[size++] = '\n';
  [[maybe_unused]] const auto n = write(STDERR_FILENO, message, size);
  _exit(exit_data);
}

}  // namespace

void catch_signals() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = ask_to_stop;
  action.sa_flags = SA_RESTART;  // file writes must not fail half-way
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    sigaction(signal, &action, nullptr);
  }
}

void catch_lost_files() {
  struct sigaction action{};
  action.sa_sigaction = leave_for_lost_file;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

bool stop_requested() {
  return requested != 0;
}

}  // namespace weyl

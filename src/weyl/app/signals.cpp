#include "weyl/app/signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "weyl/app/exit_codes.h"
#include "weyl/core/mapped_file.h"

namespace weyl {
namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a signal handler may set it

extern "C" void ask_to_stop(int signal) {
  if (requested.exchange(true) && signal == SIGINT) {
    constexpr char message[] = "\nweyl: stopped at once; the last checkpoint is whole\n";
    [[maybe_unused]] const auto n = write(STDERR_FILENO, message, sizeof message - 1);
    _exit(128 + SIGINT);
  }
}

/// Calls nothing but what a handler may: write, sigaction, raise, _exit, and copies.
extern "C" void leave_for_lost_file(int signal, siginfo_t* info, void*) {
  const char* line = info->si_code > 0 ? lost_file(info->si_addr) : nullptr;  // else another process sent it
  if (line == nullptr) {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    raise(signal);  // comes when this handler has returned
    return;
  }
  char message[8192];
  char* end = message;
  const auto add = [&](std::string_view part) {
    const auto room = static_cast<size_t>(message + sizeof message - end);
    end = std::copy_n(part.data(), std::min(part.size(), room - 1), end);  // one is left for the line's end
  };
  add("weyl: ");
  add(line);
  *end++ = '\n';
  [[maybe_unused]] const auto n = write(STDERR_FILENO, message, static_cast<size_t>(end - message));
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
  struct sigaction hangup;
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

void catch_lost_files() {
  struct sigaction action{};
  action.sa_sigaction = leave_for_lost_file;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

bool stop_requested() {
  return requested;
}

}  // namespace weyl

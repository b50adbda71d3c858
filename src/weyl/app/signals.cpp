#include "weyl/app/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <initializer_list>

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

bool stop_requested() {
  return requested;
}

}  // namespace weyl

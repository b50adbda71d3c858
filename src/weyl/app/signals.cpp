#include "weyl/app/signals.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

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

bool stop_requested() {
  return requested != 0;
}

}  // namespace weyl

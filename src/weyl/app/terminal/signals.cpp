#include "weyl/app/terminal/signals.h"

#include <signal.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace {

std::atomic<bool> requested = false;
std::atomic<const char*> what_is_left = "";
static_assert(std::atomic<bool>::is_always_lock_free &&
              decltype(what_is_left)::is_always_lock_free);  // so that a signal handler may set it

extern "C" void ask_to_stop(int signal) {
  if (requested.exchange(true) && signal == SIGINT) {
    remove_unfinished_files();
    for (const char* part : {"\nweyl: stopped at once; ", what_is_left.load(), "\n"}) {
      [[maybe_unused]] const auto n = write(STDERR_FILENO, part, std::strlen(part));
    }
    _exit(128 + SIGINT);
  }
}

void end_by(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);  // comes when the handler has returned
}

extern "C" void end_without_litter(int signal) {
  remove_unfinished_files();
  end_by(signal);
}

/// Calls nothing but what a handler may: write, unlink, sigaction, raise, _exit, and copies.
extern "C" void exit_for_lost_file(int signal, siginfo_t* info, void*) {
  const char* line = info->si_code > 0 ? lost_file(info->si_addr) : nullptr;  // else another process sent it
  if (line == nullptr) {
    end_by(signal);
    return;
  }
  remove_unfinished_files();
  if (const auto before = said_before(exit_data)) {
    _exit(*before);
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

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // file writes must not fail half-way
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction now{};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void catch_signals(const char* left) {
  what_is_left = left;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    handle(signal, ask_to_stop);
  }
  if (!is_ignored(SIGHUP)) {
    handle(SIGHUP, ask_to_stop);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

void remove_unfinished_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) {
      handle(signal, end_without_litter);
    }
  }
}

void catch_lost_files() {
  struct sigaction action{};
  action.sa_sigaction = exit_for_lost_file;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

bool stop_requested() {
  return requested;
}

}  // namespace weyl

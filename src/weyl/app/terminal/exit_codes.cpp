#include "weyl/app/terminal/exit_codes.h"

#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "weyl/core/atomic_file.h"
#include "weyl/core/fault.h"
#include "weyl/core/prepared_file.h"

namespace weyl {
namespace {

std::atomic<SaidBefore> asked_before_faults = nullptr;

[[noreturn]] void exit_with(std::string_view line) {
  remove_unfinished_files();
  if (const auto before = said_before(exit_memory)) {
    _exit(*before);
  }
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, line.data(), line.size());
  _exit(exit_memory);
}

bool is_want_of_memory(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const std::system_error& failure) {
    return failure.code() == std::errc::not_enough_memory ||
           failure.code() == std::errc::resource_unavailable_try_again;
  } catch (...) {
    return false;
  }
}

std::terminate_handler before = nullptr;

[[noreturn]] void terminate() {
  if (const std::exception_ptr error = std::current_exception(); error && is_want_of_memory(error)) {
    exit_with("weyl: out of memory\n");
  }
  if (before != nullptr) {
    before();
  }
  std::abort();
}

}  // namespace

void ask_before_faults(SaidBefore ask) {
  asked_before_faults = ask;
}

std::optional<int> said_before(int code) {
  const SaidBefore ask = asked_before_faults;
  return ask != nullptr ? ask(code) : std::nullopt;
}

void exit_when_out_of_memory() {
  if (std::get_terminate() != terminate) {
    before = std::set_terminate(terminate);
  }
}

void tidy_up_when_a_library_exits() {
  std::atexit([] {
    exit_with("weyl: a library ended the process, for want of memory or threads; take fewer (--threads)\n");
  });
}

int exit_code_of(const std::exception& error) {
  if (dynamic_cast<const TurnStopped*>(&error) != nullptr) {
    return exit_interrupted;
  }
  switch (fault_of(error).kind) {
    case Fault::Kind::usage:
      return exit_usage;
    case Fault::Kind::data:
      return exit_data;
    case Fault::Kind::memory:
      return exit_memory;
    case Fault::Kind::shape:
    case Fault::Kind::failed:
      break;
  }
  return exit_failed;
}

int report(const std::exception& error) {
  std::fprintf(stderr, "weyl: %s\n", fault_of(error).line.c_str());
  return exit_code_of(error);
}

}  // namespace weyl

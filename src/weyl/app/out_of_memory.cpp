#include "weyl/app/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "weyl/app/exit_codes.h"
#include "weyl/core/unfinished_file.h"

namespace weyl {
namespace {

[[noreturn]] void leave(std::string_view line) {
  remove_unfinished_files();
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
    leave("weyl: out of memory\n");
  }
  if (before != nullptr) {
    before();
  }
  std::abort();
}

}  // namespace

void leave_when_out_of_memory() {
  if (std::get_terminate() != terminate) {
    before = std::set_terminate(terminate);
  }
}

void leave_when_a_library_exits() {
  std::atexit([] { leave("weyl: a library ended the process, for want of memory or threads\n"); });
}

}  // namespace weyl

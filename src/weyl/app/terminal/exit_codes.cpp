#include "weyl/app/terminal/exit_codes.h"

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "weyl/core/atomic_file.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

[[noreturn]] void exit_with(std::string_view line) {
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
    exit_with("weyl: out of memory\n");
  }
  if (before != nullptr) {
    before();
  }
  std::abort();
}

}  // namespace

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

int report(const std::exception& error) {
  std::string line = error.what();
  int code = exit_failed;
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) {
    code = exit_usage;
  } else if (dynamic_cast<const DataError*>(&error) != nullptr) {
    code = exit_data;
  } else if (dynamic_cast<const MemoryError*>(&error) != nullptr) {
    code = exit_memory;
  } else if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    code = exit_memory;
    line = "out of memory: take smaller batches (train.batch, --batch) or a smaller model";
  } else if (const auto* failed = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    // A question about a path that the system does not answer: no permission, a name too long, a broken disk.
    code = exit_data;
    line = failed->path1().string() + ": " + failed->code().message();
  } else if (const auto* lack = dynamic_cast<const std::system_error*>(&error);
             lack != nullptr && (lack->code() == std::errc::resource_unavailable_try_again ||
                                 lack->code() == std::errc::not_enough_memory)) {
    code = exit_memory;
    line = "out of memory: a thread could not be started; take fewer (--threads)";
  }
  for (char& c : line) {
    if (c == '\n' || c == '\r') {
      c = ' ';
    }
  }
  std::fprintf(stderr, "weyl: %s\n", visible(line).c_str());
  return code;
}

}  // namespace weyl

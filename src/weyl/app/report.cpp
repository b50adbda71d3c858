#include <cstdio>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "weyl/app/exit_codes.h"
#include "weyl/app/verbs.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {

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

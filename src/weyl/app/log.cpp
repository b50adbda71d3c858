#include "weyl/app/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// The last file added.
std::string& log_file() {
  static std::string path;
  return path;
}

/// spdlog's own words never reach the user: the first line that a file cannot take is said once, in ours; work goes on.
void say_lines_are_lost(const std::string& fault) {
  static std::atomic_flag said;
  if (!said.test_and_set()) {
    const size_t reason = fault.rfind(": ");
    std::fprintf(stderr, "weyl: %s: the log must be writable, but lines of it are lost: %s\n",
                 log_file().c_str(),
                 printable(reason == std::string::npos ? fault : fault.substr(reason + 2)).c_str());
  }
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    sink->set_pattern("%v");
    auto made = std::make_shared<spdlog::logger>("weyl", sink);
    made->set_level(spdlog::level::debug);
    sink->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::info);
    made->set_error_handler(say_lines_are_lost);
    return made;
  }();
  return *instance;
}

}  // namespace

void start_log(bool quiet) {
  logger().sinks().front()->set_level(quiet ? spdlog::level::err : spdlog::level::info);
}

void add_log_file(const std::string& path) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_pattern("%Y-%m-%d %H:%M:%S %l %v");
    sink->set_level(spdlog::level::info);
    log_file() = path;
    logger().sinks().push_back(sink);
  } catch (const spdlog::spdlog_ex& error) {
    throw DataError(text(path, ": the log must be writable: ", error.what()));
  }
}

void log(LogLevel level, std::string_view message) {
  constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info,
                                                  spdlog::level::warn, spdlog::level::err};
  logger().log(levels[static_cast<int>(level)], "{}", visible(message));
}

void flush_log() {
  logger().flush();
}

}  // namespace weyl

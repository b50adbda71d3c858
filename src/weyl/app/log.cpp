#include "weyl/app/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    sink->set_pattern("%v");
    auto made = std::make_shared<spdlog::logger>("weyl", sink);
    made->set_level(spdlog::level::debug);
    sink->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::info);
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

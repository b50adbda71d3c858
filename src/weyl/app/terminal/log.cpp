#include "weyl/app/terminal/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// The file, and why the first line that it did not take was lost. Several threads may log.
struct LogFile {
  std::mutex mutex;
  std::string path, fault;
};

LogFile& log_file() {
  static LogFile file;
  return file;
}

/// spdlog's own words never reach the user: work goes on, and end_log says it in ours.
void note_lost_line(const std::string& fault) {
  LogFile& file = log_file();
  const std::scoped_lock lock(file.mutex);
  if (file.fault.empty()) {
    const size_t reason = fault.rfind(": ");
    file.fault = reason == std::string::npos ? fault : fault.substr(reason + 2);
  }
}

/// "warning: " before a warning, nothing before other lines.
class WarningFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    if (message.level == spdlog::level::warn) {
      constexpr std::string_view begin = "warning: ";
      line.append(begin.data(), begin.data() + begin.size());
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<WarningFlag>(); }
};

spdlog::logger& logger() {
  static const auto instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<WarningFlag>('*').set_pattern("%*%v");
    sink->set_formatter(std::move(formatter));
    auto made = std::make_shared<spdlog::logger>("weyl", sink);
    made->set_level(spdlog::level::debug);
    sink->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::info);
    made->set_error_handler(note_lost_line);
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
    log_file().path = path;
    logger().sinks().resize(1);  // stderr
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

void end_log(bool failed) {
  logger().flush();
  LogFile& file = log_file();
  const std::scoped_lock lock(file.mutex);
  if (!file.fault.empty() && !failed) {
    std::fprintf(stderr, "weyl: %s: the log must be writable, but lines of it are lost: %s\n",
                 file.path.c_str(), printable(file.fault).c_str());
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(file.path, error) && std::filesystem::is_empty(file.path, error)) {
    std::filesystem::remove(file.path, error);
  }
}

}  // namespace weyl

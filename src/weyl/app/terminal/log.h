#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// The program's messages: one line a message on stderr and, once a run folder exists, with the time in its
/// log.txt, with what is no visible character written out (core/quote.h). The library never logs; verbs do.
enum class LogLevel { debug, info, warning, error };

/// Quiet: only errors reach stderr. Files always get everything from `info` on.
void start_log(bool quiet);
/// Also writes to this file, appending, and no longer to one that was given before. DataError when it cannot be opened.
void add_log_file(const std::string& path);
void log(LogLevel level, std::string_view message);
inline void say(std::string_view message) {
  log(LogLevel::info, message);
}
inline void warn(std::string_view message) {
  log(LogLevel::warning, message);
}
inline void warn_each(const std::vector<std::string>& messages) {
  for (const std::string& message : messages) {
    warn(message);
  }
}
/// Nothing for an empty message.
inline void warn_if_any(std::string_view message) {
  if (!message.empty()) {
    warn(message);
  }
}
/// The last call: says in one line when lines of the file were lost, unless the verb has `failed` with a line of its own
/// (on a full disk, say), and removes the file if it is empty.
void end_log(bool failed);

}  // namespace weyl

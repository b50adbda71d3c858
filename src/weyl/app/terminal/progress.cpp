#include "weyl/app/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "weyl/core/check.h"

namespace weyl {

std::string clock_text(double seconds) {
  const int64_t all = std::llround(std::max(0.0, seconds));
  char buffer[32];
  if (all >= 3600) {
    std::snprintf(buffer, sizeof buffer, "%lld:%02d:%02d", static_cast<long long>(all / 3600),
                  static_cast<int>(all / 60 % 60), static_cast<int>(all % 60));
  } else {
    std::snprintf(buffer, sizeof buffer, "%d:%02d", static_cast<int>(all / 60), static_cast<int>(all % 60));
  }
  return buffer;
}

std::string progress_line(std::string_view what, int64_t done, int64_t total, double seconds,
                          std::string_view note, int width) {
  std::string line(what);
  if (total > 0) {
    const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    if (width > 0) {
      const int full = static_cast<int>(share * width);
      line.append(" [").append(static_cast<size_t>(full), '#');
      line.append(static_cast<size_t>(width - full), '.').append("]");
    }
    line += text(" ", done, "/", total, " ", static_cast<int>(100 * share), "%");
    line += "  " + clock_text(seconds);
    if (done > 0 && done < total) {
      line += " left " + clock_text(seconds * (1 - share) / share);
    }
  } else {
    line += text(" ", done, "  ", clock_text(seconds));
  }
  if (!note.empty()) {
    line += "  ";
    line += note;
  }
  return line;
}

Progress::Style Progress::style_for_stderr(bool quiet) {
  if (quiet) {
    return Style::none;
  }
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return isatty(STDERR_FILENO) == 1 && !dumb ? Style::bar : Style::lines;
}

int64_t columns_of_stderr(int64_t otherwise) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

Progress::Progress(std::string what, int64_t total, Style style, double seconds_between_lines)
    : what_(std::move(what)),
      total_(total),
      style_(style),
      between_(seconds_between_lines),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  clear();
}

void Progress::update(int64_t done, std::string_view note) {
  if (style_ == Style::none) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  const double since = std::chrono::duration<double>(now - last_).count();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const bool finished = total_ > 0 && done >= total_;
  if (style_ == Style::lines) {
    if (since < between_ && !(finished && seconds >= between_)) {
      return;
    }
    std::fprintf(stderr, "%s\n", progress_line(what_, done, total_, seconds, note, 0).c_str());
  } else {
    if (drawn_ && since < 0.1 && !finished) {
      return;
    }
    const auto columns = static_cast<size_t>(columns_of_stderr(80));
    std::string line = progress_line(what_, done, total_, seconds, note, columns >= 100 ? 24 : 12);
    if (line.size() >= columns) {
      line.resize(columns - 1);
    }
    // Erase to the end of the line instead of padding; no colour, so NO_COLOR has nothing to switch off.
    std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
    drawn_ = true;
  }
  std::fflush(stderr);
  last_ = now;
}

void Progress::clear() {
  if (drawn_) {
    std::fprintf(stderr, "\r\x1b[K");
    std::fflush(stderr);
    drawn_ = false;
  }
}

}  // namespace weyl

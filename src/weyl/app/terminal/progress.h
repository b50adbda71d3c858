#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weyl {

/// "3:07", "1:02:45": how people read seconds.
std::string clock_text(double seconds);

/// One state as a line of text: "train  340/1000  34%  0:12 left 0:23  loss 0.12". `total` 0: unknown. The
/// time left assumes the mean speed so far. `width` 0 draws no bar.
std::string progress_line(std::string_view what, int64_t done, int64_t total, double seconds,
                          std::string_view note, int width);

/// Characters that a line of the terminal has; `otherwise` where stderr is none.
int64_t columns_of_stderr(int64_t otherwise);

/// Progress on stderr: a bar that redraws itself on a terminal, else one line per interval, or nothing.
class Progress {
 public:
  enum class Style { none, lines, bar };

  /// A bar on a terminal, lines otherwise, nothing when quiet.
  static Style style_for_stderr(bool quiet);

  Progress(std::string what, int64_t total, Style style, double seconds_between_lines = 20);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(int64_t done, std::string_view note = {});
  /// When the end becomes known, or known better.
  void set_total(int64_t total) { total_ = total; }
  /// Takes the bar off the terminal, so that a line can be printed; the next update draws it again.
  void clear();

 private:
  std::string what_;
  int64_t total_;
  Style style_;
  double between_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace weyl

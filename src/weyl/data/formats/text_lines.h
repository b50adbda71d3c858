#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/data/formats/byte_source.h"

namespace weyl {

/// Characters that a line may have unless said otherwise.
constexpr size_t longest_text_line = size_t{1} << 24;

/// The lines of a text, one after the other; only the one at hand is in memory. A byte order mark before the
/// first and carriage returns at ends are dropped. `where` names the file in messages. DataError: a line of
/// more than `longest` characters, a source that ends before its end.
class TextLines {
 public:
  TextLines(std::unique_ptr<ByteSource> source, std::string_view where, size_t longest = longest_text_line);

  /// Goes to the next line; false at the end.
  bool next();
  /// As `next`, past lines of blanks.
  bool next_filled();
  /// As `next_filled`, to the first line of another frame, which messages then name.
  bool next_frame();
  /// The next `next` stays at this line.
  void hold() { held_ = true; }
  /// The line at hand, valid until `next`.
  std::string_view line() const { return line_; }
  int64_t number() const { return number_; }  // from 1
  int64_t frame() const { return frame_; }    // from 1; 0: none yet
  const std::string& where() const { return where_; }

  /// DataError naming the file, the frame, if there are such, and the line at hand unless `holds`.
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      throw DataError(text(place(number_), ": ", parts...));
    }
  }

 private:
  bool fill();
  std::string place(int64_t line) const;
  void check_length(size_t size) const;  // of the line after the one at hand

  std::unique_ptr<ByteSource> source_;
  std::string where_;
  size_t longest_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // of what is read and not yet given
  std::string_view line_;
  int64_t number_ = 0, frame_ = 0;
  bool held_ = false, ended_ = false;
};

/// Blanks between words of a line.
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// Takes the first word, and the blanks before it, from a line; empty at its end.
std::string_view take_word(std::string_view& line);

}  // namespace weyl

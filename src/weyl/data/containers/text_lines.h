#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {

/// The most characters that a line may have unless said otherwise.
constexpr size_t longest_text_line = size_t{1} << 24;

/// The lines of a text, one after the other; only the current line is in memory. A byte order mark before the first
/// line and carriage returns at line ends are dropped. `where` names the file in messages. DataError: a line of more
/// than `longest` characters, or a source that ends too early.
class TextLines {
 public:
  TextLines(std::unique_ptr<ByteSource> source, std::string_view where, size_t longest = longest_text_line);

  /// Goes to the next line; false at the end.
  bool next();
  /// Goes to the next line that is not blank.
  bool next_filled();
  /// Goes to the next line that is not blank, as the first of another frame, which messages then name.
  bool next_frame();
  /// Makes the next call of `next` stay at this line.
  void hold() { held_ = true; }
  /// The byte at which the line begins that `next` goes to; nothing where the source cannot go back to it.
  std::optional<uint64_t> place() const;
  /// Makes `next` go to the line that begins at this byte. How many lines and frames are before it nobody knows: messages name
  /// the byte and count lines from there.
  void go_to(uint64_t byte);
  /// The current line, valid until `next`.
  std::string_view line() const { return line_; }
  int64_t number() const { return number_; }  // from 1
  int64_t frame() const { return frame_; }    // from 1; 0: none yet
  const std::string& where() const { return where_; }
  /// The file with the current frame and a line of it, for messages: "water.xyz: frame 12, line 310".
  std::string where(int64_t line) const;

  /// DataError unless `holds`. The message names the file, the frame (if there are frames) and the current line.
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      throw DataError(text(where(number_), ": ", parts...));
    }
  }

 private:
  bool fill();
  void check_length(size_t size) const;  // of the line after the current one

  std::unique_ptr<ByteSource> source_;
  std::string where_;
  size_t longest_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // what is read but not yet given
  uint64_t base_ = 0;           // the byte of the file that the buffer begins with,
  uint64_t line_place_ = 0;     // and the current line
  std::string_view line_;
  int64_t number_ = 0, frame_ = 0;
  std::optional<uint64_t> from_;  // the byte that lines are counted from; nothing: the file's first
  bool held_ = false, ended_ = false;
};

/// Whether a character separates the words of a line.
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/// The text without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// What stands between the commas of a line, without blanks at the ends.
std::vector<std::string_view> comma_cells(std::string_view line);

/// Removes the first word of a line, and the blanks before it, and returns the word; empty at the end of the line.
std::string_view take_word(std::string_view& line);

}  // namespace weyl

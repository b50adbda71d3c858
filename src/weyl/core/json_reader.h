#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

enum class JsonDialect {
  standard,  // RFC 8259
  python  // what Python's `json` writes: NaN, Infinity and -Infinity are numbers, half a surrogate pair is U+FFFD
};

enum class JsonEvent {
  null,
  boolean,
  number,
  string,
  key,
  begin_array,
  end_array,
  begin_object,
  end_object,
  end
};

/// Goes through a JSON text event by event: a value, or the begin, the keys, the values and the end of one that holds
/// others. It keeps one bit for each level, so that no text can exhaust the stack or the memory. How deep values may nest,
/// how many there may be and whether a key may be there twice is for the caller to say.
class JsonReader {
 public:
  /// The text must outlive the reader. What is wrong with it is a DataError of one line: `refusal`, where, and what must
  /// hold. Where is "line 1, column 8", or "byte 7" of Python's, which writes a file as one line.
  JsonReader(std::string_view text, std::string refusal, JsonDialect dialect = JsonDialect::standard);

  /// `end` behind the value of the text, and ever after.
  JsonEvent next();

  /// Of the event that next() returned last.
  bool boolean() const { return boolean_; }
  std::string& string() { return string_; }  // of a string or key; may be moved from
  std::string_view token() const { return text_.substr(begin_, at_ - begin_); }  // of a number
  std::optional<int64_t> integer() const {
    return integer_;
  }  // nothing of one with a fraction, an exponent or 64 bits
  double real() const { return real_; }         // of any number
  size_t begin_byte() const { return begin_; }  // where it begins in the text
  size_t end_byte() const { return at_; }

  [[noreturn]] void refuse(size_t byte, std::string_view what) const;

 private:
  enum class Place { value, first_item, first_key, behind };

  void check(bool holds, std::string_view what) const;
  char peek();
  JsonEvent read_behind(char c);
  JsonEvent read_key(char c);
  JsonEvent read_value(char c);
  JsonEvent close(JsonEvent event);
  void read_word(std::string_view word);
  bool read_python_number();
  void read_number(char c);
  void read_string();
  void read_escape();
  uint32_t read_hexadecimal();

  std::string_view text_;
  std::string refusal_;
  JsonDialect dialect_;
  size_t begin_ = 0, at_ = 0;
  Place place_ = Place::value;
  std::vector<bool> objects_;  // of each level, whether it is an object
  bool boolean_ = false;
  std::string string_;
  std::optional<int64_t> integer_;
  double real_ = 0;
};

}  // namespace weyl

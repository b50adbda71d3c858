#include "weyl/core/json_reader.h"

#include <algorithm>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"
#include "weyl/core/utf8.h"

namespace weyl {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

/// Where the number that a text begins with ends by the grammar; null when it is none.
const char* end_of_number(std::string_view text, bool& whole) {
  const char* at = text.data();
  const char* const last = at + text.size();
  const auto has = [&](char c) { return at < last && *at == c; };
  const auto digits = [&] {
    const char* const first = at;
    at = std::find_if_not(at, last, is_decimal);
    return at > first;
  };
  at += has('-') ? 1 : 0;
  if (has('0')) {
    ++at;
  } else if (!digits()) {
    return nullptr;
  }
  whole = true;
  if (has('.')) {
    ++at;
    whole = false;
    if (!digits()) {
      return nullptr;
    }
  }
  if (has('e') || has('E')) {
    ++at;
    whole = false;
    at += has('+') || has('-') ? 1 : 0;
    if (!digits()) {
      return nullptr;
    }
  }
  return at;
}

}  // namespace

JsonReader::JsonReader(std::string_view text, std::string refusal, JsonDialect dialect)
    : text_(text), refusal_(std::move(refusal)), dialect_(dialect) {
  at_ = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

void JsonReader::refuse(size_t byte, std::string_view what) const {
  if (dialect_ == JsonDialect::python) {
    throw DataError(text(refusal_, "byte ", byte, ": ", what));
  }
  const std::string_view before = text_.substr(0, byte);
  const size_t line_end = before.rfind('\n'), line = line_end == before.npos ? 0 : line_end + 1;
  throw DataError(text(refusal_, "line ", std::ranges::count(before, '\n') + 1, ", column ", byte - line + 1,
                       ": ", what));
}

void JsonReader::check(bool holds, std::string_view what) const {
  if (!holds) [[unlikely]] {
    refuse(at_, what);
  }
}

/// The next character that is no blank; 0 at the end.
char JsonReader::peek() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
  return at_ < text_.size() ? text_[at_] : '\0';
}

JsonEvent JsonReader::next() {
  const char c = peek();
  begin_ = at_;
  switch (place_) {
    case Place::first_item:
      return c == ']' ? close(JsonEvent::end_array) : read_value(c);
    case Place::first_key:
      return c == '}' ? close(JsonEvent::end_object) : read_key(c);
    case Place::behind:
      return read_behind(c);
    case Place::value:
      break;
  }
  return read_value(c);
}

/// Behind a value: the end of the text, the next item or member, or the end of what holds it.
JsonEvent JsonReader::read_behind(char c) {
  if (objects_.empty()) {
    check(at_ == text_.size(), "must end after its value");
    return JsonEvent::end;
  }
  const bool object = objects_.back();
  if (c == (object ? '}' : ']')) {
    return close(object ? JsonEvent::end_object : JsonEvent::end_array);
  }
  check(c == ',', "a comma or an end is missing");
  ++at_;
  c = peek();
  begin_ = at_;
  return object ? read_key(c) : read_value(c);
}

JsonEvent JsonReader::close(JsonEvent event) {
  ++at_;
  objects_.pop_back();
  place_ = Place::behind;
  return event;
}

JsonEvent JsonReader::read_key(char c) {
  check(c == '"', "a key is missing");
  read_string();
  check(peek() == ':', "a colon is missing");
  ++at_;
  place_ = Place::value;
  return JsonEvent::key;
}

JsonEvent JsonReader::read_value(char c) {
  place_ = Place::behind;
  switch (c) {
    case '[':
    case '{':
      ++at_;
      objects_.push_back(c == '{');
      place_ = c == '{' ? Place::first_key : Place::first_item;
      return c == '{' ? JsonEvent::begin_object : JsonEvent::begin_array;
    case '"':
      read_string();
      return JsonEvent::string;
    case 't':
    case 'f':
      boolean_ = c == 't';
      read_word(boolean_ ? "true" : "false");
      return JsonEvent::boolean;
    case 'n':
      read_word("null");
      return JsonEvent::null;
    default:
      read_number(c);
      return JsonEvent::number;
  }
}

void JsonReader::read_word(std::string_view word) {
  const std::string_view rest = text_.substr(at_);
  const auto same = static_cast<size_t>(std::ranges::mismatch(word, rest).in1 - word.begin());
  at_ += same;
  check(same == word.size(), "a value is missing");
}

/// NaN and the infinities; false when none of them is at hand.
bool JsonReader::read_python_number() {
  for (const auto& [word, value] :
       {std::pair<std::string_view, double>{"NaN", std::numeric_limits<double>::quiet_NaN()},
        {"Infinity", std::numeric_limits<double>::infinity()},
        {"-Infinity", -std::numeric_limits<double>::infinity()}}) {
    if (text_.substr(at_).starts_with(word)) {
      integer_.reset();
      real_ = value;
      at_ += word.size();
      return true;
    }
  }
  return false;
}

void JsonReader::read_number(char c) {
  if (!is_decimal(c)) {
    if (dialect_ == JsonDialect::python && read_python_number()) {
      return;
    }
    check(c == '-', "a value is missing");
  }
  const std::string_view rest = text_.substr(at_);
  bool whole = false;
  const char* const end = end_of_number(rest, whole);
  check(end != nullptr, "a number is none, or too large");
  const std::string_view digits(rest.data(), static_cast<size_t>(end - rest.data()));
  integer_ = whole ? parse_integer(digits) : std::nullopt;
  const auto real = integer_ ? static_cast<double>(*integer_) : parse_real(digits);
  check(real.has_value(), "a number is none, or too large");
  real_ = *real;
  at_ += digits.size();
}

void JsonReader::read_string() {
  string_.clear();
  for (++at_;;) {
    const size_t first = at_;
    while (at_ < text_.size() && text_[at_] >= 0x20 && text_[at_] < 0x7f && text_[at_] != '"' &&
           text_[at_] != '\\') {
      ++at_;
    }
    string_.append(text_, first, at_ - first);
    check(at_ < text_.size(), "a string does not end");
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return;
    }
    if (c == '\\') {
      ++at_;
      read_escape();
      continue;
    }
    check(static_cast<unsigned char>(c) >= 0x20, "a string must have no control characters");
    const Utf8 character = first_utf8(text_.substr(at_));
    check(character.valid, "a string must be UTF-8");
    string_.append(text_, at_, character.bytes);
    at_ += character.bytes;
  }
}

/// Past an escape, whose letter is at hand.
void JsonReader::read_escape() {
  constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (const size_t i = letters.find(c); i != letters.npos) {
    string_ += meant[i];
    ++at_;
    return;
  }
  check(c == 'u', "a string has an escape that is none");
  constexpr uint32_t high = 0xd800, low = 0xdc00, end = 0xe000, replacement = 0xfffd;
  uint32_t code = read_hexadecimal();
  if (code >= high && code < low && text_.substr(at_).starts_with("\\u")) {
    const size_t before = at_++;
    const uint32_t second = read_hexadecimal();
    if (second >= low && second < end) {
      code = 0x10000 + ((code - high) << 10U) + (second - low);
    } else {
      at_ = before;
    }
  }
  const bool half = code >= high && code < end;
  check(!half || dialect_ == JsonDialect::python, "a string has half of a surrogate pair");
  append_utf8(string_, half ? replacement : code);
}

/// The four digits behind a 'u', which is at hand; goes past them.
uint32_t JsonReader::read_hexadecimal() {
  uint32_t code = 0;
  for (int digit = 0; digit < 4; ++digit) {
    const char c = ++at_ < text_.size() ? text_[at_] : '\0';
    const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    check(is_decimal(c) || letter, "an escape \\u must have four digits");
    code = 16 * code + static_cast<uint32_t>(letter ? (c | 0x20) - 'a' + 10 : c - '0');
  }
  ++at_;
  return code;
}

}  // namespace weyl

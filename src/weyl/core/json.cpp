#include "weyl/core/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

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

namespace {

constexpr size_t kSearched = 16;  // members of an object that are searched one by one

/// Builds a value event by event. It keeps the values that are open, no more than json_depth_limit of them, so that no
/// text can exhaust the stack.
class Builder {
 public:
  explicit Builder(std::string_view where) : where_(where) {}

  Json build(JsonReader& reader) {
    for (JsonEvent event = reader.next(); event != JsonEvent::end; event = reader.next()) {
      take(reader, event);
    }
    return std::move(root_);
  }

 private:
  struct Open {
    Json value;
    std::string key;  // of the member that comes next
  };

  void take(JsonReader& reader, JsonEvent event) {
    switch (event) {
      case JsonEvent::null:
        return put({});
      case JsonEvent::boolean:
        return put(reader.boolean());
      case JsonEvent::number:
        return put(reader.integer() ? Json(*reader.integer()) : Json(reader.real()));
      case JsonEvent::string:
        return put(std::move(reader.string()));
      case JsonEvent::key:
        open_.back().key = std::move(reader.string());
        return;
      case JsonEvent::begin_array:
        return open(Json::array());
      case JsonEvent::begin_object:
        return open(Json::object());
      default:
        return close();
    }
  }

  void put(Json value) {
    require<DataError>(++values_ <= json_values_limit, where_, ": JSON must have at most ", json_values_limit,
                       " values");
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_object()) {
      open_.back().value.set(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().value.add(std::move(value));
    }
  }

  void open(Json value) {
    require<DataError>(static_cast<int64_t>(open_.size()) < json_depth_limit, where_,
                       ": JSON must nest at most ", json_depth_limit, " deep");
    open_.push_back({std::move(value), {}});
  }

  void close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    put(std::move(value));
  }

  std::string_view where_;
  Json root_;
  std::vector<Open> open_;
  int64_t values_ = 0;
};

/// The shortest digits that read as the same number, and a mark that it is no integer: 2.5, 1.0, 1e-05. From 1e-4 to
/// below 1e15 without an exponent.
void append_real(std::string& to, double x) {
  std::array<char, 32> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(x), std::chars_format::scientific);
  const std::string_view scientific(buffer.data(), static_cast<size_t>(end - buffer.data()));  // 1.25e-07
  const size_t e = scientific.find('e');
  std::string digits(1, scientific[0]);
  digits += e > 2 ? scientific.substr(2, e - 2) : "";
  int power = 0;
  const size_t sign = scientific[e + 1] == '+' ? 1 : 0;  // which from_chars refuses
  std::from_chars(scientific.data() + e + 1 + sign, end, power);
  const int count = static_cast<int>(digits.size()), point = power + 1;  // digits before the point
  to += std::signbit(x) ? "-" : "";
  if (x == 0) {
    to += "0.0";
  } else if (point > 15 || point <= -4) {
    to += digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "");
    to += scientific.substr(e);
  } else if (point <= 0) {
    to += "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  } else if (point >= count) {
    to += digits + std::string(static_cast<size_t>(point - count), '0') + ".0";
  } else {
    to += digits.insert(static_cast<size_t>(point), ".");
  }
}

}  // namespace

std::string json_string(std::string_view words) {
  constexpr std::string_view named = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt", digits = "0123456789abcdef";
  std::string out(1, '"');
  while (!words.empty()) {
    const char c = words.front();
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      out += c;
      words.remove_prefix(1);
      continue;
    }
    const Utf8 first = first_utf8(words);
    if (const size_t i = named.find(c); i != named.npos) {
      out += {'\\', letters[i]};
    } else if (!first.valid) {
      append_utf8(out, 0xfffd);
    } else if (first.code < 0x20) {
      out += {'\\', 'u', '0', '0', digits[first.code >> 4], digits[first.code & 15]};
    } else {
      out += words.substr(0, first.bytes);
    }
    words.remove_prefix(first.bytes);
  }
  return out + '"';
}

/// Appends a value to a text, indented.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void write(const Json& value) {
    std::visit([&](const auto& v) { put(v); }, value.value_);
  }

 private:
  void put(std::monostate /*null*/) { out_ += "null"; }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(int64_t value) { out_ += std::to_string(value); }
  void put(double value) {
    if (std::isfinite(value)) {
      append_real(out_, value);
    } else {
      out_ += "null";
    }
  }
  void put(const std::string& value) { out_ += json_string(value); }
  void put(const Json::Items& items) {
    enclose('[', items, ']', [&](const Json& item) { write(item); });
  }
  void put(const Json::Members& members) {
    enclose('{', members.list, '}', [&](const std::pair<std::string, Json>& member) {
      put(member.first);
      out_ += ": ";
      write(member.second);
    });
  }

  template <class Range, class F>
  void enclose(char begin, const Range& range, char end, F f) {
    out_ += begin;
    depth_ += 2;
    for (const auto& item : range) {
      out_ += &item == range.data() ? "\n" : ",\n";
      out_.append(depth_, ' ');
      f(item);
    }
    depth_ -= 2;
    if (!range.empty()) {
      out_ += '\n';
      out_.append(depth_, ' ');
    }
    out_ += end;
  }

  std::string& out_;
  size_t depth_ = 0;
};

Json::Members::Members(const Members& other)
    : list(other.list), places(other.places ? std::make_unique<Places>(*other.places) : nullptr) {}

Json::Members& Json::Members::operator=(Members other) noexcept {
  list = std::move(other.list);
  places = std::move(other.places);
  return *this;
}

size_t Json::Members::find(std::string_view key) const {
  if (places) {
    const auto found = places->find(key);
    return found == places->end() ? list.size() : found->second;
  }
  return static_cast<size_t>(std::ranges::find(list, key, &std::pair<std::string, Json>::first) -
                             list.begin());
}

void Json::Members::set(std::string key, Json value) {
  if (const size_t at = find(key); at < list.size()) {
    list[at].second = std::move(value);
    return;
  }
  list.emplace_back(std::move(key), std::move(value));
  if (places) {
    places->emplace(list.back().first, list.size() - 1);
  } else if (list.size() > kSearched) {
    places = std::make_unique<Places>();
    for (size_t at = 0; at < list.size(); ++at) {
      places->emplace(list[at].first, at);
    }
  }
}

Json Json::object() {
  Json json;
  json.value_ = Members{};
  return json;
}

Json Json::array() {
  Json json;
  json.value_ = Items{};
  return json;
}

Json Json::array(const std::vector<std::string>& texts) {
  Json json;
  json.value_ = Items(texts.begin(), texts.end());
  return json;
}

Json Json::parse(std::string_view text, std::string_view where) {
  JsonReader reader(text, std::string(where) + ": must be valid JSON, ");
  return Builder(where).build(reader);
}

Json& Json::set(std::string key, Json value) {
  require(is_object(), "Json::set: must be called on an object");
  std::get<Members>(value_).set(std::move(key), std::move(value));
  return *this;
}

Json& Json::add(Json value) {
  require(std::holds_alternative<Items>(value_), "Json::add: must be called on an array");
  std::get<Items>(value_).push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Members>(&value_);
  const size_t at = members != nullptr ? members->find(key) : 0;
  return members != nullptr && at < members->list.size() ? &members->list[at].second : nullptr;
}

const std::vector<Json>& Json::items() const {
  static const Items none;
  const auto* items = std::get_if<Items>(&value_);
  return items != nullptr ? *items : none;
}

const std::vector<std::pair<std::string, Json>>& Json::members() const {
  static const std::vector<std::pair<std::string, Json>> none;
  const auto* members = std::get_if<Members>(&value_);
  return members != nullptr ? members->list : none;
}

std::string Json::string_or(std::string_view otherwise) const {
  const auto* s = std::get_if<std::string>(&value_);
  return s != nullptr ? *s : std::string(otherwise);
}

double Json::number_or(double otherwise) const {
  if (const auto* i = std::get_if<int64_t>(&value_)) {
    return static_cast<double>(*i);
  }
  const auto* d = std::get_if<double>(&value_);
  return d != nullptr ? *d : otherwise;
}

std::string Json::dump() const {
  std::string out;
  JsonWriter(out).write(*this);
  return out;
}

}  // namespace weyl

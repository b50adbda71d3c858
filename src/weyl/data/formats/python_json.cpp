#include "weyl/data/formats/python_json.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

using List = PythonJson::List;
using Members = PythonJson::Members;

constexpr int64_t kValue = 8;  // what one counts that is no number of an array

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool begins_number(char c) {
  return is_digit(c) || c == '-' || c == 'N' || c == 'I';
}

void append_utf8(std::string& to, uint32_t c) {
  const auto put = [&](uint32_t byte) { to += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6U);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12U);
    put(0x80 | (c >> 6U & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18U);
    put(0x80 | (c >> 12U & 0x3F));
    put(0x80 | (c >> 6U & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

/// A list of one kind as values of that kind; other lists stay.
template <class T>
bool flatten(PythonJson& list) {
  auto& items = std::get<List>(list.value);
  if (!std::ranges::all_of(items, [](const PythonJson& v) { return std::holds_alternative<T>(v.value); })) {
    return false;
  }
  std::vector<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>> flat;
  flat.reserve(items.size());
  for (PythonJson& item : items) {
    flat.push_back(std::move(std::get<T>(item.value)));
  }
  list.value = FrameValues(std::move(flat));
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  PythonJson all() {
    PythonJson result = value(0);
    blanks();
    check(at_ == text_.size(), "must end after its value");
    return result;
  }

 private:
  void check(bool holds, const char* what) const {
    require<DataError>(holds, where_, ": must be valid JSON, byte ", at_, ": ", what);
  }

  void count(int64_t more) {
    counted_ += more;
    require<DataError>(counted_ <= python_json_limit, where_, ": JSON must hold at most ", python_json_limit,
                       " numbers, or ", python_json_limit / kValue, " other values");
  }

  void blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  /// The next character that is no blank; 0 at the end.
  char next() {
    blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(std::string_view word) {
    const bool found = text_.substr(at_).starts_with(word);
    at_ += found ? word.size() : 0;
    return found;
  }

  PythonJson value(int depth) {
    const char c = next();
    if (c == '[' || c == '{') {
      check(depth < python_json_depth, "lists and objects must nest at most 64 deep");
      return c == '[' ? list(depth) : object(depth);
    }
    count(kValue);
    if (c == '"') {
      return {string()};
    }
    if (begins_number(c)) {
      return std::visit([](auto x) { return PythonJson{x}; }, number());
    }
    if (take("true")) {
      return {true};
    }
    if (take("false")) {
      return {false};
    }
    check(take("null"), "a value is missing");
    return {};
  }

  std::variant<int64_t, double> number() {
    if (take("NaN")) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (take("Infinity")) {
      return std::numeric_limits<double>::infinity();
    }
    if (take("-Infinity")) {
      return -std::numeric_limits<double>::infinity();
    }
    size_t end = at_;
    bool real = false;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      if (c == '.' || c == 'e' || c == 'E') {
        real = true;
      } else if (!is_digit(c) && c != '-' && c != '+') {
        break;
      }
    }
    const std::string_view token = text_.substr(at_, end - at_);
    if (const auto integer = real ? std::nullopt : parse_integer(token)) {
      at_ = end;
      return *integer;
    }
    const auto x = parse_real(token);  // integers of Python have any size
    check(x.has_value(), "a number is none, or too large");
    at_ = end;
    return *x;
  }

  std::string string() {
    std::string result;
    for (++at_;; ++at_) {
      check(at_ < text_.size(), "a string does not end");
      const char c = text_[at_];
      check(static_cast<unsigned char>(c) >= 0x20, "a string must have no control characters");
      if (c == '"') {
        ++at_;
        return result;
      }
      if (c == '\\') {
        ++at_;
        escape(result);
      } else {
        result += c;
      }
    }
  }

  /// Of an escape, whose letter is at hand, goes to the last character.
  void escape(std::string& to) {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (const size_t i = letters.find(c); i != std::string_view::npos) {
      to += meant[i];
      return;
    }
    check(c == 'u', "a string has an escape that is none");
    constexpr uint32_t high = 0xD800, low = 0xDC00, end = 0xE000, replacement = 0xFFFD;
    uint32_t code = hexadecimal();
    if (code >= high && code < low && text_.substr(at_ + 1).starts_with("\\u")) {
      const size_t before = at_;
      at_ += 2;
      const uint32_t second = hexadecimal();
      if (second >= low && second < end) {
        code = 0x10000 + ((code - high) << 10U) + (second - low);
      } else {
        at_ = before;
      }
    }
    append_utf8(to, code >= high && code < end ? replacement : code);
  }

  /// The four digits behind a 'u', of which it goes to the last.
  uint32_t hexadecimal() {
    uint32_t code = 0;
    for (int digit = 0; digit < 4; ++digit) {
      const char c = ++at_ < text_.size() ? text_[at_] : '\0';
      const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      check(is_digit(c) || letter, "an escape \\u must have four digits");
      code = 16 * code + static_cast<uint32_t>(letter ? (c | 0x20) - 'a' + 10 : c - '0');
    }
    return code;
  }

  /// Past a comma, or the end of a list or object.
  bool more(char end) {
    const char c = next();
    check(c == ',' || c == end, "a comma or an end is missing");
    ++at_;
    return c == ',';
  }

  PythonJson list(int depth) {
    count(kValue);
    ++at_;
    if (next() == ']') {
      ++at_;
      return {List{}};
    }
    PythonJson result{List{}};
    auto& items = std::get<List>(result.value);
    if (begins_number(text_[at_])) {
      bool ended = false;
      FrameValues flat = numbers(ended);
      if (ended) {
        return {std::move(flat)};
      }
      std::visit([&](const auto& all) { spread(all, items); }, flat);
    }
    do {
      items.push_back(value(depth + 1));
    } while (more(']'));
    flatten<bool>(result) || flatten<std::string>(result);
    return result;
  }

  template <class T>
  void spread(const std::vector<T>& numbers, List& to) {
    if constexpr (std::is_arithmetic_v<T>) {
      count((kValue - 1) * static_cast<int64_t>(numbers.size()));
      std::ranges::for_each(numbers, [&](T x) { to.push_back({x}); });
    }
  }

  /// The numbers that follow, to the end of their list or to an item that is none.
  FrameValues numbers(bool& ended) {
    std::vector<int64_t> integers;
    std::vector<double> reals;
    bool is_real = false;
    do {
      if (!begins_number(next())) {
        return is_real ? FrameValues(std::move(reals)) : FrameValues(std::move(integers));
      }
      count(1);
      const auto x = number();
      if (!is_real && std::holds_alternative<double>(x)) {
        is_real = true;
        reals.assign(integers.begin(), integers.end());
        integers = {};
      }
      if (is_real) {
        reals.push_back(std::visit([](auto n) { return static_cast<double>(n); }, x));
      } else {
        integers.push_back(std::get<int64_t>(x));
      }
    } while (more(']'));
    ended = true;
    return is_real ? FrameValues(std::move(reals)) : FrameValues(std::move(integers));
  }

  PythonJson object(int depth) {
    count(kValue);
    ++at_;
    Members members;
    if (next() == '}') {
      ++at_;
      return {std::move(members)};
    }
    do {
      check(next() == '"', "a key is missing");
      std::string key = string();
      check(next() == ':', "a colon is missing");
      ++at_;
      members.push_back({std::move(key), value(depth + 1)});
    } while (more('}'));
    std::vector<std::string_view> keys;
    std::ranges::transform(members, std::back_inserter(keys),
                           [](const auto& member) { return std::string_view(member.key); });
    std::ranges::sort(keys);
    check(std::ranges::adjacent_find(keys) == keys.end(), "the object before it has a key twice");
    return {std::move(members)};
  }

  std::string_view text_, where_;
  size_t at_ = 0;
  int64_t counted_ = 0;
};

}  // namespace

const PythonJson* PythonJson::find(std::string_view key) const {
  const auto* members = std::get_if<Members>(&value);
  if (members == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find(*members, key, &PythonMember::key);
  return found == members->end() ? nullptr : &found->value;
}

PythonJson parse_python_json(std::string_view text, std::string_view where) {
  return Parser(text, where).all();
}

}  // namespace weyl

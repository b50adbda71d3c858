#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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

/// What a JSON text that is read may hold: arrays and objects in one another, and values in all (a value takes
/// 40 bytes, a text as little as two).
constexpr int64_t json_depth_limit = 64;
constexpr int64_t json_values_limit = int64_t{1} << 22;

/// A JSON value: what a verb prints, what a file says about itself. Objects keep the order in which their
/// keys were set; setting and finding a key takes logarithmic time. Numbers that JSON cannot hold (NaN,
/// infinities) are written as null: "no such number".
class Json {
 public:
  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(int value) : value_(static_cast<int64_t>(value)) {}
  Json(int64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}

  static Json object();
  static Json array();
  static Json array(const std::vector<std::string>& texts);
  /// The value of a text that holds JSON (core/json.h); of a key that is there twice, the last value. DataError
  /// naming `where` when it does not, and beyond the limits above, which hold while the text is parsed.
  static Json parse(std::string_view text, std::string_view where);

  Json& set(std::string key, Json value);  // of an object; replaces an earlier value
  Json& add(Json value);                   // of an array

  bool is_object() const { return std::holds_alternative<Members>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  const Json* find(std::string_view key) const;  // null when this is no object or has no such key
  const std::vector<Json>& items() const;        // of an array, else empty
  const std::vector<std::pair<std::string, Json>>& members() const;  // of an object, else empty
  std::string string_or(std::string_view otherwise) const;
  double number_or(double otherwise) const;

  /// Indented by two blanks. Text that is no UTF-8 gets U+FFFD for what is wrong.
  std::string dump() const;

 private:
  /// The members of an object in their order, and of a large one the places of its keys: a tree, because no
  /// choice of keys slows it down, as one of a hash table would.
  struct Members {
    using Places = std::map<std::string, size_t, std::less<>>;

    Members() = default;
    Members(const Members& other);
    Members(Members&& other) noexcept = default;
    Members& operator=(Members other) noexcept;
    ~Members() = default;

    size_t find(std::string_view key) const;  // its place in `list`, past the last when it has none
    void set(std::string key, Json value);

    std::vector<std::pair<std::string, Json>> list;
    std::unique_ptr<Places> places;
  };
  using Items = std::vector<Json>;
  std::variant<std::monostate, bool, int64_t, double, std::string, Items, Members> value_;
  friend class JsonWriter;
};

/// Words as a string of JSON, quotes included. What is no UTF-8 in them gets U+FFFD.
std::string json_string(std::string_view words);

}  // namespace weyl

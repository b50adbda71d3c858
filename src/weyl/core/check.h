#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace weyl {

/// The base of the project's errors. Each message is one line: where, what must hold, what was found.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A caller broke a function's contract (shapes, dtypes, ranges). Exit code 1.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// An error of usage or configuration. The message names the file, the line and the key. Exit code 2.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// An error in a data, weight or model file. The message names the file and the record. Exit code 3.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A file that exists but that the system does not open or read (too many open files, no permission, a broken disk).
/// The file may be whole, so nobody treats it as damaged.
class UnreadableError : public DataError {
 public:
  using DataError::DataError;
};

/// One part of a message: a text, a number, or anything that has an `operator<<`. It refers to its value, so it must
/// not outlive the call. It is written as a std::ostream writes it: a floating-point number with six digits, a bool as
/// 1 or 0, a signed or unsigned char as a character.
class Part {
 public:
  template <class T>
  Part(const T& value) {
    using Value = std::decay_t<T>;
    if constexpr (std::same_as<Value, char> || std::same_as<Value, signed char> ||
                  std::same_as<Value, unsigned char>) {
      kind_ = Kind::character;
      value_.character = static_cast<char>(value);
    } else if constexpr (std::same_as<Value, bool> || (std::unsigned_integral<Value> && sizeof(Value) <= 8)) {
      kind_ = Kind::natural;
      value_.natural = value;
    } else if constexpr (std::signed_integral<Value>) {
      kind_ = Kind::integer;
      value_.integer = value;
    } else if constexpr (std::same_as<Value, float> || std::same_as<Value, double>) {
      kind_ = Kind::real;
      value_.real = value;
    } else if constexpr (std::same_as<Value, std::string> || std::same_as<Value, std::string_view> ||
                         std::same_as<Value, const char*> || std::same_as<Value, char*>) {
      const std::string_view view(value);
      kind_ = Kind::text;
      value_.text = {view.data(), view.size()};
    } else {
      kind_ = Kind::streamed;
      value_.streamed = {&value,
                         [](std::ostream& out, const void* self) { out << *static_cast<const T*>(self); }};
    }
  }

  void append_to(std::string& message) const;

 private:
  enum class Kind { text, character, natural, integer, real, streamed };
  union Value {
    struct {
      const char* data;
      std::size_t size;
    } text;
    char character;
    std::uint64_t natural;
    std::int64_t integer;
    double real;
    struct {
      const void* self;
      void (*write)(std::ostream&, const void* self);
    } streamed;
  };
  Kind kind_;
  Value value_;
};

/// The parts of a message in one text, one after the other.
std::string joined_parts(std::initializer_list<Part> parts);

template <class... Parts>
std::string text(const Parts&... parts) {
  return joined_parts({Part(parts)...});
}

/// Throws `Kind` with the parts as its message unless `holds`.
template <class Kind = ShapeError, class... Parts>
void require(bool holds, const Parts&... parts) {
  if (!holds) [[unlikely]] {
    throw Kind(joined_parts({Part(parts)...}));
  }
}

}  // namespace weyl

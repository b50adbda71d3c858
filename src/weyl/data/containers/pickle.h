#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weyl {

/// A value of a pickled Python program, kept as a symbol. A class or function is its name; a call is recorded and never
/// made. `items` are indices into Pickle::values.
struct PickleValue {
  enum class Kind {
    none,
    boolean,  // integer
    integer,  // integer
    real,     // real
    text,     // text (UTF-8 is not checked); also the str of Python 2
    bytes,    // text
    tuple,    // items
    list,     // items
    dict,     // items: key, value, key, value, ... ; also collections.OrderedDict
    set,      // items
    global,   // text: the module, name
    call,  // items: the callable, its arguments (a tuple); integer: 1 + the index of its state (BUILD), 0: none
    persistent,  // items: the id
    other        // an integer beyond 64 bits
  };
  Kind kind = Kind::none;
  int64_t integer = 0;
  double real = 0;
  std::string_view text, name;  // into the pickle's bytes
  std::vector<uint32_t> items;
};
using PickleKind = PickleValue::Kind;

struct Pickle {
  std::vector<PickleValue> values;
  uint32_t root = 0;

  const PickleValue& operator[](uint32_t index) const { return values[index]; }
};

/// Limits of one pickle: the number of its values, and of the bytes of its program. The largest state dicts need a
/// fraction.
constexpr size_t most_pickle_values = size_t{1} << 22, most_pickle_bytes = size_t{1} << 26;

/// Reads a pickle of protocols 2 to 5 without executing anything: nothing is imported or called. The state of an
/// object (BUILD) is noted at its call; items of an unknown object are dropped. Values may refer to each other in circles, so walk
/// with a bound. `pickle` must outlive the result. DataError beginning with `where`: an unknown or cut opcode, a stack
/// that runs empty, or more than the limits.
Pickle parse_pickle(std::span<const std::byte> pickle, std::string_view where);

}  // namespace weyl

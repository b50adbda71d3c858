#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"

namespace weyl {

/// What refuse_idle throws: the first option that nothing reads.
class IdleOption : public ConfigError {
 public:
  IdleOption(const std::string& message, std::string path, std::string usual, std::string without)
      : ConfigError(message), path(std::move(path)), usual(std::move(usual)), without(std::move(without)) {}

  std::string path;     // "model.platonic.linear_norm"
  std::string usual;    // what it may be, as TOML: "\"typical\""
  std::string without;  // Conditional::without
};

/// An option that is read under a condition alone.
struct Conditional {
  std::string_view key;  // within its table, "positions.width"; a table stands for itself and all its keys
  bool acts = true;      // whether the condition holds
  std::string without;   // what keeps it from being read, after "has no effect": "with drop_path = 0"
};

/// Refuses the first option that nothing reads as the others stand, and that is not as `usual` (the defaults, or a
/// preset) has it: who sets it means something by it. A config in which it stands as usual, as a resolved one
/// writes it, passes. `table` is where the options stand, "model.platonic". IdleOption, one line: the key, why, what
/// it may be, what was found.
void refuse_idle(std::string_view table, const Visit& given, const Visit& usual,
                 std::span<const Conditional> options);

/// The same for an options struct; Visit would have to be written out for both.
template <class S>
void refuse_idle(std::string_view table, const S& given, const S& usual,
                 std::span<const Conditional> options) {
  S a = given, b = usual;
  refuse_idle(table, Visit([&](Fields& f) { fields(f, a); }), Visit([&](Fields& f) { fields(f, b); }),
              options);
}

}  // namespace weyl

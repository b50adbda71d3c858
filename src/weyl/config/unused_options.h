#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"

namespace weyl {

/// An option that is set but has no effect. refuse_unused throws it or adds it to the warnings.
class UnusedOption : public ConfigError {
 public:
  UnusedOption(const std::string& message, std::string path, std::string value, std::string without)
      : ConfigError(message), path(std::move(path)), value(std::move(value)), without(std::move(without)) {}

  /// A line for a warning: "model.platonic.linear_norm = \"constant\" has no effect without positions".
  std::string warning() const { return text(path, " = ", value, " has no effect ", without); }

  std::string path;     // "model.platonic.linear_norm"
  std::string value;    // what it is set to, as TOML
  std::string without;  // Conditional::without
};

/// Runs `look` and returns a warning for each option without effect that it meets on this thread, each option once.
/// Within it refuse_unused throws nothing. Options that are among the warnings `told` are left out.
std::vector<std::string> unused_option_warnings(const std::function<void()>& look,
                                                std::span<const std::string> told = {});

/// An option that is read only under a condition.
struct Conditional {
  std::string_view key;  // within its table, "positions.width"; a table stands for itself and all its keys
  bool acts = true;      // whether the condition holds
  std::string without;   // why it is not read, to follow "has no effect": "with drop_path = 0"
};

/// Reports options that are set but have no effect. An option is set when it differs from `usual`, the defaults or a
/// preset; so a resolved config, which writes every option, passes. `table` is where the options stand,
/// "model.platonic". The first such option is thrown as an UnusedOption (one line: the key, why, what it may be, what
/// was found). Within unused_option_warnings nothing is thrown; it gathers them all. ShapeError: an option has no such
/// key.
void refuse_unused(std::string_view table, const Visit& given, const Visit& usual,
                   std::span<const Conditional> options);

/// The same for an options struct, of which a Visit would otherwise have to be written out twice.
template <class S>
void refuse_unused(std::string_view table, const S& given, const S& usual,
                   std::span<const Conditional> options) {
  S a = given, b = usual;
  refuse_unused(table, Visit([&](Fields& f) { fields(f, a); }), Visit([&](Fields& f) { fields(f, b); }),
                options);
}

}  // namespace weyl

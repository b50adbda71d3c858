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

/// An option that is set but has no effect: what refuse_idle throws, or gathers.
class IdleOption : public ConfigError {
 public:
  IdleOption(const std::string& message, std::string path, std::string value, std::string without)
      : ConfigError(message), path(std::move(path)), value(std::move(value)), without(std::move(without)) {}

  /// A line for a warning: "model.platonic.linear_norm = \"constant\" has no effect without positions".
  std::string warning() const { return text(path, " = ", value, " has no effect ", without); }

  std::string path;     // "model.platonic.linear_norm"
  std::string value;    // what it is set to, as TOML
  std::string without;  // Conditional::without
};

/// Warnings of the options without effect that `look` comes upon on this thread: they are gathered, each once, and none is
/// refused. Left out are options that are among the warnings already told.
std::vector<std::string> idle_warnings(const std::function<void()>& look,
                                       std::span<const std::string> told = {});

/// An option that is read under a condition alone.
struct Conditional {
  std::string_view key;  // within its table, "positions.width"; a table stands for itself and all its keys
  bool acts = true;      // whether the condition holds
  std::string without;   // what keeps it from being read, after "has no effect": "with drop_path = 0"
};

/// Reports options that are set but have no effect. An option is set when it differs from `usual`, the defaults or a
/// preset; so a resolved config, which writes every option, passes. `table` is where the options stand,
/// "model.platonic". The first is thrown as an IdleOption (one line: the key, why, what it may be, what was found),
/// but within idle_warnings, which takes all of them.
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

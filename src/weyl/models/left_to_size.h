#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weyl/config/fields.h"
#include "weyl/core/check.h"

namespace weyl {

/// The keys of a system that `size`, the scaling study's n, decides ("Does equivariance matter at scale?", table 1): where
/// there is a size they are off in a config, read and written, so that whoever writes one beside it is told.
class LeftToSize {
 public:
  /// `beside` keeps the first key that a config gives beside a size; empty: none.
  LeftToSize(Fields& f, bool sized, std::string& beside) : f_(f), sized_(sized), beside_(beside) {}

  template <class T>
  void operator()(std::string_view key, T& value, std::string_view help, Range range) {
    if (!sized_) {
      f_(key, value, help, range);
      return;
    }
    std::optional<int64_t> given;
    f_(key, given, help, range);
    if (given && beside_.empty()) {
      beside_ = key;
    }
  }

 private:
  Fields& f_;
  bool sized_;
  std::string& beside_;
};

/// ConfigError where `beside` names a key. `table`: "model.gatr".
template <class Size>
void require_left_to_size(std::string_view table, const Size& size, const std::string& beside) {
  require<ConfigError>(!size || beside.empty(), table, ".", beside, ": must be left out beside ", table,
                       ".size, which decides it, got both");
}

}  // namespace weyl

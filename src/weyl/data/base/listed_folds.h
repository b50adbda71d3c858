#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weyl/core/check.h"

namespace weyl {

/// The number of folds that the files of a set list themselves, and the file that lists them. 0: none, and as many are drawn
/// as data.folds says (base/parts.h).
struct ListedFolds {
  int64_t count = 0;
  std::string file;
};

/// ConfigError unless a number of folds is that of the list, where there is one. `key` is where the number was given.
inline void require_listed(int64_t folds, const ListedFolds& listed, std::string_view key = "data.folds") {
  require<ConfigError>(listed.count == 0 || folds == listed.count, key, " must be ", listed.count,
                       ", the folds of ", listed.file, ", got ", folds);
}

}  // namespace weyl

// A small set of phantoms.
#pragma once

#include <string>

#include "weyl/data/options.h"
#include "weyl/makers/volumes/phantoms.h"

namespace weyl {

inline PhantomsMakerOptions small_phantoms(int64_t count = 5) {
  return {.count = count, .size = {20, 24, 18}, .spacing = {8, 7.5, 8}};
}

inline DecathlonDataOptions set_at(const std::string& path) {
  return {.path = path, .fractions = {0.4, 0.2, 0.4}};
}

}  // namespace weyl

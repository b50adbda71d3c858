#pragma once

#include <weyl/config/fields.h>

namespace skeleton {

/// Knows no torch: whatever reads configs can read these.
struct SkeletonOptions {
  static constexpr const char* name_in_config = "skeleton";
  int64_t width = 32, heads = 4, blocks = 2;
  int64_t shells = 8;
  double reach = 8;
};
void fields(weyl::Fields& f, SkeletonOptions& o);

}  // namespace skeleton

#include "options.h"

namespace skeleton {

void fields(weyl::Fields& f, SkeletonOptions& o) {
  f("width", o.width, "channels of a node", {1, 1e6});
  f("heads", o.heads, "attention heads", {1, 1e6});
  f("blocks", o.blocks, "transformer blocks", {0, 1000});
  f("shells", o.shells, "Gaussians that a distance is told by, each half as wide as the one before", {1, 64});
  f("reach", o.reach, "width of the widest, in the data's unit of length", {1e-6, 1e6});
}

}  // namespace skeleton

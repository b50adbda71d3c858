#include "weyl/data/images/image_input.h"

namespace weyl {

void fields(Fields& f, ImageInput& o) {
  f("carrier", o.carrier, "what an image is: a grid of pixels, or a point for each patch");
  f("patch", o.patch, "pixels of a patch's side, which must divide those of the image; of points", {1, 4096});
  f("patch_feature", o.patch_feature,
    "scalars of a patch: its pixels in the order channel, row, column, or the mean of each channel");
  f("threshold", o.threshold,
    "leaves out the patches whose brightest pixel, in [0, 1], is not above it (the brightest one stays); of "
    "points",
    {0, 1});
  f("normalise", o.normalise,
    "centres and scales the pixels by the set's constants; otherwise they are in [0, 1]");
}

}  // namespace weyl

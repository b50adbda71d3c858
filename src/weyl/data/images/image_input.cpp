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
  f("frame", o.frame,
    "gives each patch the axes of the image as two vectors, which tell up from right; they turn with the "
    "image. Of points");
  f("augment", o.augment, "changes training images at random; the images must have classes");
}

void fields(Fields& f, ImageAugmentation& o) {
  f("pad", o.pad,
    "takes a random part, as large as the image, of the image with so many black pixels around it",
    {0, 4096});
  f("resized_crop", o.resized_crop,
    "takes a random part of at least this share of the area, in sides of 3:4 to 4:3, and brings it to full "
    "size",
    {0.01, 1});
  f("flip", o.flip, "the mirror image, left for right, of half of the images");
  f("three", o.three, "3-Augment: makes each image grey, solarised or blurred, one of the three");
  f("jitter", o.jitter, "brightness, contrast and saturation times factors between 1 - jitter and 1 + jitter",
    {0, 1});
  f("hue", o.hue, "hue turned by up to this share of a full turn", {0, 0.5});
  f("mixup", o.mixup,
    "mixes each image and its class with another's: alpha of the Beta distribution of their shares; 0: off",
    {0, 100});
  f("cutmix", o.cutmix, "puts a rectangle of another image into each, classes mixed by area: alpha; 0: off",
    {0, 100});
}

}  // namespace weyl

#include "weyl/carriers/grid_augmentation.h"

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr const char* probability_help = "share of the samples that are changed so";
constexpr Range share{0, 1};

}  // namespace

void fields(Fields& f, GridRotation& o) {
  f("degrees", o.degrees, "the largest angle, either way", {0, 180});
  f("axis", o.axis, "in space: about any axis, or about one of the grid's own");
  f("probability", o.probability, probability_help, share);
}

void fields(Fields& f, GridElastic& o) {
  f("deviation", o.deviation,
    "standard deviation of the displacements of the control points along each axis, in cells of the finest axis",
    {0, 1e3});
  f("distance", o.distance, "of neighbouring control points, in the same cells", {1, 1e6});
  f("probability", o.probability, probability_help, share);
}

void fields(Fields& f, GridMirror& o) {
  f("axes", o.axes, "axes that may be mirrored, by number from 0; none: all", {0, 2});
  f("probability", o.probability, "of each axis by itself", share);
}

void fields(Fields& f, RandomFactor& o) {
  f("low", o.low, "the least that is drawn", {1e-3, 1e3});
  f("high", o.high, "the most that is drawn", {1e-3, 1e3});
  f("probability", o.probability, probability_help, share);
}

void fields(Fields& f, GridNoise& o) {
  f("deviation", o.deviation,
    "the largest standard deviation that is drawn, in those of the channel's values in the sample", {0, 1e3});
  f("probability", o.probability, probability_help, share);
}

void fields(Fields& f, GridAugmentation& o) {
  f("rotation", o.rotation,
    "turns by any angle, in the data's unit of length; labels turn too, outside of the grid all is 0");
  f("scale", o.scale, "sizes times a factor, about the middle of what is taken");
  f("elastic", o.elastic, "displacements that vary smoothly from place to place, by cubic splines");
  f("mirror", o.mirror, "the mirror image along some axes");
  f.also_called("mirror", {"flip", "mirroring"});
  f("noise", o.noise, "Gaussian noise, of every cell and channel by itself");
  f("blur", o.blur, "a Gaussian whose standard deviation is a factor of the finest axis's cells");
  f("brightness", o.brightness, "values times a factor, one for each channel");
  f("contrast", o.contrast,
    "differences from the channel's mean times a factor, one for each channel; kept within the channel's range");
  f("low_resolution", o.low_resolution,
    "values of coarser cells, the finest times 1 / factor, brought back by linear interpolation");
  f("gamma", o.gamma,
    "values, brought to 0 .. 1, to a power, one for each channel; mean and deviation stay as they are");
}

void check(const GridAugmentation& o, std::string_view where) {
  const auto ordered = [&](const auto& factor, const char* name) {
    require<ConfigError>(!factor || factor->low <= factor->high, where, ".", name, ".low: must be at most ",
                         "high, ", factor ? factor->high : 0, ", got ", factor ? factor->low : 0);
  };
  ordered(o.scale, "scale");
  ordered(o.blur, "blur");
  ordered(o.brightness, "brightness");
  ordered(o.contrast, "contrast");
  ordered(o.low_resolution, "low_resolution");
  ordered(o.gamma, "gamma");
  require<ConfigError>(!o.low_resolution || o.low_resolution->high <= 1, where,
                       ".low_resolution.high: must be at most 1, got ",
                       o.low_resolution ? o.low_resolution->high : 0);
}

}  // namespace weyl

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weyl/models/steerable/options.h"

namespace weyl::steerable {

/// A layer that changes how many pixels there are along an axis.
struct GridLayer {
  std::string name;  // "stages[0].pool"
  int64_t kernel = 1, stride = 1, padding = 0;
  bool pools = false;

  int64_t left_over(int64_t pixels) const { return (pixels + 2 * padding - kernel) % stride; }
  int64_t after(int64_t pixels) const {  // 0: too few pixels
    return pixels + 2 * padding < kernel ? 0 : (pixels + 2 * padding - kernel) / stride + 1;
  }
};

/// Those of the net of these options, from the input on; the decoder of a segmentation net goes back to the
/// same sizes and is left out.
std::vector<GridLayer> grid_layers(const Options& options, bool segmentation);

/// Cells of background that surround an input of so many pixels along an axis, on each side: the option's, or what the
/// convolutions without padding cut away, so that the first tokens stand over the first pixels, and as many more (at most a token's
/// spacing) as an exact net needs. Nothing where no convolution cuts.
int64_t margin_of(const Options& options, bool segmentation, int64_t pixels);

/// Fewest pixels along an axis that reach the end.
int64_t smallest_side(const std::vector<GridLayer>& layers);

/// The tokens that the stages leave of a grid, along one axis.
struct TokenRow {
  int64_t tokens = 0, spacing = 1;  // spacing in cells of the input; 0 tokens: too few cells
  /// Cells at the beginning and at the end of the input over which no token stands: each stands for `spacing` cells around its
  /// middle. Negative: tokens stand over the margin.
  double before = 0, after = 0;
};

/// Along an axis of so many cells, with the margin that the net surrounds them by.
TokenRow tokens_of(const Options& options, bool segmentation, int64_t pixels);

/// Why a net does not turn exactly with its grid.
struct GeometryFinding {
  std::string layer;             // "stages[0].pool", "input", "coupling"
  std::string text;              // one line
  int64_t below = 0, above = 0;  // nearest sides with which this is mended; 0: none
};

/// What keeps the net of these options from turning exactly by quarter turns (in space: with the 24 rotations
/// of the cube) on inputs of this shape, (H, W) or (X, Y, Z), and with this distance of neighbours along each
/// axis (none: all the same); nothing: it does. An exact net has a square or
/// a cube before it, and no layer that leaves a row over at one end: (n + 2 padding - kernel) divisible by
/// the stride, pools that divide n.
std::vector<GeometryFinding> check_geometry(const Options& options, bool segmentation,
                                            std::span<const int64_t> shape,
                                            std::span<const double> spacing = {});

}  // namespace weyl::steerable

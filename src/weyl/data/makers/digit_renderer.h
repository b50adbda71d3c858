#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weyl/data/makers/digit_fonts.h"

namespace weyl {

/// How a digit stands in its image, in pixels; x to the right, y up, the origin in the middle.
struct DigitShape {
  double height = 20;
  double width = 1;   // over that of the font at this height
  double slant = 0;   // x moves by so much of y
  double stroke = 0;  // added to the width of the strokes
  double x = 0, y = 0;
  double angle = 0;  // degrees, counter-clockwise about the middle of the image, after all others
};

/// Draws outlines by exact area coverage; turned outlines are drawn as such, nothing is resampled. One thread
/// at a time.
class DigitRenderer {
 public:
  DigitRenderer();
  ~DigitRenderer();
  DigitRenderer(const DigitRenderer&) = delete;
  DigitRenderer& operator=(const DigitRenderer&) = delete;

  /// (side, side) grey in 0 .. 255, row-major, ink 255. A digit that would leave the circle inside the image
  /// in some rotation is made smaller, so that all rotations of one shape are whole.
  std::vector<uint8_t> draw(const DigitOutline& outline, const DigitShape& shape, int64_t side);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weyl

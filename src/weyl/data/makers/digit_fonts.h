#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weyl {

/// The outline of one digit as FreeType has it: quadratic or cubic curves of closed contours, y upwards,
/// scaled so that the digit is `digit_height` high.
struct DigitOutline {
  std::vector<std::pair<int64_t, int64_t>> points;
  std::vector<uint8_t> tags;  // of each point: on the curve or control
  std::vector<int16_t> ends;  // the last point of each contour
  int flags = 0;              // FreeType's: fill rule, orientation
};
constexpr double digit_height = 65536;

struct DigitFont {
  std::string file;  // below the folder of fonts
  std::array<DigitOutline, 10> digits;
};

/// The fonts of one split, by group of families that look alike (Helvetica's kin, Times's kin, ...).
struct DigitFonts {
  std::vector<std::vector<DigitFont>> groups;
};

/// Loads the fonts of training or testing from Debian's font packages below `folder` (/usr/share/fonts): 7
/// and 4 groups that have no family in common. DataError: a font that is not there, with the package that has
/// it, or one that is broken.
DigitFonts load_digit_fonts(const std::string& folder, bool testing);

/// The files that it loads.
std::vector<std::string> digit_font_files(bool testing);

}  // namespace weyl

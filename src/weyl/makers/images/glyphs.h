#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

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

/// How the images of a set are turned, each by itself: not at all, by 0, 90, 180 or 270 degrees, by any
/// angle.
enum class GlyphRotation { none, quarter, any };
constexpr auto names_of(GlyphRotation) {
  return std::array<std::string_view, 3>{"none", "quarter", "any"};
}

/// Printed digits in grey, 28 x 28, in the files of rotated MNIST: each digit of a font drawn at random among
/// the groups of the split (no font family is in both), height uniform in 14 .. 20 pixels, width in 0.85
/// .. 1.15 of the font's, slant in -0.3 .. 0.3, strokes wider by -0.2 .. 0.6 pixels, moved by up to 1.5
/// pixels, then turned about the middle by `angle` and by `rotation`, then noise N(0, noise^2) on every
/// pixel, clipped to [0, 1] and rounded to a thousandth.
///
/// An angle is a whole number of quarter turns and a rest in [0, 90): outlines are turned by the rest and
/// drawn (nothing is resampled), finished images are turned by the quarters, pixel by pixel. So images of
/// `quarter`, and of angles 90 degrees apart, are exact turns of each other. The same seed gives the same
/// digits, shapes and noise, whatever `rotation` and `angle` are. 6 and 9 are both there, as in rotated
/// MNIST, and in some fonts each is the other upside down.
struct GlyphsMakerOptions {
  static constexpr const char* name_in_config = "glyphs";
  static constexpr const char* makes =
      "images of printed digits, turned if asked for, in the files of rotated MNIST";
  int64_t train = 10000;  // the file has a fifth as many more, those of validation
  int64_t test = 10000;
  int64_t seed = 0;
  GlyphRotation rotation = GlyphRotation::none;
  double angle = 0;  // degrees, counter-clockwise
  double noise = 0.02;
  std::string digits = "0123456789";  // those that are made, each as often
  std::string fonts = "/usr/share/fonts";
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, GlyphsMakerOptions& o);
MakerPlan plan_of(const GlyphsMakerOptions& o);

struct Glyph {
  int64_t label = 0;
  std::string font;           // its file, below the folder of fonts
  double angle = 0;           // degrees
  std::vector<float> pixels;  // (28, 28), row-major, the background 0
};

/// Makes image by image, each a pure function of (options but sizes and threads, split, index). One thread at
/// a time.
class GlyphMaker {
 public:
  /// `fonts` must outlive it. ConfigError: `digits` are none.
  GlyphMaker(const GlyphsMakerOptions& options, const DigitFonts& fonts);
  Glyph make(std::string_view split, int64_t index);

 private:
  GlyphsMakerOptions o_;
  const DigitFonts& fonts_;
  DigitRenderer renderer_;
};

/// Writes `mnist_all_rotation_normalized_float_train_valid.amat` (train and a fifth as many, of which the set
/// `rotated_mnist` takes the last sixth of the file for validation) and `..._test.amat`, those of nonzero
/// size; the same bytes for any number of threads. Files that are there already are never replaced
/// (ConfigError). False when stopped: then nothing was written. DataError: a font that is not there, a file
/// that cannot be written.
bool make_glyphs(const GlyphsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl

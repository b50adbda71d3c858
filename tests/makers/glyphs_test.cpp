#include "weyl/makers/images/glyphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/images/digit_files.h"

namespace weyl {
namespace glyphs_test {

const DigitFonts& testing_fonts() {
  static const DigitFonts fonts = load_digit_fonts(GlyphsMakerOptions{}.fonts, true);
  return fonts;
}

Glyph glyph(const GlyphsMakerOptions& options, int64_t index) {
  return GlyphMaker(options, testing_fonts()).make("test", index);
}

std::vector<float> turned(const std::vector<float>& image, int64_t quarters) {  // counter-clockwise
  std::vector<float> from = image, to = image;
  for (int64_t k = 0; k < quarters; ++k, from = to) {
    for (int64_t i = 0; i < 28; ++i) {
      for (int64_t j = 0; j < 28; ++j) {
        to[(27 - j) * 28 + i] = from[i * 28 + j];
      }
    }
  }
  return to;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Glyphs, QuarterTurnsAreExactTurnsOfPixels) {
  std::set<double> seen;
  for (int64_t i = 0; i < 24; ++i) {
    const Glyph upright = glyph({}, i), quarter = glyph({.rotation = GlyphRotation::quarter}, i);
    EXPECT_EQ(upright.label, quarter.label);
    EXPECT_EQ(upright.font, quarter.font);
    seen.insert(quarter.angle);
    EXPECT_EQ(quarter.pixels, turned(upright.pixels, std::lround(quarter.angle / 90))) << i;
    for (const double angle : {0.0, 31.0}) {
      const Glyph at = glyph({.angle = angle}, i);
      EXPECT_EQ(glyph({.angle = angle + 90}, i).pixels, turned(at.pixels, 1));
      EXPECT_EQ(glyph({.angle = angle - 180}, i).pixels, turned(at.pixels, 2));
      EXPECT_NE(glyph({.angle = angle + 91}, i).pixels, turned(at.pixels, 1));
    }
  }
  EXPECT_EQ(seen, (std::set<double>{0, 90, 180, 270}));
}

TEST(Glyphs, AnyAngleTurnsTheInkAboutTheMiddle) {
  // The centre of the ink goes where the rotation takes it, and no ink is lost.
  for (int64_t i = 0; i < 20; ++i) {
    const auto moments = [](const Glyph& g) {
      std::array<double, 3> sum{};
      for (int64_t p = 0; p < amat_pixels; ++p) {
        const double ink = g.pixels[p];
        sum[0] += ink;
        sum[1] += ink * (static_cast<double>(p % 28) - 13.5);  // x
        sum[2] -= ink * (static_cast<double>(p / 28) - 13.5);  // y, upwards
      }
      return std::array<double, 3>{sum[0], sum[1] / sum[0], sum[2] / sum[0]};
    };
    const auto a = moments(glyph({.noise = 0}, i));
    const Glyph any = glyph({.rotation = GlyphRotation::any, .noise = 0}, i);
    const auto b = moments(any);
    const double t = any.angle * M_PI / 180;
    EXPECT_NEAR(b[0] / a[0], 1, 0.01);
    EXPECT_NEAR(b[1], std::cos(t) * a[1] - std::sin(t) * a[2], 0.05);
    EXPECT_NEAR(b[2], std::sin(t) * a[1] + std::cos(t) * a[2], 0.05);
  }
}

TEST(Glyphs, FontsOfTrainingAndTestingAreDisjoint) {
  const auto train = digit_font_files(false), test = digit_font_files(true);
  EXPECT_GE(train.size(), 50u);
  EXPECT_GE(test.size(), 16u);
  const std::set<std::string> all(train.begin(), train.end());
  EXPECT_EQ(all.size(), train.size());
  for (const auto& file : test) {
    EXPECT_FALSE(all.contains(file)) << file;
  }
}

TEST(Glyphs, WritesFilesOfRotatedMnistThatDoNotDependOnThreads) {
  const Folder a, b;
  const GlyphsMakerOptions options{
      .train = 100, .test = 70, .seed = 5, .rotation = GlyphRotation::any, .threads = 1};
  GlyphsMakerOptions threads = options;
  threads.threads = 3;
  ASSERT_TRUE(make_glyphs(options, a.path()));
  ASSERT_TRUE(make_glyphs(threads, b.path()));
  for (const auto& [name, count] : {std::pair{"train_valid", 120}, {"test", 70}}) {
    const std::string file = text("mnist_all_rotation_normalized_float_", name, ".amat");
    EXPECT_EQ(contents(a / file), contents(b / file));
    const AmatImages images = read_amat(a / file);
    ASSERT_EQ(images.size(), count);
    EXPECT_EQ(std::set<int64_t>(images.labels.begin(), images.labels.end()).size(), 10u);
  }
  // The files hold what single images are.
  const AmatImages test = read_amat(a / "mnist_all_rotation_normalized_float_test.amat");
  const Glyph last = glyph(options, 69);
  EXPECT_EQ(test.labels[69], last.label);
  EXPECT_TRUE(std::equal(last.pixels.begin(), last.pixels.end(), test.pixels.begin() + 69 * amat_pixels));
  EXPECT_NE(glyph({.seed = 6}, 69).pixels, glyph({.seed = 5}, 69).pixels);
}

TEST(Glyphs, MakesTheDigitsAskedFor) {
  for (int64_t i = 0; i < 30; ++i) {
    const Glyph g = glyph({.digits = "27"}, i);
    EXPECT_TRUE(g.label == 2 || g.label == 7) << g.label;
  }
  EXPECT_THROW(glyph({.digits = ""}, 0), ConfigError);
  EXPECT_THROW(glyph({.digits = "0a"}, 0), ConfigError);
}

TEST(Glyphs, SaysWhatIsWrong) {
  const Folder folder;
  EXPECT_THROW(make_glyphs({.train = 0, .test = 0}, folder.path()), ConfigError);
  EXPECT_NE(message_of<DataError>([&] {
              make_glyphs({.fonts = folder.path()}, folder / "out");
            }).find("there is no such font; it is in Debian's package fonts-liberation2"),
            std::string::npos);
  const std::string file = folder / "mnist_all_rotation_normalized_float_test.amat";
  std::ofstream(file) << "mine";
  EXPECT_THROW(make_glyphs({.train = 5, .test = 5}, folder.path()), ConfigError);
  EXPECT_EQ(contents(file), "mine");
  const Folder other;
  EXPECT_FALSE(make_glyphs({.train = 100000}, other / "out", {{}, [] { return true; }}));
  EXPECT_FALSE(std::filesystem::exists(other / "out"));
}

}  // namespace glyphs_test
}  // namespace weyl

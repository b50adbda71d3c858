#include "weyl/data/makers/digit_renderer.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr double kRim = 0.5;      // pixels free between a digit and the circle inside the image
constexpr double kSubpixel = 64;  // of FreeType's coordinates

struct Point {
  double x, y;
};

}  // namespace

struct DigitRenderer::State {
  FT_Library library = nullptr;
};

DigitRenderer::DigitRenderer() : state_(std::make_unique<State>()) {
  require<DataError>(FT_Init_FreeType(&state_->library) == 0, "glyphs: FreeType does not start");
}

DigitRenderer::~DigitRenderer() {
  FT_Done_FreeType(state_->library);
}

std::vector<uint8_t> DigitRenderer::draw(const DigitOutline& outline, const DigitShape& s, int64_t side) {
  std::vector<FT_Vector> points;
  for (const auto& [x, y] : outline.points) {
    points.push_back({static_cast<FT_Pos>(x), static_cast<FT_Pos>(y)});
  }
  std::vector<uint8_t> tags = outline.tags;
  std::vector<int16_t> ends = outline.ends;
  FT_Outline drawn{static_cast<int16_t>(ends.size()),
                   static_cast<int16_t>(points.size()),
                   points.data(),
                   reinterpret_cast<char*>(tags.data()),
                   ends.data(),
                   outline.flags};
  const auto strength = std::lround(s.stroke / s.height * digit_height);
  require(FT_Outline_Embolden(&drawn, strength) == 0, "glyphs: an outline cannot be made bolder");

  std::vector<Point> placed;
  for (const FT_Vector& p : points) {
    const auto y = static_cast<double>(p.y);
    placed.push_back({(static_cast<double>(p.x) + s.slant * y) * s.width, y});
  }
  const auto [left, right] = std::ranges::minmax(placed, {}, &Point::x);
  const auto [low, high] = std::ranges::minmax(placed, {}, &Point::y);
  const Point middle{(left.x + right.x) / 2, (low.y + high.y) / 2};
  double scale = s.height / (high.y - low.y), radius = 0;
  for (Point& p : placed) {
    p = {p.x - middle.x, p.y - middle.y};
    radius = std::max(radius, std::hypot(p.x, p.y));
  }
  const double half = static_cast<double>(side) / 2;
  scale = std::min(scale, (half - kRim - std::hypot(s.x, s.y)) / radius);
  require(scale > 0, "glyphs: a digit must be moved by less than half the image");
  const double turn = s.angle * std::numbers::pi / 180, c = std::cos(turn), n = std::sin(turn);
  for (size_t i = 0; i < placed.size(); ++i) {
    const double x = placed[i].x * scale + s.x, y = placed[i].y * scale + s.y;
    points[i] = {std::lround((c * x - n * y + half) * kSubpixel),
                 std::lround((n * x + c * y + half) * kSubpixel)};
  }
  std::vector<uint8_t> image(side * side);
  FT_Bitmap bitmap{};
  bitmap.rows = bitmap.width = static_cast<unsigned>(side);
  bitmap.pitch = static_cast<int>(side);  // positive: the first row is the top one
  bitmap.buffer = image.data();
  bitmap.pixel_mode = FT_PIXEL_MODE_GRAY;
  bitmap.num_grays = 256;
  require(FT_Outline_Get_Bitmap(state_->library, &drawn, &bitmap) == 0, "glyphs: an outline cannot be drawn");
  return image;
}

}  // namespace weyl

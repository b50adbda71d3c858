#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/data/makers/gradient_noise.h"

namespace weyl {

using Colour = std::array<double, 3>;  // in [0, 1]

/// Where the lesion is and how its border runs. Lengths are in units of the shorter side of the picture, the
/// origin is its middle.
class LesionBorder {
 public:
  explicit LesionBorder(Stream& stream);
  /// How far inside the border a place is (about; negative outside).
  double depth(double x, double y) const;
  double radius() const { return radius_; }

 private:
  static constexpr int kWaves = 6;
  double x_, y_, radius_, aspect_, turn_, roughness_;
  std::array<double, kWaves> height_{}, phase_{};
  GradientNoise noise_;
};

/// The colours of skin and lesion at a place, before hairs, light and noise.
class LesionColours {
 public:
  explicit LesionColours(Stream& stream);
  Colour at(double x, double y, const LesionBorder& border) const;

 private:
  Colour skin_{}, brown_{}, dark_{};
  double softness_, network_, cells_, blotches_, veil_, reddening_;
  GradientNoise tone_, grain_, patches_;
};

/// Draws some hairs over a picture (H, W, 3).
void draw_hairs(std::vector<Colour>& picture, int64_t height, int64_t width, Stream& stream);

/// Light that falls off to one side and to the rim, and the dark corners of a round lens.
class LesionLight {
 public:
  explicit LesionLight(Stream& stream);
  double at(double x, double y, double corner) const;  // `corner`: the distance of the corners

 private:
  double gradient_, direction_, falloff_, lens_;
};

}  // namespace weyl

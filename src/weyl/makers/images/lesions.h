#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/core/random.h"
#include "weyl/data/containers/array.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Perlin's gradient noise in the plane, of a period of 256 cells: smooth, zero on the lattice, within about
/// -0.7 .. 0.7, mean 0.
class GradientNoise {
 public:
  explicit GradientNoise(Stream& stream);

  double operator()(double x, double y) const;
  /// sum_{k < octaves} 2^-k noise(2^k x, 2^k y)
  double sum(double x, double y, int octaves) const;

 private:
  std::array<uint8_t, 256> order_;
};

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

/// Pictures that look like dermoscopy, with the mask of the lesion, in PH2's folders: skin of some tone with
/// a fine grain; one lesion, an ellipse with an irregular border (waves of the radius and a noise that moves
/// it), sharp or faint, brown, darker in blotches, with a network of lines, sometimes a bluish veil; hairs;
/// uneven light, sometimes the dark corners of a round lens; noise. The mask is the inside of the border,
/// whatever hides or fades it.
struct LesionsMakerOptions {
  static constexpr const char* name_in_config = "lesions";
  static constexpr const char* makes = "pictures like dermoscopy with masks, in the folders of PH2";
  int64_t count = 200;
  int64_t height = 192, width = 256;
  int64_t seed = 0;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, LesionsMakerOptions& o);
MakerPlan plan_of(const LesionsMakerOptions& o);

struct Lesion {
  Array image;  // (H, W, 3) u8
  Array mask;   // (H, W, 1) u8, 0 and 255
};

/// Picture `index`, a pure function of (options but count and threads, index).
Lesion make_lesion(const LesionsMakerOptions& options, int64_t index);

/// Writes `<folder>/PH2 Dataset images/IMD001/IMD001_Dermoscopic_Image/IMD001.bmp` and
/// `IMD001/IMD001_lesion/IMD001_lesion.bmp`, and so on; the same bytes for any number of threads.
/// ConfigError: one is there already, or there is nothing to make. When a file cannot be written
/// (DataError) none is left. False when stopped: then nothing was written.
bool make_lesions(const LesionsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl

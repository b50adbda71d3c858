#include "weyl/makers/images/lesions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace {

double smooth(double t) {
  return t * t * t * (t * (6 * t - 15) + 10);
}

double mixed(double a, double b, double t) {
  return a + t * (b - a);
}

/// 16 directions, as many as a nibble tells apart.
const std::array<std::array<double, 2>, 16>& directions() {
  static const auto table = [] {
    std::array<std::array<double, 2>, 16> t{};
    for (int k = 0; k < 16; ++k) {
      t[k] = {std::cos(k * std::numbers::pi / 8), std::sin(k * std::numbers::pi / 8)};
    }
    return t;
  }();
  return table;
}

}  // namespace

GradientNoise::GradientNoise(Stream& stream) {
  const auto order = stream.permutation(256);
  std::copy(order.begin(), order.end(), order_.begin());
}

double GradientNoise::operator()(double x, double y) const {
  const double fx = std::floor(x), fy = std::floor(y), u = x - fx, v = y - fy;
  const auto i = static_cast<uint32_t>(static_cast<int64_t>(fx)),
             j = static_cast<uint32_t>(static_cast<int64_t>(fy));
  const auto corner = [&](uint32_t a, uint32_t b) {
    const uint8_t hash = order_[(order_[(i + a) & 255U] + j + b) & 255U];
    const auto& d = directions()[hash & 15U];
    return d[0] * (u - a) + d[1] * (v - b);
  };
  const double s = smooth(u), t = smooth(v);
  return mixed(mixed(corner(0, 0), corner(1, 0), s), mixed(corner(0, 1), corner(1, 1), s), t);
}

double GradientNoise::sum(double x, double y, int octaves) const {
  double total = 0, weight = 1;
  for (int k = 0; k < octaves; ++k, weight /= 2) {
    total += weight * (*this)(x / weight, y / weight);
  }
  return total;
}

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double uniform(Stream& stream, double low, double high) {
  return low + (high - low) * stream.uniform();
}

Colour mixed_colour(const Colour& a, const Colour& b, double t) {
  return {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
}

double ramp(double x) {  // 0 below 0, 1 above 1, smooth
  const double t = std::clamp(x, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace

LesionBorder::LesionBorder(Stream& stream)
    : x_(uniform(stream, -0.12, 0.12)),
      y_(uniform(stream, -0.08, 0.08)),
      radius_(uniform(stream, 0.16, 0.36)),
      aspect_(uniform(stream, 0.65, 1)),
      turn_(uniform(stream, 0, kTurn)),
      roughness_(uniform(stream, 0.02, 0.16)),
      noise_(stream) {
  const double irregular = uniform(stream, 0.2, 1);
  for (int k = 0; k < kWaves; ++k) {
    height_[k] = irregular * uniform(stream, 0, 0.16) / (k + 1);
    phase_[k] = uniform(stream, 0, kTurn);
  }
}

double LesionBorder::depth(double x, double y) const {
  const double c = std::cos(turn_), s = std::sin(turn_);
  const double u = c * (x - x_) + s * (y - y_), v = (c * (y - y_) - s * (x - x_)) / aspect_;
  const double distance = std::hypot(u, v), angle = std::atan2(v, u);
  double r = 1;
  for (int k = 0; k < kWaves; ++k) {
    r += height_[k] * std::cos((k + 2) * angle + phase_[k]);
  }
  const double scale = 4 / radius_;
  return radius_ * (r + roughness_ * 2 * noise_.sum(scale * x / 2, scale * y / 2, 4)) - distance;
}

LesionColours::LesionColours(Stream& stream)
    : softness_(uniform(stream, 0.012, 0.07)),
      network_(uniform(stream, 0, 1)),
      cells_(uniform(stream, 22, 40)),
      blotches_(uniform(stream, 0.2, 1)),
      veil_(stream.uniform() < 0.3 ? uniform(stream, 0.3, 0.8) : 0),
      reddening_(uniform(stream, 0, 0.06)),
      tone_(stream),
      grain_(stream),
      patches_(stream) {
  const Colour fair{0.90, 0.74, 0.66}, tan{0.74, 0.54, 0.42};
  const Colour light{0.62, 0.42, 0.29}, deep{0.36, 0.22, 0.16};
  skin_ = mixed_colour(fair, tan, stream.uniform());
  for (double& x : skin_) {
    x += uniform(stream, -0.03, 0.03);
  }
  const double pigment = stream.uniform();
  brown_ =
      mixed_colour(mixed_colour(light, deep, pigment), skin_, uniform(stream, 0, 0.35));  // some are faint
  dark_ = mixed_colour(deep, {0.10, 0.07, 0.07}, pigment);
}

Colour LesionColours::at(double x, double y, const LesionBorder& border) const {
  const double shade = 0.05 * tone_.sum(2 * x, 2 * y, 3), grain = 0.025 * grain_.sum(45 * x, 45 * y, 3);
  Colour skin = skin_;
  for (double& c : skin) {
    c += shade + grain;
  }
  const double depth = border.depth(x, y) / border.radius();  // 1 in the middle
  const double near = std::exp(-std::pow(std::min(depth, 0.0) / 0.15, 2));
  skin[0] += reddening_ * near;
  skin[1] -= reddening_ / 2 * near;
  const double cover = ramp(0.5 + depth * border.radius() / (2 * softness_));
  if (cover == 0) {
    return skin;
  }
  // Darker in blotches and inwards; a network of lines where it is not dense, holes between them.
  const double blotch = ramp(0.45 + 1.3 * patches_.sum(5 * x, 5 * y, 3) + 0.35 * depth);
  Colour colour = mixed_colour(brown_, dark_, blotches_ * blotch);
  const double wx = x + 0.55 / cells_ * patches_.sum(12 * x + 70, 12 * y, 2);
  const double wy = y + 0.55 / cells_ * patches_.sum(12 * x, 12 * y + 70, 2);
  double waves = 0;  // three plane waves: cells of a honeycomb
  for (int k = 0; k < 3; ++k) {
    waves += std::cos(kTurn * cells_ * (wx * std::cos(k * kTurn / 6) + wy * std::sin(k * kTurn / 6)));
  }
  const double line = ramp((0.2 - waves) / 1.2);
  colour =
      mixed_colour(colour, mixed_colour(dark_, brown_, 0.25), 0.75 * network_ * line * (1 - 0.6 * blotch));
  colour = mixed_colour(colour, mixed_colour(brown_, skin_, 0.4), 0.4 * network_ * (1 - line) * (1 - blotch));
  const double veil = veil_ * ramp(3 * patches_.sum(3 * x + 31, 3 * y - 17, 2)) * ramp(3 * depth);
  colour = mixed_colour(colour, {0.45, 0.48, 0.58}, veil);
  for (double& c : colour) {
    c += 0.6 * grain;
  }
  return mixed_colour(skin, colour, cover);
}

void draw_hairs(std::vector<Colour>& picture, int64_t height, int64_t width, Stream& stream) {
  const int64_t count = stream.uniform() < 0.45 ? 0 : 1 + stream.below(14);
  const auto h = static_cast<double>(height), w = static_cast<double>(width), side = std::min(h, w);
  const double comb = uniform(stream, 0, kTurn);  // hairs of one skin lie alike
  const Colour hair = mixed_colour({0.12, 0.09, 0.08}, {0.42, 0.30, 0.22}, stream.uniform());
  for (int64_t n = 0; n < count; ++n) {
    const double x0 = uniform(stream, 0, w), y0 = uniform(stream, 0, h), angle = comb + 0.5 * stream.normal();
    const double length = uniform(stream, 0.25, 0.9) * side, bend = uniform(stream, -0.25, 0.25) * length;
    const double thick = std::max(0.45, side / 192 * uniform(stream, 0.45, 1.0));  // half of it, in pixels
    const double strength = uniform(stream, 0.6, 0.95), c = std::cos(angle), s = std::sin(angle);
    std::vector<double> cover(picture.size(), 0);
    const int64_t steps = static_cast<int64_t>(2 * length) + 2;
    for (int64_t k = 0; k <= steps; ++k) {
      const double t = static_cast<double>(k) / static_cast<double>(steps) - 0.5;
      const double along = length * t, across = bend * (4 * t * t - 1);
      const double x = x0 + c * along - s * across, y = y0 + s * along + c * across;
      const double r = thick * (1 - 0.6 * (t + 0.5));  // thinner to the tip
      for (auto i = static_cast<int64_t>(std::floor(y - r - 1)); i <= static_cast<int64_t>(y + r + 1); ++i) {
        for (auto j = static_cast<int64_t>(std::floor(x - r - 1)); j <= static_cast<int64_t>(x + r + 1);
             ++j) {
          if (i >= 0 && i < height && j >= 0 && j < width) {
            const double d = std::hypot(static_cast<double>(i) + 0.5 - y, static_cast<double>(j) + 0.5 - x);
            cover[i * width + j] = std::max(cover[i * width + j], std::clamp(r + 0.5 - d, 0.0, 1.0));
          }
        }
      }
    }
    for (size_t p = 0; p < picture.size(); ++p) {
      if (cover[p] > 0) {
        picture[p] = mixed_colour(picture[p], hair, strength * cover[p]);
      }
    }
  }
}

LesionLight::LesionLight(Stream& stream)
    : gradient_(uniform(stream, 0, 0.12)),
      direction_(uniform(stream, 0, kTurn)),
      falloff_(uniform(stream, 0, 0.25)),
      lens_(stream.uniform() < 0.35 ? uniform(stream, 0.82, 1) : 10) {}

double LesionLight::at(double x, double y, double corner) const {
  const double r = std::hypot(x, y) / corner;
  const double side = gradient_ * (x * std::cos(direction_) + y * std::sin(direction_)) / corner;
  const double inside = 1 - ramp((r - lens_) / 0.06);
  return (1 + side - falloff_ * r * r) * (0.08 + 0.92 * inside);
}

namespace fs = std::filesystem;

void fields(Fields& f, LesionsMakerOptions& o) {
  f("count", o.count, "pictures", {1, 1e5});
  f("height", o.height, "pixels", {16, 8192});
  f("width", o.width, "pixels", {16, 8192});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("threads", o.threads, "threads that make pictures; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const LesionsMakerOptions& o) {
  return {.what = text("pictures of ", o.height, " x ", o.width, " pixels with masks"),
          .counts = {{"count", o.count}},
          .make = std::bind_front(make_lesions, o)};
}

Lesion make_lesion(const LesionsMakerOptions& o, int64_t index) {
  const auto stream = [&](std::string_view what) {
    return Stream(static_cast<uint64_t>(o.seed), "lesions " + std::string(what),
                  {static_cast<uint64_t>(index)});
  };
  Stream borders = stream("border"), paint = stream("colours"), hairs = stream("hairs"),
         lights = stream("light"), noise = stream("noise");
  const LesionBorder border(borders);
  const LesionColours colours(paint);
  const LesionLight light(lights);
  const double scale = 1 / static_cast<double>(std::min(o.height, o.width));
  const auto x = [&](int64_t j) {
    return (static_cast<double>(j) + 0.5 - static_cast<double>(o.width) / 2) * scale;
  };
  const auto y = [&](int64_t i) {
    return (static_cast<double>(i) + 0.5 - static_cast<double>(o.height) / 2) * scale;
  };
  Lesion lesion{{ElementType::u8, {o.height, o.width, 3}, {}}, {ElementType::u8, {o.height, o.width, 1}, {}}};
  std::vector<Colour> picture;
  for (int64_t i = 0; i < o.height; ++i) {
    for (int64_t j = 0; j < o.width; ++j) {
      picture.push_back(colours.at(x(j), y(i), border));
      lesion.mask.bytes.push_back(border.depth(x(j), y(i)) > 0 ? std::byte{255} : std::byte{0});
    }
  }
  draw_hairs(picture, o.height, o.width, hairs);
  const double corner = std::hypot(static_cast<double>(o.height), static_cast<double>(o.width)) / 2 * scale;
  for (int64_t i = 0; i < o.height; ++i) {
    for (int64_t j = 0; j < o.width; ++j) {
      const double bright = light.at(x(j), y(i), corner);
      for (const double c : picture[i * o.width + j]) {
        const double value = std::clamp(c * bright + 0.012 * noise.normal(), 0.0, 1.0);
        lesion.image.bytes.push_back(static_cast<std::byte>(std::lround(255 * value)));
      }
    }
  }
  return lesion;
}

bool make_lesions(const LesionsMakerOptions& options, const std::string& folder, const JobHooks& hooks) {
  require<ConfigError>(options.count > 0, "lesions: count is 0, there is nothing to make");
  NewFiles files;
  for (int64_t i = 1; i <= options.count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "IMD%03d", static_cast<int>(i));
    const std::string stem = name;
    const fs::path place = fs::path(folder) / "PH2 Dataset images" / stem;
    files.add((place / (stem + "_Dermoscopic_Image") / (stem + ".bmp")).string());
    files.add((place / (stem + "_lesion") / (stem + "_lesion.bmp")).string());
  }
  std::vector<Lesion> made(options.count);
  const bool whole = run_samples(options.count, options.threads, hooks,
                                 [&](int64_t i, const auto&) { made[i] = make_lesion(options, i); });
  if (!whole) {
    return false;
  }
  files.write_each([&](size_t i) {
    write_image(files.path(i), i % 2 == 0 ? made[i / 2].image : made[i / 2].mask, Existing::keep);
  });
  return true;
}

}  // namespace weyl

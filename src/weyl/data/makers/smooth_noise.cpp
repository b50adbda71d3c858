#include "weyl/data/makers/smooth_noise.h"

#include <cmath>

namespace weyl {

SmoothNoise::SmoothNoise(Stream& stream, double length, int octaves) : length_(length), lattices_(octaves) {
  for (auto& lattice : lattices_) {
    turns_.push_back(draw_rotation(Turning::uniform, 2, stream));
    lattice.resize(kPoints * kPoints * kPoints);
    for (float& value : lattice) {
      value = static_cast<float>(2 * stream.uniform() - 1);
    }
  }
}

double SmoothNoise::operator()(const std::array<double, 3>& x) const {
  double sum = 0, weight = 1, scale = 1 / length_;
  for (size_t octave = 0; octave < lattices_.size(); ++octave) {
    const auto& lattice = lattices_[octave];
    const Rotation& r = turns_[octave];
    std::array<int64_t, 3> low{}, high{};
    std::array<double, 3> part{};
    for (size_t d = 0; d < 3; ++d) {
      const double at = (r[3 * d] * x[0] + r[3 * d + 1] * x[1] + r[3 * d + 2] * x[2]) * scale,
                   floor = std::floor(at), t = at - floor;
      low[d] = static_cast<int64_t>(floor) & (kPoints - 1);
      high[d] = (low[d] + 1) & (kPoints - 1);
      part[d] = t * t * t * (t * (6 * t - 15) + 10);
    }
    double value = 0;
    for (int corner = 0; corner < 8; ++corner) {
      int64_t at = 0;
      double w = 1;
      for (size_t d = 0; d < 3; ++d) {
        const bool upper = (corner >> d & 1) != 0;
        at = at * kPoints + (upper ? high[d] : low[d]);
        w *= upper ? part[d] : 1 - part[d];
      }
      value += w * lattice[at];
    }
    sum += weight * value;
    weight *= 0.5;
    scale *= 2;
  }
  return 1.5 * sum;
}

}  // namespace weyl

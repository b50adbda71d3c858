#include "weyl/data/makers/phantom_head.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weyl {
namespace {

using HeadPoint = std::array<double, 3>;

constexpr double kRadius = 75;  // mm, of the head that lengths below are for

double uniform_between(Stream& stream, double low, double high) {
  return low + (high - low) * stream.uniform();
}

double ellipsoid_norm(const HeadPoint& x, const HeadPoint& centre, const HeadPoint& radii) {
  return std::hypot((x[0] - centre[0]) / radii[0], (x[1] - centre[1]) / radii[1],
                    (x[2] - centre[2]) / radii[2]);
}

HeadPoint scaled(const HeadPoint& x, double factor) {
  return {factor * x[0], factor * x[1], factor * x[2]};
}

HeadPoint times(const Rotation& r, const HeadPoint& x) {
  return {r[0] * x[0] + r[1] * x[1] + r[2] * x[2], r[3] * x[0] + r[4] * x[1] + r[5] * x[2],
          r[6] * x[0] + r[7] * x[1] + r[8] * x[2]};
}

/// A rotation by small angles about x, y and z.
Rotation tilted(double degrees, Stream& stream) {
  Rotation r{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int axis = 0; axis < 3; ++axis) {
    const double angle = uniform_between(stream, -degrees, degrees) * std::numbers::pi / 180;
    const double c = std::cos(angle), s = std::sin(angle);
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    Rotation next = r;
    for (int k = 0; k < 3; ++k) {
      next[3 * i + k] = c * r[3 * i + k] - s * r[3 * j + k];
      next[3 * j + k] = s * r[3 * i + k] + c * r[3 * j + k];
    }
    r = next;
  }
  return r;
}

}  // namespace

PhantomHead::PhantomHead(const HeadPoint& radii, double tilt, Stream& stream)
    : radii_(scaled(radii, uniform_between(stream, 0.93, 1))),
      brain_(scaled(radii_, 0.88)),
      scale_((radii_[0] + radii_[1] + radii_[2]) / 3 / kRadius),
      turn_(tilted(tilt, stream)),
      shift_(scaled({stream.uniform() - 0.5, stream.uniform() - 0.5, stream.uniform() - 0.5}, 6 * scale_)),
      surface_(stream, 45 * scale_),
      folds_(stream, 14 * scale_),
      rim_(stream, 14 * scale_),
      spread_(stream, 28 * scale_),
      ventricle_(uniform_between(stream, 0.8, 1.3)),
      gap_(uniform_between(stream, 0.55, 0.9)),
      necrosis_(uniform_between(stream, 0.5, 0.78)),
      extent_(uniform_between(stream, 1.5, 2.2)),
      enhances_(stream.uniform() >= 0.1) {
  for (double& r : tumour_) {
    r = uniform_between(stream, 9, 17) * scale_;
  }
  do {  // inside the brain, beside the middle
    for (size_t d = 0; d < 3; ++d) {
      centre_[d] = (2 * stream.uniform() - 1) * 0.7 * brain_[d];
    }
  } while (ellipsoid_norm(centre_, {}, brain_) > 0.62 || std::abs(centre_[0]) < 0.25 * brain_[0]);
}

Tissue PhantomHead::healthy(const HeadPoint& x) const {
  const double bulge = 1 + 0.03 * surface_(x);
  const double head = ellipsoid_norm(x, {}, radii_) * bulge;
  if (head > 1) {
    return Tissue::air;
  }
  const double mean = scale_ * kRadius;
  if (head > 1 - 4 * scale_ / mean) {
    return Tissue::scalp;
  }
  const double brain = ellipsoid_norm(x, {}, brain_) * bulge;
  if (brain > 1) {
    return brain > 1 + 2 * scale_ / mean ? Tissue::skull : Tissue::fluid;
  }
  const double depth = (1 - brain) * 0.88 * kRadius;  // mm below the surface, of a head of standard size
  const double middle = std::abs(x[0]) / scale_;      // from the fissure between the hemispheres
  const double mirrored = std::abs(x[0]);
  const double s = scale_;
  const double ventricle =
      ellipsoid_norm({mirrored, x[1], x[2] - 0.0025 * x[1] * x[1] / s}, {9 * s, 2 * s, 8 * s},
                     {5 * s * ventricle_, 24 * s, 9 * s * ventricle_});
  if (ventricle < 1) {
    return Tissue::fluid;
  }
  const double fold = std::abs(folds_(x));
  const double sulcus = 16 - depth;  // folds reach so deep
  const bool above = x[2] > -5 * s;
  if ((sulcus > 0 && fold < 0.007 * sulcus) || (above && middle < gap_ && depth < 34)) {
    return Tissue::fluid;
  }
  if (depth < 2.6 || (sulcus > 0 && fold < 0.12 + 0.012 * sulcus) || (above && middle < 3.5 && depth < 34)) {
    return Tissue::grey;
  }
  const double deep = ellipsoid_norm({mirrored, x[1], x[2]}, {17 * s, 0, -3 * s}, {8 * s, 15 * s, 9 * s});
  return deep < 1 ? Tissue::grey : Tissue::white;
}

Tissue PhantomHead::tissue(const HeadPoint& at) const {
  const HeadPoint x = times(turn_, {at[0] - shift_[0], at[1] - shift_[1], at[2] - shift_[2]});
  const Tissue found = healthy(x);
  const bool brain = found == Tissue::grey || found == Tissue::white;
  if (!brain && found != Tissue::fluid) {
    return found;
  }
  const double far = ellipsoid_norm(x, centre_, tumour_);
  if (far > 2 * extent_ || ellipsoid_norm(x, {}, brain_) > 0.97) {
    return found;
  }
  const double core = far * (1 + 0.3 * rim_(x));
  if (core < 1) {  // it displaces fluid too
    const double inner = necrosis_ + 0.25 * rim_(scaled(x, 1.7));
    return core >= inner && enhances_ ? Tissue::enhancing : Tissue::core;
  }
  const double edema = far * (1 + 0.35 * spread_(x));
  const double extent = found == Tissue::white ? extent_ : 0.5 + 0.5 * extent_;  // it follows white matter
  return brain && edema < extent ? Tissue::edema : found;
}

}  // namespace weyl

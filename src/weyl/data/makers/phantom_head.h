#pragma once

#include <array>
#include <cstdint>

#include "weyl/core/random.h"
#include "weyl/data/makers/smooth_noise.h"
#include "weyl/data/shapes/surface.h"

namespace weyl {

enum class Tissue : uint8_t { air, scalp, skull, fluid, grey, white, edema, core, enhancing };
constexpr size_t tissue_count = 9;

/// A head with a brain and one tumour, as a function of space (mm, right, anterior, superior): an ellipsoid
/// of scalp and skull, a folded cortex, white matter, ventricles, deep grey matter; the tumour has a core
/// that does not enhance, a rim that does (one in ten has none) and an edema around it that keeps to the
/// brain and out of the fluid. All shapes are drawn from the stream.
class PhantomHead {
 public:
  /// `radii` are the semi-axes of the head; it is tilted by up to `tilt` degrees about each axis.
  PhantomHead(const std::array<double, 3>& radii, double tilt, Stream& stream);

  Tissue tissue(const std::array<double, 3>& at) const;

 private:
  Tissue healthy(const std::array<double, 3>& x) const;

  std::array<double, 3> radii_, brain_;  // semi-axes
  double scale_;                         // of this head to one of 75 mm
  Rotation turn_;
  std::array<double, 3> shift_;
  SmoothNoise surface_, folds_, rim_, spread_;
  double ventricle_, gap_;                     // sizes
  std::array<double, 3> centre_{}, tumour_{};  // place and semi-axes of the tumour's core
  double necrosis_, extent_;                   // in radii of the core
  bool enhances_;
};

}  // namespace weyl

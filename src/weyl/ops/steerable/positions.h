#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/ops/steerable/options.h"

namespace weyl::steerable {

using at::Tensor;

/// How many weights a channel has: R. One, or for `table` the distances above zero up to the reach, which do
/// not depend on a grid's size. Radial `none`: all zero. ShapeError unless the width is positive and a table reaches
/// from 1 to 400 pixels.
int64_t position_radii(int64_t dimension, const PositionOptions& options);

/// Positional vectors of a grid, P(d) = phi(|d|) h(d) of the offset d = x_i - x_j between two of its pixels
/// (axis 0 first), with h the harmonics of the irreps: in the plane exp(-i k angle), angle from axis 0
/// towards axis 1; in space Y_l^m. So P(R d) = D(R) P(d) (theorem 1 of the paper; the sign as the features
/// have it, which is the authors' code and the conjugate of eq. 18). One table over (2 g - 1)^D offsets.
class Positions {
 public:
  /// grid: pixels of each axis. ShapeError for radial `none`, and unless as many axes as type.dimension, each
  /// from 1 to 4096.
  Positions(const SteerableType& type, std::vector<int64_t> grid, const PositionOptions& options);
  /// Any table: harmonics (offsets, M, 2) float64, radius (offsets) int64 from 0 to radii - 1.
  Positions(std::vector<int64_t> grid, Tensor harmonics, Tensor radius, int64_t radii);

  const std::vector<int64_t>& grid() const { return grid_; }
  int64_t tokens() const;                   // N
  int64_t components() const;               // M
  int64_t radii() const { return radii_; }  // R
  const Tensor& harmonics() const { return harmonics_; }
  const Tensor& radius() const { return radius_; }

  /// (N, N) int64: which offset i - j is. By x_j - x_i + grid - 1, row-major over (2 g - 1)^D.
  Tensor offsets() const;

  /// What the kernel reads (kernels/steerable/attention.h): harmonics packed, of either precision; with several radii the
  /// radius of each offset, with one the real functions that the components' parts are.
  struct Packed {
    Tensor harmonics, radius;
    int64_t functions = 0;
    std::vector<int32_t> parts;
  };
  Packed packed(at::ScalarType type) const;

  /// What expressions read, where they run: offsets (N N), harmonics (offsets, M) complex of a precision,
  /// radius (offsets).
  struct Placed {
    Tensor offsets, harmonics, radius;
  };
  Placed placed(at::ScalarType type, at::Device device) const;

 private:
  std::vector<int64_t> grid_;
  Tensor harmonics_, radius_;
  int64_t radii_ = 1;
  mutable std::mutex mutex_;
  mutable std::map<at::ScalarType, Packed> packed_;
  mutable std::map<std::pair<at::ScalarType, std::string>, Placed> placed_;
};

}  // namespace weyl::steerable

#pragma once

#include <optional>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/models/gatr/embedding.h"

namespace weyl::gatr {

/// How the outputs of an interface are read from multivector and scalar channels of the nodes. Multivector outputs take
/// whole channels, the first ones. Behind them the i-th pseudoscalar, free vector, axial vector, and point or offset, and
/// normal share one channel: they are different parts of it (e0123; the ideal and the Euclidean part of the bivector;
/// trivector; vector). Scalar outputs are auxiliary scalars, or scalar parts of those channels. Free vectors are read
/// about the place of the node, or of the object or graph that the output belongs to, T(-c) m T(c), so that they do not
/// depend on the origin: the motor of a rigid motion is one scalar, one pseudoscalar, one free and one axial vector.
/// Points and offsets are that of the trivector plus the place itself as a point, of weight 1, so that they start at
/// about the place: t / (1 + w), where the divisor is near zero 1e-3, as the authors have it. Outputs of objects and
/// graphs are read from the mean of the nodes' multivectors, extensive ones from the sum.
class Readout {
 public:
  /// ConfigError: an output of a kind or level that has no form, an extensive point or offset.
  Readout(const Options& options, const Interface& interface);

  int64_t multivectors() const { return multivectors_; }
  std::optional<int64_t> scalars() const {
    return scalars_ > 0 ? std::optional<int64_t>(scalars_) : std::nullopt;
  }
  /// Whether something is read as a point, which reflections change (Embedding::points).
  bool points() const;

  /// The mean over graphs of the sum of (|1 + w| - 1)^2 over their points and offsets, 1 + w being the weight that the
  /// point is divided by: what the authors' loss of n-body runs holds against weights that vanish. (1).
  Tensor weight_penalty(const Streams& y, const Points& points) const;

  /// Multivectors (16, N, O) in the frame and scalars (N, S) -> outputs by name, in their dtype (sums float64); those of
  /// role `point` as offsets from where they are counted.
  Named operator()(const Streams& y, const Points& points, const Frame& frame) const;

 private:
  struct Output {
    Quantity quantity;
    Form form;
    int64_t first;  // of its channels
  };
  Tensor value_of(const Output& output, const Streams& y, const Points& points, const Frame& frame) const;

  int64_t multivectors_ = 0, scalars_ = 0;
  std::vector<Output> outputs_;
};

}  // namespace weyl::gatr

#pragma once

#include <optional>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/models/gatr/layers.h"
#include "weyl/models/gatr/options.h"

namespace weyl::gatr {

/// Where a net counts places from. Distances of embedded points are sums of squares that cancel, which loses digits far
/// from the origin, so each graph is seen from its centroid where positions are embedded at all.
struct Frame {
  Tensor positions;  // (N, 3), of nodes in the frame
  Tensor origin;  // (N, 3), where each node's frame lies in the world; undefined where it lies at its origin
};

/// The centroid of each graph is the origin, or, not `centred`, that of the data.
Frame frame_of(const Points& points, bool centred);

/// What a number, a vector or a multivector of the input becomes (algebra/clifford/embeddings.h has the formulas).
enum class Form { scalar, auxiliary, pseudoscalar, direction, point, plane, line, multivector };

/// How the input features of an interface become multivectors and auxiliary scalars of every node: types (a scalar for
/// each) come first, then positions, then each channel of a feature as a channel of its own, in the order of the
/// interface; those of objects and graphs are repeated on their nodes. Vectors by their role: `free`, a line at infinity;
/// `offset`, the point at place + v; `normal`, the plane with normal v through the place; `point`, the point v. Axial
/// vectors are lines through the place, along them. The place is the node's position, or the centroid of the object or
/// graph that a feature belongs to. Where there are no auxiliary scalars there is one that is zero, as the authors have
/// it.
class Embedding {
 public:
  /// ConfigError: data that are not of 3 dimensions, a feature of a kind or level that has no form, nothing that becomes
  /// a multivector, no feature `given_reference` where the options ask for it.
  Embedding(const Options& options, const Interface& interface);

  int64_t multivectors() const { return multivectors_; }
  int64_t scalars() const { return scalars_ > 0 ? scalars_ : 1; }
  bool reads_scalars() const { return scalars_ > 0; }
  /// Whether something becomes a point. A mirror image of an embedded point is minus the embedded mirror image, so that
  /// reflections are no exact symmetry then.
  bool points() const;

  /// Multivectors (16, N, I) and scalars (N, S), all counted from the frame's origin. DataError: positions are read, and
  /// the input has none (Points::placed).
  Streams operator()(const Points& points, const Frame& frame) const;
  /// The reference (N) that the input gives for joins: component e123, which no translation changes.
  Tensor reference(const Points& points) const;

 private:
  struct Feature {
    Quantity quantity;
    Form form;
    int64_t column;  // in the nodes' tensor of its kind
  };
  Tensor value_of(const Feature& feature, const Points& points) const;

  bool positions_;
  Form types_as_;
  int64_t types_, multivectors_ = 0, scalars_ = 0;
  std::vector<Feature> features_;
  std::optional<Feature> reference_;
};

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

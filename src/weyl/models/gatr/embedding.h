#pragma once

#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/models/gatr/frame.h"
#include "weyl/models/gatr/linear.h"
#include "weyl/models/gatr/options.h"

namespace weyl::gatr {

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
  /// a multivector.
  Embedding(const Options& options, const Interface& interface);

  int64_t multivectors() const { return multivectors_; }
  int64_t scalars() const { return scalars_ > 0 ? scalars_ : 1; }
  /// Whether something becomes a point. A mirror image of an embedded point is minus the embedded mirror image, so that
  /// reflections are no exact symmetry then.
  bool points() const;

  /// Multivectors (16, N, I) and scalars (N, S), all counted from the frame's origin. DataError: positions are read, and
  /// the input has none (Points::placed).
  Streams operator()(const Points& points, const Frame& frame) const;

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
};

}  // namespace weyl::gatr

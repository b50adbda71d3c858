#pragma once

#include "weyl/carriers/batch.h"

namespace weyl {

class Model;

/// Floating-point operations of a token, of a layer or of a whole model, a multiply-add counting two. They are those of
/// the definition, the same for each device, number of threads and way in which a layer is worked out. An option that
/// chooses that way changes them: by model.platonic.linear spectral maps count a product for each irrep, and both transforms.
///
/// Counted are products: linear maps, convolutions (as dense ones, though a kernel may do with fewer), scores and values
/// of attention and sums over edges (of each pair, channel and axis one multiply-add), multivectors' products (their
/// terms that are not zero), positions times frequencies.
/// Not counted is what is done number by number (activations, norms, softmax, gates, rotations of pairs, filters times
/// values, functions of distances, logarithms of poses, interpolation, sums of branches), what is made of the weights
/// alone once for a batch, zeros that pad to whole tiles, and what a kernel works out a second time rather than keep
/// (the scores of attention in its backward pass: a sixth of attention more).
struct Work {
  double forward = 0;
  /// Of the derivatives of the loss by all parameters: of each product one product for each factor that depends on a
  /// parameter. So twice the forward pass, but for maps of the input and for constant factors.
  double backward = 0;

  /// A product of so many multiply-adds, of which so many of the factors depend on a parameter.
  static Work product(double multiply_adds, double factors = 2) {
    return {2 * multiply_adds, 2 * multiply_adds * factors};
  }

  double training() const { return forward + backward; }
  Work& operator+=(const Work& other) {
    forward += other.forward;
    backward += other.backward;
    return *this;
  }
};

inline Work operator+(Work a, const Work& b) {
  return a += b;
}
inline Work operator*(double times, const Work& work) {
  return {times * work.forward, times * work.backward};
}

/// A model that says what its backward pass takes, too. `Model::flops_per_token` gives the same forward pass.
class StatesWork {
 public:
  virtual ~StatesWork() = default;
  /// At `typical_nodes` tokens a graph, all within a cut-off if there is one, and `object_nodes` an object.
  virtual Work work_of_token() const = 0;
  virtual Work dense_work_of_token() const { return work_of_token(); }

  /// Whether what a token takes depends on the size of its object.
  virtual bool looks_inside_objects() const { return false; }
  /// How many nodes the object of a node has, in the mean over nodes. 0: not known, what looks there is not counted.
  virtual void set_object_nodes(double nodes) { object_nodes_ = nodes; }

 protected:
  double object_nodes_ = 0;
};

/// Tells a model that looks inside objects how large those of this input are; nothing to others.
void note_objects(Model& model, const Input& input);

/// What the model states, or, of one that does not, its forward pass and twice that.
Work work_of_token(const Model& model);

/// The same with a dense matrix in place of each linear map that goes by irreps.
Work dense_work_of_token(const Model& model);

}  // namespace weyl

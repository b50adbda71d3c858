#pragma once

namespace weyl {

/// Floating-point operations per token, of a layer or of a whole model; a multiply-add counts two. They follow from the
/// definition of the model and are the same for each device, number of threads and implementation of a layer. An option
/// that chooses the implementation does change them: with spectral maps (model.platonic.linear) a product for each
/// irrep counts, and both transforms.
///
/// Counted are products: linear maps, convolutions (as dense ones, though a kernel may need fewer), scores and values
/// of attention and sums over edges (one multiply-add for each pair, channel and axis), products of multivectors (their
/// terms that are not zero), positions times frequencies.
///
/// Not counted are:
/// * element-wise operations: activations, norms, softmax, gates, rotations of pairs, filters times values, functions
///   of distances, logarithms of poses, interpolation, sums of branches;
/// * what is computed from the weights alone, once for a batch;
/// * zeros that pad to whole tiles;
/// * what a kernel computes a second time rather than keep (the scores of attention in its backward pass: a sixth of
///   attention more).
struct Work {
  double forward = 0;
  /// The derivatives of the loss with respect to all parameters. Each product counts once for each of its factors that
  /// depends on a parameter. That is twice the forward pass, except for maps of the input and for constant factors.
  double backward = 0;
  /// Training as scaling laws count it (C = xi N D of "Does equivariance matter at scale?", section 3): linear layers,
  /// forward and backward, six operations for each use of a weight; no attention. Set for whole models only.
  double nominal = 0;

  /// A product of `multiply_adds` multiply-adds, of which `factors` factors depend on a parameter.
  static Work product(double multiply_adds, double factors = 2) {
    return {2 * multiply_adds, 2 * multiply_adds * factors, 0};
  }

  double training() const { return forward + backward; }
  Work& operator+=(const Work& other) {
    forward += other.forward;
    backward += other.backward;
    nominal += other.nominal;
    return *this;
  }
};

inline Work operator+(Work a, const Work& b) {
  return a += b;
}
inline Work operator*(double times, const Work& work) {
  return {times * work.forward, times * work.backward, times * work.nominal};
}

}  // namespace weyl

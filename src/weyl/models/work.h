#pragma once

namespace weyl {

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
  /// Of training, as scaling laws count (C = xi N D of "Does equivariance matter at scale?", section 3), said of whole models
  /// alone: linear layers, forward and backward, six for each use of a weight; no attention.
  double nominal = 0;

  /// A product of so many multiply-adds, of which so many of the factors depend on a parameter.
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

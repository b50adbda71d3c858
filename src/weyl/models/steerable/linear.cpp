#include "weyl/models/steerable/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/models/steerable/init.h"

namespace weyl::steerable {

Linear::Linear(const SteerableType& in, const SteerableType& out) : in_(in), out_(out) {
  require(in.dimension == out.dimension && in.irreps() == out.irreps() && in.irreps() > 0,
          "SteerableLinear: types must have the same dimension and as many irreps, got ", in.irreps(),
          " in (dimension ", in.dimension, ") and ", out.irreps(), " out (dimension ", out.dimension, ")");
  std::vector<Tensor> init;
  int64_t weights = 0;
  for (int64_t l = 0; l < in.irreps(); ++l) {
    require(in.channels[l] > 0 && out.channels[l] > 0, "SteerableLinear: irrep ", l,
            " must have channels, got ", in.channels[l], " in and ", out.channels[l], " out");
    const bool joins = in.dimension == 2 && l > 0 && in.channels[l] == in.channels[l - 1] &&
                       out.channels[l] == out.channels[l - 1];
    if (joins) {
      ++parts_.back().irreps;
    } else {
      parts_.push_back({l, 1, weights});
    }
    init.push_back(initial_normals({out.channels[l] * in.channels[l], 2}) /
                   std::sqrt(2.0 * static_cast<double>(in.channels[l])));
    weights += init.back().size(0);
  }
  weight_ = complex_parameter("weight", at::cat(init), true);
  matrices_ = std::vector<Derived>(parts_.size());
}

void Linear::mode_changed() {
  for (Derived& d : matrices_) {
    d.drop();
  }
}

Tensor Linear::matrices(const Part& part) const {
  const int64_t o = out_.channels[part.first], c = in_.channels[part.first];
  const Tensor w = weight_.narrow(0, part.weight, part.irreps * o * c).view({part.irreps, o, c, 2});
  const Tensor re = w.select(3, 0), im = w.select(3, 1);
  return at::cat({at::cat({re, -im}, 2), at::cat({im, re}, 2)}, 1);
}

Tensor Linear::operator()(const Tensor& x) const {
  require(x.defined() && x.dim() >= 2 && x.size(1) == 2 * in_.width(), "SteerableLinear: x must be (B, ",
          2 * in_.width(), ", ...), got ", x.defined() ? x.sizes() : at::IntArrayRef{});
  std::vector<int64_t> shape = x.sizes().vec();
  int64_t pixels = 1;
  for (size_t a = 2; a < shape.size(); ++a) {
    pixels *= shape[a];
  }
  const int64_t batch = x.size(0);
  const Tensor features = x.reshape({batch, 2, in_.width(), pixels});
  std::vector<Tensor> results;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const int64_t c = in_.channels[part.first], o = out_.channels[part.first];
    const int64_t n = part.irreps * in_.components(part.first);  // vectors of channels at a pixel
    const Tensor w =
        matrices_[i].get(training(), weight_, [&] { return matrices(part); }).to(x.scalar_type());
    const std::vector<int64_t> split{part.irreps, n / part.irreps, c};
    const Tensor vectors = features.narrow(2, in_.offset(part.first), n * c)
                               .unflatten(2, split)  // (B, 2, irreps, components, C, P)
                               .permute({2, 1, 4, 0, 3, 5})
                               .reshape({part.irreps, 2 * c, batch * split[1] * pixels});
    results.push_back(at::bmm(w, vectors)
                          .view({part.irreps, 2, o, batch, split[1], pixels})
                          .permute({3, 1, 0, 4, 2, 5})
                          .reshape({batch, 2, n * o, pixels}));
  }
  shape[1] = 2 * out_.width();
  return (results.size() == 1 ? results.front() : at::cat(results, 2)).reshape(shape);
}

Work Linear::work() const {
  int64_t complex_products = 0;
  for (int64_t l = 0; l < in_.irreps(); ++l) {
    complex_products += in_.width(l) * out_.channels[l];
  }
  return Work::product(4 * static_cast<double>(complex_products));
}

}  // namespace weyl::steerable

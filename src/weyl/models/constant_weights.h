#pragma once

#include <vector>

#include "weyl/models/model.h"

namespace weyl {

/// While one lives, the parameters of a model require no gradient: who differentiates by positions alone then pays for
/// nothing else, and what follows from weights is a constant in evaluation mode (nn/derived.h).
class ConstantWeights {
 public:
  explicit ConstantWeights(const Model& model) {
    for (const Parameter& p : model.parameters()) {
      if (p.tensor.requires_grad()) {
        followed_.push_back(p.tensor);
        followed_.back().set_requires_grad(false);
      }
    }
  }
  ~ConstantWeights() {
    for (const Tensor& weight : followed_) {
      weight.set_requires_grad(true);
    }
  }
  ConstantWeights(const ConstantWeights&) = delete;
  ConstantWeights& operator=(const ConstantWeights&) = delete;

 private:
  std::vector<Tensor> followed_;
};

}  // namespace weyl

#include "weyl/ops/lie/neighbour_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "weyl/ops/lie/attention.h"
#include "weyl/ops/segment.h"

namespace weyl::lie {
namespace {

constexpr int64_t rows_at_once = 1024;  // of tokens whose neighbours' values are gathered at a time

/// Inputs scores (P, H), coordinates (P, dof), values (N, H, C). By-product: the weights (P, H).
class NeighbourAttention : public Differentiable {
 public:
  explicit NeighbourAttention(Edges list) : list_(std::move(list)) {}
  size_t results() const override { return 2; }

  Tensors reference(const Tensors& in) const override {
    const Tensor present = at::ones({list_.count()}, in[0].options().dtype(at::kBool).requires_grad(false));
    return attention_over_pairs(in[0], in[1], present, in[2], list_);
  }
  bool has_forward(const Tensors&) const override { return true; }
  bool has_backward(const Tensors&) const override { return true; }

  Tensors forward(const Tensors& in) const override {
    const Tensor &scores = in[0], &coordinates = in[1], &values = in[2];
    std::vector<Tensor> mixed, means, weights;
    each([&](const Segments& of_centre, int64_t, int64_t begin, int64_t end) {
      weights.push_back(segment_softmax(scores.slice(0, begin, end), of_centre));
      const Tensor a = weights.back().unsqueeze(2);  // (E, H, 1)
      const Tensor seen = values.index_select(0, list_.neighbour.slice(0, begin, end));
      mixed.push_back(segment_sum(a * seen, of_centre));
      means.push_back(segment_sum(a * coordinates.slice(0, begin, end).unsqueeze(1), of_centre));
    });
    return {at::cat(mixed), at::cat(means), at::cat(weights)};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor &coordinates = in[1], &values = in[2];
    // sum_l a_il (da_il) of each token, which the softmax takes off: the results times their gradients.
    const Tensor own = (gys[0] * out[0]).sum(2) + (gys[1] * out[1]).sum(2);  // (N, H)
    std::vector<Tensor> by_score, by_coordinates;
    const Tensor by_value = needed[2] ? at::zeros_like(values, at::MemoryFormat::Contiguous) : Tensor();
    each([&](const Segments& of_centre, int64_t first, int64_t begin, int64_t end) {
      const Tensor to = list_.neighbour.slice(0, begin, end), from = of_centre.index + first;
      const Tensor a = out[2].slice(0, begin, end);
      const Tensor g = gys[0].index_select(0, from), g_mean = gys[1].index_select(0, from);
      if (needed[0]) {
        const Tensor change = (g * values.index_select(0, to)).sum(2) +
                              (g_mean * coordinates.slice(0, begin, end).unsqueeze(1)).sum(2);
        by_score.push_back(a * (change - own.index_select(0, from)));
      }
      if (needed[1]) {
        by_coordinates.push_back((a.unsqueeze(2) * g_mean).sum(1));
      }
      if (needed[2]) {
        by_value.index_add_(0, to, a.unsqueeze(2) * g);
      }
    });
    return {needed[0] ? at::cat(by_score) : Tensor(), needed[1] ? at::cat(by_coordinates) : Tensor(),
            by_value};
  }

 private:
  /// f(the pairs of some tokens, the first of these, their first and last pair).
  template <class F>
  void each(const F& f) const {
    const std::vector<int64_t>& offsets = list_.of_centre.offsets;
    for (int64_t first = 0; first < list_.nodes() || first == 0; first += rows_at_once) {
      const int64_t last = std::min(first + rows_at_once, list_.nodes());
      std::vector<int64_t> sizes;
      for (int64_t i = first; i < last; ++i) {
        sizes.push_back(offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)]);
      }
      f(Segments::of_sizes(sizes, list_.neighbour.device()), first, offsets[static_cast<size_t>(first)],
        offsets[static_cast<size_t>(last)]);
    }
  }

  const Edges list_;
};

}  // namespace

Tensors attention_over_neighbours(const Tensor& scores, const Tensor& coordinates, const Tensor& values,
                                  const Edges& list) {
  return call(std::make_shared<NeighbourAttention>(list), {scores, coordinates, values});
}

}  // namespace weyl::lie

#include "weyl/ops/steerable/attention_forms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/real.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "weyl/ops/constants.h"

namespace weyl::steerable {
namespace {

Tensor index_of(const std::vector<int64_t>& v, const Tensor& like) {
  return constant(v, like.device());
}

/// (B, 2 F of all, N) real -> (B, H, N, F) complex.
Tensor of_heads(const Tensor& x, const Heads& heads) {
  const Tensor parts = x.unflatten(1, {2, -1}).index_select(2, index_of(heads.features, x));
  return at::complex(parts.select(1, 0), parts.select(1, 1))
      .unflatten(1, {heads.heads, heads.width})
      .transpose(2, 3);
}

/// The way back.
Tensor of_all(const Tensor& y, const Heads& heads) {
  std::vector<int64_t> place(heads.features.size());
  for (size_t k = 0; k < place.size(); ++k) {
    place[static_cast<size_t>(heads.features[k])] = static_cast<int64_t>(k);
  }
  const Tensor features = y.transpose(2, 3).flatten(1, 2).index_select(1, index_of(place, y));
  return at::cat({at::real(features), at::imag(features)}, 1);
}

/// (R, S of all, 2) real -> (R, H, F) complex: the weight of each number of a head.
Tensor weights_of(const Tensor& w, const Heads& heads) {
  std::vector<int64_t> index;
  for (int64_t h = 0; h < heads.heads; ++h) {
    for (const int64_t copy : heads.copy) {
      index.push_back(heads.copy_of_all[h * heads.multiplicity + copy]);
    }
  }
  return at::view_as_complex(w.contiguous())
      .index_select(1, index_of(index, w))
      .unflatten(1, {heads.heads, heads.width});
}

/// Where the channels of a component stand among the numbers of a head.
struct Channels {
  int64_t first, count;
  Tensor of(const Tensor& x) const { return x.narrow(-1, first, count); }
};
std::vector<Channels> channels_of(const Heads& heads) {
  std::vector<Channels> result;
  for (int64_t c = 0; c < heads.width; ++c) {
    if (c == 0 || heads.component[c] != heads.component[c - 1]) {
      result.push_back({c, 0});
    }
    ++result.back().count;
  }
  return result;
}

/// Positional vectors of pairs: P (N, N, M) complex, radius (N, N).
struct Pairs {
  Tensor vectors, radius;
};
Pairs pairs_of(const Positions& positions, const Tensor& like) {
  const int64_t n = positions.tokens();
  const auto [offsets, harmonics, radius] = positions.placed(like.scalar_type(), like.device());
  return {harmonics.index_select(0, offsets).view({n, n, -1}), radius.index_select(0, offsets).view({n, n})};
}

Tensor weights_of_scores(const Tensor& scores) {
  return at::softmax(at::abs(scores), -1);
}

Tensor as_complex(const Tensor& x) {
  return at::complex(x, at::zeros_like(x));
}

}  // namespace

Heads::Heads(const SteerableType& type, int64_t count) : heads(count) {
  for (int64_t l = 0; l < type.irreps(); ++l) {
    const int64_t share = type.channels[l] / heads;
    for (int64_t m = 0; m < type.components(l); ++m) {
      for (int64_t c = 0; c < share; ++c) {
        component.push_back(components + m);
        copy.push_back(multiplicity + c);
      }
    }
    components += type.components(l);
    multiplicity += share;
    multiplicity_of_all += type.channels[l];
  }
  width = static_cast<int64_t>(component.size());
  for (int64_t h = 0; h < heads; ++h) {
    int64_t first = 0;
    for (int64_t l = 0; l < type.irreps(); ++l) {
      const int64_t share = type.channels[l] / heads;
      for (int64_t m = 0; m < type.components(l); ++m) {
        for (int64_t c = 0; c < share; ++c) {
          features.push_back(type.offset(l) + m * type.channels[l] + h * share + c);
        }
      }
      for (int64_t c = 0; c < share; ++c) {
        copy_of_all.push_back(first + h * share + c);
      }
      first += type.channels[l];
    }
  }
}

Tensor attention_of_pairs(const Tensors& in, const Heads& heads, double scale, const Positions* positions) {
  const Tensor q = of_heads(in[0], heads);
  Tensor k = of_heads(in[1], heads).unsqueeze(2), v = of_heads(in[2], heads).unsqueeze(2);  // (B, H, 1, N, F)
  const int64_t n = q.size(2);
  if (positions != nullptr) {
    const Pairs pairs = pairs_of(*positions, in[0]);
    const Tensor vectors = pairs.vectors.index_select(2, index_of(heads.component, q));  // (N, N, F)
    const auto placed = [&](const Tensor& x, const Tensor& w) {
      const Tensor of_pairs = weights_of(w, heads).index_select(0, pairs.radius.view({-1}));
      return x +
             (of_pairs.view({n, n, heads.heads, heads.width}) * vectors.unsqueeze(2)).permute({2, 0, 1, 3});
    };
    k = placed(k, in[3]);
    v = placed(v, in[4]);
  }
  const std::vector<int64_t> shape{q.size(0), heads.heads, n, n, heads.width};
  const Tensor scores = at::matmul(k.expand(shape), q.conj().unsqueeze(4)).squeeze(4) * scale;
  const Tensor weights = as_complex(weights_of_scores(scores)).unsqueeze(3);
  return of_all(at::matmul(weights, v.expand(shape)).squeeze(3), heads);
}

Tensor attention_contracted(const Tensors& in, const Heads& heads, double scale, const Positions* positions) {
  const Tensor q = of_heads(in[0], heads), k = of_heads(in[1], heads), v = of_heads(in[2], heads);
  const int64_t batch = q.size(0), n = q.size(2), units = batch * heads.heads;
  Tensor scores = at::matmul(q.conj(), k.transpose(2, 3));
  if (positions == nullptr) {
    return of_all(at::matmul(as_complex(weights_of_scores(scores * scale)), v), heads);
  }
  const Pairs pairs = pairs_of(*positions, in[0]);
  const std::vector<Channels> channels = channels_of(heads);
  const Tensor wk = weights_of(in[3], heads).transpose(0, 1), wv = weights_of(in[4], heads).transpose(0, 1);
  std::vector<Tensor> t;  // of each component (B, H, N, R): sum_c conj(q_c) w_c
  for (const Channels& m : channels) {
    t.push_back(at::matmul(m.of(q).conj(), m.of(wk).transpose(1, 2)));
  }
  Tensor weights;
  std::vector<Tensor> sums;  // likewise: sum_j a_ij P_m
  if (positions->radii() == 1) {
    // A product over components for each query i: (N, B H, M) (N, M, N).
    const Tensor of_queries = at::cat(t, 3).view({units, n, heads.components}).transpose(0, 1);
    scores = scores +
             at::matmul(of_queries, pairs.vectors.transpose(1, 2)).transpose(0, 1).reshape(scores.sizes());
    weights = as_complex(weights_of_scores(scores * scale));
    sums = at::matmul(weights.view({units, n, n}).transpose(0, 1), pairs.vectors)
               .transpose(0, 1)
               .reshape({batch, heads.heads, n, heads.components})
               .split(1, 3);
  } else {
    const Tensor radius = pairs.radius.expand(scores.sizes());
    for (int64_t m = 0; m < heads.components; ++m) {
      scores = scores + at::gather(t[m], 3, radius) * pairs.vectors.select(2, m);
    }
    weights = as_complex(weights_of_scores(scores * scale));
    const Tensor none = at::zeros({batch, heads.heads, n, positions->radii()}, weights.options());
    for (int64_t m = 0; m < heads.components; ++m) {
      sums.push_back(at::scatter_add(none, 3, radius, weights * pairs.vectors.select(2, m)));
    }
  }
  std::vector<Tensor> placed;
  for (int64_t m = 0; m < heads.components; ++m) {
    placed.push_back(at::matmul(sums[m], channels[m].of(wv)));
  }
  return of_all(at::matmul(weights, v) + at::cat(placed, 3), heads);
}

}  // namespace weyl::steerable

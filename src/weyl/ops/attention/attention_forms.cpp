#include "weyl/ops/attention/attention_forms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_efficient_attention_backward.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace weyl {
namespace {

/// Rows, places and empty keys, as Padding has them.
std::vector<Tensor> padding_tables(const Segments& graphs) {
  const int64_t longest = graphs.longest();
  const auto batch = std::ranges::count_if(graphs.sizes(), [](int64_t n) { return n > 0; });
  const Tensor rows = at::empty({batch * longest}, at::kLong), places = at::empty({graphs.rows()}, at::kLong),
               empty_keys = at::empty({batch, 1, 1, longest}, at::kBool);
  auto* row = rows.mutable_data_ptr<int64_t>();
  auto* place = places.mutable_data_ptr<int64_t>();
  auto* empty = empty_keys.mutable_data_ptr<bool>();
  int64_t b = 0;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    const int64_t n = graphs.size(s), first = graphs.offsets[s];
    if (n == 0) {
      continue;
    }
    for (int64_t i = 0; i < longest; ++i) {
      row[b * longest + i] = first + std::min(i, n - 1);
      empty[b * longest + i] = i >= n;
    }
    for (int64_t i = 0; i < n; ++i) {
      place[first + i] = b * longest + i;
    }
    ++b;
  }
  return {rows, places, empty_keys};
}

/// The row of the pair that stands at each place (batch, i, j) of padded graphs.
Tensor rows_of_padded_pairs(const Segments& graphs, int64_t batch, int64_t longest) {
  const Tensor index = at::empty({batch * longest * longest}, at::kLong);
  auto* to = index.mutable_data_ptr<int64_t>();
  int64_t first = 0;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    const int64_t n = graphs.size(s);
    for (int64_t i = 0; i < longest && n > 0; ++i) {
      for (int64_t j = 0; j < longest; ++j) {
        *to++ = first + std::min(i, n - 1) * n + std::min(j, n - 1);
      }
    }
    first += n * n;
  }
  return index;
}

}  // namespace

Padding::Padding(const Segments& graphs) {
  longest = std::max<int64_t>(graphs.longest(), 1);
  for (int64_t s = 0; s < graphs.count(); ++s) {
    batch += graphs.size(s) > 0;
    full = full && (graphs.size(s) == 0 || graphs.size(s) == longest);
  }
  if (full) {
    return;
  }
  const std::vector<Tensor>& tables = graphs.table("padding", [&] { return padding_tables(graphs); });
  rows = tables[0];
  places = tables[1];
  empty_keys = tables[2];
}

Tensor Padding::pad(const Tensor& x) const {
  const Tensor placed = full ? x : x.index_select(0, rows);
  return placed.reshape({batch, longest, x.size(1), x.size(2)}).transpose(1, 2);
}

Tensor Padding::unpad(const Tensor& x) const {
  const Tensor flat = x.transpose(1, 2).reshape({batch * longest, x.size(1), x.size(3)});
  return full ? flat : flat.index_select(0, places);
}

Tensor Padding::pad_pairs(const Tensor& bias, const Segments& graphs) const {
  const int64_t heads = bias.size(1);
  if (full) {
    return bias.reshape({batch, longest, longest, heads}).permute({0, 3, 1, 2});
  }
  const Tensor& index =
      graphs.table("padded pairs", [&] { return std::vector{rows_of_padded_pairs(graphs, batch, longest)}; })
          .front();
  return bias.index_select(0, index).reshape({batch, longest, longest, heads}).permute({0, 3, 1, 2});
}

Tensor attention_by_pairs(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                          double scale, const Tensor& bias) {
  const int64_t n = q.size(0), heads = q.size(1), width = v.size(2);
  // Two nodes of the batch are a pair when they are of one graph: found among all of them, in the order i, j.
  const Tensor pairs = graphs.index.unsqueeze(1).eq(graphs.index.unsqueeze(0)).nonzero();
  const Tensor query = pairs.select(1, 0), key = pairs.select(1, 1);
  Tensor scores = (q.index_select(0, query) * k.index_select(0, key)).sum(-1) * scale;  // (pairs, H)
  scores = (bias.defined() ? scores + bias : scores).flatten();

  // Every (i, h) has its softmax: the place in a list of N H where the pair (i, j) of head h is gathered.
  const Tensor places = (query.unsqueeze(1) * heads + at::arange(heads, query.options())).flatten();
  const Tensor zeros = at::zeros({n * heads}, q.options());
  // Subtracting a constant of a place changes nothing, so the largest score needs no derivative.
  const Tensor highest = zeros.scatter_reduce(0, places, scores.detach(), "amax", /*include_self=*/false);
  const Tensor weights = (scores - highest.index_select(0, places)).exp();
  const Tensor shares = weights / zeros.scatter_add(0, places, weights).index_select(0, places);

  const Tensor terms = shares.view({pairs.size(0), heads, 1}) * v.index_select(0, key);
  return at::zeros({n * heads, width}, q.options())
      .scatter_add(0, places.unsqueeze(1).expand({-1, width}), terms.view({pairs.size(0) * heads, width}))
      .view({n, heads, width});
}

namespace {

Tensor padded_weights(const Padding& padding, const Tensor& q, const Tensor& k, const Segments& graphs,
                      double scale, const Tensor& bias) {
  Tensor scores = at::matmul(padding.pad(q) * scale, padding.pad(k).transpose(-1, -2));
  if (bias.defined()) {
    scores = scores + padding.pad_pairs(bias, graphs);
  }
  if (!padding.full) {
    scores = scores.masked_fill(padding.empty_keys, -std::numeric_limits<double>::infinity());
  }
  return scores.softmax(-1);
}

}  // namespace

Tensor attention_padded(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias) {
  const Padding padding(graphs);
  return padding.unpad(at::matmul(padded_weights(padding, q, k, graphs, scale, bias), padding.pad(v)));
}

Tensor attention_dropped(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                         double scale, double dropout) {
  const Padding padding(graphs);
  const Tensor weights = padded_weights(padding, q, k, graphs, scale, {});
  return padding.unpad(at::matmul(at::dropout(weights, dropout, /*train=*/true), padding.pad(v)));
}

namespace {

constexpr int64_t most_graphs = 65'535;  // of a batch: the third axis of CUDA's grids
constexpr int64_t widest_of_flash = 256;
constexpr int64_t bytes_of_a_load = 16;  // rows of a head must begin at and consist of so many

int64_t numbers_of_a_load(const Tensor& x) {
  return bytes_of_a_load / static_cast<int64_t>(x.element_size());
}

int64_t filled_up(int64_t width, const Tensor& like) {
  const int64_t step = numbers_of_a_load(like);
  return (std::max<int64_t>(width, 1) + step - 1) / step * step;
}

/// Rows of heads with zeros behind them up to `width`, each beginning where a load may.
Tensor in_whole_loads(const Tensor& x, int64_t width) {
  const int64_t step = numbers_of_a_load(x);
  if (x.size(-1) != width) {
    return at::constant_pad_nd(x, {0, width - x.size(-1)}).contiguous();
  }
  const bool fits = x.stride(-1) == 1 && x.stride(0) % step == 0 && x.stride(1) % step == 0 &&
                    x.storage_offset() % step == 0;
  return fits ? x : x.contiguous();
}

Tensor for_all_heads(const Tensor& x, int64_t heads) {
  return x.size(1) == heads ? x : x.expand({x.size(0), heads, x.size(2)});
}

/// The gradient of heads that were filled up, and perhaps shared, as that of x.
Tensor as_given(const Tensor& gradient, const Tensor& x) {
  const Tensor own = x.size(1) == gradient.size(1) ? gradient : gradient.sum(1, /*keepdim=*/true);
  return own.size(-1) == x.size(-1) ? own : own.narrow(-1, 0, x.size(-1));
}

/// A function of autograd may not return an undefined tensor: one without numbers stands for what a kernel leaves out.
Tensor kept(const Tensor& x, const Tensor& like) {
  return x.defined() ? x : at::empty({0}, like.options().dtype(at::kLong));
}

}  // namespace

FusedAttentionInput fused_attention_input(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const Segments& graphs, double scale) {
  FusedAttentionInput in;
  const int64_t heads = q.size(1);
  int64_t key = filled_up(q.size(2), q), value = filled_up(v.size(2), v);
  in.flash = at::isReducedFloatingType(q.scalar_type()) && std::max(key, value) <= widest_of_flash;
  if (in.flash) {  // which has one width for all
    key = value = std::max(key, value);
  }
  in.q = in_whole_loads(q, key);
  in.k = for_all_heads(in_whole_loads(k, key), heads);
  in.v = for_all_heads(in_whole_loads(v, value), heads);
  in.offsets = graphs
                   .table("offsets of graphs with nodes",
                          [&] {
                            std::vector<int64_t> offsets = graphs.offsets;
                            offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
                            return std::vector{at::tensor(offsets, at::kInt)};
                          })
                   .front();
  in.longest = graphs.longest();
  in.scale = scale;
  return in;
}

bool fused_attention_takes(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias,
                           const Segments& graphs) {
  return q.is_cuda() && k.is_cuda() && v.is_cuda() && !bias.defined() && q.scalar_type() != at::kDouble &&
         graphs.rows() > 0 && graphs.count() <= most_graphs;
}

std::vector<Tensor> fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                                    double scale) {
  const FusedAttentionInput in = fused_attention_input(q, k, v, graphs, scale);
  Tensor y, sums, seed, offset;
  if (in.flash) {
    Tensor mask;
    std::tie(y, sums, seed, offset, mask) = at::_flash_attention_forward(
        in.q, in.k, in.v, in.offsets, in.offsets, in.longest, in.longest, /*dropout_p=*/0.0,
        /*is_causal=*/false, /*return_debug_mask=*/false, in.scale);
  } else {
    auto found = at::_efficient_attention_forward(in.q.unsqueeze(0), in.k.unsqueeze(0), in.v.unsqueeze(0),
                                                  /*bias=*/std::nullopt, in.offsets, in.offsets, in.longest,
                                                  in.longest, /*dropout_p=*/0.0, /*custom_mask_type=*/0,
                                                  /*compute_log_sumexp=*/true, in.scale);
    y = std::get<0>(found).squeeze(0);
    sums = std::get<1>(found);
    seed = std::get<2>(found);
    offset = std::get<3>(found);
  }
  y = y.size(-1) == v.size(-1) ? y : y.narrow(-1, 0, v.size(-1)).contiguous();
  return {y, sums, kept(seed, q), kept(offset, q)};
}

std::vector<Tensor> fused_attention_gradients(const Tensor& q, const Tensor& k, const Tensor& v,
                                              const Segments& graphs, double scale,
                                              const std::vector<Tensor>& results, const Tensor& gy) {
  const FusedAttentionInput in = fused_attention_input(q, k, v, graphs, scale);
  const Tensor y = in_whole_loads(results[0], in.v.size(-1)), g = in_whole_loads(gy, in.v.size(-1));
  Tensor gq, gk, gv;
  if (in.flash) {
    std::tie(gq, gk, gv) = at::_flash_attention_backward(
        g, in.q, in.k, in.v, y, results[1], in.offsets, in.offsets, in.longest, in.longest,
        /*dropout_p=*/0.0, /*is_causal=*/false, results[2], results[3], in.scale);
  } else {
    Tensor gbias;
    std::tie(gq, gk, gv, gbias) = at::_efficient_attention_backward(
        g.unsqueeze(0), in.q.unsqueeze(0), in.k.unsqueeze(0), in.v.unsqueeze(0), /*bias=*/std::nullopt,
        y.unsqueeze(0), in.offsets, in.offsets, in.longest, in.longest, results[1], /*dropout_p=*/0.0,
        results[2], results[3], /*custom_mask_type=*/0, /*bias_requires_grad=*/false, in.scale);
    gq = gq.squeeze(0);
    gk = gk.squeeze(0);
    gv = gv.squeeze(0);
  }
  return {as_given(gq, q), as_given(gk, k), as_given(gv, v)};
}

}  // namespace weyl

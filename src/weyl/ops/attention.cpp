#include "weyl/ops/attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include "weyl/core/check.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

/// Ragged rows as a batch of the non-empty graphs, padded to the longest. Padding repeats a real row of the
/// same graph, so nothing that is masked out can be infinite.
struct Padding {
  int64_t batch = 0, longest = 1;
  bool full = true;   // all graphs have `longest` nodes: no mask needed
  Tensor rows;        // (batch * longest) int64: the row of each place
  Tensor places;      // (N) int64: the place of each row
  Tensor empty_keys;  // (batch, 1, 1, longest) bool: place holds no node

  Padding(const Segments& graphs, at::Device device) {
    longest = std::max<int64_t>(graphs.longest(), 1);
    for (int64_t s = 0; s < graphs.count(); ++s) {
      batch += graphs.size(s) > 0;
      full = full && (graphs.size(s) == 0 || graphs.size(s) == longest);
    }
    if (full) {
      return;
    }
    rows = at::empty({batch * longest}, at::kLong);
    places = at::empty({graphs.rows()}, at::kLong);
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
    rows = rows.to(device);
    places = places.to(device);
    empty_keys = empty_keys.to(device);
  }

  /// (N, H, C) -> (batch, H, longest, C)
  Tensor pad(const Tensor& x) const {
    const Tensor placed = full ? x : x.index_select(0, rows);
    return placed.reshape({batch, longest, x.size(1), x.size(2)}).transpose(1, 2);
  }
  /// (batch, H, longest, C) -> (N, H, C)
  Tensor unpad(const Tensor& x) const {
    const Tensor flat = x.transpose(1, 2).reshape({batch * longest, x.size(1), x.size(3)});
    return full ? flat : flat.index_select(0, places);
  }
  /// Pair rows (pairs, H) -> (batch, H, longest, longest)
  Tensor pad_pairs(const Tensor& bias, const Segments& graphs) const {
    const int64_t heads = bias.size(1);
    if (full) {
      return bias.reshape({batch, longest, longest, heads}).permute({0, 3, 1, 2});
    }
    Tensor index = at::empty({batch * longest * longest}, at::kLong);
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
    return bias.index_select(0, index.to(bias.device()))
        .reshape({batch, longest, longest, heads})
        .permute({0, 3, 1, 2});
  }
};

void require_heads(const char* where, const char* name, const Tensor& x, const Tensor& q, int64_t width,
                   bool shared) {
  require(x.dim() == 3 && x.size(0) == q.size(0) && (x.size(1) == q.size(1) || (shared && x.size(1) == 1)) &&
              (width < 0 || x.size(2) == width),
          where, ": ", name, " must fit q ", q.sizes(), ", got ", x.sizes());
  require(x.scalar_type() == q.scalar_type(), where, ": ", name, " must have q's dtype ", q.scalar_type(),
          ", got ", x.scalar_type());
}

}  // namespace

Tensor ragged_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias) {
  const char* where = "ragged_attention";
  require(q.dim() == 3 && q.size(0) == graphs.rows(), where, ": q must be (", graphs.rows(), ", H, K), got ",
          q.sizes());
  require_heads(where, "k", k, q, q.size(2), true);
  require_heads(where, "v", v, q, -1, true);
  if (bias.defined()) {
    require(bias.dim() == 2 && bias.size(0) == graphs.pairs() && bias.size(1) == q.size(1), where,
            ": bias must be (", graphs.pairs(), ", ", q.size(1), "), got ", bias.sizes());
    require(bias.scalar_type() == q.scalar_type(), where, ": bias must have q's dtype ", q.scalar_type(),
            ", got ", bias.scalar_type());
  }
  const Padding padding(graphs, q.device());
  Tensor scores = at::matmul(padding.pad(q) * scale, padding.pad(k).transpose(-1, -2));
  if (bias.defined()) {
    scores = scores + padding.pad_pairs(bias, graphs);
  }
  if (!padding.full) {
    scores = scores.masked_fill(padding.empty_keys, -std::numeric_limits<double>::infinity());
  }
  return padding.unpad(at::matmul(scores.softmax(-1), padding.pad(v)));
}

Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        const Tensor& norm) {
  const char* where = "linear_attention";
  require(q.dim() == 3 && q.size(0) == graphs.rows(), where, ": q must be (", graphs.rows(), ", H, K), got ",
          q.sizes());
  require_heads(where, "k", k, q, q.size(2), false);
  require_heads(where, "v", v, q, -1, false);
  // One (H, K, V) matrix a graph, from padded rows whose padding is zeroed in k.
  const Padding padding(graphs, q.device());
  Tensor keys = padding.pad(k), values = padding.pad(v);
  if (norm.defined()) {
    require(norm.dim() == 1 && norm.size(0) == graphs.count(), where, ": norm must be (", graphs.count(),
            "), got ", norm.sizes());
    values = padding.pad(v / norm.to(v.scalar_type()).index_select(0, graphs.index).view({-1, 1, 1}));
  }
  if (!padding.full) {
    keys = keys.masked_fill(padding.empty_keys.transpose(-1, -2), 0);
  }
  return padding.unpad(at::matmul(padding.pad(q), at::matmul(keys.transpose(-1, -2), values)));
}

}  // namespace weyl

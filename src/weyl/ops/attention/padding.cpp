#include "weyl/ops/attention/padding.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>

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

}  // namespace weyl

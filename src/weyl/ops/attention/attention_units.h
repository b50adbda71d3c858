#pragma once

#include <functional>
#include <vector>

#include "weyl/core/segments.h"
#include "weyl/kernels/attention/attention.h"

namespace weyl {

/// (N, H, C), or (N, P, H, C) with rows of P pieces, as a kernel reads it, without a copy unless its last
/// axis is strided; `heads` > 1 with one stored head means a shared one.
struct HeadTensor {
  HeadTensor() = default;
  HeadTensor(const Tensor& x, int64_t heads);
  template <class T>
  kernels::HeadRows<const T> read() const {
    return {tensor.defined() ? tensor.const_data_ptr<T>() : nullptr, row, head, parts, part};
  }
  template <class T>
  kernels::HeadRows<T> write() const {
    return {tensor.defined() ? tensor.mutable_data_ptr<T>() : nullptr, row, head, parts, part};
  }
  Tensor tensor;
  int64_t row = 0, head = 0, parts = 1, part = 0;
};

/// Floating-point operations of one product of attention, a multiply-add counting two: scores of queries and keys of so
/// many numbers a head, or sums of values of so many.
double attention_products(const Segments& graphs, int64_t heads, int64_t width);
/// The same of linear attention: of rows with matrices of this size.
double linear_attention_products(const Segments& graphs, int64_t heads, int64_t key_width,
                                 int64_t value_width);

/// What a unit, a head of a graph of n nodes, costs: square n^2 + linear n, each of about so many nanoseconds.
struct UnitCost {
  int64_t square = 1, linear = 8;
  double nanoseconds = 12;  // of a pair of tokens: estimated, to be measured

  int64_t of(int64_t n) const { return square * n * n + linear * n; }
};

/// Of linear attention, with keys and values so wide.
UnitCost linear_attention_cost(int64_t key_width, int64_t value_width);

/// Shares the units (graph, head) of attention out among workers by their cost: calls work(w, first, last). `whole`
/// keeps the heads of a graph together.
int64_t attention_workers(const Segments& graphs, int64_t heads, bool whole, const UnitCost& cost = {});
void for_attention_units(const Segments& graphs, int64_t heads, int64_t workers, bool whole,
                         const UnitCost& cost, const std::function<void(int64_t, int64_t, int64_t)>& work);

}  // namespace weyl

#pragma once

#include "weyl/kernels/multivectors/grade_maps.h"
#include "weyl/kernels/multivectors/rows.h"

namespace weyl::kernels {

/// Linear maps of multivectors by grades: x (16, N, I), weight (O, I, 9) -> y (16, N, O),
///   y_(i n o) = sum_(c a) weight_(o c a) scale_a x_(j n c)  over the maps a that take a component j to i (grade_maps.h),
/// of which there are one or two for each i: 24 products in all. T is float or double.
template <class T>
struct GradeLinear {
  /// Numbers of packed weights for so many inputs and outputs.
  int64_t (*packed)(int64_t inputs, int64_t outputs);

  /// Packs weight (O, I, 9) contiguous; `transposed`: for the map of y's gradient to x's, with I outputs.
  void (*pack)(const T* weight, int64_t outputs, int64_t inputs, bool transposed, T* packed);

  /// Tokens first <= n < last of y = map(x), or with `add` of y += map(x). `inputs`, `outputs`, `packed` and
  /// `transposed` as packed. scalars (N, outputs), rows `scalar_row` apart: added to component 0; null: none.
  void (*apply)(MultivectorRows<const T> x, int64_t inputs, const T* packed, bool transposed,
                const T* scalars, int64_t scalar_row, bool add, MultivectorRows<T> y, int64_t outputs,
                int64_t first, int64_t last);

  /// Adds the sum over tokens first <= n < last to gw (9, O, I) of the gradient of the weight, without scales.
  void (*weight_gradient)(MultivectorRows<const T> x, int64_t inputs, MultivectorRows<const T> gy,
                          int64_t outputs, T* gw, int64_t first, int64_t last);

  /// gweight (O, I, 9) contiguous from gw (9, O, I), with the scales.
  void (*unpack)(const T* gw, int64_t outputs, int64_t inputs, T* gweight);
};

}  // namespace weyl::kernels

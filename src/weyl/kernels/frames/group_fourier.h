#pragma once

#include <cstdint>

namespace weyl::kernels {

/// A sparse square matrix by rows, which every run of `size` places is multiplied by: row r holds coefficients[i] in
/// columns[i], starts[r] <= i < starts[r + 1].
template <class T>
struct FourierStage {
  int64_t size = 0;
  const int64_t *starts = nullptr, *columns = nullptr;
  const T* coefficients = nullptr;
};

/// A linear map of `order` rows of `channels` numbers of each of N nodes, by stages (algebra/finite/group_spectrum.h). The row
/// of node n in place p is in[p] + n in_strides[p], and its result out[p] + n out_strides[p].
template <class T>
struct GroupFourierInput {
  int64_t order = 0, channels = 0;
  int64_t stage_count = 0;  // at least one
  const FourierStage<T>* stages = nullptr;
  const T* const* in = nullptr;
  const int64_t* in_strides = nullptr;
  T* const* out = nullptr;
  const int64_t* out_strides = nullptr;
};

template <class T>
struct GroupFourier {
  static constexpr int64_t most_rows = 240;  // GroupTable::most_elements

  /// Nodes first <= n < last.
  void (*transform)(const GroupFourierInput<T>& in, int64_t first, int64_t last);
};

}  // namespace weyl::kernels

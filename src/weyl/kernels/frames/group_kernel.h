#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Block (h, g) of the dense matrix (G O, G I) is kernel[quotient[h G + g]], kernel (G, O, I); quotient is
/// the table of g^-1 h. T is float or double.
template <class T>
struct GroupKernel {
  int64_t order = 0, out = 0, in = 0;
  const int64_t* quotient = nullptr;
};

/// Writes the rows first <= h O + o < last of `dense`.
template <class T>
void expand_group_kernel(const GroupKernel<T>& shape, const T* kernel, T* dense, int64_t first, int64_t last);

/// gkernel[a][o] = sum of gdense over the blocks with quotient a, for the output channels first <= o < last.
template <class T>
void gather_group_kernel(const GroupKernel<T>& shape, const T* gdense, T* gkernel, int64_t first,
                         int64_t last);

}  // namespace weyl::kernels

#include "weyl/kernels/frames/group_kernel.h"

#include <cstring>

namespace weyl::kernels {

template <class T>
void expand_group_kernel(const GroupKernel<T>& s, const T* kernel, T* dense, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const int64_t h = row / s.out, o = row % s.out;
    for (int64_t g = 0; g < s.order; ++g) {
      const int64_t a = s.quotient[h * s.order + g];
      std::memcpy(dense + (row * s.order + g) * s.in, kernel + (a * s.out + o) * s.in, s.in * sizeof(T));
    }
  }
}

template <class T>
void gather_group_kernel(const GroupKernel<T>& s, const T* gdense, T* gkernel, int64_t first, int64_t last) {
  for (int64_t o = first; o < last; ++o) {
    for (int64_t h = 0; h < s.order; ++h) {
      const T* row = gdense + (h * s.out + o) * s.order * s.in;
      for (int64_t g = 0; g < s.order; ++g) {
        T* to = gkernel + (s.quotient[h * s.order + g] * s.out + o) * s.in;
        const T* from = row + g * s.in;
        if (h == 0) {  // every quotient occurs once in a row of the table
          std::memcpy(to, from, s.in * sizeof(T));
        } else {
          for (int64_t i = 0; i < s.in; ++i) {
            to[i] += from[i];
          }
        }
      }
    }
  }
}

template void expand_group_kernel<float>(const GroupKernel<float>&, const float*, float*, int64_t, int64_t);
template void expand_group_kernel<double>(const GroupKernel<double>&, const double*, double*, int64_t,
                                          int64_t);
template void gather_group_kernel<float>(const GroupKernel<float>&, const float*, float*, int64_t, int64_t);
template void gather_group_kernel<double>(const GroupKernel<double>&, const double*, double*, int64_t,
                                          int64_t);

}  // namespace weyl::kernels

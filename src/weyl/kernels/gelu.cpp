#include "weyl/kernels/gelu.h"

#include "weyl/kernels/normal.h"

namespace weyl::kernels {
namespace WEYL_ISA {

template <class T>
void gelu(const Gelu<T>& a, T* y, int64_t first, int64_t last) {
  const int64_t period = a.bias ? a.channels : a.width, step = lanes<T>;
  for (int64_t at = first * a.width; at < last * a.width; at += period) {
    for (int64_t c = 0; c < period; c += step) {
      const int64_t left = period - c;
      Vec<T> t = left >= step ? load(a.x + at + c) : load_part(a.x + at + c, left), bell;
      if (a.bias) {
        t += left >= step ? load(a.bias + c) : load_part(a.bias + c, left);
      }
      const Vec<T> value = t * normal_cdf<T>(t, bell);
      left >= step ? store(y + at + c, value) : store_part(y + at + c, value, left);
    }
  }
}

template <class T>
void gelu_backward(const Gelu<T>& a, const T* gy, T* gx, T* gbias, int64_t first, int64_t last) {
  const int64_t period = a.bias ? a.channels : a.width, step = lanes<T>;
  for (int64_t at = first * a.width; at < last * a.width; at += period) {
    for (int64_t c = 0; c < period; c += step) {
      const int64_t left = period - c;
      const bool whole = left >= step;
      Vec<T> t = whole ? load(a.x + at + c) : load_part(a.x + at + c, left), bell;
      if (a.bias) {
        t += whole ? load(a.bias + c) : load_part(a.bias + c, left);
      }
      const Vec<T> cdf = normal_cdf<T>(t, bell);
      const Vec<T> g = (whole ? load(gy + at + c) : load_part(gy + at + c, left)) *
                       (cdf + t * bell * T(0.39894228040143267794));
      if (gx) {
        whole ? store(gx + at + c, g) : store_part(gx + at + c, g, left);
      }
      if (gbias) {
        whole ? store(gbias + c, load(gbias + c) + g)
              : store_part(gbias + c, load_part(gbias + c, left) + g, left);
      }
    }
  }
}

template void gelu<float>(const Gelu<float>&, float*, int64_t, int64_t);
template void gelu<double>(const Gelu<double>&, double*, int64_t, int64_t);
template void gelu_backward<float>(const Gelu<float>&, const float*, float*, float*, int64_t, int64_t);
template void gelu_backward<double>(const Gelu<double>&, const double*, double*, double*, int64_t, int64_t);

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
void gelu(const Gelu<T>&, T*, int64_t, int64_t);
template <class T>
void gelu_backward(const Gelu<T>&, const T*, T*, T*, int64_t, int64_t);
}  // namespace v3
namespace v4 {
template <class T>
void gelu(const Gelu<T>&, T*, int64_t, int64_t);
template <class T>
void gelu_backward(const Gelu<T>&, const T*, T*, T*, int64_t, int64_t);
}  // namespace v4
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

template <class T>
void gelu(const Gelu<T>& args, T* y, int64_t first, int64_t last) {
  choose(&baseline::gelu<T>, &v3::gelu<T>, &v4::gelu<T>)(args, y, first, last);
}
template <class T>
void gelu_backward(const Gelu<T>& args, const T* gy, T* gx, T* gbias, int64_t first, int64_t last) {
  choose(&baseline::gelu_backward<T>, &v3::gelu_backward<T>, &v4::gelu_backward<T>)(args, gy, gx, gbias,
                                                                                    first, last);
}
template void gelu<float>(const Gelu<float>&, float*, int64_t, int64_t);
template void gelu<double>(const Gelu<double>&, double*, int64_t, int64_t);
template void gelu_backward<float>(const Gelu<float>&, const float*, float*, float*, int64_t, int64_t);
template void gelu_backward<double>(const Gelu<double>&, const double*, double*, double*, int64_t, int64_t);
#endif

}  // namespace weyl::kernels

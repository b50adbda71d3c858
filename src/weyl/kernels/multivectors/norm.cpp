#include "weyl/kernels/multivectors/norm.h"

#include "weyl/algebra/clifford/blades.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

#ifdef __CUDACC__
#include "weyl/kernels/cuda/launch.h"
#include "weyl/kernels/cuda/tables.h"
#endif

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

using clifford::components;

/// Bit i is set where component i belongs to the inner product. One number: a device does not see the host's arrays.
consteval unsigned inner_bits() {
  unsigned bits = 0;
  for (const int i : clifford::inner_indices) {
    bits |= 1U << i;
  }
  return bits;
}
constexpr bool is_inner(int component) {
  return (inner_bits() >> component & 1U) != 0;
}

/// sum over components, of the inner product alone or all, and channels of x y.
template <class T>
constexpr T dot(const MultivectorRows<const T>& x, const MultivectorRows<const T>& y, bool of_inner,
                int64_t n, int64_t channels) {
  Vec<T> sum{};
  for (int i = 0; i < components; ++i) {
    if (of_inner && !is_inner(i)) {
      continue;
    }
    const T *a = x.at(i, n), *b = y.at(i, n);
    for (int64_t c = 0; c < channels; c += lanes<T>) {
      sum += get(a + c, channels - c) * get(b + c, channels - c);
    }
  }
  return sum_of<T>(sum);
}

template <class T>
constexpr void forward(MultivectorRows<const T> x, int64_t channels, T epsilon, MultivectorRows<T> y,
                       T* state, int64_t first, int64_t last) {
  each_row(first, last, [&](int64_t n) {
    const T mean = dot<T>(x, x, true, n, channels) / static_cast<T>(channels);
    const T s = static_cast<T>(1 / root_of(static_cast<double>(mean < epsilon ? epsilon : mean)));
    state[n] = mean < epsilon ? -s : s;
    for (int i = 0; i < components; ++i) {
      const T* from = x.at(i, n);
      T* to = y.at(i, n);
      for (int64_t c = 0; c < channels; c += lanes<T>) {
        put(to + c, get(from + c, channels - c) * s, channels - c);
      }
    }
  });
}

// gx = s gy - s^3 / C <gy, x> I x, with I the projection on the inner components; without the second term where epsilon
// held.
template <class T>
constexpr void backward(MultivectorRows<const T> x, int64_t channels, const T* state,
                        MultivectorRows<const T> gy, MultivectorRows<T> gx, int64_t first, int64_t last) {
  each_row(first, last, [&](int64_t n) {
    const bool held = state[n] < 0;
    const T s = held ? -state[n] : state[n];
    const T of_x = held ? T(0) : -s * s * s / static_cast<T>(channels) * dot<T>(gy, x, false, n, channels);
    for (int i = 0; i < components; ++i) {
      const T *from = x.at(i, n), *g = gy.at(i, n), of_component = is_inner(i) ? of_x : T(0);
      T* to = gx.at(i, n);
      for (int64_t c = 0; c < channels; c += lanes<T>) {
        put(to + c, get(g + c, channels - c) * s + get(from + c, channels - c) * of_component, channels - c);
      }
    }
  });
}

// With a = <gy, x>, b = <dx, gy> over all components and d = <dx, I x>, these are the derivatives of
//   <dx, gx> = s b - s^3 / C a d.
template <class T>
constexpr void second(MultivectorRows<const T> x, int64_t channels, const T* state,
                      MultivectorRows<const T> gy, MultivectorRows<const T> dx, MultivectorRows<T> gx,
                      MultivectorRows<T> ggy, int64_t first, int64_t last) {
  each_row(first, last, [&](int64_t n) {
    const bool held = state[n] < 0;
    const T s = held ? -state[n] : state[n];
    const T cube = held ? T(0) : s * s * s / static_cast<T>(channels);
    const T a = dot<T>(gy, x, false, n, channels), b = dot<T>(dx, gy, false, n, channels),
            d = dot<T>(dx, x, true, n, channels);
    const T of_x = cube * (3 * cube / s * a * d - b);
    for (int i = 0; i < components; ++i) {
      const T *from = x.at(i, n), *g = gy.at(i, n), *e = dx.at(i, n), part = is_inner(i) ? T(1) : T(0);
      T *to_x = gx.data ? gx.at(i, n) : nullptr, *to_g = ggy.data ? ggy.at(i, n) : nullptr;
      for (int64_t c = 0; c < channels; c += lanes<T>) {
        const int64_t left = channels - c;
        const Vec<T> xs = get(from + c, left), es = get(e + c, left);
        if (to_g) {
          put(to_g + c, es * s - xs * (cube * d), left);
        }
        if (to_x) {
          put(to_x + c, xs * (part * of_x) - es * (part * cube * a) - get(g + c, left) * (cube * d), left);
        }
      }
    }
  });
}

template <class T>
#ifdef __CUDACC__
constexpr MultivectorNorm<T> table{queued<forward<T>>, queued<backward<T>>, queued<second<T>>};
#else
constexpr MultivectorNorm<T> table{forward<T>, backward<T>, second<T>};
#endif

}  // namespace
}  // namespace WEYL_ISA

#ifdef __CUDACC__
template <>
const MultivectorNorm<float>* for_cuda() {
  return &cuda::table<float>;
}
template <>
const MultivectorNorm<double>* for_cuda() {
  return &cuda::table<double>;
}
#else
template <>
const MultivectorNorm<float>& compiled<MultivectorNorm<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const MultivectorNorm<double>& compiled<MultivectorNorm<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}
#endif

}  // namespace weyl::kernels

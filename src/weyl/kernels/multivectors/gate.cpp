#include "weyl/kernels/multivectors/gate.h"

#include "weyl/algebra/clifford/blades.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/elementary.h"

#ifdef __CUDACC__
#include "weyl/kernels/cuda/launch.h"
#include "weyl/kernels/cuda/tables.h"
#endif

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

using clifford::components;

/// g(t), g'(t) and g''(t).
template <class T>
struct Law {
  Vec<T> value, slope, second;
};

template <class T>
constexpr Vec<T> sigmoid(Vec<T> t) {
  return T(1) / (T(1) + exp_of<T>(-t));
}

// t (1 + tanh u) / 2 = t S(2 u) with the sigmoid S; 2 u = w(t) = 2 sqrt(2/pi) (t + 0.044715 t^3).
template <class T>
constexpr Law<T> gelu(Vec<T> t) {
  constexpr T k = T(1.59576912160573071176), cubic = T(0.044715);
  const Vec<T> square = t * t, s = sigmoid<T>(t * (k + square * (k * cubic))), d = s * (T(1) - s),
               w1 = square * (3 * k * cubic) + k, w2 = t * (6 * k * cubic);
  // S' = d w', S'' = d ((1 - 2 S) w'^2 + w''). Where t is so large that its square overflows, d is 0.
  const Vec<T> s1 = d * w1, s2 = d * ((T(1) - s - s) * (w1 * w1) + w2);
  const auto far = square > T(1e4);
  return {t * s, far ? s : s + t * s1, far ? Vec<T>{} : s1 + s1 + t * s2};
}

template <class T>
constexpr Law<T> law_of(GateLaw law, Vec<T> t) {
  if (law == GateLaw::gelu) {
    return gelu<T>(t);
  }
  if (law == GateLaw::relu) {
    const auto on = t > T(0);
    // A NaN stays one.
    return {t <= T(0) ? Vec<T>{} : t, on ? spread(T(1)) : Vec<T>{}, Vec<T>{}};
  }
  const Vec<T> s = sigmoid<T>(t), d = s * (T(1) - s);
  return {s, d, d * (T(1) - s - s)};
}

/// f(e, numbers left) for the vectors of first <= e < last.
template <class T, class F>
constexpr void each_vector(int64_t first, int64_t last, const F& f) {
  if constexpr (lanes<T> == 1) {
    each_row(first, last, [&](int64_t e) { f(e, 1); });
  } else {
    for (int64_t e = first; e < last; e += lanes<T>) {
      f(e, last - e);
    }
  }
}

template <class T>
constexpr void forward(GateLaw law, const T* x, int64_t size, T* y, int64_t first, int64_t last) {
  each_vector<T>(first, last, [&](int64_t e, int64_t left) {
    const Vec<T> gate = law_of<T>(law, get(x + e, left)).value;
    for (int i = 0; i < components; ++i) {
      put(y + i * size + e, get(x + i * size + e, left) * gate, left);
    }
  });
}

template <class T>
constexpr void backward(GateLaw law, const T* x, const T* gy, int64_t size, T* gx, int64_t first,
                        int64_t last) {
  each_vector<T>(first, last, [&](int64_t e, int64_t left) {
    const Law<T> g = law_of<T>(law, get(x + e, left));
    Vec<T> dot{};
    for (int i = 0; i < components; ++i) {
      const Vec<T> gradient = get(gy + i * size + e, left);
      dot += gradient * get(x + i * size + e, left);
      if (i > 0) {
        put(gx + i * size + e, gradient * g.value, left);
      }
    }
    put(gx + e, get(gy + e, left) * g.value + g.slope * dot, left);
  });
}

// With a = <gy, x> and b = <dx, gy>, these are the derivatives of  <dx, gx> = g(x_0) b + dx_0 g'(x_0) a.
template <class T>
constexpr void second(GateLaw law, const T* x, const T* gy, const T* dx, int64_t size, T* gx, T* ggy,
                      int64_t first, int64_t last) {
  each_vector<T>(first, last, [&](int64_t e, int64_t left) {
    const Law<T> g = law_of<T>(law, get(x + e, left));
    const Vec<T> moved = get(dx + e, left) * g.slope;
    Vec<T> a{}, b{};
    for (int i = 0; i < components; ++i) {
      const int64_t at = i * size + e;
      const Vec<T> gradient = get(gy + at, left), d = get(dx + at, left), of_x = get(x + at, left);
      a += gradient * of_x;
      b += gradient * d;
      if (ggy) {
        put(ggy + at, d * g.value + of_x * moved, left);
      }
      if (gx && i > 0) {
        put(gx + at, gradient * moved, left);
      }
    }
    if (gx) {
      put(gx + e, get(gy + e, left) * moved + g.slope * b + get(dx + e, left) * g.second * a, left);
    }
  });
}

template <class T>
#ifdef __CUDACC__
constexpr MultivectorGating<T> table{queued<forward<T>>, queued<backward<T>>, queued<second<T>>};
#else
constexpr MultivectorGating<T> table{forward<T>, backward<T>, second<T>};
#endif

}  // namespace
}  // namespace WEYL_ISA

#ifdef __CUDACC__
template <>
const MultivectorGating<float>* for_cuda() {
  return &cuda::table<float>;
}
template <>
const MultivectorGating<double>* for_cuda() {
  return &cuda::table<double>;
}
#else
template <>
const MultivectorGating<float>& compiled<MultivectorGating<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const MultivectorGating<double>& compiled<MultivectorGating<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}
#endif

}  // namespace weyl::kernels

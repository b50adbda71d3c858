#include "weyl/kernels/attention/rotary.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// The numbers of half as many pairs as a vector holds numbers, each twice; null: zeros.
template <class T>
inline Vec<T> of_pairs(const T* p, int64_t at, int64_t left) {
  if (!p) {
    return Vec<T>{};
  }
  const int64_t pairs = (left < lanes<T> ? left : lanes<T>) / 2;
  return each_twice<T>(load_part(p + at, pairs));
}
template <class T>
inline Vec<T> of_row(const T* p, int64_t at, int64_t left) {
  return p ? get(p + at, left) : Vec<T>{};
}
template <class T>
inline void put_pairs(T* p, int64_t at, Vec<T> v, int64_t left) {
  if (p) {
    store_part(p + at, pair_sums<T>(v), (left < lanes<T> ? left : lanes<T>) / 2);
  }
}
template <class T>
inline void put_row(T* p, int64_t at, Vec<T> v, int64_t left) {
  if (p) {
    put(p + at, v, left);
  }
}

/// f(x, at, pair, left): the vector of x, its place in rows without gaps, and that of its first pair.
template <class T, class F>
inline void each_vector(const RotaryInput<T>& in, int64_t first, int64_t last, const F& f) {
  for (int64_t i = first; i < last; ++i) {
    for (int64_t c = 0; c < in.width; c += lanes<T>) {
      const int64_t left = in.width - c;
      const Vec<T> x = in.x ? get(in.x + i * in.stride + c, left) : spread(T(1));
      f(x, i * in.width + c, (i * in.width + c) / 2, left);
    }
  }
}

template <class T>
void forward(const RotaryInput<T>& in, T* y, int64_t first, int64_t last) {
  const Vec<T> turn = alternating<T>(in.inverse ? T(-1) : T(1));
  each_vector(in, first, last, [&](Vec<T> x, int64_t at, int64_t pair, int64_t left) {
    const Vec<T> c = of_pairs(in.cosine, pair, left), s = of_pairs(in.sine, pair, left) * turn;
    put(y + at, x * c + swap_pairs<T>(x) * s, left);
  });
}

/// The transpose turns the other way; cosine and sine get what is between x and gy.
template <class T>
void backward(const RotaryInput<T>& in, const T* gy, const RotaryNumbers<T>& to, int64_t first,
              int64_t last) {
  const Vec<T> turn = alternating<T>(in.inverse ? T(-1) : T(1));
  each_vector(in, first, last, [&](Vec<T> x, int64_t at, int64_t pair, int64_t left) {
    const Vec<T> c = of_pairs(in.cosine, pair, left), s = of_pairs(in.sine, pair, left) * turn;
    const Vec<T> g = get(gy + at, left);
    put_row(to.x, at, g * c - swap_pairs<T>(g) * s, left);
    put_pairs(to.cosine, pair, g * x, left);
    put_pairs(to.sine, pair, g * swap_pairs<T>(x) * turn, left);
  });
}

template <class T>
void second(const RotaryInput<T>& in, const T* gy, const RotaryNumbers<const T>& d,
            const RotaryNumbers<T>& to, T* ggy, int64_t first, int64_t last) {
  const Vec<T> turn = alternating<T>(in.inverse ? T(-1) : T(1));
  each_vector(in, first, last, [&](Vec<T> x, int64_t at, int64_t pair, int64_t left) {
    const Vec<T> c = of_pairs(in.cosine, pair, left), s = of_pairs(in.sine, pair, left) * turn;
    const Vec<T> dc = of_pairs(d.cosine, pair, left), ds = of_pairs(d.sine, pair, left) * turn;
    const Vec<T> g = get(gy + at, left), dx = of_row(d.x, at, left);
    put_row(ggy, at, dx * c + swap_pairs<T>(dx) * s + x * dc + swap_pairs<T>(x) * ds, left);
    put_row(to.x, at, g * dc - swap_pairs<T>(g) * ds, left);
    put_pairs(to.cosine, pair, g * dx, left);
    put_pairs(to.sine, pair, g * swap_pairs<T>(dx) * turn, left);
  });
}

template <class T>
constexpr RotatePairs<T> table{forward<T>, backward<T>, second<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const RotatePairs<float>& compiled<RotatePairs<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const RotatePairs<double>& compiled<RotatePairs<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

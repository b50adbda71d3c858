#include "weyl/kernels/edges/gaussian_densities.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/elementary.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// z, w and b at some of the K functions.
template <class T>
struct Bell {
  Vec<T> z, w, b;
};

template <class T>
inline void add(T* p, Vec<T> v, int64_t left) {
  put(p, get(p, left) + v, left);
}

/// f(k, numbers left, bell) for all functions of a row.
template <class T, class F>
inline void each_bell(const GaussianDensitiesInput<T>& a, int64_t row, const F& f) {
  const Vec<T> u = spread(a.u[row]);
  for (int64_t k = 0; k < a.count; k += lanes<T>) {
    const int64_t left = a.count - k;
    Bell<T> bell;
    bell.w = get(a.inverse + k, left);
    bell.z = (u - get(a.means + k, left)) * bell.w;
    const Vec<T> square = bell.z * bell.z, nothing{};
    bell.b = square > T(128) ? nothing : bell.w * exp_of<T>(square * T(-0.5)) * T(0.39894228040143267794);
    bell.z = square > T(128) ? nothing : bell.z;  // no infinity times zero
    f(k, left, bell);
  }
}

template <class T>
void forward(const GaussianDensitiesInput<T>& a, T* to, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    each_bell(a, row, [&](int64_t k, int64_t left, const Bell<T>& bell) {
      put(to + row * a.count + k, bell.b, left);
    });
  }
}

template <class T>
void backward(const GaussianDensitiesInput<T>& a, const T* gb, T* gu, T* gm, T* gs, int64_t first,
              int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    Vec<T> sum{};
    each_bell(a, row, [&](int64_t k, int64_t left, const Bell<T>& bell) {
      const Vec<T> g = get(gb + row * a.count + k, left) * bell.b * bell.w, of_mean = g * bell.z;
      sum += of_mean;
      if (gm) {
        add(gm + k, of_mean, left);
      }
      if (gs) {
        add(gs + k, g * (bell.z * bell.z - T(1)), left);
      }
    });
    if (gu) {
      gu[row] = -sum_of<T>(sum);
    }
  }
}

// With c = dm - du, the function whose derivatives these are is
//   du gu + <dm, gm> + <ds, gs> = sum over k of gb b w (z c + ds (z^2 - 1)).
template <class T>
void second(const GaussianDensitiesInput<T>& a, const T* gb, const T* du, const T* dm, const T* ds, T* gu,
            T* gm, T* gs, T* ggb, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    Vec<T> sum{};
    each_bell(a, row, [&](int64_t k, int64_t left, const Bell<T>& bell) {
      const Vec<T> z = bell.z, square = z * z, bw = bell.b * bell.w;
      Vec<T> c{}, s{};
      if (dm) {
        c = get(dm + k, left);
      }
      if (du) {
        c -= spread(du[row]);
      }
      if (ds) {
        s = get(ds + k, left);
      }
      if (ggb) {
        put(ggb + row * a.count + k, bw * (z * c + s * (square - T(1))), left);
      }
      const Vec<T> g = get(gb + row * a.count + k, left) * bw * bell.w;
      const Vec<T> of_u = g * (c * (T(1) - square) + s * z * (T(3) - square));
      sum += of_u;
      if (gm) {
        add(gm + k, -of_u, left);
      }
      if (gs) {
        add(gs + k, g * (c * z * (square - T(3)) + s * (square * (square - T(5)) + T(2))), left);
      }
    });
    if (gu) {
      gu[row] = sum_of<T>(sum);
    }
  }
}

template <class T>
constexpr GaussianDensities<T> table{forward<T>, backward<T>, second<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const GaussianDensities<float>& compiled<GaussianDensities<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const GaussianDensities<double>& compiled<GaussianDensities<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

#include "weyl/kernels/edges/gaussian_densities.h"

#include "weyl/kernels/simd/elementary.h"

namespace weyl::kernels {

template <class T>
struct GaussianDensitiesTable {
  decltype(&gaussian_densities<T>) forward;
  decltype(&gaussian_densities_backward<T>) backward;
  decltype(&gaussian_densities_second<T>) second;
};

namespace WEYL_ISA {

/// z, w and b at some of the K functions.
template <class T>
struct Bell {
  Vec<T> z, w, b;
};

template <class T>
inline Vec<T> next(const T* p, int64_t k, int64_t left) {
  return left >= lanes<T> ? load(p + k) : load_part(p + k, left);
}
template <class T>
inline void put(T* p, int64_t k, Vec<T> v, int64_t left) {
  left >= lanes<T> ? store(p + k, v) : store_part(p + k, v, left);
}
template <class T>
inline void add(T* p, int64_t k, Vec<T> v, int64_t left) {
  put(p, k, next(p, k, left) + v, left);
}

/// f(k, numbers left, bell) for all functions of a row.
template <class T, class F>
inline void each_bell(const GaussianDensities<T>& a, int64_t row, const F& f) {
  const Vec<T> u = spread(a.u[row]);
  for (int64_t k = 0; k < a.count; k += lanes<T>) {
    const int64_t left = a.count - k;
    Bell<T> bell;
    bell.w = next(a.inverse, k, left);
    bell.z = (u - next(a.means, k, left)) * bell.w;
    const Vec<T> square = bell.z * bell.z, nothing{};
    bell.b = square > T(128) ? nothing : bell.w * exp_of<T>(square * T(-0.5)) * T(0.39894228040143267794);
    bell.z = square > T(128) ? nothing : bell.z;  // no infinity times zero
    f(k, left, bell);
  }
}

template <class T>
void gaussian_densities(const GaussianDensities<T>& a, T* to, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    each_bell(a, row, [&](int64_t k, int64_t left, const Bell<T>& bell) {
      put(to + row * a.count, k, bell.b, left);
    });
  }
}

template <class T>
void gaussian_densities_backward(const GaussianDensities<T>& a, const T* gb, T* gu, T* gm, T* gs,
                                 int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    Vec<T> sum{};
    each_bell(a, row, [&](int64_t k, int64_t left, const Bell<T>& bell) {
      const Vec<T> g = next(gb + row * a.count, k, left) * bell.b * bell.w, of_mean = g * bell.z;
      sum += of_mean;
      if (gm) {
        add(gm, k, of_mean, left);
      }
      if (gs) {
        add(gs, k, g * (bell.z * bell.z - T(1)), left);
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
void gaussian_densities_second(const GaussianDensities<T>& a, const T* gb, const T* du, const T* dm,
                               const T* ds, T* gu, T* gm, T* gs, T* ggb, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    Vec<T> sum{};
    each_bell(a, row, [&](int64_t k, int64_t left, const Bell<T>& bell) {
      const Vec<T> z = bell.z, square = z * z, bw = bell.b * bell.w;
      Vec<T> c{}, s{};
      if (dm) {
        c = next(dm, k, left);
      }
      if (du) {
        c -= spread(du[row]);
      }
      if (ds) {
        s = next(ds, k, left);
      }
      if (ggb) {
        put(ggb + row * a.count, k, bw * (z * c + s * (square - T(1))), left);
      }
      const Vec<T> g = next(gb + row * a.count, k, left) * bw * bell.w;
      const Vec<T> of_u = g * (c * (T(1) - square) + s * z * (T(3) - square));
      sum += of_u;
      if (gm) {
        add(gm, k, -of_u, left);
      }
      if (gs) {
        add(gs, k, g * (c * z * (square - T(3)) + s * (square * (square - T(5)) + T(2))), left);
      }
    });
    if (gu) {
      gu[row] = sum_of<T>(sum);
    }
  }
}

template <class T>
GaussianDensitiesTable<T> gaussian_densities_table() {
  return {&WEYL_ISA::gaussian_densities<T>, &WEYL_ISA::gaussian_densities_backward<T>,
          &WEYL_ISA::gaussian_densities_second<T>};
}
template GaussianDensitiesTable<float> gaussian_densities_table();
template GaussianDensitiesTable<double> gaussian_densities_table();

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
GaussianDensitiesTable<T> gaussian_densities_table();
}
namespace v4 {
template <class T>
GaussianDensitiesTable<T> gaussian_densities_table();
}
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

namespace {
template <class T>
GaussianDensitiesTable<T> chosen_densities() {
  return choose(&baseline::gaussian_densities_table<T>, &v3::gaussian_densities_table<T>,
                &v4::gaussian_densities_table<T>)();
}
}  // namespace

template <class T>
void gaussian_densities(const GaussianDensities<T>& args, T* b, int64_t first, int64_t last) {
  chosen_densities<T>().forward(args, b, first, last);
}
template <class T>
void gaussian_densities_backward(const GaussianDensities<T>& args, const T* gb, T* gu, T* gm, T* gs,
                                 int64_t first, int64_t last) {
  chosen_densities<T>().backward(args, gb, gu, gm, gs, first, last);
}
template <class T>
void gaussian_densities_second(const GaussianDensities<T>& args, const T* gb, const T* du, const T* dm,
                               const T* ds, T* gu, T* gm, T* gs, T* ggb, int64_t first, int64_t last) {
  chosen_densities<T>().second(args, gb, du, dm, ds, gu, gm, gs, ggb, first, last);
}
template void gaussian_densities<float>(const GaussianDensities<float>&, float*, int64_t, int64_t);
template void gaussian_densities<double>(const GaussianDensities<double>&, double*, int64_t, int64_t);
template void gaussian_densities_backward<float>(const GaussianDensities<float>&, const float*, float*,
                                                 float*, float*, int64_t, int64_t);
template void gaussian_densities_backward<double>(const GaussianDensities<double>&, const double*, double*,
                                                  double*, double*, int64_t, int64_t);
template void gaussian_densities_second<float>(const GaussianDensities<float>&, const float*, const float*,
                                               const float*, const float*, float*, float*, float*, float*,
                                               int64_t, int64_t);
template void gaussian_densities_second<double>(const GaussianDensities<double>&, const double*,
                                                const double*, const double*, const double*, double*, double*,
                                                double*, double*, int64_t, int64_t);
#endif

}  // namespace weyl::kernels

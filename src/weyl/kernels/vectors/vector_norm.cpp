#include "weyl/kernels/vectors/vector_norm.h"

#include <type_traits>

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

using Wide = Vec<double>;
constexpr int64_t step = lanes<double>;

/// The next numbers of a row as float64; `fill` where it has ended.
template <class T>
inline Wide wide(const T* p, int64_t left, double fill = 0) {
  if (left < step) {
    Wide v = spread(fill);
    for (int64_t i = 0; i < left; ++i) {
      v[i] = static_cast<double>(p[i]);
    }
    return v;
  }
  if constexpr (std::is_same_v<T, double>) {
    return load(p);
  } else {
    typedef float Half __attribute__((vector_size(vector_bytes / 2)));  // NOLINT(modernize-use-using)
    Half half;
    __builtin_memcpy(&half, p, sizeof half);
    return __builtin_convertvector(half, Wide);
  }
}

/// Sums over the channels of the `count` numbers that f(c, numbers left, sums) adds up.
template <int count, class F>
inline void sum_channels(int64_t channels, double (&totals)[count], const F& f) {
  Wide sums[count] = {};
  for (int64_t c = 0; c < channels; c += step) {
    f(c, channels - c, sums);
  }
  for (int i = 0; i < count; ++i) {
    totals[i] = sum_of<double>(sums[i]);
  }
}

struct Matrix {
  double at[3][3] = {};
};

/// V diag(values) V^T of the eigenvectors V.
inline Matrix composed(const double* vectors, const double* values) {
  Matrix m;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        m.at[i][j] += vectors[3 * i + k] * values[k] * vectors[3 * j + k];
      }
    }
  }
  return m;
}

/// Jacobi's rotations find small eigenvalues of a positive definite matrix to their own accuracy.
inline void eigen(Matrix m, double* values, double* vectors) {
  for (int i = 0; i < 9; ++i) {
    vectors[i] = i % 4 == 0 ? 1 : 0;
  }
  constexpr int most_sweeps = 12;  // five do in practice
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool turned = false;
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        const double off = m.at[p][q];
        if (!(off * off > 1e-34 * m.at[p][p] * m.at[q][q])) {
          continue;
        }
        turned = true;
        const double half = (m.at[q][q] - m.at[p][p]) / (2 * off);
        const double t = (half >= 0 ? 1 : -1) / (__builtin_fabs(half) + __builtin_sqrt(half * half + 1));
        const double c = 1 / __builtin_sqrt(t * t + 1), s = t * c;
        m.at[p][p] -= t * off;
        m.at[q][q] += t * off;
        m.at[p][q] = m.at[q][p] = 0;
        const int r = 3 - p - q;
        const double rp = m.at[r][p], rq = m.at[r][q];
        m.at[r][p] = m.at[p][r] = c * rp - s * rq;
        m.at[r][q] = m.at[q][r] = s * rp + c * rq;
        for (int i = 0; i < 3; ++i) {
          const double vp = vectors[3 * i + p], vq = vectors[3 * i + q];
          vectors[3 * i + p] = c * vp - s * vq;
          vectors[3 * i + q] = s * vp + c * vq;
        }
      }
    }
    if (!turned) {
      break;
    }
  }
  for (int i = 0; i < 3; ++i) {
    values[i] = m.at[i][i];
  }
}

inline Matrix inverse_root(const double* state) {
  double roots[3];
  for (int k = 0; k < 3; ++k) {
    roots[k] = 1 / __builtin_sqrt(state[3 + k]);
  }
  return composed(state + 6, roots);
}

template <class T>
void forward(const VectorNormInput<T>& n, T* to, double* states, int64_t first, int64_t last) {
  const int64_t channels = n.channels;
  const double share = 1 / static_cast<double>(channels);
  for (int64_t row = first; row < last; ++row) {
    const T* x = n.x + row * 3 * channels;
    double* state = states + row * vector_norm_state;
    double sums[3], squares[6];
    sum_channels(channels, sums, [&](int64_t c, int64_t left, Wide* s) {
      for (int i = 0; i < 3; ++i) {
        s[i] += wide(x + i * channels + c, left);
      }
    });
    for (int i = 0; i < 3; ++i) {
      state[i] = sums[i] * share;
    }
    sum_channels(channels, squares, [&](int64_t c, int64_t left, Wide* s) {
      Wide a[3];
      for (int i = 0; i < 3; ++i) {
        a[i] = wide(x + i * channels + c, left, state[i]) - state[i];
      }
      s[0] += a[0] * a[0];
      s[1] += a[1] * a[1];
      s[2] += a[2] * a[2];
      s[3] += a[0] * a[1];
      s[4] += a[0] * a[2];
      s[5] += a[1] * a[2];
    });
    const double mixed = (1 - n.rho) * share,
                 isotropic = n.rho * share * (squares[0] + squares[1] + squares[2]) / 3 + n.epsilon;
    Matrix m;
    for (int i = 0; i < 3; ++i) {
      m.at[i][i] = mixed * squares[i] + isotropic;
    }
    m.at[0][1] = m.at[1][0] = mixed * squares[3];
    m.at[0][2] = m.at[2][0] = mixed * squares[4];
    m.at[1][2] = m.at[2][1] = mixed * squares[5];
    eigen(m, state + 3, state + 6);
    const Matrix root = inverse_root(state);
    for (int i = 0; i < 3; ++i) {
      const T r0 = static_cast<T>(root.at[i][0]), r1 = static_cast<T>(root.at[i][1]),
              r2 = static_cast<T>(root.at[i][2]), m0 = static_cast<T>(state[0]),
              m1 = static_cast<T>(state[1]), m2 = static_cast<T>(state[2]);
      const T* x0 = x;
      const T* x1 = x + channels;
      const T* x2 = x + 2 * channels;
      T* __restrict y = to + (row * 3 + i) * channels;
      for (int64_t c = 0; c < channels; ++c) {
        y[c] = (r0 * (x0[c] - m0) + r1 * (x1[c] - m1) + r2 * (x2[c] - m2)) * n.weight[c];
      }
    }
  }
}

/// The gradient of S, given that of M^(-1/2): with V^T G V times the divided differences of l^(-1/2), which
/// have a limit where eigenvalues coincide.
inline Matrix gradient_of_square(const double* state, const Matrix& of_root, double rho) {
  const double* v = state + 6;
  double root[3];
  for (int k = 0; k < 3; ++k) {
    root[k] = __builtin_sqrt(state[3 + k]);
  }
  Matrix inner, outer;
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          inner.at[k][l] += v[3 * i + k] * (of_root.at[i][j] + of_root.at[j][i]) * v[3 * j + l] / 2;
        }
      }
      inner.at[k][l] *= -1 / (root[k] * root[l] * (root[k] + root[l]));
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        for (int l = 0; l < 3; ++l) {
          outer.at[i][j] += (1 - rho) * v[3 * i + k] * inner.at[k][l] * v[3 * j + l];
        }
      }
    }
    outer.at[i][i] += rho * (inner.at[0][0] + inner.at[1][1] + inner.at[2][2]) / 3;
  }
  return outer;
}

template <class T>
void backward(const VectorNormInput<T>& n, const double* states, const T* gys, T* gxs, T* gweight,
              int64_t first, int64_t last) {
  const int64_t channels = n.channels;
  const double share = 1 / static_cast<double>(channels);
  for (int64_t row = first; row < last; ++row) {
    const T* x = n.x + row * 3 * channels;
    const T* gy = gys + row * 3 * channels;
    const double* state = states + row * vector_norm_state;
    double sums[12];  // of h = gy weight, and of h a^T
    sum_channels(channels, sums, [&](int64_t c, int64_t left, Wide* s) {
      const Wide w = wide(n.weight + c, left);
      Wide a[3];
      for (int j = 0; j < 3; ++j) {
        a[j] = wide(x + j * channels + c, left, state[j]) - state[j];
      }
      for (int i = 0; i < 3; ++i) {
        const Wide h = wide(gy + i * channels + c, left) * w;
        s[i] += h;
        for (int j = 0; j < 3; ++j) {
          s[3 + 3 * i + j] += h * a[j];
        }
      }
    });
    Matrix of_root;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        of_root.at[i][j] = sums[3 + 3 * i + j];
      }
    }
    const Matrix root = inverse_root(state), square = gradient_of_square(state, of_root, n.rho);
    T r[3][3], q[3][3], mean[3], h[3];
    for (int i = 0; i < 3; ++i) {
      mean[i] = static_cast<T>(state[i]);
      h[i] = static_cast<T>(sums[i] * share);
      for (int j = 0; j < 3; ++j) {
        r[i][j] = static_cast<T>(root.at[i][j]);
        q[i][j] = static_cast<T>(2 * share * square.at[i][j]);
      }
    }
    const T *x0 = x, *x1 = x + channels, *x2 = x + 2 * channels;
    const T *g0 = gy, *g1 = gy + channels, *g2 = gy + 2 * channels;
    if (gxs) {
      T* __restrict gx = gxs + row * 3 * channels;
      for (int i = 0; i < 3; ++i) {
        for (int64_t c = 0; c < channels; ++c) {
          const T w = n.weight[c];
          gx[i * channels + c] = r[i][0] * (g0[c] * w - h[0]) + r[i][1] * (g1[c] * w - h[1]) +
                                 r[i][2] * (g2[c] * w - h[2]) + q[i][0] * (x0[c] - mean[0]) +
                                 q[i][1] * (x1[c] - mean[1]) + q[i][2] * (x2[c] - mean[2]);
        }
      }
    }
    if (gweight) {
      T* __restrict gw = gweight;
      for (int64_t c = 0; c < channels; ++c) {
        const T a0 = x0[c] - mean[0], a1 = x1[c] - mean[1], a2 = x2[c] - mean[2];
        gw[c] += g0[c] * (r[0][0] * a0 + r[0][1] * a1 + r[0][2] * a2) +
                 g1[c] * (r[1][0] * a0 + r[1][1] * a1 + r[1][2] * a2) +
                 g2[c] * (r[2][0] * a0 + r[2][1] * a1 + r[2][2] * a2);
      }
    }
  }
}

// With s = (tr(S) / 3 + epsilon)^(-1/2), D = 3 C, h = gy weight, e = dx - its mean, the function whose
// derivatives these are is
//   <dx, gx> + <dweight, gweight> = s <e, h> - s^3 <h, a> <e, a> / D + s <gy dweight, a>.
template <class T>
void second(const VectorNormInput<T>& n, const double* states, const T* gys, const T* dxs, const T* dweight,
            T* gxs, T* gweight, T* ggys, int64_t first, int64_t last) {
  const int64_t channels = n.channels;
  const double share = 1 / static_cast<double>(channels), dimensions = 3 * static_cast<double>(channels);
  for (int64_t row = first; row < last; ++row) {
    const int64_t at = row * 3 * channels;
    const T* x = n.x + at;
    const T* gy = gys + at;
    const T* dx = dxs ? dxs + at : nullptr;
    const double* state = states + row * vector_norm_state;
    double sums[13];  // of dx, h and gy dweight (by axis), and of <dx, h>, <dx, a>, <h, a>, <gy dweight, a>
    sum_channels(channels, sums, [&](int64_t c, int64_t left, Wide* s) {
      const Wide w = wide(n.weight + c, left);
      Wide dw{};
      if (dweight) {
        dw = wide(dweight + c, left);
      }
      for (int i = 0; i < 3; ++i) {
        const Wide a = wide(x + i * channels + c, left, state[i]) - state[i];
        const Wide g = wide(gy + i * channels + c, left), h = g * w, f = g * dw;
        Wide d{};
        if (dx) {
          d = wide(dx + i * channels + c, left);
        }
        s[i] += d;
        s[3 + i] += h;
        s[6 + i] += f;
        s[9] += d * h;
        s[10] += d * a;
        s[11] += h * a;
        s[12] += f * a;
      }
    });
    const double s = 1 / __builtin_sqrt(state[3]), cube = s * s * s;
    double eh = sums[9];
    for (int i = 0; i < 3; ++i) {
      eh -= share * sums[i] * sums[3 + i];
    }
    const double ea = sums[10], ha = sums[11] / dimensions, fa = sums[12];
    const T root = static_cast<T>(s), of_h = static_cast<T>(-cube * ea / dimensions),
            of_e = static_cast<T>(-cube * ha),
            of_a = static_cast<T>(-cube / dimensions * (eh - 3 * s * s * ha * ea + fa));
    for (int i = 0; i < 3; ++i) {
      const T mean = static_cast<T>(state[i]), dmean = static_cast<T>(sums[i] * share),
              hmean = static_cast<T>(sums[3 + i] * share), fmean = static_cast<T>(sums[6 + i] * share);
      for (int64_t c = 0; c < channels; ++c) {
        const T a = x[i * channels + c] - mean, g = gy[i * channels + c], w = n.weight[c],
                e = (dx ? dx[i * channels + c] : T(0)) - dmean, dw = dweight ? dweight[c] : T(0);
        const T of_gradient = root * e + of_h * a;
        if (gxs) {
          gxs[at + i * channels + c] = root * (g * dw - fmean) + of_h * (g * w - hmean) + of_e * e + of_a * a;
        }
        if (ggys) {
          ggys[at + i * channels + c] = w * of_gradient + root * dw * a;
        }
        if (gweight) {
          gweight[c] += g * of_gradient;
        }
      }
    }
  }
}

template <class T>
constexpr VectorNorm<T> table{forward<T>, backward<T>, second<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const VectorNorm<float>& compiled<VectorNorm<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const VectorNorm<double>& compiled<VectorNorm<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

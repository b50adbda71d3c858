#include "weyl/kernels/attention/attention_packed.h"
#include "weyl/kernels/dispatch.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

template <class T>
int64_t scratch_of(const AttentionInput<T>& a, int64_t longest) {
  Cutter<T> cutter{nullptr};
  cut(a, longest, cutter);
  return cutter.used;
}

template <class T>
void forward(const AttentionInput<T>& a, HeadRows<T> y, T* logsum, T* scratch, int64_t first, int64_t last) {
  int64_t packed_graph = -1;
  each_unit(a, first, last, [&](int64_t h, int64_t begin, int64_t n, int64_t pair) {
    Cutter<T> cutter{scratch};
    const Packed<T> p = cut(a, n, cutter);
    const T* pairs = a.pairs ? a.pairs + pair * a.heads : nullptr;
    pack(a, begin, h, p, packed_graph);
    const int64_t half = a.key_width / 2;
    for (int64_t i = 0; i < n; i += block) {
      const int64_t rows = n - i < block ? n - i : block;
      products(p.q + i * p.key, p.key, p.k_across, a.key_width, p.wide, p.score);
      finish_scores(a, pairs, h, i, rows, n, p.wide, p.score);
      T total[block];
      for (int64_t r = 0; r < rows; ++r) {
        T* s = p.score + r * p.wide;
        Vec<T> top = load(s);
        for (int64_t j = lanes<T>; j < p.wide; j += lanes<T>) {
          top = larger<T>(top, load(s + j));
        }
        const T highest = largest_of<T>(top);
        Vec<T> sum{};
        for (int64_t j = 0; j < p.wide; j += lanes<T>) {
          const Vec<T> e = exp_of<T>(load(s + j) - highest);
          store(s + j, e);
          sum += e;
        }
        total[r] = sum_of<T>(sum);
        if (logsum) {
          logsum[(begin + i + r) * a.heads + h] = highest + log_of(total[r]);
        }
      }
      clear(p.row, block * p.value);
      mixtures(p.score, p.wide, p.v, n, p.value, p.row);
      for (int64_t r = 0; r < rows; ++r) {
        unpack_to(y, begin + i + r, h, p.row + r * p.value,
                  a.rotate_values ? p.cosine + (i + r) * half : nullptr, p.sine + (i + r) * half,
                  T(1) / total[r], a.value_width, p.whole);
      }
    }
  });
}

/// Adds dz . J z, the derivative by the angle of a rotation whose result is z, to the angles' gradient.
template <class T>
inline void turn(const T* z, const T* dz, int64_t half, T* angles) {
  for (int64_t f = 0; f < half; ++f) {
    angles[f] += dz[2 * f + 1] * z[2 * f] - dz[2 * f] * z[2 * f + 1];
  }
}

template <class T>
inline void add_row(const T* x, int64_t width, T* total) {
  for (int64_t c = 0; c < width; ++c) {
    total[c] += x[c];
  }
}

template <class T>
void backward(const AttentionInput<T>& a, HeadRows<const T> y, const T* logsum, HeadRows<const T> gy,
              const AttentionGradients<T>& g, T* scratch, int64_t first, int64_t last) {
  int64_t packed_graph = -1;
  each_unit(a, first, last, [&](int64_t h, int64_t begin, int64_t n, int64_t pair) {
    Cutter<T> cutter{scratch};
    const Packed<T> p = cut(a, n, cutter);
    const T* pairs = a.pairs ? a.pairs + pair * a.heads : nullptr;
    const int64_t half = a.key_width / 2, K = a.key_width, V = a.value_width;
    pack(a, begin, h, p, packed_graph);
    transpose(p.v, n, V, p.value, p.wide, p.v_across);
    clear(p.gk, n * p.key);
    clear(p.gv, n * p.value);
    const auto angles_of = [&](int64_t i) { return g.angles + ((begin + i) * a.heads + h) * half; };
    if (g.angles) {
      for (int64_t i = 0; i < n; ++i) {
        clear(angles_of(i), half);
      }
    }
    for (int64_t i = 0; i < n; i += block) {
      const int64_t rows = n - i < block ? n - i : block;
      // The gradient of the mixture before its last rotation, and its product with the mixture.
      T delta[block] = {};
      clear(p.row, block * p.value);
      for (int64_t r = 0; r < rows; ++r) {
        const T* gout = row_of(gy, begin + i + r, h, V, p.whole);
        const T* out = row_of(y, begin + i + r, h, V, p.whole_2);
        const T* cosine = a.rotate_values ? p.cosine + (i + r) * half : nullptr;
        pack_row<T>(gout, nullptr, cosine, p.sine + (i + r) * half, T(1), V, p.row + r * p.value);
        for (int64_t c = 0; c < V; ++c) {
          delta[r] += gout[c] * out[c];
        }
        if (g.angles && a.rotate_values) {
          for (int64_t f = 0; f < half; ++f) {
            angles_of(i + r)[f] += gout[2 * f] * out[2 * f + 1] - gout[2 * f + 1] * out[2 * f];
          }
        }
      }
      products(p.q + i * p.key, p.key, p.k_across, K, p.wide, p.score);
      products(p.row, p.value, p.v_across, V, p.wide, p.other);
      finish_scores(a, pairs, h, i, rows, n, p.wide, p.score);
      for (int64_t r = 0; r < block; ++r) {
        const bool real = r < rows;
        const T base = real ? logsum[(begin + i + r) * a.heads + h] : T(0);
        for (int64_t j = 0; j < p.wide; j += lanes<T>) {
          const int64_t e = r * p.wide + j;
          const Vec<T> weight = real ? exp_of<T>(load(p.score + e) - base) : Vec<T>{};
          store(p.score + e, weight);
          store(p.other + e, weight * (load(p.other + e) - delta[r]));
        }
      }
      if (g.pairs) {
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t j = 0; j < n; ++j) {
            g.pairs[(pair + (i + r) * n + j) * a.heads + h] = p.other[r * p.wide + j];
          }
        }
      }
      scatter(p.score, p.wide, p.row, n, p.value, p.gv);
      scatter(p.other, p.wide, p.q + i * p.key, n, p.key, p.gk);
      clear(p.gq, block * p.key);
      mixtures(p.other, p.wide, p.k, n, p.key, p.gq);
      for (int64_t r = 0; r < rows; ++r) {
        const T* cosine = a.angles ? p.cosine + (i + r) * half : nullptr;
        const T* sine = p.sine + (i + r) * half;
        if (g.angles) {
          turn(p.q + (i + r) * p.key, p.gq + r * p.key, half, angles_of(i + r));
        }
        if (g.q.data) {
          unpack_to(g.q, begin + i + r, h, p.gq + r * p.key, cosine, sine, a.scale, K, p.whole);
          if (g.q_bias) {
            add_row(g.q.at(begin + i + r, h), K, g.q_bias + h * K);
          }
        }
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      const T* cosine = a.angles ? p.cosine + j * half : nullptr;
      const T* sine = p.sine + j * half;
      if (g.angles) {
        turn(p.k + j * p.key, p.gk + j * p.key, half, angles_of(j));
        if (a.rotate_values) {
          turn(p.v + j * p.value, p.gv + j * p.value, half, angles_of(j));
        }
      }
      if (g.k.data) {
        unpack_to(g.k, begin + j, h, p.gk + j * p.key, cosine, sine, T(1), K, p.whole, g.k.head == 0);
        if (g.k_bias) {
          add_row(g.k.at(begin + j, h), K, g.k_bias + h * K);
        }
      }
      if (g.v.data) {
        unpack_to(g.v, begin + j, h, p.gv + j * p.value, a.rotate_values ? cosine : nullptr, sine, T(1), V,
                  p.whole, g.v.head == 0);
        if (g.v_bias) {
          add_row(g.v.at(begin + j, h), V, g.v_bias + h * V);
        }
      }
    }
  });
}

template <class T>
constexpr Attention<T> table{scratch_of<T>, forward<T>, backward<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const Attention<float>& compiled<Attention<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const Attention<double>& compiled<Attention<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

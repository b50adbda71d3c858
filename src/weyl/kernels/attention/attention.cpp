#include "weyl/kernels/attention/attention_tiles.h"
#include "weyl/kernels/dispatch.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

template <class T>
int64_t scratch_of(const AttentionInput<T>& a, int64_t longest, int derivative) {
  Cutter<T> cutter{nullptr};
  cut(a, longest, derivative, cutter);
  return cutter.used;
}

/// The next tile's part of the softmax of query i: its scores become exponentials by the largest score so far, and what
/// earlier tiles have summed is brought to that.
template <class T>
inline void exponentials(const Packed<T>& p, int64_t i, bool before, int64_t count, T* score) {
  const T highest = largest_score(score, count, before ? p.top[i] : -infinity<T>), base = base_of(highest);
  Vec<T> sum{};
  for (int64_t j = 0; j < count; j += lanes<T>) {
    const Vec<T> e = exp_of<T>(load(score + j) - base);
    store(score + j, e);
    sum += e;
  }
  T total = sum_of<T>(sum);
  if (before) {
    const T factor = rescaling(p.top[i], base);
    total += p.total[i] * factor;
    times(p.row + i * p.value, factor, p.value);
  }
  p.top[i] = highest;
  p.total[i] = total;
}

template <class T>
void forward(const AttentionInput<T>& a, HeadRows<T> y, T* sums, T* scratch, int64_t first, int64_t last) {
  int64_t packed = -1;
  each_unit(a, first, last, [&](int64_t h, int64_t begin, int64_t n, int64_t pair) {
    Cutter<T> cutter{scratch};
    const Packed<T> p = cut(a, n, 0, cutter);
    const T* pairs = a.pairs ? a.pairs + pair * a.heads : nullptr;
    pack_queries(a, begin, h, p);
    each_tile(n, p.tile, [&](int64_t at, int64_t keys) {
      pack_keys(a, begin, h, at, keys, p, packed);
      each_block(n, [&](int64_t i, int64_t rows) {
        T* mixed = p.row + i * p.value;
        if (at == 0) {
          clear(mixed, block * p.value);
        }
        scores(a, pairs, h, i, rows, at, keys, p);
        for (int64_t r = 0; r < rows; ++r) {
          exponentials(p, i + r, at > 0, keys, p.score + r * p.wide);
        }
        mixtures(p.score, p.wide, p.v, keys, p.value, mixed);
        for (int64_t r = 0; r < rows && at + keys == n; ++r) {
          const Turn<T> turn = turn_of(a, p, i + r, a.rotate_values);
          const T scale = T(1) / p.total[i + r];
          fetch_next<1>(y, begin + i + r, h, a.value_width, n);
          unpack_to(y, begin + i + r, h, mixed + r * p.value, turn.cosine, turn.sine, scale, a.value_width,
                    p.whole);
          if (sums) {
            T* of_row = sums + ((begin + i + r) * a.heads + h) * 2;
            of_row[0] = base_of(p.top[i + r]);
            of_row[1] = scale;
          }
        }
      });
    });
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

/// The gradients of the mixtures before their last rotation, and their products with these.
template <class T>
void pack_gradients(const AttentionInput<T>& a, HeadRows<const T> y, HeadRows<const T> gy, T* angles,
                    int64_t begin, int64_t h, const Packed<T>& p) {
  const int64_t half = a.key_width / 2;
  for (int64_t i = 0; i < p.n; ++i) {
    fetch_next<0>(gy, begin + i, h, a.value_width, p.n);
    fetch_next<0>(y, begin + i, h, a.value_width, p.n);
    const T* gout = row_of(gy, begin + i, h, a.value_width, p.whole);
    const T* out = row_of(y, begin + i, h, a.value_width, p.whole_2);
    const Turn<T> turn = turn_of(a, p, i, a.rotate_values);
    pack_row<T>(gout, nullptr, turn.cosine, turn.sine, T(1), a.value_width, p.row + i * p.value);
    T delta = 0;
    for (int64_t c = 0; c < a.value_width; ++c) {
      delta += gout[c] * out[c];
    }
    p.delta[i] = delta;
    if (angles && a.rotate_values) {
      T* of_row = angles + ((begin + i) * a.heads + h) * half;
      for (int64_t f = 0; f < half; ++f) {
        of_row[f] += gout[2 * f] * out[2 * f + 1] - gout[2 * f + 1] * out[2 * f];
      }
    }
  }
  clear(p.row + p.n * p.value, block * p.value);
}

template <class T>
void backward(const AttentionInput<T>& a, HeadRows<const T> y, const T* sums, HeadRows<const T> gy,
              const AttentionGradients<T>& g, T* scratch, int64_t first, int64_t last) {
  int64_t packed = -1;
  each_unit(a, first, last, [&](int64_t h, int64_t begin, int64_t n, int64_t pair) {
    Cutter<T> cutter{scratch};
    const Packed<T> p = cut(a, n, 1, cutter);
    const T* pairs = a.pairs ? a.pairs + pair * a.heads : nullptr;
    const int64_t half = a.key_width / 2, K = a.key_width, V = a.value_width;
    const auto angles_of = [&](int64_t i) { return g.angles + ((begin + i) * a.heads + h) * half; };
    pack_queries(a, begin, h, p);
    for (int64_t i = 0; i < n && g.angles; ++i) {
      clear(angles_of(i), half);
    }
    pack_gradients(a, y, gy, g.angles, begin, h, p);
    clear(p.gq, (n + block) * p.key);
    each_tile(n, p.tile, [&](int64_t at, int64_t keys) {
      pack_keys(a, begin, h, at, keys, p, packed);
      transpose(p.v, keys, V, p.value, p.wide, p.v_across);
      clear(p.gk, keys * p.key);
      clear(p.gv, keys * p.value);
      each_block(n, [&](int64_t i, int64_t rows) {
        T *q = p.q + i * p.key, *gout = p.row + i * p.value, *gq = p.gq + i * p.key;
        scores(a, pairs, h, i, rows, at, keys, p);
        products(gout, p.value, p.v_across, V, p.wide, keys, p.other, p.wide);
        for (int64_t r = 0; r < block; ++r) {
          const bool real = r < rows;
          const T* of_row = sums + ((begin + i + (real ? r : 0)) * a.heads + h) * 2;
          const T base = real ? of_row[0] : T(0), scale = real ? of_row[1] : T(0);
          const T delta = real ? p.delta[i + r] : T(0);
          T *score = p.score + r * p.wide, *other = p.other + r * p.wide;
          for (int64_t j = 0; j < keys; j += lanes<T>) {
            const Vec<T> weight = real ? exp_of<T>(load(score + j) - base) * scale : Vec<T>{};
            store(score + j, weight);
            store(other + j, weight * (load(other + j) - delta));
          }
        }
        if (g.pairs) {
          put_pairs(a, p.other, h, n, i, rows, at, keys, p.wide, g.pairs + pair * a.heads);
        }
        scatter(p.score, p.wide, gout, keys, p.value, p.gv);
        scatter(p.other, p.wide, q, keys, p.key, p.gk);
        mixtures(p.other, p.wide, p.k, keys, p.key, gq);
        for (int64_t r = 0; r < rows && at + keys == n; ++r) {
          if (g.angles) {
            turn(q + r * p.key, gq + r * p.key, half, angles_of(i + r));
          }
          if (g.q.data) {
            const Turn<T> by = turn_of(a, p, i + r, a.angles != nullptr);
            fetch_next<1>(g.q, begin + i + r, h, K, n);
            unpack_to(g.q, begin + i + r, h, gq + r * p.key, by.cosine, by.sine, a.scale, K, p.whole);
            if (g.q_bias) {
              add_row(g.q.at(begin + i + r, h), K, g.q_bias + h * K);
            }
          }
        }
      });
      for (int64_t j = 0; j < keys; ++j) {
        const int64_t node = at + j;
        T *gk = p.gk + j * p.key, *gv = p.gv + j * p.value;
        if (g.angles) {
          turn(p.k + j * p.key, gk, half, angles_of(node));
          if (a.rotate_values) {
            turn(p.v + j * p.value, gv, half, angles_of(node));
          }
        }
        if (g.k.data) {
          const Turn<T> by = turn_of(a, p, node, a.angles != nullptr);
          fetch_next<1>(g.k, begin + node, h, K, n);
          unpack_to(g.k, begin + node, h, gk, by.cosine, by.sine, T(1), K, p.whole, g.k.head == 0);
          if (g.k_bias) {
            add_row(g.k.at(begin + node, h), K, g.k_bias + h * K);
          }
        }
        if (g.v.data) {
          const Turn<T> by = turn_of(a, p, node, a.rotate_values);
          fetch_next<1>(g.v, begin + node, h, V, n);
          unpack_to(g.v, begin + node, h, gv, by.cosine, by.sine, T(1), V, p.whole, g.v.head == 0);
          if (g.v_bias) {
            add_row(g.v.at(begin + node, h), V, g.v_bias + h * V);
          }
        }
      }
    });
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

#include "weyl/kernels/attention/attention_tiles.h"
#include "weyl/kernels/dispatch.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

// With s = scale q.k + pairs, p = softmax(s), b = gy.v, and a dot for the direction d: the sum of d times the first
// gradients is L = sum_ij p_ij ((s'_ij - m_i) b_ij + b'_ij), m_i = sum_j p_ij s'_ij, b'_ij = gy_i . v'_j. With a bar for the
// mean over j by p_ij, its derivatives are
//   by b_ij    p'_ij = p_ij (s'_ij - m_i),
//   by s'_ij   p_ij (b_ij - mean b_i),
//   by s_ij    p_ij (w_ij - mean w_i),  w_ij = s'_ij (b_ij - mean b_i) - b_ij m_i + b'_ij.
// Means need all keys before the first derivative is known: where keys come in several tiles, these are walked over twice.

/// The directions dq of all queries, scaled, and the gradients of the result.
template <class T>
void pack_of_queries(const AttentionInput<T>& a, HeadRows<const T> gy, HeadRows<const T> dq, int64_t begin,
                     int64_t h, const Packed<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) {
    const T* from = dq.data ? row_of(dq, begin + i, h, a.key_width, p.whole) : nullptr;
    if (from) {
      pack_row<T>(from, nullptr, nullptr, nullptr, a.scale, a.key_width, p.dq + i * p.key);
    } else {
      clear(p.dq + i * p.key, p.key);
    }
    pack_row<T>(row_of(gy, begin + i, h, a.value_width, p.whole), nullptr, nullptr, nullptr, T(1),
                a.value_width, p.gout + i * p.value);
  }
  clear(p.dq + p.n * p.key, block * p.key);
  clear(p.gout + p.n * p.value, block * p.value);
}

/// The directions of a tile's keys or values, beside each other and across.
template <class T>
void pack_directions(HeadRows<const T> d, int64_t begin, int64_t h, int64_t count, int64_t width,
                     int64_t wide, T* whole, T* to, T* across) {
  const int64_t stride = padded<T>(width);
  for (int64_t j = 0; j < count; ++j) {
    if (d.data) {
      pack_row<T>(row_of(d, begin + j, h, width, whole), nullptr, nullptr, nullptr, T(1), width,
                  to + j * stride);
    } else {
      clear(to + j * stride, stride);
    }
  }
  transpose(to, count, width, stride, wide, across);
}

/// For a block of queries and a tile of keys: scores s (score), b (other), s' (third) and b' (fourth).
template <class T>
void products_of(const AttentionInput<T>& a, const T* pairs, const T* dpairs, int64_t h, int64_t i,
                 int64_t rows, int64_t at, int64_t keys, const Packed<T>& p) {
  const int64_t K = a.key_width, V = a.value_width, wide = p.wide;
  scores(a, pairs, h, i, rows, at, keys, p);
  products(p.dq + i * p.key, p.key, p.k_across, K, wide, keys, p.third, wide);
  products(p.q + i * p.key, p.key, p.dk_across, K, wide, keys, p.fourth, wide);
  for (int64_t r = 0; r < block; ++r) {
    for (int64_t j = 0; j < keys; j += lanes<T>) {
      const int64_t e = r * wide + j;
      store(p.third + e, load(p.third + e) + load(p.fourth + e));
    }
  }
  if (dpairs) {
    add_pairs(a, dpairs, h, p.n, i, rows, at, keys, wide, p.third);
  }
  products(p.gout + i * p.value, p.value, p.v_across, V, wide, keys, p.other, wide);
  products(p.gout + i * p.value, p.value, p.dv_across, V, wide, keys, p.fourth, wide);
}

/// Scores become exponentials by the largest so far, and the sums of a query go on: of them, and of them times s', b, and
/// s' b + b'.
template <class T>
void add_sums(const Packed<T>& p, int64_t i, bool before, int64_t keys, T* score, const T* b, const T* ds,
              const T* db) {
  const T highest = largest_score(score, keys, before ? p.top[i] : -infinity<T>), base = base_of(highest);
  Vec<T> sum{}, sum_ds{}, sum_b{}, sum_w{};
  for (int64_t j = 0; j < keys; j += lanes<T>) {
    const Vec<T> e = exp_of<T>(load(score + j) - base), s = load(ds + j), u = load(b + j);
    store(score + j, e);
    sum += e;
    sum_ds += e * s;
    sum_b += e * u;
    sum_w += e * (s * u + load(db + j));
  }
  const T factor = before ? rescaling(p.top[i], base) : T(0);
  const auto go_on = [&](T* total, T tile) { total[i] = before ? total[i] * factor + tile : tile; };
  go_on(p.total, sum_of<T>(sum));
  go_on(p.mean_ds, sum_of<T>(sum_ds));
  go_on(p.mean_b, sum_of<T>(sum_b));
  go_on(p.mean_w, sum_of<T>(sum_w));
  p.top[i] = highest;
}

/// Sums become means.
template <class T>
void close_sums(const Packed<T>& p, int64_t i) {
  const T scale = T(1) / p.total[i];
  p.mean_ds[i] *= scale;
  p.mean_b[i] *= scale;
  p.mean_w[i] = p.mean_w[i] * scale - 2 * p.mean_ds[i] * p.mean_b[i];
  p.total[i] = scale;
}

/// Exponentials become p (score), and the others the gradients of b (third), s' (other) and s (fourth).
template <class T>
void differentiate(const Packed<T>& p, int64_t i, int64_t keys, T* score, T* b, T* ds, T* db) {
  const T scale = p.total[i], m = p.mean_ds[i], mean_b = p.mean_b[i], mean_w = p.mean_w[i];
  for (int64_t j = 0; j < keys; j += lanes<T>) {
    const Vec<T> e = load(score + j) * scale, s = load(ds + j), u = load(b + j);
    store(score + j, e);
    store(ds + j, e * (s - m));
    store(b + j, e * (u - mean_b));
    store(db + j, e * (s * (u - mean_b) - u * m + load(db + j) - mean_w));
  }
}

template <class T>
void second(const AttentionInput<T>& a, HeadRows<const T> gy, const AttentionTangents<T>& d,
            const AttentionGradients<T>& g, HeadRows<T> ggy, T* scratch, int64_t first, int64_t last) {
  int64_t packed = -1;
  each_unit(a, first, last, [&](int64_t h, int64_t begin, int64_t n, int64_t pair) {
    Cutter<T> cutter{scratch};
    const Packed<T> p = cut(a, n, 2, cutter);
    const T* pairs = a.pairs ? a.pairs + pair * a.heads : nullptr;
    const T* dpairs = d.pairs ? d.pairs + pair * a.heads : nullptr;
    const int64_t K = a.key_width, V = a.value_width;
    pack_queries(a, begin, h, p);
    pack_of_queries(a, gy, d.q, begin, h, p);
    clear(p.row, (n + block) * p.value);
    clear(p.gq, (n + block) * p.key);
    const bool one_tile = p.tile == n;
    // The first walk sums. A single tile is still there when its sums are, and needs no walk of its own for them.
    for (int walk = one_tile ? 1 : 0; walk < 2; ++walk) {
      const bool differentiates = walk == 1;
      each_tile(n, p.tile, [&](int64_t at, int64_t keys) {
        const bool last_tile = at + keys == n;
        pack_keys(a, begin, h, at, keys, p, packed);
        transpose(p.v, keys, V, p.value, p.wide, p.v_across);
        pack_directions(d.k, begin + at, h, keys, K, p.wide, p.whole, p.dk, p.dk_across);
        pack_directions(d.v, begin + at, h, keys, V, p.wide, p.whole, p.dv, p.dv_across);
        clear(p.gk, keys * p.key);
        clear(p.gv, keys * p.value);
        each_block(n, [&](int64_t i, int64_t rows) {
          products_of(a, pairs, dpairs, h, i, rows, at, keys, p);
          for (int64_t r = 0; r < block; ++r) {
            T *score = p.score + r * p.wide, *b = p.other + r * p.wide, *ds = p.third + r * p.wide,
              *db = p.fourth + r * p.wide;
            if (r >= rows) {
              T* const of_none[] = {score, b, ds, db};
              for (T* x : of_none) {
                clear(x, padded<T>(keys));
              }
              continue;
            }
            if (one_tile || !differentiates) {
              add_sums(p, i + r, at > 0, keys, score, b, ds, db);
              if (last_tile) {
                close_sums(p, i + r);
              }
            } else {
              const T base = base_of(p.top[i + r]);
              for (int64_t j = 0; j < keys; j += lanes<T>) {
                store(score + j, exp_of<T>(load(score + j) - base));
              }
            }
            if (differentiates) {
              differentiate(p, i + r, keys, score, b, ds, db);
            }
          }
          if (!differentiates) {
            return;
          }
          if (g.pairs) {
            put_pairs(a, p.fourth, h, n, i, rows, at, keys, p.wide, g.pairs + pair * a.heads);
          }
          T *q = p.q + i * p.key, *gq = p.gq + i * p.key, *row = p.row + i * p.value;
          if (ggy.data) {
            mixtures(p.third, p.wide, p.v, keys, p.value, row);
            mixtures(p.score, p.wide, p.dv, keys, p.value, row);
          }
          scatter(p.third, p.wide, p.gout + i * p.value, keys, p.value, p.gv);
          scatter(p.fourth, p.wide, q, keys, p.key, p.gk);
          scatter(p.other, p.wide, p.dq + i * p.key, keys, p.key, p.gk);
          if (g.q.data) {
            mixtures(p.fourth, p.wide, p.k, keys, p.key, gq);
            mixtures(p.other, p.wide, p.dk, keys, p.key, gq);
          }
          for (int64_t r = 0; r < rows && last_tile; ++r) {
            if (ggy.data) {
              unpack_to<T>(ggy, begin + i + r, h, row + r * p.value, nullptr, nullptr, T(1), V, p.whole);
            }
            if (g.q.data) {
              unpack_to<T>(g.q, begin + i + r, h, gq + r * p.key, nullptr, nullptr, a.scale, K, p.whole);
            }
          }
        });
        for (int64_t j = 0; j < keys && differentiates; ++j) {
          const int64_t node = begin + at + j;
          if (g.k.data) {
            unpack_to<T>(g.k, node, h, p.gk + j * p.key, nullptr, nullptr, T(1), K, p.whole, g.k.head == 0);
          }
          if (g.v.data) {
            unpack_to<T>(g.v, node, h, p.gv + j * p.value, nullptr, nullptr, T(1), V, p.whole, g.v.head == 0);
          }
        }
      });
    }
  });
}

template <class T>
constexpr AttentionSecond<T> table{second<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const AttentionSecond<float>& compiled<AttentionSecond<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const AttentionSecond<double>& compiled<AttentionSecond<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

#include "weyl/kernels/attention/attention_packed.h"
#include "weyl/kernels/dispatch.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

template <class T>
void second(const AttentionInput<T>& a, HeadRows<const T> gy, const AttentionTangents<T>& d,
            const AttentionGradients<T>& g, HeadRows<T> ggy, T* scratch, int64_t first, int64_t last) {
  // With s = scale q.k + pairs, p = softmax(s), b = gy.v, and a dot for the direction d: the sum of d times
  // the first gradients is L = sum_ij p_ij ((s'_ij - m_i) b_ij + b'_ij), m_i = sum_j p_ij s'_ij,
  // b'_ij = gy_i . v'_j.
  int64_t packed_graph = -1;
  each_unit(a, first, last, [&](int64_t h, int64_t begin, int64_t n, int64_t pair) {
    Cutter<T> cutter{scratch};
    const Packed<T> p = cut(a, n, cutter);
    const T* pairs = a.pairs ? a.pairs + pair * a.heads : nullptr;
    const T* dpairs = d.pairs ? d.pairs + pair * a.heads : nullptr;
    const int64_t K = a.key_width, V = a.value_width;
    pack(a, begin, h, p, packed_graph);
    transpose(p.v, n, V, p.value, p.wide, p.v_across);
    clear(p.dq, (n + block) * p.key);
    clear(p.dk, n * p.key);
    clear(p.dv, n * p.value);
    for (int64_t i = 0; i < n; ++i) {
      if (d.q.data) {
        const T* dq = row_of(d.q, begin + i, h, K, p.whole);
        for (int64_t c = 0; c < K; ++c) {
          p.dq[i * p.key + c] = dq[c] * a.scale;
        }
      }
      if (d.k.data) {
        copy(row_of(d.k, begin + i, h, K, p.whole), K, p.dk + i * p.key);
      }
      if (d.v.data) {
        copy(row_of(d.v, begin + i, h, V, p.whole), V, p.dv + i * p.value);
      }
    }
    transpose(p.dk, n, K, p.key, p.wide, p.dk_across);
    transpose(p.dv, n, V, p.value, p.wide, p.dv_across);
    clear(p.gk, n * p.key);
    clear(p.gv, n * p.value);
    for (int64_t i = 0; i < n; i += block) {
      const int64_t rows = n - i < block ? n - i : block;
      clear(p.row, block * p.value);
      for (int64_t r = 0; r < rows; ++r) {
        copy(row_of(gy, begin + i + r, h, V, p.whole), V, p.row + r * p.value);
      }
      products(p.q + i * p.key, p.key, p.k_across, K, p.wide, p.score);
      finish_scores(a, pairs, h, i, rows, n, p.wide, p.score);
      products(p.row, p.value, p.v_across, V, p.wide, p.other);           // b
      products(p.dq + i * p.key, p.key, p.k_across, K, p.wide, p.third);  // s'
      products(p.q + i * p.key, p.key, p.dk_across, K, p.wide, p.fourth);
      for (int64_t e = 0; e < block * p.wide; e += lanes<T>) {
        store(p.third + e, load(p.third + e) + load(p.fourth + e));
      }
      for (int64_t r = 0; r < rows && dpairs; ++r) {
        for (int64_t j = 0; j < n; ++j) {
          p.third[r * p.wide + j] += dpairs[((i + r) * n + j) * a.heads + h];
        }
      }
      products(p.row, p.value, p.dv_across, V, p.wide, p.fourth);  // b'
      for (int64_t r = 0; r < block; ++r) {
        T *weight = p.score + r * p.wide, *b = p.other + r * p.wide, *ds = p.third + r * p.wide,
          *db = p.fourth + r * p.wide;
        if (r >= rows) {
          clear(weight, p.wide);
          clear(b, p.wide);
          clear(ds, p.wide);
          clear(db, p.wide);
          continue;
        }
        Vec<T> top = load(weight);
        for (int64_t j = lanes<T>; j < p.wide; j += lanes<T>) {
          top = larger<T>(top, load(weight + j));
        }
        const T highest = largest_of<T>(top);
        Vec<T> sum{}, sum_ds{}, sum_b{}, sum_w{};
        for (int64_t j = 0; j < p.wide; j += lanes<T>) {
          const Vec<T> e = exp_of<T>(load(weight + j) - highest);
          store(weight + j, e);
          sum += e;
          sum_ds += e * load(ds + j);
          sum_b += e * load(b + j);
        }
        const T scale = T(1) / sum_of<T>(sum), m = sum_of<T>(sum_ds) * scale,
                mean_b = sum_of<T>(sum_b) * scale;
        for (int64_t j = 0; j < p.wide; j += lanes<T>) {
          const Vec<T> e = load(weight + j) * scale, s = load(ds + j), u = load(b + j);
          const Vec<T> w = s * (u - mean_b) - u * m + load(db + j);  // d L / d p
          store(weight + j, e);
          store(db + j, w);
          sum_w += e * w;
          store(ds + j, e * (s - m));      // p': the gradient of b
          store(b + j, e * (u - mean_b));  // the gradient of s'
        }
        const T mean_w = sum_of<T>(sum_w);
        for (int64_t j = 0; j < p.wide; j += lanes<T>) {
          store(db + j, load(weight + j) * (load(db + j) - mean_w));  // the gradient of s
        }
      }
      if (g.pairs) {
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t j = 0; j < n; ++j) {
            g.pairs[(pair + (i + r) * n + j) * a.heads + h] = p.fourth[r * p.wide + j];
          }
        }
      }
      if (ggy.data) {
        clear(p.row_2, block * p.value);
        mixtures(p.third, p.wide, p.v, n, p.value, p.row_2);
        mixtures(p.score, p.wide, p.dv, n, p.value, p.row_2);
        for (int64_t r = 0; r < rows; ++r) {
          unpack_to<T>(ggy, begin + i + r, h, p.row_2 + r * p.value, nullptr, nullptr, T(1), V, p.whole);
        }
      }
      scatter(p.third, p.wide, p.row, n, p.value, p.gv);
      scatter(p.fourth, p.wide, p.q + i * p.key, n, p.key, p.gk);
      scatter(p.other, p.wide, p.dq + i * p.key, n, p.key, p.gk);
      if (g.q.data) {
        clear(p.gq, block * p.key);
        mixtures(p.fourth, p.wide, p.k, n, p.key, p.gq);
        mixtures(p.other, p.wide, p.dk, n, p.key, p.gq);
        for (int64_t r = 0; r < rows; ++r) {
          unpack_to<T>(g.q, begin + i + r, h, p.gq + r * p.key, nullptr, nullptr, a.scale, K, p.whole);
        }
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      if (g.k.data) {
        unpack_to<T>(g.k, begin + j, h, p.gk + j * p.key, nullptr, nullptr, T(1), K, p.whole, g.k.head == 0);
      }
      if (g.v.data) {
        unpack_to<T>(g.v, begin + j, h, p.gv + j * p.value, nullptr, nullptr, T(1), V, p.whole,
                     g.v.head == 0);
      }
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

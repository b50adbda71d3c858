#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/steerable/attention_positions.h"

namespace weyl::kernels {
namespace WEYL_ISA::steerable {
namespace {

/// One query: scores re + i im become e = (d / |s|) s, d = p (dp - delta), the gradient by the score, and p
/// the weights; zeros for keys that are absent and beyond the N keys, and e = 0 where s = 0.
template <class T>
inline void score_gradients(int64_t n, int64_t pitch, T logsum, T delta, const T* absent, const T* dp, T* re,
                            T* im, T* p) {
  for (int64_t j = 0; j < n; j += lanes<T>) {
    const Vec<T> a = load(re + j), b = load(im + j), size = root_of<T>(a * a + b * b);
    const Vec<T> weight = exp_of<T>(size + load(absent + j) - logsum);
    const Vec<T> d = weight * (load(dp + j) - delta);
    const Vec<T> slope = size > Vec<T>{} ? d / size : Vec<T>{};
    store(p + j, weight);
    store(re + j, a * slope);
    store(im + j, b * slope);
  }
  T* const scores[] = {re, im, p};
  for (T* row : scores) {
    for (int64_t j = n; j < pitch; ++j) {
      row[j] = 0;
    }
  }
}

template <class T>
void backward(const SteerableAttentionInput<T>& in, const T* y, const T* logsum, const T* gy,
              const SteerableAttentionGradients<T>& to, T* scratch, int64_t first, int64_t last) {
  Cutter<T> cutter{scratch};
  const Workspace<T> s(in, cutter);
  const bool positions = in.components > 0;
  const int64_t all = in.batch * 2 * in.of_all * in.tokens, row = 2 * s.channels;
  for (int64_t index = first; index < last; ++index) {
    const Unit u = unit_of(in, index);
    pack_absent(in, u, s);
    pack_panels(in, u, in.k, s.k);
    pack_panels(in, u, in.v, s.v);
    pack_rows(in, u, in.k, s.channels, s.k_rows);
    T* const by_keys[] = {s.gk_rows, s.gv_rows};
    for (T* rows : by_keys) {
      clear(rows, s.channels * in.tokens * 2);
    }
    if (positions) {
      pack_weights(in, u, in.key_weights, s.wide, s.key_weights);
      pack_weights(in, u, in.value_weights, s.wide, s.value_weights);
      T* const by_weights[] = {s.g_key_weights, s.g_value_weights};
      for (T* weights : by_weights) {
        clear(weights, in.multiplicity * 2 * s.wide);
      }
    }
    for (int64_t i = u.first; i < u.last; i += span) {
      const int64_t count = u.last - i < span ? u.last - i : span;
      bool present[span];
      if (!present_of(s, i, count, present)) {
        clear(s.y, span * row);
        unpack_block(in, u, s.y, i, count, T(1), s.channels, to.q);
        continue;
      }
      T delta[span] = {};
      pack_block(in, u, gy, i, count, T(1), s.channels, s.g);
      pack_block(in, u, y, i, count, T(1), s.channels, s.y);
      for (int64_t r = 0; r < span; ++r) {
        Vec<T> sum{};
        for (int64_t c = 0; c < row; c += lanes<T>) {
          sum += load(s.g + r * row + c) * load(s.y + r * row + c);
        }
        delta[r] = sum_of<T>(sum);
      }
      pack_block(in, u, in.q, i, count, in.scale, s.channels, s.x);
      T* const scores[] = {s.re, s.im, s.dp};
      for (T* rows : scores) {
        clear(rows, span * s.pitch);
      }
      for (int64_t r = 0; r < count && positions; ++r) {
        contract(in, s, s.x + r * row, s.key_weights);
        position_scores(in, s, i + r, s.re + r * s.pitch, s.im + r * s.pitch);
        contract(in, s, s.g + r * row, s.value_weights);
        position_scores<T>(in, s, i + r, s.dp + r * s.pitch, nullptr);
      }
      add_scores(in, s, s.x, s.k, s.re, s.im);
      add_real_scores(in, s, s.g, s.v, s.dp);
      for (int64_t r = 0; r < span; ++r) {
        const int64_t at = r * s.pitch;
        if (!present[r]) {
          T* const unused[] = {s.re, s.im, s.p};
          for (T* rows : unused) {
            clear(rows + at, s.pitch);
          }
          continue;
        }
        const T sum = logsum[(u.batch * in.heads + u.head) * in.tokens + i + r];
        score_gradients(in.tokens, s.pitch, sum, delta[r], s.absent, s.dp + at, s.re + at, s.im + at,
                        s.p + at);
      }
      scatter_rows(in, s, s.p, s.g, s.gv_rows);
      scatter_complex_rows(in, s, s.re, s.im, s.x, s.gk_rows);
      mix_conjugate(in, s, s.re, s.im, s.k_rows, s.y);
      for (int64_t r = 0; r < count && positions; ++r) {
        position_sums(in, s, i + r, s.re + r * s.pitch, s.im + r * s.pitch);
        expand(in, s, s.key_weights, s.y + r * row);
        add_weight_gradients(in, s, s.x + r * row, s.g_key_weights);
        position_sums<T>(in, s, i + r, s.p + r * s.pitch, nullptr);
        add_weight_gradients(in, s, s.g + r * row, s.g_value_weights);
      }
      unpack_block(in, u, s.y, i, count, in.scale, s.channels, to.q);
    }
    unpack_rows(in, u, s.gk_rows, to.k + u.split * all);
    unpack_rows(in, u, s.gv_rows, to.v + u.split * all);
    if (positions) {
      unpack_weights(in, u, s.g_key_weights, s.wide, to.key_weights);
      unpack_weights(in, u, s.g_value_weights, s.wide, to.value_weights);
    }
  }
}

template <class T>
constexpr SteerableAttentionBackward<T> table{backward<T>};

}  // namespace
}  // namespace WEYL_ISA::steerable

template <>
const SteerableAttentionBackward<float>&
compiled<SteerableAttentionBackward<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::steerable::table<float>;
}
template <>
const SteerableAttentionBackward<double>&
compiled<SteerableAttentionBackward<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::steerable::table<double>;
}

}  // namespace weyl::kernels

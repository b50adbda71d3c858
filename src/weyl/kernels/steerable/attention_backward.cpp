#include "weyl/kernels/steerable/attention_positions.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace steerable {

/// One query: scores re + i im become e = (d / |s|) s, d = p (dp - delta), the gradient by the score, and p
/// the weights; zeros beyond the N keys, and e = 0 where s = 0.
template <class T>
inline void score_gradients(int64_t n, int64_t pitch, T logsum, T delta, const T* dp, T* re, T* im, T* p) {
  for (int64_t j = 0; j < n; j += lanes<T>) {
    const Vec<T> a = load(re + j), b = load(im + j), size = root_of<T>(a * a + b * b);
    const Vec<T> weight = exp_of<T>(size - logsum);
    const Vec<T> d = weight * (load(dp + j) - delta);
    const Vec<T> slope = size > Vec<T>{} ? d / size : Vec<T>{};
    store(p + j, weight);
    store(re + j, a * slope);
    store(im + j, b * slope);
  }
  for (T* row : {re, im, p}) {
    for (int64_t j = n; j < pitch; ++j) {
      row[j] = 0;
    }
  }
}

}  // namespace steerable

template <class T>
void steerable_attention_backward(const SteerableAttentionInput<T>& in, const T* y, const T* logsum,
                                  const T* gy, const SteerableAttentionGradients<T>& to, T* scratch,
                                  int64_t first, int64_t last) {
  using steerable::span;
  Cutter<T> cutter{scratch};
  const steerable::Workspace<T> s(in, cutter);
  const bool positions = in.components > 0;
  const int64_t all = in.batch * 2 * in.of_all * in.tokens, row = 2 * s.channels;
  for (int64_t index = first; index < last; ++index) {
    const steerable::Unit u = steerable::unit_of(in, index);
    steerable::pack_panels(in, u, in.k, s.k);
    steerable::pack_panels(in, u, in.v, s.v);
    steerable::pack_rows(in, u, in.k, s.channels, s.k_rows);
    for (T* rows : {s.gk_rows, s.gv_rows}) {
      std::memset(rows, 0, s.channels * in.tokens * 2 * sizeof(T));
    }
    if (positions) {
      steerable::pack_weights(in, u, in.key_weights, s.wide, s.key_weights);
      steerable::pack_weights(in, u, in.value_weights, s.wide, s.value_weights);
      for (T* weights : {s.g_key_weights, s.g_value_weights}) {
        std::memset(weights, 0, in.copies * 2 * s.wide * sizeof(T));
      }
    }
    for (int64_t i = u.first; i < u.last; i += span) {
      const int64_t count = u.last - i < span ? u.last - i : span;
      T delta[span] = {};
      steerable::pack_block(in, u, gy, i, count, T(1), s.channels, s.g);
      steerable::pack_block(in, u, y, i, count, T(1), s.channels, s.y);
      for (int64_t r = 0; r < span; ++r) {
        Vec<T> sum{};
        for (int64_t c = 0; c < row; c += lanes<T>) {
          sum += load(s.g + r * row + c) * load(s.y + r * row + c);
        }
        delta[r] = sum_of<T>(sum);
      }
      steerable::pack_block(in, u, in.q, i, count, in.scale, s.channels, s.x);
      for (T* rows : {s.re, s.im, s.dp}) {
        std::memset(rows, 0, span * s.pitch * sizeof(T));
      }
      for (int64_t r = 0; r < count && positions; ++r) {
        steerable::contract(in, s, s.x + r * row, s.key_weights);
        steerable::position_scores(in, s, i + r, s.re + r * s.pitch, s.im + r * s.pitch);
        steerable::contract(in, s, s.g + r * row, s.value_weights);
        steerable::position_scores<T>(in, s, i + r, s.dp + r * s.pitch, nullptr);
      }
      steerable::add_scores(in, s, s.x, s.k, s.re, s.im);
      steerable::add_real_scores(in, s, s.g, s.v, s.dp);
      for (int64_t r = 0; r < span; ++r) {
        const int64_t at = r * s.pitch;
        if (r >= count) {
          for (T* rows : {s.re, s.im, s.p}) {
            std::memset(rows + at, 0, s.pitch * sizeof(T));
          }
          continue;
        }
        const T sum = logsum[(u.batch * in.heads + u.head) * in.tokens + i + r];
        steerable::score_gradients(in.tokens, s.pitch, sum, delta[r], s.dp + at, s.re + at, s.im + at,
                                   s.p + at);
      }
      steerable::scatter_rows(in, s, s.p, s.g, s.gv_rows);
      steerable::scatter_complex_rows(in, s, s.re, s.im, s.x, s.gk_rows);
      steerable::mix_conjugate(in, s, s.re, s.im, s.k_rows, s.y);
      for (int64_t r = 0; r < count && positions; ++r) {
        steerable::position_sums(in, s, i + r, s.re + r * s.pitch, s.im + r * s.pitch);
        steerable::expand(in, s, s.key_weights, s.y + r * row);
        steerable::add_weight_gradients(in, s, s.x + r * row, s.g_key_weights);
        steerable::position_sums<T>(in, s, i + r, s.p + r * s.pitch, nullptr);
        steerable::add_weight_gradients(in, s, s.g + r * row, s.g_value_weights);
      }
      steerable::unpack_block(in, u, s.y, i, count, in.scale, s.channels, to.q);
    }
    steerable::unpack_rows(in, u, s.gk_rows, to.k + u.split * all);
    steerable::unpack_rows(in, u, s.gv_rows, to.v + u.split * all);
    if (positions) {
      steerable::unpack_weights(in, u, s.g_key_weights, s.wide, to.key_weights);
      steerable::unpack_weights(in, u, s.g_value_weights, s.wide, to.value_weights);
    }
  }
}

template void steerable_attention_backward<float>(const SteerableAttentionInput<float>&, const float*,
                                                  const float*, const float*,
                                                  const SteerableAttentionGradients<float>&, float*, int64_t,
                                                  int64_t);
template void steerable_attention_backward<double>(const SteerableAttentionInput<double>&, const double*,
                                                   const double*, const double*,
                                                   const SteerableAttentionGradients<double>&, double*,
                                                   int64_t, int64_t);

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
void steerable_attention_backward(const SteerableAttentionInput<T>&, const T*, const T*, const T*,
                                  const SteerableAttentionGradients<T>&, T*, int64_t, int64_t);
}
namespace v4 {
template <class T>
void steerable_attention_backward(const SteerableAttentionInput<T>&, const T*, const T*, const T*,
                                  const SteerableAttentionGradients<T>&, T*, int64_t, int64_t);
}
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

template <class T>
void steerable_attention_backward(const SteerableAttentionInput<T>& in, const T* y, const T* logsum,
                                  const T* gy, const SteerableAttentionGradients<T>& to, T* scratch,
                                  int64_t first, int64_t last) {
  choose(&baseline::steerable_attention_backward<T>, &v3::steerable_attention_backward<T>,
         &v4::steerable_attention_backward<T>)(in, y, logsum, gy, to, scratch, first, last);
}
template void steerable_attention_backward<float>(const SteerableAttentionInput<float>&, const float*,
                                                  const float*, const float*,
                                                  const SteerableAttentionGradients<float>&, float*, int64_t,
                                                  int64_t);
template void steerable_attention_backward<double>(const SteerableAttentionInput<double>&, const double*,
                                                   const double*, const double*,
                                                   const SteerableAttentionGradients<double>&, double*,
                                                   int64_t, int64_t);
#endif

}  // namespace weyl::kernels

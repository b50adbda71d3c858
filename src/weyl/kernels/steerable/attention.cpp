#include "weyl/kernels/steerable/attention.h"

#include "weyl/kernels/steerable/attention_positions.h"

namespace weyl::kernels {

template <class T>
struct SteerableAttentionTable {
  decltype(&steerable_attention_scratch<T>) scratch;
  decltype(&steerable_attention<T>) forward;
};

namespace WEYL_ISA {

template <class T>
int64_t steerable_attention_scratch(const SteerableAttentionInput<T>& in) {
  Cutter<T> cutter{nullptr};
  const steerable::Workspace<T> s(in, cutter);
  return cutter.used;
}

namespace steerable {

/// |re + i im| of one query into p, then its softmax over the N keys; zeros beyond. Returns log sum exp.
template <class T>
inline T softmax(int64_t n, int64_t pitch, const T* re, const T* im, T* p) {
  constexpr T lowest = -static_cast<T>(INFINITY);
  for (int64_t j = 0; j < n; j += lanes<T>) {
    const Vec<T> a = load(re + j), b = load(im + j);
    store(p + j, root_of<T>(a * a + b * b));
  }
  for (int64_t j = n; j < pitch; ++j) {
    p[j] = lowest;
  }
  Vec<T> high = spread(lowest);
  for (int64_t j = 0; j < n; j += lanes<T>) {
    high = larger<T>(load(p + j), high);
  }
  const T top = largest_of<T>(high);
  Vec<T> sums{};
  for (int64_t j = 0; j < pitch; j += lanes<T>) {
    const Vec<T> e = exp_of<T>(load(p + j) - top);
    store(p + j, e);
    sums += e;
  }
  const T total = sum_of<T>(sums), over = T(1) / total;
  for (int64_t j = 0; j < n; j += lanes<T>) {
    store(p + j, load(p + j) * over);
  }
  return top + static_cast<T>(__builtin_log(static_cast<double>(total)));
}

}  // namespace steerable

template <class T>
void steerable_attention(const SteerableAttentionInput<T>& in, T* y, T* logsum, T* scratch, int64_t first,
                         int64_t last) {
  using steerable::span;
  Cutter<T> cutter{scratch};
  const steerable::Workspace<T> s(in, cutter);
  const bool positions = in.components > 0;
  for (int64_t index = first; index < last; ++index) {
    const steerable::Unit u = steerable::unit_of(in, index);
    steerable::pack_panels(in, u, in.k, s.k);
    steerable::pack_rows(in, u, in.v, s.channels, s.v_rows);
    if (positions) {
      steerable::pack_weights(in, u, in.key_weights, s.wide, s.key_weights);
      steerable::pack_weights(in, u, in.value_weights, s.wide, s.value_weights);
    }
    for (int64_t i = u.first; i < u.last; i += span) {
      const int64_t count = u.last - i < span ? u.last - i : span;
      steerable::pack_block(in, u, in.q, i, count, in.scale, s.channels, s.x);
      std::memset(s.re, 0, span * s.pitch * sizeof(T));
      std::memset(s.im, 0, span * s.pitch * sizeof(T));
      for (int64_t r = 0; r < count && positions; ++r) {
        steerable::contract(in, s, s.x + r * 2 * s.channels, s.key_weights);
        steerable::position_scores(in, s, i + r, s.re + r * s.pitch, s.im + r * s.pitch);
      }
      steerable::add_scores(in, s, s.x, s.k, s.re, s.im);
      for (int64_t r = 0; r < span; ++r) {
        const T sum =
            steerable::softmax(in.tokens, s.pitch, s.re + r * s.pitch, s.im + r * s.pitch, s.p + r * s.pitch);
        if (r < count) {
          logsum[(u.batch * in.heads + u.head) * in.tokens + i + r] = sum;
        }
      }
      steerable::mix(in, s, s.p, s.v_rows, s.y);
      for (int64_t r = 0; r < count && positions; ++r) {
        steerable::position_sums<T>(in, s, i + r, s.p + r * s.pitch, nullptr);
        steerable::expand(in, s, s.value_weights, s.y + r * 2 * s.channels);
      }
      steerable::unpack_block(in, u, s.y, i, count, T(1), s.channels, y);
    }
  }
}

template <class T>
SteerableAttentionTable<T> steerable_attention_table() {
  return {&WEYL_ISA::steerable_attention_scratch<T>, &WEYL_ISA::steerable_attention<T>};
}
template SteerableAttentionTable<float> steerable_attention_table();
template SteerableAttentionTable<double> steerable_attention_table();

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
SteerableAttentionTable<T> steerable_attention_table();
}
namespace v4 {
template <class T>
SteerableAttentionTable<T> steerable_attention_table();
}
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

namespace {
template <class T>
SteerableAttentionTable<T> chosen_table() {
  return choose(&baseline::steerable_attention_table<T>, &v3::steerable_attention_table<T>,
                &v4::steerable_attention_table<T>)();
}
}  // namespace

template <class T>
int64_t steerable_attention_scratch(const SteerableAttentionInput<T>& in) {
  return chosen_table<T>().scratch(in);
}
template <class T>
void steerable_attention(const SteerableAttentionInput<T>& in, T* y, T* logsum, T* scratch, int64_t first,
                         int64_t last) {
  chosen_table<T>().forward(in, y, logsum, scratch, first, last);
}
template int64_t steerable_attention_scratch<float>(const SteerableAttentionInput<float>&);
template int64_t steerable_attention_scratch<double>(const SteerableAttentionInput<double>&);
template void steerable_attention<float>(const SteerableAttentionInput<float>&, float*, float*, float*,
                                         int64_t, int64_t);
template void steerable_attention<double>(const SteerableAttentionInput<double>&, double*, double*, double*,
                                          int64_t, int64_t);
#endif

}  // namespace weyl::kernels

#include "weyl/kernels/steerable/attention.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/steerable/attention_positions.h"

namespace weyl::kernels {
namespace WEYL_ISA::steerable {
namespace {

/// |re + i im| of one query into p, then its softmax over the keys that are not absent; zeros elsewhere. Returns log sum exp.
template <class T>
inline T softmax(int64_t n, int64_t pitch, const T* re, const T* im, const T* absent, T* p) {
  constexpr T lowest = -infinity<T>;
  for (int64_t j = 0; j < n; j += lanes<T>) {
    const Vec<T> a = load(re + j), b = load(im + j);
    store(p + j, root_of<T>(a * a + b * b) + load(absent + j));
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

template <class T>
int64_t scratch_of(const SteerableAttentionInput<T>& in) {
  Cutter<T> cutter{nullptr};
  const Workspace<T> s(in, cutter);
  return cutter.used;
}

template <class T>
void forward(const SteerableAttentionInput<T>& in, T* y, T* logsum, T* scratch, int64_t first, int64_t last) {
  Cutter<T> cutter{scratch};
  const Workspace<T> s(in, cutter);
  const bool positions = in.components > 0;
  for (int64_t index = first; index < last; ++index) {
    const Unit u = unit_of(in, index);
    pack_absent(in, u, s);
    pack_panels(in, u, in.k, s.k);
    pack_rows(in, u, in.v, s.channels, s.v_rows);
    if (positions) {
      pack_weights(in, u, in.key_weights, s.wide, s.key_weights);
      pack_weights(in, u, in.value_weights, s.wide, s.value_weights);
    }
    for (int64_t i = u.first; i < u.last; i += span) {
      const int64_t count = u.last - i < span ? u.last - i : span;
      T* sums = logsum + (u.batch * in.heads + u.head) * in.tokens + i;
      bool present[span];
      if (!present_of(s, i, count, present)) {
        clear(s.y, span * 2 * s.channels);
        unpack_block(in, u, s.y, i, count, T(1), s.channels, y);
        clear(sums, count);
        continue;
      }
      pack_block(in, u, in.q, i, count, in.scale, s.channels, s.x);
      clear(s.re, span * s.pitch);
      clear(s.im, span * s.pitch);
      for (int64_t r = 0; r < count && positions; ++r) {
        contract(in, s, s.x + r * 2 * s.channels, s.key_weights);
        position_scores(in, s, i + r, s.re + r * s.pitch, s.im + r * s.pitch);
      }
      add_scores(in, s, s.x, s.k, s.re, s.im);
      for (int64_t r = 0; r < span; ++r) {
        const int64_t at = r * s.pitch;
        const T sum = softmax(in.tokens, s.pitch, s.re + at, s.im + at, s.absent, s.p + at);
        if (r < count) {
          sums[r] = present[r] ? sum : T(0);
        }
        if (!present[r]) {
          clear(s.p + at, s.pitch);
        }
      }
      mix(in, s, s.p, s.v_rows, s.y);
      for (int64_t r = 0; r < count && positions; ++r) {
        position_sums<T>(in, s, i + r, s.p + r * s.pitch, nullptr);
        expand(in, s, s.value_weights, s.y + r * 2 * s.channels);
      }
      unpack_block(in, u, s.y, i, count, T(1), s.channels, y);
    }
  }
}

template <class T>
constexpr SteerableAttention<T> table{scratch_of<T>, forward<T>};

}  // namespace
}  // namespace WEYL_ISA::steerable

template <>
const SteerableAttention<float>& compiled<SteerableAttention<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::steerable::table<float>;
}
template <>
const SteerableAttention<double>& compiled<SteerableAttention<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::steerable::table<double>;
}

}  // namespace weyl::kernels

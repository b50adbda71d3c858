#include "weyl/kernels/frames/group_fourier.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

// Of a row at once. Each adds to a sum of its own: with fewer the processor waits for one addition before the next.
constexpr int most_vectors = 8;

// Where the rows of all places stand; what lies between two stages is in rows of `most_vectors` vectors.
template <class T>
struct Rows {
  T* at[GroupFourier<T>::most_rows];
  const T* read[GroupFourier<T>::most_rows];
};

// `vectors` vectors of every row, or the first `count` numbers of one vector.
template <class T, int vectors, bool whole>
void apply(const FourierStage<T>& stage, int64_t order, const T* const* in, int64_t in_first, T* const* out,
           int64_t out_first, int64_t count) {
  constexpr int64_t step = lanes<T>;
  for (int64_t run = 0; run < order; run += stage.size) {
    for (int64_t row = 0; row < stage.size; ++row) {
      Vec<T> sum[vectors]{};
      for (int64_t i = stage.starts[row]; i < stage.starts[row + 1]; ++i) {
        const T* x = in[run + stage.columns[i]] + in_first;
        const Vec<T> coefficient = spread(stage.coefficients[i]);
        for (int v = 0; v < vectors; ++v) {
          sum[v] += coefficient * get<whole>(x + v * step, count);
        }
      }
      T* y = out[run + row] + out_first;
      for (int v = 0; v < vectors; ++v) {
        put<whole>(y + v * step, sum[v], count);
      }
    }
  }
}

template <class T, int vectors, bool whole>
void all_stages(const GroupFourierInput<T>& f, const Rows<T>& from, const Rows<T>& to, const Rows<T>& even,
                const Rows<T>& odd, int64_t channel, int64_t count) {
  for (int64_t s = 0; s < f.stage_count; ++s) {
    const bool first = s == 0, last = s + 1 == f.stage_count;
    const Rows<T>& before = first ? from : (s % 2 == 0 ? odd : even);
    const Rows<T>& after = last ? to : (s % 2 == 0 ? even : odd);
    apply<T, vectors, whole>(f.stages[s], f.order, before.read, first ? channel : 0, after.at,
                             last ? channel : 0, count);
  }
}

// The last whole vectors of the rows, fewer than most_vectors.
template <class T, int vectors>
void remaining(const GroupFourierInput<T>& f, const Rows<T>& from, const Rows<T>& to, const Rows<T>& even,
               const Rows<T>& odd, int64_t channel, int64_t left) {
  if constexpr (vectors > 0) {
    left == vectors ? all_stages<T, vectors, true>(f, from, to, even, odd, channel, lanes<T>)
                    : remaining<T, vectors - 1>(f, from, to, even, odd, channel, left);
  }
}

template <class T>
void transform(const GroupFourierInput<T>& f, int64_t first, int64_t last) {
  constexpr int64_t step = lanes<T>, width = most_vectors * step;
  alignas(64) T between[2][GroupFourier<T>::most_rows * width];
  Rows<T> from, to, even, odd;
  for (int64_t p = 0; p < f.order; ++p) {
    even.read[p] = even.at[p] = between[0] + p * width;
    odd.read[p] = odd.at[p] = between[1] + p * width;
  }
  for (int64_t n = first; n < last; ++n) {
    for (int64_t p = 0; p < f.order; ++p) {
      from.read[p] = f.in[p] + n * f.in_strides[p];
      to.at[p] = f.out[p] + n * f.out_strides[p];
    }
    int64_t c = 0;
    for (; f.channels - c >= width; c += width) {
      all_stages<T, most_vectors, true>(f, from, to, even, odd, c, step);
    }
    remaining<T, most_vectors - 1>(f, from, to, even, odd, c, (f.channels - c) / step);
    c += (f.channels - c) / step * step;
    if (c < f.channels) {
      all_stages<T, 1, false>(f, from, to, even, odd, c, f.channels - c);
    }
  }
}

template <class T>
constexpr GroupFourier<T> table{transform<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const GroupFourier<float>& compiled<GroupFourier<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const GroupFourier<double>& compiled<GroupFourier<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

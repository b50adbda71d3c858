#include "weyl/kernels/frames/group_fourier.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

// Sums at once, of vectors of a row and of nodes. Each coefficient is read once for all of them, and each adds to a sum of its
// own: with fewer the processor waits for one addition before the next.
constexpr int most_sums = 12;

// Where the rows of all places stand, and how far those of the next node are.
template <class T>
struct Rows {
  T* at[GroupFourier<T>::most_rows];
  const T* read[GroupFourier<T>::most_rows];
  const int64_t* strides;
};

// Of `nodes` nodes `vectors` vectors of every row, or the first `count` numbers of one vector.
template <class T, int nodes, int vectors, bool read_whole, bool write_whole>
void apply(const FourierStage<T>& stage, int64_t order, const Rows<T>& from, const Rows<T>& to,
           int64_t count) {
  constexpr int64_t step = lanes<T>;
  for (int64_t run = 0; run < order; run += stage.size) {
    for (int64_t row = 0; row < stage.size; ++row) {
      Vec<T> sum[nodes][vectors]{};
      for (int64_t i = stage.starts[row]; i < stage.starts[row + 1]; ++i) {
        const int64_t column = run + stage.columns[i], stride = from.strides[column];
        const T* x = from.read[column];
        const Vec<T> coefficient = spread(stage.coefficients[i]);
        for (int n = 0; n < nodes; ++n, x += stride) {
          for (int v = 0; v < vectors; ++v) {
            sum[n][v] += coefficient * get<read_whole>(x + v * step, count);
          }
        }
      }
      T* y = to.at[run + row];
      const int64_t stride = to.strides[run + row];
      for (int n = 0; n < nodes; ++n, y += stride) {
        for (int v = 0; v < vectors; ++v) {
          put<write_whole>(y + v * step, sum[n][v], count);
        }
      }
    }
  }
}

// What lies between two stages is in rows of `most_sums` vectors.
template <class T>
struct Between {
  static constexpr int64_t width = most_sums * lanes<T>;

  explicit Between(int64_t order) {
    for (int64_t p = 0; p < order; ++p) {
      even.read[p] = even.at[p] = numbers[0] + p * width;
      odd.read[p] = odd.at[p] = numbers[1] + p * width;
    }
    even.strides = odd.strides = strides;
  }
  void set_vectors(int64_t order, int64_t vectors) {
    if (const int64_t stride = vectors * lanes<T>; strides[0] != stride) {
      for (int64_t p = 0; p < order; ++p) {
        strides[p] = stride;
      }
    }
  }

  Rows<T> even, odd;
  int64_t strides[GroupFourier<T>::most_rows]{};
  alignas(64) T numbers[2][GroupFourier<T>::most_rows * width];
};

// Between two stages vectors are whole, whatever the rows have: what is stored in parts cannot be loaded soon.
template <class T, int nodes, int vectors, bool whole>
void all_stages(const GroupFourierInput<T>& f, const Rows<T>& from, const Rows<T>& to,
                const Between<T>& between, int64_t count) {
  if (f.stage_count == 1) {
    apply<T, nodes, vectors, whole, whole>(f.stages[0], f.order, from, to, count);
    return;
  }
  apply<T, nodes, vectors, whole, true>(f.stages[0], f.order, from, between.even, count);
  for (int64_t s = 1; s + 1 < f.stage_count; ++s) {
    apply<T, nodes, vectors, true, true>(f.stages[s], f.order, s % 2 == 1 ? between.even : between.odd,
                                         s % 2 == 1 ? between.odd : between.even, count);
  }
  apply<T, nodes, vectors, true, whole>(f.stages[f.stage_count - 1], f.order,
                                        f.stage_count % 2 == 0 ? between.even : between.odd, to, count);
}

// The same channels of nodes first <= n < last: `vectors` vectors, or `count` numbers of one.
template <class T, int vectors, bool whole>
void all_nodes(const GroupFourierInput<T>& f, int64_t first, int64_t last, int64_t channel, int64_t count,
               Between<T>& between) {
  constexpr int nodes = vectors == 1 ? 8 : most_sums / vectors;
  Rows<T> from, to;
  from.strides = f.in_strides;
  to.strides = f.out_strides;
  between.set_vectors(f.order, vectors);
  for (int64_t n = first; n < last;) {
    for (int64_t p = 0; p < f.order; ++p) {
      from.read[p] = f.in[p] + n * f.in_strides[p] + channel;
      to.at[p] = f.out[p] + n * f.out_strides[p] + channel;
    }
    if (last - n >= nodes) {
      all_stages<T, nodes, vectors, whole>(f, from, to, between, count);
      n += nodes;
    } else {
      all_stages<T, 1, vectors, whole>(f, from, to, between, count);
      ++n;
    }
  }
}

template <class T, int vectors = most_sums>
void so_many(int64_t wanted, const GroupFourierInput<T>& f, int64_t first, int64_t last, int64_t channel,
             Between<T>& between) {
  if constexpr (vectors > 0) {
    wanted == vectors ? all_nodes<T, vectors, true>(f, first, last, channel, lanes<T>, between)
                      : so_many<T, vectors - 1>(wanted, f, first, last, channel, between);
  }
}

template <class T>
void transform(const GroupFourierInput<T>& f, int64_t first, int64_t last) {
  const int64_t vectors = f.channels / lanes<T>, parts = (vectors + most_sums - 1) / most_sums;
  const int64_t nodes = parts > 1 ? 1 : 24;  // before the next channels, which lie beside the first ones
  Between<T> between(f.order);
  for (int64_t begin = first; begin < last; begin += nodes) {
    const int64_t end = begin + nodes < last ? begin + nodes : last;
    int64_t done = 0;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t until = vectors * (part + 1) / parts;
      so_many<T>(until - done, f, begin, end, done * lanes<T>, between);
      done = until;
    }
    if (const int64_t rest = f.channels - vectors * lanes<T>; rest > 0) {
      all_nodes<T, 1, false>(f, begin, end, vectors * lanes<T>, rest, between);
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

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/steerable/conv_mixing.h"

namespace weyl::kernels {
namespace WEYL_ISA::conv {
namespace {

/// to (rows, columns) += sum_v row_r[v] column_k[v].
template <class T>
inline void add_products(int64_t rows, int64_t columns, const Rows<const T>& row, const Rows<const T>& column,
                         int64_t numbers, T* to) {
  constexpr int64_t nr = 4, nk = vector_bytes == 64 ? 4 : 2;
  for (int64_t r = 0; r < rows; r += nr) {
    for (int64_t k = 0; k < columns; k += nk) {
      const T *left[nr], *right[nk];
      for (int64_t i = 0; i < nr; ++i) {
        left[i] = row(r + i < rows ? r + i : r);
      }
      for (int64_t i = 0; i < nk; ++i) {
        right[i] = column(k + i < columns ? k + i : k);
      }
      Vec<T> sums[nr][nk] = {};
      int64_t v = 0;
      for (; v + lanes<T> <= numbers; v += lanes<T>) {
        Vec<T> x[nk];
        for (int64_t i = 0; i < nk; ++i) {
          x[i] = load(right[i] + v);
        }
        for (int64_t i = 0; i < nr; ++i) {
          const Vec<T> y = load(left[i] + v);
          for (int64_t n = 0; n < nk; ++n) {
            sums[i][n] += x[n] * y;
          }
        }
      }
      if (v < numbers) {
        for (int64_t i = 0; i < nr; ++i) {
          const Vec<T> y = load_part(left[i] + v, numbers - v);
          for (int64_t n = 0; n < nk; ++n) {
            sums[i][n] += load_part(right[n] + v, numbers - v) * y;
          }
        }
      }
      for (int64_t i = 0; i < nr && r + i < rows; ++i) {
        for (int64_t n = 0; n < nk && k + n < columns; ++n) {
          to[(r + i) * columns + k + n] += sum_of<T>(sums[i][n]);
        }
      }
    }
  }
}

/// s.filtered, by which s.by_mixed of channel number `at` of a chunk is: the transpose of `couple`.
template <class T>
inline void couple_back(const SteerableConvInput<T>& in, const Shape<T>& shape, const Workspace<T>& s,
                        const ConvIrrep& irrep, int64_t at, int64_t count, int64_t numbers) {
  clear(s.filtered, irrep.components * 2 * in.filters * shape.pitch);
  for (int64_t row = 0; row < irrep.rows; ++row) {
    const T* from = s.by_mixed + (row * count + at) * shape.pitch;
    for (int64_t t = in.row_terms[irrep.row + row]; t < in.row_terms[irrep.row + row + 1]; ++t) {
      T* to = s.filtered + in.terms[t].input * shape.pitch;
      const T coefficient = static_cast<T>(in.terms[t].coefficient);
      for (int64_t v = 0; v < numbers; v += lanes<T>) {
        store(to + v, load(to + v) + load(from + v) * coefficient);
      }
    }
  }
}

/// gx += the filters' transposed action on s.filtered: the transpose of `filter_channel`.
template <class T>
inline void spread_channel(const SteerableConvInput<T>& in, const Shape<T>& shape, const Workspace<T>& s,
                           const ConvIrrep& irrep, int64_t c, int64_t b, int64_t r0, int64_t r1, T* gx) {
  for (int64_t k = 0; k < irrep.components * 2; ++k) {
    const int64_t feature = k % 2 * in.in_width + irrep.feature + k / 2 * irrep.channels + c;
    T* x = gx + (b * 2 * in.in_width + feature) * shape.in_pixels;
    each_run(in, r0, r1, [&](const Run& run) {
      const int64_t ly = run.rows() + in.kernel[1] - 1;
      const int64_t length = (run.rows() - 1) * shape.line + in.out[2];
      clear(s.window, in.kernel[0] * ly * shape.line + 2 * lanes<T>);
      for (int64_t g = 0; g < in.group_count; ++g) {
        const ConvGroup& filters = in.groups[g];
        clear(s.runs, filters.count * shape.run);
        for (int64_t f = 0; f < filters.count; ++f) {
          const T* from = s.filtered + (k * in.filters + filters.first + f) * shape.pitch + run.at;
          T* to = s.runs + f * shape.run;
          for (int64_t y = 0; y < run.rows(); ++y, from += in.out[2], to += shape.line) {
            copy(from, in.out[2], to);
          }
        }
        with_count(filters.count, [&]<int n>() {
          spread_run<T, n>(in, filters, s.runs, ly, shape.line, length, shape.run, s.window);
        });
      }
      each_line(in, run, shape.line, [&](int64_t to, int64_t from, int64_t count) {
        for (int64_t z = 0; z < count; ++z) {
          x[to + z] += s.window[from + z];
        }
      });
    });
  }
}

/// The transpose of pack_weights: real matrices to complex weights.
template <class T>
inline void unpack_weights(const SteerableConvInput<T>& in, const ConvIrrep& irrep, int64_t c, int64_t count,
                           const T* from, T* gw) {
  for (int64_t k = 0; k < irrep.pairs; ++k) {
    const ConvPair& pair = in.pairs[irrep.pair + k];
    const int64_t width = pair.filters * 2 * count;
    for (int64_t o = 0; o < pair.channels; ++o) {
      for (int64_t n = 0; n < count; ++n) {
        for (int64_t j = 0; j < pair.filters; ++j) {
          T* w = gw + (pair.weight + (o * irrep.channels + c + n) * pair.filters + j) * 2;
          const T *re = from + o * width + j * 2 * count + n, *im = re + pair.channels * width;
          w[0] = re[0] + im[count];
          w[1] = im[0] - re[count];
        }
      }
    }
    from += 2 * pair.channels * width;
  }
}

template <class T>
void backward(const SteerableConvInput<T>& in, const T* gy, T* gx, T* gw, T* scratch, int64_t first,
              int64_t last, int64_t from, int64_t to) {
  const Shape<T> shape(in, backward_target);
  Cutter<T> cutter{scratch};
  const Workspace<T> s(in, shape, true, cutter);
  for (int64_t index = first; index < last; ++index) {
    at_chunk(in, index, [&](const ConvIrrep& irrep, int64_t c, int64_t count) {
      pack_weights(in, irrep, c, count, s.weights);
      int64_t numbers_of_weights = 0;
      for (int64_t k = 0; k < irrep.pairs; ++k) {
        const ConvPair& pair = in.pairs[irrep.pair + k];
        numbers_of_weights += 4 * pair.channels * pair.filters * count;
      }
      clear(s.by_weights, numbers_of_weights);
      for (int64_t tile = from * shape.tiles; tile < to * shape.tiles; ++tile) {
        const int64_t b = tile / shape.tiles, r0 = tile % shape.tiles * shape.tile_rows;
        const int64_t r1 = r0 + shape.tile_rows < shape.rows ? r0 + shape.tile_rows : shape.rows;
        const int64_t numbers = (r1 - r0) * in.out[2];
        for (int64_t n = 0; n < count && gw; ++n) {
          filter_channel(in, shape, s, irrep, c + n, b, r0, r1);
          couple(in, shape, s, irrep, n, count, numbers);
        }
        int64_t at = 0;
        for (int64_t k = 0; k < irrep.pairs; ++k) {
          const ConvPair& pair = in.pairs[irrep.pair + k];
          const int64_t width = pair.filters * 2 * count;
          for (int64_t m = 0; m < pair.components; ++m) {
            const auto gradients = feature_rows(in, shape, pair, gy, b, m, r0);
            const int64_t place = (pair.row * count + m * width) * shape.pitch;
            if (gw) {
              const Rows<const T> columns{s.mixed + place, nullptr, width, shape.pitch};
              add_products<T>(2 * pair.channels, width, gradients, columns, numbers, s.by_weights + at);
            }
            if (gx) {
              const Rows<T> rows{s.by_mixed + place, nullptr, width, shape.pitch};
              product<T>(s.weights + at, 1, width, width, gradients, 2 * pair.channels, numbers, rows, false);
            }
          }
          at += 2 * pair.channels * width;
        }
        for (int64_t n = 0; n < count && gx; ++n) {
          couple_back(in, shape, s, irrep, n, count, numbers);
          spread_channel(in, shape, s, irrep, c + n, b, r0, r1, gx);
        }
      }
      if (gw) {
        unpack_weights(in, irrep, c, count, s.by_weights, gw);
      }
    });
  }
}

template <class T>
constexpr SteerableConvBackward<T> table{backward<T>};

}  // namespace
}  // namespace WEYL_ISA::conv

template <>
const SteerableConvBackward<float>& compiled<SteerableConvBackward<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::conv::table<float>;
}
template <>
const SteerableConvBackward<double>& compiled<SteerableConvBackward<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::conv::table<double>;
}

}  // namespace weyl::kernels

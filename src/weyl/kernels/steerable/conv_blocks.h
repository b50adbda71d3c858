// What the forward and the backward pass of a steerable convolution share. Included by kernel files alone
// (see simd.h).
#pragma once

#include "weyl/kernels/attention/attention_packed.h"
#include "weyl/kernels/steerable/conv.h"

namespace weyl::kernels {
namespace WEYL_ISA::conv {

inline constexpr int64_t group = 6;  // filters at a time, at most

/// Output pixels in rows along the last axis; a tile is some of a sample's rows.
template <class T>
struct Shape {
  int64_t rows, pixels, in_pixels;  // of a sample
  int64_t tile_rows, tiles;         // rows of a tile; tiles of a sample
  int64_t pitch;                    // numbers of a row of a tile's arrays
  int64_t line;                     // last axis with its margins
  int64_t run;                      // longest run of output pixels with margins between their rows

  explicit Shape(const SteerableConvInput<T>& in, int64_t target)
      : rows(in.out[0] * in.out[1]),
        pixels(rows * in.out[2]),
        in_pixels(in.size[0] * in.size[1] * in.size[2]) {
    const int64_t fit = target / in.out[2];
    tile_rows = fit < 1 ? 1 : fit > rows ? rows : fit;
    tiles = (rows + tile_rows - 1) / tile_rows;
    tile_rows = (rows + tiles - 1) / tiles;
    tiles = (rows + tile_rows - 1) / tile_rows;
    pitch = padded<T>(tile_rows * in.out[2]) + lanes<T>;
    line = in.out[2] + in.kernel[2] - 1;
    const int64_t ny = tile_rows < in.out[1] ? tile_rows : in.out[1];
    run = padded<T>(ny * line) + 2 * lanes<T>;
  }
};
inline constexpr int64_t forward_target = 256, backward_target = 512;

template <class T>
struct Workspace {
  T *window, *runs;     // input pixels around a run; (group, run)
  T *filtered, *mixed;  // (components 2 filters, pitch), (rows, chunk, pitch): T
  T* by_mixed;          // likewise
  T *weights, *by_weights;

  Workspace(const SteerableConvInput<T>& in, const Shape<T>& shape, bool backward, Cutter<T>& cutter) {
    int64_t components = 0, rows = 0, weights_of_chunk = 0;
    for (int64_t i = 0; i < in.irrep_count; ++i) {
      components = in.irreps[i].components > components ? in.irreps[i].components : components;
      rows = in.irreps[i].rows > rows ? in.irreps[i].rows : rows;
      int64_t numbers = 0;
      for (int64_t k = 0; k < in.irreps[i].pairs; ++k) {
        const ConvPair& pair = in.pairs[in.irreps[i].pair + k];
        numbers += 4 * pair.channels * pair.filters * conv_chunk;
      }
      weights_of_chunk = numbers > weights_of_chunk ? numbers : weights_of_chunk;
    }
    const int64_t ny = shape.tile_rows < in.out[1] ? shape.tile_rows : in.out[1];
    window = cutter(in.kernel[0] * (ny + in.kernel[1] - 1) * shape.line + shape.run + 4 * lanes<T>);
    runs = cutter(group * shape.run);
    filtered = cutter(components * 2 * in.filters * shape.pitch);
    mixed = cutter(rows * conv_chunk * shape.pitch);
    weights = cutter(weights_of_chunk);
    by_mixed = backward ? cutter(rows * conv_chunk * shape.pitch) : nullptr;
    by_weights = backward ? cutter(weights_of_chunk) : nullptr;
  }
};

/// work(irrep, first channel, count) for chunk number `index`; false when there are fewer chunks.
template <class T, class F>
inline bool at_chunk(const SteerableConvInput<T>& in, int64_t index, const F& work) {
  for (int64_t i = 0; i < in.irrep_count; ++i) {
    const int64_t chunks = (in.irreps[i].channels + conv_chunk - 1) / conv_chunk;
    if (index < chunks) {
      const int64_t c = index * conv_chunk, rest = in.irreps[i].channels - c;
      work(in.irreps[i], c, rest < conv_chunk ? rest : conv_chunk);
      return true;
    }
    index -= chunks;
  }
  return false;
}

/// Rows y0 .. y1 - 1 of plane x of the output, the first one `at` pixels from the start of the tile.
struct Run {
  int64_t x, y0, y1, at;
  int64_t rows() const { return y1 - y0; }
};
template <class T, class F>
inline void each_run(const SteerableConvInput<T>& in, int64_t r0, int64_t r1, const F& work) {
  for (int64_t r = r0; r < r1;) {
    const int64_t x = r / in.out[1], y = r % in.out[1], rest = in.out[1] - y;
    const int64_t count = rest < r1 - r ? rest : r1 - r;
    work(Run{x, y, y + count, (r - r0) * in.out[2]});
    r += count;
  }
}

/// work(from pixel of a sample, to place in the window, count, zeros before, zeros after) for all lines of
/// the window of a run; count is 0 outside the input.
template <class T, class F>
inline void each_line(const SteerableConvInput<T>& in, const Run& run, int64_t line, const F& work) {
  const int64_t ly = run.rows() + in.kernel[1] - 1;
  const int64_t z0 = in.before[2], tail = line - z0;
  const int64_t count = in.size[2] < tail ? in.size[2] : tail;
  for (int64_t dx = 0; dx < in.kernel[0]; ++dx) {
    for (int64_t dy = 0; dy < ly; ++dy) {
      const int64_t x = run.x + dx - in.before[0], y = run.y0 + dy - in.before[1];
      const bool inside = x >= 0 && x < in.size[0] && y >= 0 && y < in.size[1];
      work(inside ? (x * in.size[1] + y) * in.size[2] : 0, (dx * ly + dy) * line + z0, inside ? count : 0);
    }
  }
}

/// Where a tap and its mirror image stand from a pixel of a run.
template <class T>
inline void offsets(const SteerableConvInput<T>& in, int64_t tap, int64_t ly, int64_t line, int64_t& here,
                    int64_t& there) {
  const int32_t* t = in.taps + 3 * tap;
  here = (t[0] * ly + t[1]) * line + t[2];
  there = ((in.kernel[0] - 1 - t[0]) * ly + in.kernel[1] - 1 - t[1]) * line + in.kernel[2] - 1 - t[2];
}

template <class T, int n>
inline void filter_run(const SteerableConvInput<T>& in, const ConvGroup& g, const T* window, int64_t ly,
                       int64_t line, int64_t length, int64_t pitch, T* to) {
  const T sign = static_cast<T>(g.sign);
  for (int64_t v = 0; v < length; v += 2 * lanes<T>) {
    Vec<T> a[n] = {}, b[n] = {};
    const T* value = in.values + g.values;
    for (int64_t k = 0; k < g.tap_count; ++k, value += n) {
      int64_t here = 0, there = 0;
      offsets(in, g.taps + k, ly, line, here, there);
      const T *p = window + v + here, *q = window + v + there;
      const Vec<T> x = load(p) + load(q) * sign, y = load(p + lanes<T>) + load(q + lanes<T>) * sign;
      for (int f = 0; f < n; ++f) {
        a[f] += x * value[f];
        b[f] += y * value[f];
      }
    }
    for (int f = 0; f < n; ++f) {
      store(to + f * pitch + v, a[f]);
      store(to + f * pitch + v + lanes<T>, b[f]);
    }
  }
}

/// window += the filters' transposed action on runs; what stands between rows of pixels in runs is zero.
template <class T, int n>
inline void spread_run(const SteerableConvInput<T>& in, const ConvGroup& g, const T* runs, int64_t ly,
                       int64_t line, int64_t length, int64_t pitch, T* window) {
  const T sign = static_cast<T>(g.sign);
  const T* value = in.values + g.values;
  for (int64_t k = 0; k < g.tap_count; ++k, value += n) {
    int64_t here = 0, there = 0;
    offsets(in, g.taps + k, ly, line, here, there);
    for (int64_t v = 0; v < length; v += lanes<T>) {
      Vec<T> sum{};
      for (int f = 0; f < n; ++f) {
        sum += load(runs + f * pitch + v) * value[f];
      }
      store(window + v + here, load(window + v + here) + sum);
      store(window + v + there, load(window + v + there) + sum * sign);
    }
  }
}

/// f with the number of filters of a group as a constant.
template <class F>
inline void with_count(int64_t count, const F& f) {
  switch (count) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    default:
      return f.template operator()<6>();
  }
}

/// s.filtered of one channel of an irrep, rows r0 .. r1 - 1 of sample b.
template <class T>
inline void filter_channel(const SteerableConvInput<T>& in, const Shape<T>& shape, const Workspace<T>& s,
                           const ConvIrrep& irrep, int64_t c, int64_t b, int64_t r0, int64_t r1) {
  for (int64_t k = 0; k < irrep.components * 2; ++k) {
    const int64_t feature = k % 2 * in.in_width + irrep.feature + k / 2 * irrep.channels + c;
    const T* x = in.x + (b * 2 * in.in_width + feature) * shape.in_pixels;
    each_run(in, r0, r1, [&](const Run& run) {
      const int64_t ly = run.rows() + in.kernel[1] - 1;
      clear(s.window, in.kernel[0] * ly * shape.line);
      each_line(in, run, shape.line,
                [&](int64_t from, int64_t to, int64_t count) { copy(x + from, count, s.window + to); });
      const int64_t length = (run.rows() - 1) * shape.line + in.out[2];
      for (int64_t g = 0; g < in.group_count; ++g) {
        const ConvGroup& filters = in.groups[g];
        with_count(filters.count, [&]<int n>() {
          filter_run<T, n>(in, filters, s.window, ly, shape.line, length, shape.run, s.runs);
        });
        for (int64_t f = 0; f < filters.count; ++f) {
          T* to = s.filtered + (k * in.filters + filters.first + f) * shape.pitch + run.at;
          const T* from = s.runs + f * shape.run;
          for (int64_t y = 0; y < run.rows(); ++y, to += in.out[2], from += shape.line) {
            for (int64_t z = 0; z < in.out[2]; z += lanes<T>) {
              store(to + z, load(from + z));  // what is too much the next row overwrites
            }
          }
        }
      }
    });
  }
}

}  // namespace WEYL_ISA::conv
}  // namespace weyl::kernels

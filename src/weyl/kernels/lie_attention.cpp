#include "weyl/kernels/lie_attention.h"

#include "weyl/kernels/attention_packed.h"
#include "weyl/kernels/lie/number.h"
#include "weyl/kernels/lie/tiles.h"

namespace weyl::kernels {

template <class T>
struct LieAttentionTable {
  decltype(&lie_attention_scratch<T>) scratch;
  decltype(&lie_attention<T>) forward;
  decltype(&lie_attention_backward<T>) backward;
};
namespace WEYL_ISA::lie {

/// Scratch of one worker, cut for graphs of up to n nodes. Per head: values packed to whole vectors, both
/// ways round; per block of rows: geometry of a tile, softmax state, sums.
template <class T>
struct Workspace {
  int64_t value, wide;              // width and nodes padded to whole vectors
  T *v, *v_across;                  // (heads, n, value), (heads, width, wide)
  T *coordinates, *squares, *open;  // (block, dof | blocks | 1, tile)
  T *weight, *slope;                // (block, tile)
  T *mixed, *sums;                  // (heads, block, value), (heads, block, dof, lanes)
  T *top, *total;                   // (heads, block)
  T *gv, *gout, *gw;                // (heads, n, value), (heads, block, value), (block, dof, tile)
  T* by_weight;                     // (heads, blocks, lanes)

  Workspace(const LieAttentionInput<T>& in, int64_t n, Cutter<T>& cutter)
      : value(padded<T>(in.width)), wide(padded<T>(n) + tile) {
    v = cutter(in.heads * n * value);
    v_across = cutter(in.heads * in.width * wide);
    coordinates = cutter(block * in.dof * tile);
    squares = cutter(block * (in.blocks > 0 ? in.blocks : 1) * tile);
    open = cutter(block * tile);
    weight = cutter(block * tile);
    slope = cutter(block * tile);
    mixed = cutter(in.heads * block * value);
    sums = cutter(in.heads * block * in.dof * lanes<T>);
    top = cutter(in.heads * block);
    total = cutter(in.heads * block);
    gv = cutter(in.heads * n * value);
    gout = cutter(in.heads * block * value);
    gw = cutter(block * in.dof * tile);
    by_weight = cutter(in.heads * (in.blocks > 0 ? in.blocks : 1) * lanes<T>);
  }
};

/// Rows of one graph: rows i .. i + rows - 1 of graph rows begin .. end, whose first pair is `pair`.
struct Rows {
  int64_t begin, end, pair, i, rows;
  int64_t nodes() const { return end - begin; }
};

/// work(rows) for blocks of rows; enter(graph) before and leave(graph) after those of a graph.
template <class T, class Enter, class Work, class Leave>
inline void each_block(const LieAttentionInput<T>& in, int64_t first, int64_t last, const Enter& enter,
                       const Work& work, const Leave& leave) {
  int64_t pair = 0;
  for (int64_t g = 0; g < in.graphs && in.offsets[g] < last; ++g) {
    const int64_t begin = in.offsets[g], end = in.offsets[g + 1];
    const int64_t from = begin > first ? begin : first, to = end < last ? end : last;
    if (from < to) {
      enter(begin, end - begin);
      for (int64_t i = from; i < to; i += block) {
        work(Rows{begin, end, pair, i, to - i < block ? to - i : block});
      }
      leave(begin, end - begin);
    }
    pair += (end - begin) * (end - begin);
  }
}

template <class T>
inline void pack_values(const LieAttentionInput<T>& in, int64_t begin, int64_t n, const Workspace<T>& s) {
  for (int64_t h = 0; h < in.heads; ++h) {
    for (int64_t j = 0; j < n; ++j) {
      T* to = s.v + (h * n + j) * s.value;
      const T* from = in.values + ((begin + j) * in.heads + h) * in.width;
      std::memcpy(to, from, in.width * sizeof(T));
      std::memset(to + in.width, 0, (s.value - in.width) * sizeof(T));
    }
  }
}

/// Geometry of the tile that begins at row j, for all rows of the block. Returns the largest count of a row.
template <class T>
inline void geometry(const LieAttentionInput<T>& in, const Rows& at, int64_t j, int64_t count,
                     const Workspace<T>& s, T* outside) {
  for (int64_t r = 0; r < at.rows; ++r) {
    T* w = s.coordinates + r * in.dof * tile;
    T* open = s.open + r * tile;
    if (in.elements.planes) {
      LieElements<T> graph = in.elements;
      graph.count = at.end;
      const int64_t found =
          fill_tile<T>(graph, in.policy, at.i + r, j, count, {w, s.squares + r * in.blocks * tile, open});
      if (outside) {
        outside[at.i + r] += static_cast<T>(found);
      }
      continue;
    }
    const int64_t pair = at.pair + (at.i + r - at.begin) * at.nodes() + j - at.begin;
    for (int64_t c = 0; c < in.dof; ++c) {
      std::memcpy(w + c * tile, in.coordinates + c * in.pairs + pair, count * sizeof(T));
      std::memset(w + c * tile + count, 0, (padded<T>(count) - count) * sizeof(T));
    }
    for (int64_t k = 0; k < padded<T>(count); ++k) {
      const bool is = k < count && in.present[pair + k] && j + k != at.i + r;
      open[k] = is ? T(0) : -static_cast<T>(INFINITY);
      for (int64_t c = 0; !is && k < count && c < in.dof; ++c) {
        w[c * tile + k] = 0;
      }
    }
  }
}

/// The scores of head h, row r into s.weight; returns the largest.
template <class T>
inline T scores(const LieAttentionInput<T>& in, const Rows& at, int64_t h, int64_t r, int64_t j,
                int64_t count, const Workspace<T>& s) {
  Vec<T> top = spread(-static_cast<T>(INFINITY));
  const T* open = s.open + r * tile;
  T* score = s.weight + r * tile;
  if (in.elements.planes) {
    const T* squares = s.squares + r * in.blocks * tile;
    const T* weights = in.weights + h * in.blocks;
    for (int64_t k = 0; k < padded<T>(count); k += lanes<T>) {
      Vec<T> x = load(open + k);
      for (int64_t b = 0; b < in.blocks; ++b) {
        x -= load(squares + b * tile + k) * weights[b];
      }
      store(score + k, x);
      top = larger<T>(top, x);
    }
  } else {
    const T* given = in.scores + h * in.pairs + at.pair + (at.i + r - at.begin) * at.nodes() + j - at.begin;
    for (int64_t k = 0; k < padded<T>(count); k += lanes<T>) {
      const Vec<T> mask = load(open + k);
      const Vec<T> x = count - k >= lanes<T> ? load(given + k) : load_part(given + k, count - k);
      const Vec<T> y = mask < T(0) ? mask : x;
      store(score + k, y);
      top = larger<T>(top, y);
    }
  }
  return largest_of<T>(top);
}

/// out (block, tile) = rows (block, stride) times across (width, pitch), `count` columns.
template <class T>
inline void tile_products(const T* rows, int64_t stride, const T* across, int64_t width, int64_t pitch,
                          int64_t count, T* out) {
  for (int64_t j = 0; j < count; j += lanes<T>) {
    Vec<T> s[block] = {};
    for (int64_t c = 0; c < width; ++c) {
      const Vec<T> x = load(across + c * pitch + j);
      for (int64_t r = 0; r < block; ++r) {
        s[r] += x * rows[r * stride + c];
      }
    }
    for (int64_t r = 0; r < block; ++r) {
      store(out + r * tile + j, s[r]);
    }
  }
}

}  // namespace WEYL_ISA::lie

namespace WEYL_ISA {

template <class T>
int64_t lie_attention_scratch(const LieAttentionInput<T>& in, int64_t longest) {
  Cutter<T> cutter{nullptr};
  const lie::Workspace<T> s(in, longest, cutter);
  return cutter.used;
}

template <class T>
void lie_attention(const LieAttentionInput<T>& in, const LieAttentionOutput<T>& out, T* scratch,
                   int64_t first, int64_t last) {
  using lie::tile;
  constexpr T lowest = -static_cast<T>(INFINITY);
  Cutter<T> none{scratch};
  lie::Workspace<T> s(in, 0, none);
  const auto enter = [&](int64_t begin, int64_t n) {
    Cutter<T> cutter{scratch};
    s = lie::Workspace<T>(in, n, cutter);
    lie::pack_values(in, begin, n, s);
  };
  const auto work = [&](const lie::Rows& at) {
    const int64_t n = at.nodes(), states = in.heads * block;
    std::memset(s.mixed, 0, states * s.value * sizeof(T));
    std::memset(s.sums, 0, states * in.dof * lanes<T> * sizeof(T));
    for (int64_t k = 0; k < states; ++k) {
      s.top[k] = lowest;
      s.total[k] = 0;
    }
    for (int64_t r = 0; r < at.rows && out.outside; ++r) {
      out.outside[at.i + r] = 0;
    }
    for (int64_t j = at.begin; j < at.end; j += tile) {
      const int64_t count = at.end - j < tile ? at.end - j : tile, wide = padded<T>(count);
      lie::geometry(in, at, j, count, s, out.outside);
      for (int64_t h = 0; h < in.heads; ++h) {
        for (int64_t r = 0; r < block; ++r) {
          const int64_t state = h * block + r;
          T* weight = s.weight + r * tile;
          const T high = r < at.rows ? lie::scores(in, at, h, r, j, count, s) : lowest;
          if (high == lowest) {
            std::memset(weight, 0, wide * sizeof(T));
            continue;
          }
          T& top = s.top[state];
          T* sums = s.sums + state * in.dof * lanes<T>;
          if (!(high <= top)) {
            const T shrink = lie::exp_of(top - high);
            s.total[state] *= shrink;
            for (int64_t c = 0; c < s.value; c += lanes<T>) {
              T* mixed = s.mixed + state * s.value + c;
              store(mixed, load(mixed) * shrink);
            }
            for (int64_t c = 0; c < in.dof; ++c) {
              store(sums + c * lanes<T>, load(sums + c * lanes<T>) * shrink);
            }
            top = high;
          }
          Vec<T> total{};
          for (int64_t k = 0; k < wide; k += lanes<T>) {
            const Vec<T> e = exp_of<T>(load(weight + k) - top);
            store(weight + k, e);
            total += e;
          }
          s.total[state] += sum_of<T>(total);
          for (int64_t c = 0; c < in.dof; ++c) {
            const T* w = s.coordinates + (r * in.dof + c) * tile;
            Vec<T> sum = load(sums + c * lanes<T>);
            for (int64_t k = 0; k < wide; k += lanes<T>) {
              sum += load(weight + k) * load(w + k);
            }
            store(sums + c * lanes<T>, sum);
          }
        }
        mixtures(s.weight, tile, s.v + (h * n + j - at.begin) * s.value, count, s.value,
                 s.mixed + h * block * s.value);
      }
    }
    for (int64_t h = 0; h < in.heads; ++h) {
      for (int64_t r = 0; r < at.rows; ++r) {
        const int64_t state = h * block + r, row = (at.i + r) * in.heads + h;
        const bool any = s.top[state] != lowest;
        const T over = any ? T(1) / s.total[state] : T(0);
        for (int64_t c = 0; c < in.width; ++c) {
          out.mixed[row * in.width + c] = s.mixed[state * s.value + c] * over;
        }
        for (int64_t c = 0; c < in.dof; ++c) {
          out.coordinates[row * in.dof + c] =
              sum_of<T>(load(s.sums + (state * in.dof + c) * lanes<T>)) * over;
        }
        out.logsum[row] = any ? s.top[state] + lie::log_of(s.total[state]) : T(0);
      }
    }
  };
  lie::each_block(in, first, last, enter, work, [](int64_t, int64_t) {});
}

template <class T>
void lie_attention_backward(const LieAttentionInput<T>& in, const LieAttentionOutput<const T>& y,
                            const T* g_mixed, const T* g_coordinates, const LieAttentionGradients<T>& to,
                            T* scratch, int64_t first, int64_t last) {
  using lie::tile;
  Cutter<T> none{scratch};
  lie::Workspace<T> s(in, 0, none);
  const bool streamed = in.elements.planes != nullptr;
  const bool by_pairs = streamed ? to.left != nullptr : to.pairs != nullptr;
  const auto enter = [&](int64_t begin, int64_t n) {
    Cutter<T> cutter{scratch};
    s = lie::Workspace<T>(in, n, cutter);
    lie::pack_values(in, begin, n, s);
    for (int64_t h = 0; h < in.heads; ++h) {
      transpose(s.v + h * n * s.value, n, in.width, s.value, s.wide, s.v_across + h * in.width * s.wide);
    }
    std::memset(s.gv, 0, in.heads * n * s.value * sizeof(T));
  };
  const auto work = [&](const lie::Rows& at) {
    const int64_t n = at.nodes();
    std::memset(s.gout, 0, in.heads * block * s.value * sizeof(T));
    std::memset(s.by_weight, 0, in.heads * in.blocks * lanes<T> * sizeof(T));
    T delta[block], base[block];
    for (int64_t h = 0; h < in.heads; ++h) {
      for (int64_t r = 0; r < at.rows; ++r) {
        const int64_t row = (at.i + r) * in.heads + h;
        std::memcpy(s.gout + (h * block + r) * s.value, g_mixed + row * in.width, in.width * sizeof(T));
      }
    }
    for (int64_t j = at.begin; j < at.end; j += tile) {
      const int64_t count = at.end - j < tile ? at.end - j : tile, wide = padded<T>(count);
      lie::geometry(in, at, j, count, s, static_cast<T*>(nullptr));
      if (by_pairs) {
        std::memset(s.gw, 0, at.rows * in.dof * tile * sizeof(T));
      }
      for (int64_t h = 0; h < in.heads; ++h) {
        const T* gout = s.gout + h * block * s.value;
        lie::tile_products(gout, s.value, s.v_across + h * in.width * s.wide + j - at.begin, in.width, s.wide,
                           wide, s.slope);
        for (int64_t r = 0; r < block; ++r) {
          T* weight = s.weight + r * tile;
          T* slope = s.slope + r * tile;
          if (r >= at.rows || lie::scores(in, at, h, r, j, count, s) == -static_cast<T>(INFINITY)) {
            std::memset(weight, 0, wide * sizeof(T));
            std::memset(slope, 0, wide * sizeof(T));
            continue;
          }
          const int64_t row = (at.i + r) * in.heads + h;
          const T* gw = g_coordinates + row * in.dof;
          delta[r] = 0;
          for (int64_t c = 0; c < in.width; ++c) {
            delta[r] += g_mixed[row * in.width + c] * y.mixed[row * in.width + c];
          }
          for (int64_t c = 0; c < in.dof; ++c) {
            delta[r] += gw[c] * y.coordinates[row * in.dof + c];
          }
          base[r] = y.logsum[row];
          const T* w = s.coordinates + r * in.dof * tile;
          for (int64_t k = 0; k < wide; k += lanes<T>) {
            const Vec<T> p = exp_of<T>(load(weight + k) - base[r]);
            Vec<T> d = load(slope + k) - delta[r];
            for (int64_t c = 0; c < in.dof; ++c) {
              d += load(w + c * tile + k) * gw[c];
            }
            store(weight + k, p);
            store(slope + k, p * d);
          }
          if (to.weights) {
            for (int64_t b = 0; b < in.blocks; ++b) {
              const T* squares = s.squares + (r * in.blocks + b) * tile;
              T* sums = s.by_weight + (h * in.blocks + b) * lanes<T>;
              Vec<T> sum = load(sums);
              for (int64_t k = 0; k < wide; k += lanes<T>) {
                sum -= load(slope + k) * load(squares + k);
              }
              store(sums, sum);
            }
          }
          if (by_pairs) {
            T* to_w = s.gw + r * in.dof * tile;
            const auto blocks = blocks_of(in.elements.group);
            for (int64_t c = 0, b = 0; c < in.dof; ++c) {
              while (streamed && c >= blocks[b].begin + blocks[b].size) {
                ++b;
              }
              const T twice = streamed ? T(2) * in.weights[h * in.blocks + b] : T(0);
              for (int64_t k = 0; k < wide; k += lanes<T>) {
                T* at_k = to_w + c * tile + k;
                store(at_k, load(at_k) + load(weight + k) * gw[c] -
                                load(slope + k) * load(w + c * tile + k) * twice);
              }
            }
          }
        }
        if (to.scores) {
          for (int64_t r = 0; r < at.rows; ++r) {
            const int64_t pair = at.pair + (at.i + r - at.begin) * n + j - at.begin;
            std::memcpy(to.scores + h * in.pairs + pair, s.slope + r * tile, count * sizeof(T));
          }
        }
        if (to.values) {
          scatter(s.weight, tile, gout, count, s.value, s.gv + (h * n + j - at.begin) * s.value);
        }
      }
      for (int64_t r = 0; r < at.rows && by_pairs; ++r) {
        const T* gw = s.gw + r * in.dof * tile;
        if (streamed) {
          LieElements<T> graph = in.elements;
          graph.count = at.end;
          lie::pull_tile<T>(graph, at.i + r, j, count, gw, to.left, to.right);
        } else {
          const int64_t pair = at.pair + (at.i + r - at.begin) * n + j - at.begin;
          for (int64_t c = 0; c < in.dof; ++c) {
            std::memcpy(to.pairs + c * in.pairs + pair, gw + c * tile, count * sizeof(T));
          }
        }
      }
    }
    for (int64_t k = 0; to.weights && k < in.heads * in.blocks; ++k) {
      to.weights[k] += static_cast<double>(sum_of<T>(load(s.by_weight + k * lanes<T>)));
    }
  };
  const auto leave = [&](int64_t begin, int64_t n) {
    for (int64_t h = 0; h < in.heads && to.values; ++h) {
      for (int64_t j = 0; j < n; ++j) {
        const T* from = s.gv + (h * n + j) * s.value;
        T* into = to.values + ((begin + j) * in.heads + h) * in.width;
        for (int64_t c = 0; c < in.width; ++c) {
          into[c] += from[c];
        }
      }
    }
  };
  lie::each_block(in, first, last, enter, work, leave);
}

template <class T>
LieAttentionTable<T> lie_attention_table() {
  return {&WEYL_ISA::lie_attention_scratch<T>, &WEYL_ISA::lie_attention<T>,
          &WEYL_ISA::lie_attention_backward<T>};
}
template LieAttentionTable<float> lie_attention_table();
template LieAttentionTable<double> lie_attention_table();

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
LieAttentionTable<T> lie_attention_table();
}
namespace v4 {
template <class T>
LieAttentionTable<T> lie_attention_table();
}
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

namespace {
template <class T>
LieAttentionTable<T> chosen_table() {
  return choose(&baseline::lie_attention_table<T>, &v3::lie_attention_table<T>,
                &v4::lie_attention_table<T>)();
}
}  // namespace

template <class T>
int64_t lie_attention_scratch(const LieAttentionInput<T>& in, int64_t longest) {
  return chosen_table<T>().scratch(in, longest);
}
template <class T>
void lie_attention(const LieAttentionInput<T>& in, const LieAttentionOutput<T>& out, T* scratch,
                   int64_t first, int64_t last) {
  chosen_table<T>().forward(in, out, scratch, first, last);
}
template <class T>
void lie_attention_backward(const LieAttentionInput<T>& in, const LieAttentionOutput<const T>& y,
                            const T* g_mixed, const T* g_coordinates, const LieAttentionGradients<T>& to,
                            T* scratch, int64_t first, int64_t last) {
  chosen_table<T>().backward(in, y, g_mixed, g_coordinates, to, scratch, first, last);
}

template int64_t lie_attention_scratch<float>(const LieAttentionInput<float>&, int64_t);
template int64_t lie_attention_scratch<double>(const LieAttentionInput<double>&, int64_t);
template void lie_attention<float>(const LieAttentionInput<float>&, const LieAttentionOutput<float>&, float*,
                                   int64_t, int64_t);
template void lie_attention<double>(const LieAttentionInput<double>&, const LieAttentionOutput<double>&,
                                    double*, int64_t, int64_t);
template void lie_attention_backward<float>(const LieAttentionInput<float>&,
                                            const LieAttentionOutput<const float>&, const float*,
                                            const float*, const LieAttentionGradients<float>&, float*,
                                            int64_t, int64_t);
template void lie_attention_backward<double>(const LieAttentionInput<double>&,
                                             const LieAttentionOutput<const double>&, const double*,
                                             const double*, const LieAttentionGradients<double>&, double*,
                                             int64_t, int64_t);
#endif

}  // namespace weyl::kernels

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/kernels/lie/attention_blocks.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {
namespace {

/// The squares of the tile, counted from the least of their row and then rounded. Slopes of a row sum to zero, so the
/// gradient by the block weights is the same, but not what their rounding adds to it.
template <class T>
void squares_above_least(const LieAttentionInput<T>& in, const LieAttentionOutput<const T>& y, const Rows& at,
                         int64_t count, const Workspace<T>& s) {
  for (int64_t plane = 0; plane < at.rows * in.blocks; ++plane) {
    const double least = y.least[at.i * in.blocks + plane];
    for (int64_t k = 0; k < padded<T>(count); k += lanes<T>) {
      store(s.above + plane * tile + k, rounded<T>(s.squares + plane * tile + k, least));
    }
  }
}

/// The gradient by the linear terms of a head, into sums (dof + 2, lanes): slope times what they multiply, for the first
/// `wide` tokens from j on, seen by row i.
template <class T>
void add_linear(const LieAttentionInput<T>& in, int64_t i, int64_t j, int64_t wide, const T* slope,
                const T* w, const Workspace<T>& s, T* sums) {
  for (int64_t c = 0; c < in.dof; ++c) {
    Vec<T> sum = load(sums + c * lanes<T>);
    for (int64_t k = 0; k < wide; k += lanes<T>) {
      sum += load(slope + k) * load(w + c * tile + k);
    }
    store(sums + c * lanes<T>, sum);
  }
  T* of_order = sums + in.dof * lanes<T>;
  Vec<T> steps = load(of_order), distances = load(of_order + lanes<T>);
  for (int64_t k = 0; k < wide; k += lanes<T>) {
    const Vec<T> d = rounded<T>(s.places + k, static_cast<double>(i - j));
    steps += load(slope + k) * d;
    distances += load(slope + k) * larger<T>(d, -d);
  }
  store(of_order, steps);
  store(of_order + lanes<T>, distances);
}

template <class T>
void backward(const LieAttentionInput<T>& in, const LieAttentionOutput<const T>& y, const T* g_mixed,
              const T* g_coordinates, const LieAttentionGradients<T>& to, T* scratch, int64_t first,
              int64_t last) {
  Cutter<T> none{scratch};
  Workspace<T> s(in, 0, none);
  const bool streamed = in.elements.planes != nullptr;
  const bool by_pairs = streamed ? to.left != nullptr : to.pairs != nullptr;
  const auto enter = [&](int64_t begin, int64_t n) {
    Cutter<T> cutter{scratch};
    s = Workspace<T>(in, n, cutter);
    pack_values(in, begin, n, s);
    for (int64_t h = 0; h < in.heads; ++h) {
      transpose(s.v + h * n * s.value, n, in.width, s.value, s.wide, s.v_across + h * in.width * s.wide);
    }
    clear(s.gv, in.heads * n * s.value);
  };
  const auto work = [&](const Rows& at) {
    const int64_t n = at.nodes();
    clear(s.by_weight, in.heads * in.blocks * lanes<T>);
    clear(s.by_linear, to.linear ? in.heads * (in.dof + 2) * lanes<T> : 0);
    // The gradient of the results, and its product with them.
    for (int64_t h = 0; h < in.heads; ++h) {
      for (int64_t r = 0; r < block; ++r) {
        T* gout = s.gout + (h * block + r) * s.value;
        if (r >= at.rows) {
          clear(gout, s.value);
          continue;
        }
        const int64_t row = (at.i + r) * in.heads + h;
        copy_row(g_mixed + row * in.width, in.width, gout);
        T delta = 0;
        for (int64_t c = 0; c < in.width; ++c) {
          delta += gout[c] * y.mixed[row * in.width + c];
        }
        for (int64_t c = 0; c < in.dof; ++c) {
          delta += g_coordinates[row * in.dof + c] * y.coordinates[row * in.dof + c];
        }
        s.total[h * block + r] = delta;
      }
    }
    const int64_t end = seen_end(in, at);
    for (int64_t j = at.begin; j < end; j += tile) {
      const int64_t count = end - j < tile ? end - j : tile, wide = padded<T>(count);
      geometry(in, at, j, count, s, static_cast<T*>(nullptr));
      if (to.weights) {
        squares_above_least(in, y, at, count, s);
      }
      if (by_pairs) {
        clear(s.gw, at.rows * in.dof * tile);
      }
      for (int64_t h = 0; h < in.heads; ++h) {
        const T* gout = s.gout + h * block * s.value;
        products(gout, s.value, s.v_across + h * in.width * s.wide + j - at.begin, in.width, s.wide, wide,
                 s.slope, tile);
        for (int64_t r = 0; r < block; ++r) {
          T* weight = s.weight + r * tile;
          T* slope = s.slope + r * tile;
          if (r >= at.rows || scores(in, at, h, r, j, count, s) == -infinity<double>) {
            clear(weight, wide);
            clear(slope, wide);
            continue;
          }
          const int64_t row = (at.i + r) * in.heads + h;
          const T* gw = g_coordinates + row * in.dof;
          const T delta = s.total[h * block + r];
          const T* w = s.coordinates + r * in.dof * tile;
          exponentials(in, r, count, y.logsum[row], s);
          for (int64_t k = 0; k < wide; k += lanes<T>) {
            Vec<T> d = load(slope + k) - delta;
            for (int64_t c = 0; c < in.dof; ++c) {
              d += load(w + c * tile + k) * gw[c];
            }
            store(slope + k, load(weight + k) * d);
          }
          if (to.weights) {
            for (int64_t b = 0; b < in.blocks; ++b) {
              const T* above = s.above + (r * in.blocks + b) * tile;
              T* sums = s.by_weight + (h * in.blocks + b) * lanes<T>;
              Vec<T> sum = load(sums);
              for (int64_t k = 0; k < wide; k += lanes<T>) {
                sum -= load(slope + k) * load(above + k);
              }
              store(sums, sum);
            }
          }
          if (to.linear) {
            add_linear(in, at.i + r, j, wide, slope, w, s, s.by_linear + h * (in.dof + 2) * lanes<T>);
          }
          if (by_pairs) {
            T* to_w = s.gw + r * in.dof * tile;
            const LieBlock* blocks = block_tables[static_cast<int>(in.elements.group)];
            for (int64_t c = 0, b = 0; c < in.dof; ++c) {
              while (streamed && c >= blocks[b].begin + blocks[b].size) {
                ++b;
              }
              const T twice = streamed ? T(2) * in.weights[h * in.blocks + b] : T(0);
              const T straight = in.linear ? in.linear[h * (in.dof + 2) + c] : T(0);
              for (int64_t k = 0; k < wide; k += lanes<T>) {
                T* at_k = to_w + c * tile + k;
                store(at_k, load(at_k) + load(weight + k) * gw[c] -
                                load(slope + k) * (load(w + c * tile + k) * twice - straight));
              }
            }
          }
        }
        if (to.scores) {
          for (int64_t r = 0; r < at.rows; ++r) {
            const int64_t pair = at.pair + (at.i + r - at.begin) * n + j - at.begin;
            write_row(s.slope + r * tile, count, to.scores + h * in.pairs + pair);
          }
        }
        if (to.values) {
          scatter(s.weight, tile, gout, count, s.value, s.gv + (h * n + j - at.begin) * s.value);
        }
      }
      for (int64_t r = 0; r < at.rows && by_pairs; ++r) {
        const T* gw = s.gw + r * in.dof * tile;
        if (streamed) {
          LieElements<double> graph = in.elements;
          graph.count = at.end;
          tiles<T>().pull(graph, at.i + r, j, seen_of(in, at.i + r, j, count), gw, to.left, to.right);
        } else {
          const int64_t pair = at.pair + (at.i + r - at.begin) * n + j - at.begin;
          for (int64_t c = 0; c < in.dof; ++c) {
            write_row(gw + c * tile, count, to.pairs + c * in.pairs + pair);
          }
        }
      }
    }
    for (int64_t k = 0; to.weights && k < in.heads * in.blocks; ++k) {
      to.weights[k] += static_cast<double>(sum_of<T>(load(s.by_weight + k * lanes<T>)));
    }
    for (int64_t k = 0; to.linear && k < in.heads * (in.dof + 2); ++k) {
      to.linear[k] += static_cast<double>(sum_of<T>(load(s.by_linear + k * lanes<T>)));
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
  each_block(in, first, last, enter, work, leave);
}

template <class T>
constexpr LieAttentionBackward<T> table{backward<T>};

}  // namespace
}  // namespace WEYL_ISA::lie

template <>
const LieAttentionBackward<float>& compiled<LieAttentionBackward<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<float>;
}
template <>
const LieAttentionBackward<double>& compiled<LieAttentionBackward<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<double>;
}

}  // namespace weyl::kernels

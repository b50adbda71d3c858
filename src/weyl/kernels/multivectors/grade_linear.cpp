#include "weyl/kernels/multivectors/grade_linear.h"

#include "weyl/algebra/clifford/blades.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// Which components of the input, through which maps, make a component of the output.
struct Sources {
  int count = 0;
  int component[2] = {}, map[2] = {};
};
struct AllSources {
  Sources of[clifford::components] = {};
};
consteval AllSources sources(bool transposed) {
  AllSources all;
  for (int a = 0; a < grade_maps; ++a) {
    for (int i = 0; i < grade_map[a].count; ++i) {
      const int out = grade_map[a].out + i, in = grade_map[a].in + i;
      Sources& s = all.of[transposed ? in : out];
      s.component[s.count] = transposed ? out : in;
      s.map[s.count++] = a;
    }
  }
  return all;
}
constexpr AllSources forward_sources = sources(false), transposed_sources = sources(true);

// Packed weights lie in panels of up to two vectors of outputs: panel, map, input, output.
inline constexpr int64_t most = 2;
#if defined(__AVX512F__)
inline constexpr int64_t rows_at_once = 12;
#else
inline constexpr int64_t rows_at_once = 6;
#endif

/// Vectors of the panel that begins at output `o`.
template <class T>
inline int64_t panel_vectors(int64_t o, int64_t outputs) {
  return outputs - o > lanes<T> ? 2 : 1;
}

template <class T>
int64_t packed_numbers(int64_t inputs, int64_t outputs) {
  return grade_maps * inputs * padded<T>(outputs);
}

template <class T>
void pack(const T* weight, int64_t outputs, int64_t inputs, bool transposed, T* packed) {
  const int64_t to_outputs = transposed ? inputs : outputs, to_inputs = transposed ? outputs : inputs;
  for (int64_t begin = 0; begin < to_outputs; begin += most * lanes<T>) {
    const int64_t width = panel_vectors<T>(begin, to_outputs) * lanes<T>;
    for (int64_t c = 0; c < to_inputs; ++c) {
      for (int64_t o = 0; o < width; ++o) {
        const bool real = begin + o < to_outputs;
        const T* from =
            weight + (transposed ? c * inputs + begin + o : (begin + o) * inputs + c) * grade_maps;
        for (int a = 0; a < grade_maps; ++a) {
          packed[(a * to_inputs + c) * width + o] =
              real ? from[a] * static_cast<T>(grade_map[a].scale) : T(0);
        }
      }
    }
    packed += grade_maps * to_inputs * width;
  }
}

/// Zeros vector by vector: an initialiser becomes a fill of memory, which took a fifth of the time of a map.
template <int64_t rows, int64_t vectors, class T>
[[gnu::always_inline]] inline void clear_sums(Vec<T> (&sums)[rows][vectors]) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t v = 0; v < vectors; ++v) {
      sums[r][v] = Vec<T>{};
    }
  }
}

/// `rows` rows of x, `row` apart, times panel (inputs, vectors lanes), added to the sums.
template <int64_t rows, int64_t vectors, class T>
[[gnu::always_inline]] inline void add_products(const T* x, int64_t row, const T* panel, int64_t inputs,
                                                Vec<T> (&sums)[rows][vectors]) {
  // One address for every three rows: one for each would not fit into the registers.
  constexpr int64_t groups = (rows + 2) / 3;
  const T* at[groups];
  for (int64_t g = 0; g < groups; ++g) {
    at[g] = x + 3 * g * row;
  }
  for (int64_t c = 0; c < inputs; ++c) {
    Vec<T> w[vectors];
    for (int64_t v = 0; v < vectors; ++v) {
      w[v] = load(panel + (c * vectors + v) * lanes<T>);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const Vec<T> each = spread(at[r / 3][r % 3 * row]);
      for (int64_t v = 0; v < vectors; ++v) {
        sums[r][v] += w[v] * each;
      }
    }
    for (int64_t g = 0; g < groups; ++g) {
      ++at[g];
    }
  }
}

template <class T>
struct Apply {
  MultivectorRows<const T> x;
  int64_t inputs;
  const T* scalars;
  int64_t scalar_row;
  bool add;
  MultivectorRows<T> y;
  int64_t outputs;

  /// Outputs `o` .. of a panel, component i of `rows` tokens from n on, out of `count` components. A function of its own,
  /// with `count` a constant, so that the sums stay in registers.
  template <int count, int64_t rows, int64_t vectors>
  [[gnu::noinline]] void block(const T* panel, int64_t o, const Sources& from, int i, int64_t n) const {
    Vec<T> sums[rows][vectors];
    clear_sums<rows, vectors, T>(sums);
    for (int s = 0; s < count; ++s) {
      add_products<rows, vectors, T>(x.at(from.component[s], n), x.row,
                                     panel + from.map[s] * inputs * vectors * lanes<T>, inputs, sums);
    }
    for (int64_t r = 0; r < rows; ++r) {
      T* to = y.at(i, n + r) + o;
      for (int64_t v = 0; v < vectors; ++v) {
        const int64_t left = outputs - o - v * lanes<T>;
        Vec<T> sum = sums[r][v];
        if (add) {
          sum += get(to + v * lanes<T>, left);
        }
        if (scalars && i == 0) {
          sum += get(scalars + (n + r) * scalar_row + o + v * lanes<T>, left);
        }
        put(to + v * lanes<T>, sum, left);
      }
    }
  }
  template <int count, int64_t vectors>
  void component(const T* panel, int64_t o, const Sources& from, int i, int64_t first, int64_t last) const {
    int64_t n = first;
    for (; n + rows_at_once <= last; n += rows_at_once) {
      block<count, rows_at_once, vectors>(panel, o, from, i, n);
    }
    for (; n + 4 <= last; n += 4) {
      block<count, 4, vectors>(panel, o, from, i, n);
    }
    for (; n < last; ++n) {
      block<count, 1, vectors>(panel, o, from, i, n);
    }
  }
  template <int64_t vectors>
  void panel(const T* panel, int64_t o, const AllSources& from, int64_t first, int64_t last) const {
    for (int i = 0; i < clifford::components; ++i) {
      from.of[i].count == 2 ? component<2, vectors>(panel, o, from.of[i], i, first, last)
                            : component<1, vectors>(panel, o, from.of[i], i, first, last);
    }
  }
};

/// Tokens of which all components of inputs and outputs stay near.
template <class T>
inline int64_t tokens_at_once(int64_t inputs, int64_t outputs) {
  constexpr int64_t bytes = 1 << 18;
  const int64_t one = clifford::components * (inputs + outputs) * static_cast<int64_t>(sizeof(T));
  const int64_t fit = bytes / (one > 0 ? one : 1) / rows_at_once * rows_at_once;
  return fit < rows_at_once ? rows_at_once : fit;
}

template <class T>
void apply(MultivectorRows<const T> x, int64_t inputs, const T* packed, bool transposed, const T* scalars,
           int64_t scalar_row, bool add, MultivectorRows<T> y, int64_t outputs, int64_t first, int64_t last) {
  const AllSources& from = transposed ? transposed_sources : forward_sources;
  const Apply<T> a{x, inputs, scalars, scalar_row, add, y, outputs};
  const int64_t step = tokens_at_once<T>(inputs, outputs);
  for (int64_t n = first; n < last; n += step) {
    const int64_t end = n + step < last ? n + step : last;
    const T* panel = packed;
    for (int64_t o = 0; o < outputs; o += most * lanes<T>) {
      const int64_t vectors = panel_vectors<T>(o, outputs);
      vectors == 2 ? a.template panel<2>(panel, o, from, n, end)
                   : a.template panel<1>(panel, o, from, n, end);
      panel += grade_maps * inputs * vectors * lanes<T>;
    }
  }
}

/// gw (outs, I) += sum over the tokens and components of a map of gy (outs) x (I), for `outs` outputs from o on and
/// `vectors` vectors of inputs from c on.
template <int64_t outs, int64_t vectors, class T>
inline void add_weights(const MultivectorRows<const T>& x, int64_t inputs, const MultivectorRows<const T>& gy,
                        const GradeMap& map, int64_t o, int64_t c, T* gw, int64_t first, int64_t last) {
  Vec<T> sums[outs][vectors];
  clear_sums<outs, vectors, T>(sums);
  const int64_t left = inputs - c - (vectors - 1) * lanes<T>;
  for (int i = 0; i < map.count; ++i) {
    const T *from = x.at(map.in + i, first) + c, *g = gy.at(map.out + i, first) + o;
    for (int64_t n = first; n < last; ++n, from += x.row, g += gy.row) {
      Vec<T> row[vectors];
      for (int64_t v = 0; v + 1 < vectors; ++v) {
        row[v] = load(from + v * lanes<T>);
      }
      row[vectors - 1] = get(from + (vectors - 1) * lanes<T>, left);
      for (int64_t k = 0; k < outs; ++k) {
        for (int64_t v = 0; v < vectors; ++v) {
          sums[k][v] += row[v] * g[k];
        }
      }
    }
  }
  for (int64_t k = 0; k < outs; ++k) {
    for (int64_t v = 0; v < vectors; ++v) {
      T* to = gw + (o + k) * inputs + c + v * lanes<T>;
      const int64_t room = inputs - c - v * lanes<T>;
      put(to, get(to, room) + sums[k][v], room);
    }
  }
}

template <int64_t vectors, class T>
inline void add_weight_panel(const MultivectorRows<const T>& x, int64_t inputs,
                             const MultivectorRows<const T>& gy, int64_t outputs, const GradeMap& map,
                             int64_t c, T* gw, int64_t first, int64_t last) {
  constexpr int64_t outs = rows_at_once / 3 * 2;
  int64_t o = 0;
  for (; o + outs <= outputs; o += outs) {
    add_weights<outs, vectors, T>(x, inputs, gy, map, o, c, gw, first, last);
  }
  for (; o + 2 <= outputs; o += 2) {
    add_weights<2, vectors, T>(x, inputs, gy, map, o, c, gw, first, last);
  }
  for (; o < outputs; ++o) {
    add_weights<1, vectors, T>(x, inputs, gy, map, o, c, gw, first, last);
  }
}

template <class T>
void weight_gradient(MultivectorRows<const T> x, int64_t inputs, MultivectorRows<const T> gy, int64_t outputs,
                     T* gw, int64_t first, int64_t last) {
  const int64_t step = tokens_at_once<T>(inputs, outputs);
  for (int64_t n = first; n < last; n += step) {
    const int64_t end = n + step < last ? n + step : last;
    for (int a = 0; a < grade_maps; ++a) {
      T* to = gw + a * outputs * inputs;
      for (int64_t c = 0; c < inputs; c += most * lanes<T>) {
        panel_vectors<T>(c, inputs) == 2
            ? add_weight_panel<2, T>(x, inputs, gy, outputs, grade_map[a], c, to, n, end)
            : add_weight_panel<1, T>(x, inputs, gy, outputs, grade_map[a], c, to, n, end);
      }
    }
  }
}

template <class T>
void unpack(const T* gw, int64_t outputs, int64_t inputs, T* gweight) {
  const int64_t pairs = outputs * inputs;
  for (int64_t p = 0; p < pairs; ++p) {
    for (int a = 0; a < grade_maps; ++a) {
      gweight[p * grade_maps + a] = gw[a * pairs + p] * static_cast<T>(grade_map[a].scale);
    }
  }
}

template <class T>
constexpr GradeLinear<T> table{packed_numbers<T>, pack<T>, apply<T>, weight_gradient<T>, unpack<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const GradeLinear<float>& compiled<GradeLinear<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const GradeLinear<double>& compiled<GradeLinear<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

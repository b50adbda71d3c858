// Linear attention's rows, chunk by chunk, and their products with matrices. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/attention/attention_packed.h"
#include "weyl/kernels/attention/linear_attention.h"

namespace weyl::kernels {
namespace WEYL_ISA::linear {

/// Rows that all heads meet before the next ones come: what lies beside each other is read together.
inline constexpr int64_t chunk = 8;

/// Scratch of a worker: matrices for each head, and chunks of rows of one head.
template <class T>
struct Workspace {
  static constexpr int most = 7;
  int64_t size;         // of a matrix: K rows of V padded to whole vectors, or V rows of K
  T *q, *k, *v, *gout;  // (chunk, max(K, V) padded): rows that were packed
  T* sums;              // likewise
  T* bias;              // (max(K, V) padded)
  T *cosine, *sine;     // (chunk, K/2)
  T* matrices[most];

  Workspace(const AttentionInput<T>& a, int derivative, Cutter<T>& cutter) {
    const int64_t key = padded<T>(a.key_width), value = padded<T>(a.value_width);
    const int64_t by_key = a.key_width * value, by_value = a.value_width * key;
    const int64_t widest = key > value ? key : value;
    size = by_key > by_value ? by_key : by_value;
    q = cutter(chunk * widest);
    k = cutter(chunk * widest);
    v = cutter(chunk * widest);
    gout = cutter(chunk * widest);
    sums = cutter(chunk * widest);
    bias = cutter(widest);
    cosine = cutter(chunk * (a.key_width / 2) + 2 * lanes<T>);
    sine = cutter(chunk * (a.key_width / 2) + 2 * lanes<T>);
    const int count = derivative == 0 ? 1 : derivative == 1 ? 3 : most;
    for (int m = 0; m < most; ++m) {
      matrices[m] = m < count ? cutter(a.heads * size) : nullptr;
    }
  }
};

/// Heads first .. last - 1 of the n rows from `begin` on.
struct Part {
  int64_t begin, n, first, last;
};

/// Rows of a head as products take them: with a bias (H width, by column, modulo the channels; null: none), rotated. Null
/// data with `ones`: ones, else nothing.
template <class T>
struct Source {
  HeadRows<const T> x;
  int64_t width = 0;
  const T* bias = nullptr;
  bool rotated = false, ones = false;
  explicit operator bool() const { return x.data || ones; }
};

/// Four rows, `stride` apart, and those behind them.
template <class T>
struct Rows {
  const T* at;
  int64_t stride;
};

/// Rows i .. i + rows - 1 of head h, at most a chunk.
struct Place {
  int64_t i, rows, h;
  int64_t next;  // rows of the chunk behind it
  bool whole_blocks() const { return rows % block == 0; }
};

/// work(place) for the chunks of each head.
template <class F>
inline void each_chunk(const Part& part, const F& work) {
  for (int64_t from = 0; from < part.n; from += chunk) {
    const int64_t left = part.n - from, rows = left < chunk ? left : chunk;
    for (int64_t h = part.first; h < part.last; ++h) {
      work(Place{part.begin + from, rows, h, left - rows < chunk ? left - rows : chunk});
    }
  }
}

/// Asks for a head's numbers in the next chunk: a step of a whole row is beyond what the processor foresees.
template <bool writes, class T>
inline void ask_for_next(HeadRows<T> x, const Place& at, int64_t width) {
  for (int64_t r = 0; r < at.next && x.data; ++r) {
    T* row = x.at(at.i + at.rows + r, at.h);
    for (int64_t c = 0; c < width; c += 64 / static_cast<int64_t>(sizeof(T))) {
      __builtin_prefetch(row + c, writes ? 1 : 0, 2);
    }
  }
}

/// Cosine and sine of the angles of a place.
template <class T>
inline void find_turns(const AttentionInput<T>& a, const Place& at, const Workspace<T>& s) {
  const int64_t half = a.key_width / 2, count = at.rows * half;
  ask_for_next<false>(HeadRows<const T>{a.angles, a.heads * half, half}, at, half);
  for (int64_t r = 0; r < at.rows; ++r) {
    const T* from = a.angles + ((at.i + r) * a.heads + at.h) * half;
    for (int64_t f = 0; f < half; f += lanes<T>) {
      store(s.cosine + r * half + f, get(from + f, half - f));  // what is behind a row is written over
    }
  }
  for (int64_t e = 0; e < count; e += lanes<T>) {
    Vec<T> sine, cosine;
    sincos_of<T>(get(s.cosine + e, count - e), sine, cosine);
    store(s.cosine + e, cosine);
    store(s.sine + e, sine);
  }
}

/// The rows of a place where they are, or packed, with zeros for those that blocks of four lack and, where whole vectors
/// are read, behind the others.
template <class T>
inline Rows<T> rows_of(const AttentionInput<T>& a, const Source<T>& from, const Place& at, bool vectors,
                       const Workspace<T>& s, T* packed) {
  ask_for_next<false>(from.x, at, from.width);
  if (from.x.data && !from.bias && !from.rotated && at.whole_blocks() &&
      (!vectors || from.width % lanes<T> == 0)) {
    return {from.x.at(at.i, at.h), from.x.row};
  }
  const int64_t stride = padded<T>(from.width), half = a.key_width / 2;
  if (from.bias) {
    pack_bias(from.bias, a.channels, at.h, from.width, s.bias);
  }
  for (int64_t r = 0; r < at.rows; ++r) {
    pack_row<T>(from.x.data ? from.x.at(at.i + r, at.h) : nullptr, from.bias ? s.bias : nullptr,
                from.rotated ? s.cosine + r * half : nullptr, s.sine + r * half, T(1), from.width,
                packed + r * stride);
  }
  for (int64_t r = at.rows; r % block != 0; ++r) {
    clear(packed + r * stride, stride);
  }
  return {packed, stride};
}

/// The matrix of a head (X, Y padded) += sum_i x_i y_i^T over a chunk.
template <class T>
inline void add_outer(const Place& at, const Rows<T>& x, int64_t x_width, const Rows<T>& y, int64_t y_width,
                      T* matrix) {
  const int64_t pitch = padded<T>(y_width);
  for (int64_t r = 0; r < at.rows; r += block) {
    in_tiles<T>(pitch, [&](int64_t c, auto vectors) {
      add_scattered<vectors>(x.at + r * x.stride, x.stride, y.at + r * y.stride + c, y.stride, x_width,
                             matrix + c, pitch);
    });
  }
}

/// sums (chunk, out padded) = or, with `add`, += x_i^T times the matrix of a head (X, out padded).
template <bool add, class T>
inline void multiply(const Place& at, const Rows<T>& x, int64_t x_width, const T* matrix, int64_t out_width,
                     T* sums, int64_t stride) {
  const int64_t pitch = padded<T>(out_width);
  for (int64_t r = 0; r < at.rows; r += block) {
    in_tiles<T>(pitch, [&](int64_t c, auto vectors) {
      add_mixtures<vectors, add>(x.at + r * x.stride, x.stride, matrix + c, pitch, x_width,
                                 sums + r * stride + c, stride);
    });
  }
}

template <class T>
void clear_matrices(const Part& part, const Workspace<T>& s, T* matrices) {
  clear(matrices + part.first * s.size, (part.last - part.first) * s.size);
}
template <class T>
void scale_matrices(const Part& part, const Workspace<T>& s, T scale, T* matrices) {
  for (T* x = matrices + part.first * s.size; x < matrices + part.last * s.size; ++x) {
    *x *= scale;
  }
}

/// matrices of each head (A, B padded) = scale sum_i a_i b_i^T, and of a second pair too where there is one.
template <class T>
void sum_outer(const AttentionInput<T>& a, const Part& part, const Source<T>& one, const Source<T>& other,
               const Source<T>& second_one, const Source<T>& second_other, T scale, const Workspace<T>& s,
               T* matrices) {
  clear_matrices(part, s, matrices);
  each_chunk(part, [&](const Place& at) {
    if (one.rotated || other.rotated) {
      find_turns(a, at, s);
    }
    const auto add = [&](const Source<T>& x, const Source<T>& y) {
      if (x && y) {
        add_outer(at, rows_of(a, x, at, false, s, s.k), x.width, rows_of(a, y, at, true, s, s.v), y.width,
                  matrices + at.h * s.size);
      }
    };
    add(one, other);
    add(second_one, second_other);
  });
  scale_matrices(part, s, scale, matrices);
}

/// (A, B padded) -> (B, A padded)
template <class T>
void transpose_matrices(const Part& part, const Workspace<T>& s, const T* from, int64_t a_width,
                        int64_t b_width, T* to) {
  for (int64_t h = part.first; h < part.last; ++h) {
    transpose(from + h * s.size, a_width, b_width, padded<T>(b_width), padded<T>(a_width), to + h * s.size);
  }
}

/// x_i^T times the matrix of each head, (X, out); null matrices: nothing.
template <class T>
struct Term {
  Source<T> x;
  const T* matrices = nullptr;
};

/// Where sums go: rotated back, and what follows from them. Null: not wanted.
template <class T>
struct Target {
  HeadRows<T> out;
  int64_t width = 0;
  bool rotated = false;
  T* bias = nullptr;    // (H width), added to
  T* angles = nullptr;  // (N, H, K/2), added to: the gradient of the angles by which `of` has been rotated
  Rows<T> of{};
};

/// Adds dz . J z, the derivative by the angle of a rotation whose result is z, to the angles' gradient. Rows are padded to
/// whole vectors.
template <class T>
inline void add_turn(const T* z, const T* dz, int64_t half, T* angles) {
  constexpr int64_t step = lanes<T> / 2;
  const Vec<T> turn = alternating<T>(T(-1));
  for (int64_t f = 0; f < half; f += step) {
    const Vec<T> both = load(z + 2 * f) * swap_pairs<T>(load(dz + 2 * f)) * turn;
    const int64_t left = half - f < step ? half - f : step;
    store_part(angles + f, pair_sums<T>(both) + load_part(angles + f, left), left);
  }
}

/// What a chunk's sums (chunk, width padded) become.
template <class T>
inline void finish(const AttentionInput<T>& a, const Place& at, const Target<T>& to, const Workspace<T>& s) {
  const int64_t half = a.key_width / 2, pitch = padded<T>(to.width);
  for (int64_t r = 0; r < at.rows && to.angles; ++r) {
    add_turn(to.of.at + r * to.of.stride, s.sums + r * pitch, half,
             to.angles + ((at.i + r) * a.heads + at.h) * half);
  }
  if (!to.out.data) {
    return;
  }
  ask_for_next<true>(to.out, at, to.width);
  for (int64_t r = 0; r < at.rows; ++r) {
    T* out = to.out.at(at.i + r, at.h);
    unpack_row<T>(s.sums + r * pitch, to.rotated ? s.cosine + r * half : nullptr, s.sine + r * half, T(1),
                  to.width, out, false);
    for (int64_t c = 0; c < to.width && to.bias; c += lanes<T>) {
      T* total = to.bias + at.h * to.width + c;
      put(total, get(total, to.width - c) + get(out + c, to.width - c), to.width - c);
    }
  }
}

/// out_i = the sum of both terms.
template <class T>
void write_sums(const AttentionInput<T>& a, const Part& part, const Term<T>& one, const Term<T>& other,
                const Workspace<T>& s, const Target<T>& to) {
  const int64_t pitch = padded<T>(to.width);
  each_chunk(part, [&](const Place& at) {
    if (to.rotated || one.x.rotated) {
      find_turns(a, at, s);
    }
    const bool direct = !to.rotated && pitch == to.width && at.whole_blocks();
    T* sums = direct ? to.out.at(at.i, at.h) : s.sums;
    const int64_t stride = direct ? to.out.row : pitch;
    const Term<T>& first = one.matrices ? one : other;
    if (first.matrices) {
      multiply<false>(at, rows_of(a, first.x, at, false, s, s.q), first.x.width,
                      first.matrices + at.h * s.size, to.width, sums, stride);
    }
    for (int64_t r = 0; r < at.rows && !first.matrices; ++r) {
      clear(sums + r * stride, pitch);
    }
    if (one.matrices && other.matrices) {
      multiply<true>(at, rows_of(a, other.x, at, false, s, s.q), other.x.width,
                     other.matrices + at.h * s.size, to.width, sums, stride);
    }
    if (direct) {
      ask_for_next<true>(to.out, at, to.width);
    } else {
      finish(a, at, to, s);
    }
  });
}

/// work(part, 1 / norm) for what units first .. last - 1 hold of each graph that has nodes.
template <class T, class F>
void each_part(const LinearAttentionInput<T>& in, int64_t first, int64_t last, const F& work) {
  const AttentionInput<T>& a = in.rows;
  for (int64_t g = a.heads > 0 ? first / a.heads : 0; g < a.graphs && g * a.heads < last; ++g) {
    const int64_t begin = a.offsets[g], n = a.offsets[g + 1] - begin, unit = g * a.heads;
    const int64_t from = first > unit ? first - unit : 0, to = last - unit < a.heads ? last - unit : a.heads;
    if (n > 0 && from < to) {
      work(Part{begin, n, from, to}, in.norm ? T(1) / in.norm[g] : T(1));
    }
  }
}

}  // namespace WEYL_ISA::linear
}  // namespace weyl::kernels

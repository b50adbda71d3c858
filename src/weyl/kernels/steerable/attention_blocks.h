// What the forward and the backward pass of steerable attention share: packing, and products of a few queries
// with all keys. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/attention/attention_packed.h"
#include "weyl/kernels/steerable/attention.h"

namespace weyl::kernels {
namespace WEYL_ISA::steerable {

/// Queries at a time: what the registers of the instruction set hold.
inline constexpr int64_t span = vector_bytes == 64 ? 8 : 4;

template <class T>
inline Vec<T> root_of(Vec<T> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vec<T>>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(x)));
  } else {
    return reinterpret_cast<Vec<T>>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(x)));
  }
#else
  for (int64_t i = 0; i < lanes<T>; ++i) {
    if constexpr (sizeof(T) == 4) {
      x[i] = __builtin_sqrtf(x[i]);
    } else {
      x[i] = __builtin_sqrt(x[i]);
    }
  }
  return x;
#endif
}

/// Scratch of one worker. Panels hold one vector of keys (tokens) or of channels after the other, real and
/// imaginary parts in turns, so that what is read together stands together.
template <class T>
struct Workspace {
  int64_t chunks, channels, pitch;     // vectors of keys; F padded; numbers of a row of scores
  int64_t wide, order;                 // radii padded to vectors, M padded to 64 bytes
  T *k, *v;                            // (chunks, F, 2, lanes)
  T *k_rows, *v_rows;                  // (channels / lanes, N, 2, lanes)
  T *gk_rows, *gv_rows;                // likewise
  T *x, *g, *y;                        // (span, 2, channels): queries, gradients, sums
  T *re, *im, *p, *dp;                 // (span, pitch)
  T* absent;                           // (pitch): added to |scores|, zero or minus infinity
  T *key_weights, *value_weights;      // (S, 2, wide)
  T *g_key_weights, *g_value_weights;  // likewise
  T* along;                            // (M, 2, wide)
  T* of_radius;                        // (R, 2, order)
  T *of_re, *of_im;                    // (Q): one radius, by real functions

  Workspace(const SteerableAttentionInput<T>& in, Cutter<T>& cutter)
      : chunks(padded<T>(in.tokens) / lanes<T>),
        channels(padded<T>(in.width)),
        pitch((chunks + 1) * lanes<T>),
        wide(padded<T>(in.radii)),
        order((in.components * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64 /
              static_cast<int64_t>(sizeof(T))) {
    const int64_t panel = chunks * in.width * 2 * lanes<T>, rows = channels * in.tokens * 2;
    const int64_t row = span * 2 * channels, scores = span * pitch, weights = in.multiplicity * 2 * wide;
    k = cutter(panel);
    v = cutter(panel);
    k_rows = cutter(rows);
    v_rows = cutter(rows);
    gk_rows = cutter(rows);
    gv_rows = cutter(rows);
    x = cutter(row);
    g = cutter(row);
    y = cutter(row);
    re = cutter(scores);
    im = cutter(scores);
    p = cutter(scores);
    dp = cutter(scores);
    absent = cutter(pitch);
    key_weights = cutter(weights);
    value_weights = cutter(weights);
    g_key_weights = cutter(weights);
    g_value_weights = cutter(weights);
    along = cutter(in.components * 2 * wide);
    of_radius = cutter(in.radii * 2 * order);
    of_re = cutter(in.functions);
    of_im = cutter(in.functions);
  }
};

/// A unit of work.
struct Unit {
  int64_t batch, head, split, first, last;  // queries first .. last - 1
};
template <class T>
inline Unit unit_of(const SteerableAttentionInput<T>& in, int64_t index) {
  const int64_t split = index % in.splits, rest = index / in.splits;
  return {rest / in.heads, rest % in.heads, split, in.tokens * split / in.splits,
          in.tokens * (split + 1) / in.splits};
}

/// s.absent of a unit's sample: minus infinity for keys that take no part, and beyond the N keys.
template <class T>
inline void pack_absent(const SteerableAttentionInput<T>& in, const Unit& u, const Workspace<T>& s) {
  for (int64_t j = 0; j < s.pitch; ++j) {
    s.absent[j] = j < in.tokens ? T(0) : -infinity<T>;
  }
  for (int64_t j = 0; j < in.tokens && in.taking_part != nullptr; ++j) {
    if (in.taking_part[u.batch * in.tokens + j] == 0) {
      s.absent[j] = -infinity<T>;
    }
  }
}

/// Which of `count` queries from i on take part; false beyond. Returns whether any does.
template <class T>
inline bool present_of(const Workspace<T>& s, int64_t i, int64_t count, bool* present) {
  bool any = false;
  for (int64_t r = 0; r < span; ++r) {
    present[r] = r < count && s.absent[i + r] == 0;
    any = any || present[r];
  }
  return any;
}

/// The N numbers of feature c of a head, of either part, in (B, 2, F of all, N).
template <class T>
inline int64_t place(const SteerableAttentionInput<T>& in, const Unit& u, int64_t part, int64_t c) {
  return ((u.batch * 2 + part) * in.of_all + in.features[u.head * in.width + c]) * in.tokens;
}

template <class T>
inline void pack_panels(const SteerableAttentionInput<T>& in, const Unit& u, const T* from, T* to) {
  for (int64_t c = 0; c < in.width; ++c) {
    for (int64_t part = 0; part < 2; ++part) {
      const T* row = from + place(in, u, part, c);
      for (int64_t j = 0; j < in.tokens; j += lanes<T>) {
        store(to + ((j / lanes<T> * in.width + c) * 2 + part) * lanes<T>, get(row + j, in.tokens - j));
      }
    }
  }
}

template <class T>
inline T* at_row(const SteerableAttentionInput<T>& in, T* rows, int64_t j, int64_t part, int64_t c) {
  return rows + ((c / lanes<T> * in.tokens + j) * 2 + part) * lanes<T> + c % lanes<T>;
}

/// Rows beyond F are zeros.
template <class T>
inline void pack_rows(const SteerableAttentionInput<T>& in, const Unit& u, const T* from, int64_t channels,
                      T* to) {
  clear(to + (channels - lanes<T>)*in.tokens * 2, lanes<T> * in.tokens * 2);
  for (int64_t c = 0; c < in.width; ++c) {
    for (int64_t part = 0; part < 2; ++part) {
      const T* row = from + place(in, u, part, c);
      for (int64_t j = 0; j < in.tokens; ++j) {
        *at_row(in, to, j, part, c) = row[j];
      }
    }
  }
}
template <class T>
inline void unpack_rows(const SteerableAttentionInput<T>& in, const Unit& u, T* from, T* to) {
  for (int64_t c = 0; c < in.width; ++c) {
    for (int64_t part = 0; part < 2; ++part) {
      T* row = to + place(in, u, part, c);
      for (int64_t j = 0; j < in.tokens; ++j) {
        row[j] = *at_row(in, from, j, part, c);
      }
    }
  }
}

/// `count` tokens from i on, times `scale`, to rows (span, 2, channels); zeros elsewhere.
template <class T>
inline void pack_block(const SteerableAttentionInput<T>& in, const Unit& u, const T* from, int64_t i,
                       int64_t count, T scale, int64_t channels, T* to) {
  clear(to, span * 2 * channels);
  for (int64_t c = 0; c < in.width; ++c) {
    for (int64_t part = 0; part < 2; ++part) {
      const T* row = from + place(in, u, part, c) + i;
      for (int64_t r = 0; r < count; ++r) {
        to[(r * 2 + part) * channels + c] = row[r] * scale;
      }
    }
  }
}
template <class T>
inline void unpack_block(const SteerableAttentionInput<T>& in, const Unit& u, const T* from, int64_t i,
                         int64_t count, T scale, int64_t channels, T* to) {
  for (int64_t c = 0; c < in.width; ++c) {
    for (int64_t part = 0; part < 2; ++part) {
      T* row = to + place(in, u, part, c) + i;
      for (int64_t r = 0; r < count; ++r) {
        row[r] = from[(r * 2 + part) * channels + c] * scale;
      }
    }
  }
}

/// re + i im (span, pitch) += sum_c conj(x_c) k_c.
template <class T>
inline void add_scores(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* x,
                       const T* panels, T* re, T* im) {
  for (int64_t chunk = 0; chunk < s.chunks; ++chunk) {
    Vec<T> a[span], b[span];
    for (int64_t r = 0; r < span; ++r) {
      a[r] = load(re + r * s.pitch + chunk * lanes<T>);
      b[r] = load(im + r * s.pitch + chunk * lanes<T>);
    }
    const T* panel = panels + chunk * in.width * 2 * lanes<T>;
    for (int64_t c = 0; c < in.width; ++c, panel += 2 * lanes<T>) {
      const Vec<T> kr = load(panel), ki = load(panel + lanes<T>);
      for (int64_t r = 0; r < span; ++r) {
        const T xr = x[r * 2 * s.channels + c], xi = x[(r * 2 + 1) * s.channels + c];
        a[r] += kr * xr;
        b[r] += ki * xr;
        a[r] += ki * xi;
        b[r] -= kr * xi;
      }
    }
    for (int64_t r = 0; r < span; ++r) {
      store(re + r * s.pitch + chunk * lanes<T>, a[r]);
      store(im + r * s.pitch + chunk * lanes<T>, b[r]);
    }
  }
}

/// to (span, pitch) += the real part of it.
template <class T>
inline void add_real_scores(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* x,
                            const T* panels, T* to) {
  for (int64_t chunk = 0; chunk < s.chunks; ++chunk) {
    Vec<T> a[span], b[span] = {};
    for (int64_t r = 0; r < span; ++r) {
      a[r] = load(to + r * s.pitch + chunk * lanes<T>);
    }
    const T* panel = panels + chunk * in.width * 2 * lanes<T>;
    for (int64_t c = 0; c < in.width; ++c, panel += 2 * lanes<T>) {
      const Vec<T> kr = load(panel), ki = load(panel + lanes<T>);
      for (int64_t r = 0; r < span; ++r) {
        a[r] += kr * x[r * 2 * s.channels + c];
        b[r] += ki * x[(r * 2 + 1) * s.channels + c];
      }
    }
    for (int64_t r = 0; r < span; ++r) {
      store(to + r * s.pitch + chunk * lanes<T>, a[r] + b[r]);
    }
  }
}

/// to (span, 2, channels) = sum_j weights_j rows_j.
template <class T>
inline void mix(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* weights, const T* rows,
                T* to) {
  for (int64_t c = 0; c < s.channels; c += lanes<T>) {
    Vec<T> a[span] = {}, b[span] = {};
    const T* row = rows + c * in.tokens * 2;
    for (int64_t j = 0; j < in.tokens; ++j, row += 2 * lanes<T>) {
      const Vec<T> vr = load(row), vi = load(row + lanes<T>);
      for (int64_t r = 0; r < span; ++r) {
        const T w = weights[r * s.pitch + j];
        a[r] += vr * w;
        b[r] += vi * w;
      }
    }
    for (int64_t r = 0; r < span; ++r) {
      store(to + r * 2 * s.channels + c, a[r]);
      store(to + (r * 2 + 1) * s.channels + c, b[r]);
    }
  }
}

/// to (span, 2, channels) = sum_j conj(re_j + i im_j) rows_j.
template <class T>
inline void mix_conjugate(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* re,
                          const T* im, const T* rows, T* to) {
  for (int64_t c = 0; c < s.channels; c += lanes<T>) {
    Vec<T> a[span] = {}, b[span] = {};
    const T* row = rows + c * in.tokens * 2;
    for (int64_t j = 0; j < in.tokens; ++j, row += 2 * lanes<T>) {
      const Vec<T> kr = load(row), ki = load(row + lanes<T>);
      for (int64_t r = 0; r < span; ++r) {
        const T er = re[r * s.pitch + j], ei = im[r * s.pitch + j];
        a[r] += kr * er;
        b[r] += ki * er;
        a[r] += ki * ei;
        b[r] -= kr * ei;
      }
    }
    for (int64_t r = 0; r < span; ++r) {
      store(to + r * 2 * s.channels + c, a[r]);
      store(to + (r * 2 + 1) * s.channels + c, b[r]);
    }
  }
}

/// rows_j += sum over the span of weights_j x.
template <class T>
inline void scatter_rows(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* weights,
                         const T* x, T* rows) {
  for (int64_t c = 0; c < s.channels; c += lanes<T>) {
    Vec<T> xr[span], xi[span];
    for (int64_t r = 0; r < span; ++r) {
      xr[r] = load(x + r * 2 * s.channels + c);
      xi[r] = load(x + (r * 2 + 1) * s.channels + c);
    }
    T* row = rows + c * in.tokens * 2;
    for (int64_t j = 0; j < in.tokens; ++j, row += 2 * lanes<T>) {
      Vec<T> a = load(row), b = load(row + lanes<T>);
      for (int64_t r = 0; r < span; ++r) {
        const T w = weights[r * s.pitch + j];
        a += xr[r] * w;
        b += xi[r] * w;
      }
      store(row, a);
      store(row + lanes<T>, b);
    }
  }
}

/// rows_j += sum over the span of (re_j + i im_j) x.
template <class T>
inline void scatter_complex_rows(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* re,
                                 const T* im, const T* x, T* rows) {
  for (int64_t c = 0; c < s.channels; c += lanes<T>) {
    Vec<T> xr[span], xi[span];
    for (int64_t r = 0; r < span; ++r) {
      xr[r] = load(x + r * 2 * s.channels + c);
      xi[r] = load(x + (r * 2 + 1) * s.channels + c);
    }
    T* row = rows + c * in.tokens * 2;
    for (int64_t j = 0; j < in.tokens; ++j, row += 2 * lanes<T>) {
      Vec<T> a = load(row), b = load(row + lanes<T>), a2{}, b2{};
      for (int64_t r = 0; r < span; ++r) {
        const T er = re[r * s.pitch + j], ei = im[r * s.pitch + j];
        a += xr[r] * er;
        b += xr[r] * ei;
        a2 -= xi[r] * ei;
        b2 += xi[r] * er;
      }
      store(row, a + a2);
      store(row + lanes<T>, b + b2);
    }
  }
}

}  // namespace WEYL_ISA::steerable
}  // namespace weyl::kernels

// The messages of one layer along one edge, and their derivatives. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/simd/elementary.h"

namespace weyl::kernels {
namespace WEYL_ISA {

/// t / (1 + exp(-t)), and its slope.
template <class T>
inline Vec<T> silu(Vec<T> t, Vec<T>& slope) {
  const Vec<T> sigmoid = sigmoid_of<T>(t);
  slope = sigmoid * (T(1) + t * (T(1) - sigmoid));
  return t * sigmoid;
}

/// The lanes in groups of 2 * distance: those of one half change places with those of the other.
template <int distance, class T>
inline Vec<T> swap_halves(Vec<T> x) {
  constexpr auto d = distance;
  if constexpr (lanes<T> == 16) {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d, 4 ^ d, 5 ^ d, 6 ^ d, 7 ^ d, 8 ^ d, 9 ^ d,
                                   10 ^ d, 11 ^ d, 12 ^ d, 13 ^ d, 14 ^ d, 15 ^ d);
  } else if constexpr (lanes<T> == 8) {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d, 4 ^ d, 5 ^ d, 6 ^ d, 7 ^ d);
  } else if constexpr (lanes<T> == 4) {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d);
  } else {
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d);
  }
}

/// Puts in the place of each number the sum over its group of `size`, which divides the length of the row.
template <class T>
inline void sum_groups(T* row, int64_t length, int64_t size) {
  if (length % lanes<T> == 0 && (size == 1 || size == 2 || size == 4 || size == 8) && size <= lanes<T>) {
    for (int64_t k = 0; k < length; k += lanes<T>) {
      Vec<T> x = load(row + k);
      if (size > 1) {
        x += swap_halves<1, T>(x);
      }
      if constexpr (lanes<T> >= 4) {
        x += size > 2 ? swap_halves<2, T>(x) : Vec<T>{};
      }
      if constexpr (lanes<T> >= 8) {
        x += size > 4 ? swap_halves<4, T>(x) : Vec<T>{};
      }
      store(row + k, x);
    }
    return;
  }
  for (T* group = row; group < row + length; group += size) {
    Vec<T> sums{};
    along<T>(size, [&]<bool whole>(int64_t k, int64_t left) { sums += get<whole>(group + k, left); });
    const Vec<T> all = spread(sum_of<T>(sums));
    along<T>(size, [&]<bool whole>(int64_t k, int64_t left) { put<whole>(group + k, all, left); });
  }
}

/// What a layer's messages are made of, rows of nodes of F channels (values 3 F: part by part; vectors 3 F: x, y, z), and
/// what they are added to. A message from node j to node i along the direction u, by filters f of their distance:
///   sum_i    += a w0_j f0                           a = c SiLU(q_i . k_j . g of each head), or c
///   vectors_i += v_j (w1_j f1 c') + u (w2_j f2 c')  c the cut-off, c' the cut-off or 1
template <class T>
struct Messages {
  int64_t width = 0, heads = 1;
  bool vector_cutoff = true;
  const T *query, *key, *values, *vectors;
  T *sum, *vector_sum;                            // forward
  const T *by_sum, *by_vector_sum;                // backward: derivatives by these two, from which
  T *by_query, *by_key, *by_values, *by_vectors;  // those by the others are added up
  T* scores;                                      // (2, F)
};

/// An edge, its filters and what is added to the derivatives by them.
template <class T>
struct MessageEdge {
  int64_t i, j;
  T u[3], fade;
  const T *key_filter, *filter;
  T *by_key_filter, *by_filter;
  T *by_u, *by_fade;
  T sign;  // of u in the bond

  MessageEdge reversed() const {
    MessageEdge e = *this;
    e.i = j;
    e.j = i;
    e.sign = -sign;
    for (T& x : e.u) {
      x = -x;
    }
    return e;
  }
};

/// Scores of each channel's head.
template <class T>
inline void find_scores(const Messages<T>& m, const MessageEdge<T>& e) {
  const T *q = m.query + e.i * m.width, *k = m.key + e.j * m.width;
  along<T>(m.width, [&]<bool whole>(int64_t c, int64_t left) {
    put<whole>(m.scores + c,
               get<whole>(q + c, left) * get<whole>(k + c, left) * get<whole>(e.key_filter + c, left), left);
  });
  sum_groups(m.scores, m.width, m.width / m.heads);
}

/// `scored`: a has scores. `moved`: nodes have vectors to pass on.
template <class T, bool scored, bool moved>
inline void send(const Messages<T>& m, const MessageEdge<T>& e) {
  const int64_t F = m.width;
  const T *w = m.values + e.j * 3 * F, *v = m.vectors + e.j * 3 * F, *f = e.filter;
  T *sum = m.sum + e.i * F, *to = m.vector_sum + e.i * 3 * F;
  const T fade = m.vector_cutoff ? e.fade : T(1);
  if constexpr (scored) {
    find_scores(m, e);
  }
  along<T>(F, [&]<bool whole>(int64_t c, int64_t left) {
    const auto at = [&](const T* p) { return get<whole>(p + c, left); };
    Vec<T> weight = spread(e.fade);
    if constexpr (scored) {
      Vec<T> slope;
      weight = weight * silu<T>(at(m.scores), slope);
    }
    put<whole>(sum + c, at(sum) + weight * at(w) * at(f), left);
    const Vec<T> along_u = at(w + 2 * F) * at(f + 2 * F) * fade, pass = at(w + F) * at(f + F) * fade;
    for (int64_t x = 0; x < 3; ++x) {
      Vec<T> y = at(to + x * F) + along_u * e.u[x];
      if constexpr (moved) {
        y += pass * at(v + x * F);
      }
      put<whole>(to + x * F + c, y, left);
    }
  });
}

template <class T, bool scored, bool moved>
inline void send_backward(const Messages<T>& m, const MessageEdge<T>& e) {
  const int64_t F = m.width;
  const T *w = m.values + e.j * 3 * F, *v = m.vectors + e.j * 3 * F, *f = e.filter;
  const T *gm = m.by_sum + e.i * F, *gV = m.by_vector_sum + e.i * 3 * F;
  T *gw = m.by_values + e.j * 3 * F, *gv = m.by_vectors + e.j * 3 * F, *gf = e.by_filter;
  T* by_weight = m.scores + F;
  const T fade = m.vector_cutoff ? e.fade : T(1);
  if constexpr (scored) {
    find_scores(m, e);
  }
  Vec<T> by_fade{}, by_u[3]{};
  along<T>(F, [&]<bool whole>(int64_t c, int64_t left) {
    const auto at = [&](const T* p) { return get<whole>(p + c, left); };
    const auto add = [&](T* p, Vec<T> x) { put<whole>(p + c, at(p) + x, left); };
    const Vec<T> w0 = at(w), w1 = at(w + F), w2 = at(w + 2 * F), f0 = at(f), f1 = at(f + F),
                 f2 = at(f + 2 * F), g = at(gm);
    const Vec<T> of_weight = g * w0 * f0;
    Vec<T> weight = spread(e.fade);
    if constexpr (scored) {
      Vec<T> slope;
      const Vec<T> value = silu<T>(at(m.scores), slope);
      weight = weight * value;
      by_fade += of_weight * value;
      put<whole>(m.scores + c, slope * e.fade, left);
      put<whole>(by_weight + c, of_weight, left);
    } else {
      by_fade += of_weight;
    }
    add(gw, weight * g * f0);
    add(gf, weight * g * w0);
    const Vec<T> along_u = w2 * f2, pass = w1 * f1;
    Vec<T> by_along{}, by_pass{};
    for (int64_t x = 0; x < 3; ++x) {
      const Vec<T> G = at(gV + x * F);
      by_along += G * e.u[x];
      by_u[x] += along_u * G;
      if constexpr (moved) {
        by_pass += G * at(v + x * F);
        add(gv + x * F, pass * fade * G);
      }
    }
    add(gw + 2 * F, by_along * f2 * fade);
    add(gf + 2 * F, by_along * w2 * fade);
    if constexpr (moved) {
      add(gw + F, by_pass * f1 * fade);
      add(gf + F, by_pass * w1 * fade);
    }
    if (m.vector_cutoff) {
      by_fade += along_u * by_along + pass * by_pass;
    }
  });
  *e.by_fade += sum_of<T>(by_fade);
  for (int64_t x = 0; x < 3; ++x) {
    e.by_u[x] += e.sign * fade * sum_of<T>(by_u[x]);
  }
  if constexpr (scored) {
    sum_groups(by_weight, F, F / m.heads);
    const T *q = m.query + e.i * F, *k = m.key + e.j * F;
    T *gq = m.by_query + e.i * F, *gk = m.by_key + e.j * F;
    along<T>(F, [&]<bool whole>(int64_t c, int64_t left) {
      const auto at = [&](const T* p) { return get<whole>(p + c, left); };
      const auto add = [&](T* p, Vec<T> x) { put<whole>(p + c, at(p) + x, left); };
      const Vec<T> by_score = at(by_weight) * at(m.scores), filter = at(e.key_filter);
      add(gq, by_score * at(k) * filter);
      add(gk, by_score * at(q) * filter);
      add(e.by_key_filter, by_score * at(q) * at(k));
    });
  }
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels

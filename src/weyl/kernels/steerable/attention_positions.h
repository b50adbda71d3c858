// The positional part of steerable attention: sums over harmonics of the offset between two tokens of a grid,
// never over channels. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/steerable/attention_blocks.h"

namespace weyl::kernels {
namespace WEYL_ISA::steerable {

/// The weights of a head, (R, S of all, 2) -> (S, 2, wide), and back.
template <class T>
inline void pack_weights(const SteerableAttentionInput<T>& in, const Unit& u, const T* from, int64_t wide,
                         T* to) {
  clear(to, in.multiplicity * 2 * wide);
  for (int64_t k = 0; k < in.multiplicity * 2; ++k) {
    const int64_t copy = in.copy_of_all[u.head * in.multiplicity + k / 2];
    for (int64_t radius = 0; radius < in.radii; ++radius) {
      to[k * wide + radius] = from[(radius * in.multiplicity_of_all + copy) * 2 + k % 2];
    }
  }
}
template <class T>
inline void unpack_weights(const SteerableAttentionInput<T>& in, const Unit& u, const T* from, int64_t wide,
                           T* to) {
  T* part = to + (u.split * in.batch + u.batch) * in.radii * in.multiplicity_of_all * 2;
  for (int64_t k = 0; k < in.multiplicity * 2; ++k) {
    const int64_t copy = in.copy_of_all[u.head * in.multiplicity + k / 2];
    for (int64_t radius = 0; radius < in.radii; ++radius) {
      part[(radius * in.multiplicity_of_all + copy) * 2 + k % 2] = from[k * wide + radius];
    }
  }
}

/// s.of_radius (R, 2, order) of component m and a radius: sum_c conj(x_c) w_c, over the channels of m.
template <class T>
inline void contract(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* x,
                     const T* weights) {
  clear(s.along, in.components * 2 * s.wide);
  for (int64_t c = 0; c < in.width; ++c) {
    const T xr = x[c], xi = x[s.channels + c];
    const T* w = weights + in.copy[c] * 2 * s.wide;
    T* to = s.along + in.component[c] * 2 * s.wide;
    for (int64_t radius = 0; radius < s.wide; radius += lanes<T>) {
      const Vec<T> wr = load(w + radius), wi = load(w + s.wide + radius);
      store(to + radius, load(to + radius) + wr * xr + wi * xi);
      store(to + s.wide + radius, load(to + s.wide + radius) + wi * xr - wr * xi);
    }
  }
  clear(s.of_radius, in.radii * 2 * s.order);
  for (int64_t k = 0; k < in.components * 2; ++k) {
    for (int64_t radius = 0; radius < in.radii; ++radius) {
      s.of_radius[(radius * 2 + k % 2) * s.order + k / 2] = s.along[k * s.wide + radius];
    }
  }
}

/// s.of_radius (R, 2, order) -> s.along (M, 2, wide).
template <class T>
inline void gather_along(const SteerableAttentionInput<T>& in, const Workspace<T>& s) {
  clear(s.along, in.components * 2 * s.wide);
  for (int64_t k = 0; k < in.components * 2; ++k) {
    for (int64_t radius = 0; radius < in.radii; ++radius) {
      s.along[k * s.wide + radius] = s.of_radius[(radius * 2 + k % 2) * s.order + k / 2];
    }
  }
}

/// y (2, channels) += sum_radius w_c s.along_m(c).
template <class T>
inline void expand(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* weights, T* y) {
  for (int64_t c = 0; c < in.width; ++c) {
    const T *w = weights + in.copy[c] * 2 * s.wide, *h = s.along + in.component[c] * 2 * s.wide;
    if (in.radii == 1) {
      y[c] += w[0] * h[0] - w[s.wide] * h[s.wide];
      y[s.channels + c] += w[s.wide] * h[0] + w[0] * h[s.wide];
      continue;
    }
    Vec<T> re{}, im{};
    for (int64_t radius = 0; radius < s.wide; radius += lanes<T>) {
      const Vec<T> wr = load(w + radius), wi = load(w + s.wide + radius);
      const Vec<T> hr = load(h + radius), hi = load(h + s.wide + radius);
      re += wr * hr - wi * hi;
      im += wi * hr + wr * hi;
    }
    y[c] += sum_of<T>(re);
    y[s.channels + c] += sum_of<T>(im);
  }
}

/// to (S, 2, wide) += x_c conj(s.along_m(c)).
template <class T>
inline void add_weight_gradients(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* x,
                                 T* to) {
  for (int64_t c = 0; c < in.width; ++c) {
    const T xr = x[c], xi = x[s.channels + c];
    T* w = to + in.copy[c] * 2 * s.wide;
    const T* h = s.along + in.component[c] * 2 * s.wide;
    for (int64_t radius = 0; radius < s.wide; radius += lanes<T>) {
      const Vec<T> hr = load(h + radius), hi = load(h + s.wide + radius);
      store(w + radius, load(w + radius) + hr * xr + hi * xi);
      store(w + s.wide + radius, load(w + s.wide + radius) + hr * xi - hi * xr);
    }
  }
}

/// work(j, row, shift, count) for all rows of keys along the last axis, in the order of j: keys j and the
/// count - 1 after it, whose offsets from query i are numbers shift and after of a row of the table.
template <class T, class F>
inline void each_row(const SteerableAttentionInput<T>& in, int64_t i, const F& work) {
  const int64_t gy = in.grid[1], gz = in.grid[2];
  const int64_t z = i % gz, y = i / gz % gy, x = i / (gz * gy);
  int64_t j = 0;
  for (int64_t jx = 0; jx < in.grid[0]; ++jx) {
    for (int64_t jy = 0; jy < gy; ++jy, j += gz) {
      work(j, (jx - x + in.grid[0] - 1) * (2 * gy - 1) + jy - y + gy - 1, gz - 1 - z, gz);
    }
  }
}

/// The scores of s.of_radius with the positional vectors of query i, one for each radius: sum_m h_m P_m. im
/// null: the real part alone.
template <class T>
inline void table_scores(const SteerableAttentionInput<T>& in, const Workspace<T>& s, const T* of_radius,
                         int64_t i, T* re, T* im) {
  each_row(in, i, [&](int64_t j, int64_t row, int64_t shift, int64_t count) {
    const int64_t offset = row * (2 * in.grid[2] - 1) + shift;
    for (int64_t k = 0; k < count; ++k) {
      const T* h = of_radius + in.radius[offset + k] * 2 * s.order;
      const T* p = in.harmonics + (offset + k) * 2 * s.order;
      Vec<T> a{}, b{};
      for (int64_t m = 0; m < s.order; m += lanes<T>) {
        const Vec<T> hr = load(h + m), hi = load(h + s.order + m), pr = load(p + m),
                     pi = load(p + s.order + m);
        a += hr * pr - hi * pi;
        b += hr * pi + hi * pr;
      }
      re[j + k] = sum_of<T>(a);
      if (im) {
        im[j + k] = sum_of<T>(b);
      }
    }
  });
}

/// s.of_radius (2, order), h_m of each component, becomes s.of_re + i s.of_im, g_q of each real function R_q: of
/// sum_m h_m P_m = sum_q g_q R_q. Components m and -m, conjugates but for a sign, share their functions.
template <class T>
inline void by_functions(const SteerableAttentionInput<T>& in, const Workspace<T>& s) {
  clear(s.of_re, in.functions);
  clear(s.of_im, in.functions);
  const auto add = [&](int32_t part, T re, T im) {
    if (part != 0) {
      const T sign = part > 0 ? T(1) : T(-1);
      s.of_re[__builtin_abs(part) - 1] += sign * re;
      s.of_im[__builtin_abs(part) - 1] += sign * im;
    }
  };
  for (int64_t m = 0; m < in.components; ++m) {
    const T re = s.of_radius[m], im = s.of_radius[s.order + m];
    add(in.parts[2 * m], re, im);
    add(in.parts[2 * m + 1], -im, re);
  }
}

/// s.of_radius = sum_j conj(w_j) P_m of the sums s.of_re + i s.of_im = sum_j conj(w_j) R_q.
template <class T>
inline void by_components(const SteerableAttentionInput<T>& in, const Workspace<T>& s) {
  const auto sum = [&](int32_t part, const T* from) {
    return part == 0 ? T(0) : part > 0 ? from[part - 1] : -from[-part - 1];
  };
  for (int64_t m = 0; m < in.components; ++m) {
    const int32_t re = in.parts[2 * m], im = in.parts[2 * m + 1];
    s.of_radius[m] = sum(re, s.of_re) - sum(im, s.of_im);
    s.of_radius[s.order + m] = sum(re, s.of_im) + sum(im, s.of_re);
  }
}

/// As table_scores with one weight for all radii, of s.of_re and s.of_im; writes past N, up to a whole vector.
template <class T>
inline void row_scores(const SteerableAttentionInput<T>& in, const Workspace<T>& s, int64_t i, T* re, T* im) {
  const int64_t pitch = 2 * in.grid[2] - 1;
  each_row(in, i, [&](int64_t j, int64_t row, int64_t shift, int64_t count) {
    for (int64_t k = 0; k < count; k += lanes<T>) {
      const T* p = in.harmonics + row * in.functions * pitch + shift + k;
      Vec<T> a{}, a2{}, b{}, b2{};
      int64_t q = 0;
      if (im) {
        for (; q + 2 <= in.functions; q += 2, p += 2 * pitch) {
          const Vec<T> f = load(p), f2 = load(p + pitch);
          a += f * s.of_re[q];
          b += f * s.of_im[q];
          a2 += f2 * s.of_re[q + 1];
          b2 += f2 * s.of_im[q + 1];
        }
        if (q < in.functions) {
          const Vec<T> f = load(p);
          a += f * s.of_re[q];
          b += f * s.of_im[q];
        }
        store(im + j + k, b + b2);
      } else {
        for (; q + 2 <= in.functions; q += 2, p += 2 * pitch) {
          a += load(p) * s.of_re[q];
          a2 += load(p + pitch) * s.of_re[q + 1];
        }
        if (q < in.functions) {
          a += load(p) * s.of_re[q];
        }
      }
      store(re + j + k, a + a2);
    }
  });
}

template <class T>
inline void position_scores(const SteerableAttentionInput<T>& in, const Workspace<T>& s, int64_t i, T* re,
                            T* im) {
  if (in.radius) {
    table_scores(in, s, s.of_radius, i, re, im);
  } else {
    by_functions(in, s);
    row_scores(in, s, i, re, im);
  }
}

/// s.of_re + i s.of_im of real functions q .. q + n - 1 = sum_j conj(re_j + i im_j) R; one radius.
template <class T, int n>
inline void sum_functions(const SteerableAttentionInput<T>& in, const Workspace<T>& s, int64_t i, const T* re,
                          const T* im, int64_t q) {
  Vec<T> counting;
  for (int64_t k = 0; k < lanes<T>; ++k) {
    counting[k] = static_cast<T>(k);
  }
  const int64_t pitch = 2 * in.grid[2] - 1;
  Vec<T> a[n] = {}, b[n] = {};
  each_row(in, i, [&](int64_t j, int64_t row, int64_t shift, int64_t count) {
    for (int64_t k = 0; k < count; k += lanes<T>) {
      const T* p = in.harmonics + (row * in.functions + q) * pitch + shift + k;
      const auto inside = counting < spread(static_cast<T>(count - k));
      const Vec<T> wr = inside ? load(re + j + k) : Vec<T>{};
      if (im) {
        const Vec<T> wi = inside ? load(im + j + k) : Vec<T>{};
        for (int c = 0; c < n; ++c) {
          const Vec<T> f = load(p + c * pitch);
          a[c] += f * wr;
          b[c] -= f * wi;
        }
      } else {
        for (int c = 0; c < n; ++c) {
          a[c] += load(p + c * pitch) * wr;
        }
      }
    }
  });
  for (int c = 0; c < n; ++c) {
    s.of_re[q + c] = sum_of<T>(a[c]);
    s.of_im[q + c] = sum_of<T>(b[c]);
  }
}

/// s.along = sum_j conj(re_j + i im_j) P_m, by radius. im null: zero.
template <class T>
inline void position_sums(const SteerableAttentionInput<T>& in, const Workspace<T>& s, int64_t i, const T* re,
                          const T* im) {
  if (in.radius) {
    clear(s.of_radius, in.radii * 2 * s.order);
    each_row(in, i, [&](int64_t j, int64_t row, int64_t shift, int64_t count) {
      const int64_t offset = row * (2 * in.grid[2] - 1) + shift;
      for (int64_t k = 0; k < count; ++k) {
        T* h = s.of_radius + in.radius[offset + k] * 2 * s.order;
        const T* p = in.harmonics + (offset + k) * 2 * s.order;
        const T a = re[j + k], b = im ? im[j + k] : T(0);
        for (int64_t m = 0; m < s.order; m += lanes<T>) {
          const Vec<T> pr = load(p + m), pi = load(p + s.order + m);
          store(h + m, load(h + m) + pr * a + pi * b);
          store(h + s.order + m, load(h + s.order + m) + pi * a - pr * b);
        }
      }
    });
  } else {
    int64_t q = 0;
    for (; q + 5 <= in.functions; q += 5) {
      sum_functions<T, 5>(in, s, i, re, im, q);
    }
    for (; q + 2 <= in.functions; q += 2) {
      sum_functions<T, 2>(in, s, i, re, im, q);
    }
    for (; q < in.functions; ++q) {
      sum_functions<T, 1>(in, s, i, re, im, q);
    }
    by_components(in, s);
  }
  gather_along(in, s);
}

}  // namespace WEYL_ISA::steerable
}  // namespace weyl::kernels

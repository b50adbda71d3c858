#include "weyl/kernels/edges/edge_attention.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/elementary.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// f(whole, offset in a row of x, offset in a row of y, numbers left) for the channels of a head in all components.
template <class T, class F>
inline void each_channel(const AttentionPart<T>& part, int64_t channels, int64_t x_apart, int64_t y_apart,
                         const F& f) {
  for (int64_t c = 0; c < part.components; ++c) {
    along<T>(channels, [&]<bool whole>(int64_t k, int64_t left) {
      f.template operator()<whole>(c * x_apart + k, c * y_apart + k, left);
    });
  }
}

/// Of rows x of an edge's centre and y of its neighbour (or the reverse): where the channels of a head begin.
template <class T>
struct HeadRows {
  const T *x, *x_slope, *y, *y_slope;
};
template <class T>
inline HeadRows<T> head_rows(const NodeRows<T>& x, int64_t row_of_x, const NodeRows<T>& y, int64_t row_of_y,
                             int64_t begin) {
  const int64_t i = row_of_x * x.row_apart + begin, j = row_of_y * y.row_apart + begin;
  return {x.at + i, x.slope ? x.slope + i : nullptr, y.at + j, y.slope ? y.slope + j : nullptr};
}

template <class T>
inline T dot(const AttentionPart<T>& part, int64_t channels, const T* x, int64_t x_apart, const T* y,
             int64_t y_apart) {
  Vec<T> sum{};
  each_channel<T>(part, channels, x_apart, y_apart, [&]<bool whole>(int64_t i, int64_t j, int64_t left) {
    sum += get<whole>(x + i, left) * get<whole>(y + j, left);
  });
  return sum_of<T>(sum);
}
/// x' . y + x . y'; null: zero.
template <class T>
inline T dot_slope(const AttentionPart<T>& part, int64_t channels, const HeadRows<T>& r, int64_t x_apart,
                   int64_t y_apart) {
  const T first = r.x_slope ? dot(part, channels, r.x_slope, x_apart, r.y, y_apart) : T(0);
  return first + (r.y_slope ? dot(part, channels, r.x, x_apart, r.y_slope, y_apart) : T(0));
}
/// to += a x, or a x + b x', of rows x and of a sum, for the channels of a head from `begin` on. `with_slope`: b counts, where x has a slope.
template <bool with_slope, class T>
inline void add_head(const AttentionPart<T>& part, int64_t channels, int64_t begin, T a, T b,
                     const NodeRows<T>& x, int64_t row, const NodeSums<T>& sums, T* to, int64_t row_of_sum) {
  const int64_t from = row * x.row_apart + begin;
  const T *value = x.at + from, *slope = with_slope && x.slope ? x.slope + from : nullptr;
  to += row_of_sum * sums.row_apart + begin;
  const Vec<T> first = spread(a), second = spread(b);
  each_channel<T>(part, channels, sums.component_apart, x.component_apart,
                  [&]<bool whole>(int64_t i, int64_t j, int64_t left) {
                    Vec<T> sum = get<whole>(to + i, left) + first * get<whole>(value + j, left);
                    if (slope) {
                      sum += second * get<whole>(slope + j, left);
                    }
                    put<whole>(to + i, sum, left);
                  });
}

/// The places of a part's numbers of an edge in arrays (E, P, H).
template <class T>
inline int64_t place(const EdgeAttention<T>& a, int64_t edge, int64_t part) {
  return (edge * a.part_count + part) * a.heads;
}
template <class T>
inline int64_t bias_place(const EdgeAttention<T>& a, int64_t edge, int64_t part) {
  return a.bias_of_parts ? place(a, edge, part) : edge * a.heads;
}
template <class T>
inline T weight(const EdgeAttention<T>& a, int64_t edge) {
  return a.edge_weights ? a.edge_weights[edge] : T(1);
}
template <class T>
inline T weight_slope(const EdgeAttention<T>& a, int64_t edge) {
  return a.weight_slopes ? a.weight_slopes[edge] : T(0);
}

/// f(edge, place) for the edges of a centre.
template <class T, class F>
inline void each_edge(const EdgeAttention<T>& a, int64_t node, int64_t part, const F& f) {
  for (int64_t e = a.begins[node]; e < a.begins[node + 1]; ++e) {
    f(e, place(a, e, part));
  }
}
/// The same, f(edge, at, set): at(p) the numbers of the edge in an array (E, P, H) at some heads, set(p, x) puts them there.
template <bool whole, class T, class F>
inline void each_edge_at(const EdgeAttention<T>& a, int64_t node, int64_t part, int64_t h, int64_t left,
                         const F& f) {
  each_edge(a, node, part, [&](int64_t e, int64_t at) {
    f(
        e, [=](const T* p) { return get<whole>(p + at + h, left); },
        [=](T* p, Vec<T> x) { put<whole>(p + at + h, x, left); });
  });
}

/// Scores of a centre's edges become shares. An edge without weight counts as at most 16 above the highest of the others
/// (segment.h), whose exponentials its own would else drown.
template <class T>
inline void share(const EdgeAttention<T>& a, int64_t node, int64_t part) {
  const Vec<T> always = spread(a.edge_weights ? log_of(a.least) : -infinity<T>);
  along<T>(a.heads, [&]<bool whole>(int64_t h, int64_t left) {
    const auto each = [&](const auto& f) { each_edge_at<whole>(a, node, part, h, left, f); };
    Vec<T> highest = always;
    each([&](int64_t e, const auto& at, const auto&) {
      highest = weight(a, e) > 0 ? larger<T>(at(a.shares), highest) : highest;
    });
    Vec<T> sum = exp_of<T>(always - highest);
    each([&](int64_t e, const auto& at, const auto& set) {
      const Vec<T> x = exp_of<T>(-larger<T>(spread(T(-16)), highest - at(a.shares)));
      sum += weight(a, e) * x;
      set(a.shares, x);
    });
    each([&](int64_t, const auto& at, const auto& set) { set(a.shares, at(a.shares) / sum); });
  });
}

template <class T>
void forward(const EdgeAttention<T>& a, int64_t first, int64_t last) {
  const int64_t size = a.channels;
  for (int64_t node = first; node < last; ++node) {
    for (int64_t p = 0; p < a.part_count; ++p) {
      const AttentionPart<T>& part = a.parts[p];
      each_edge(a, node, p, [&](int64_t e, int64_t at) {
        for (int64_t h = 0; h < a.heads; ++h) {
          const auto r = head_rows(part.q, node, part.k, a.neighbour[e], h * size);
          const T score =
              part.scale * dot(part, size, r.x, part.q.component_apart, r.y, part.k.component_apart);
          a.shares[at + h] = a.bias ? score + a.bias[bias_place(a, e, p) + h] : score;
        }
      });
      share(a, node, p);
      each_edge(a, node, p, [&](int64_t e, int64_t at) {
        for (int64_t h = 0; h < a.heads; ++h) {
          add_head<false>(part, size, h * size, a.shares[at + h] * weight(a, e), T(0), part.v, a.neighbour[e],
                          part.out, part.out.at, node);
        }
      });
    }
  }
}

/// Sets the gradients of the bias of an edge, or with a bias for all parts alike adds those of the parts after the first.
template <class T>
inline void give_bias(const EdgeAttention<T>& a, int64_t e, int64_t p, const T* by_score) {
  for (int64_t h = 0; a.by_bias && h < a.heads; ++h) {
    T& to = a.by_bias[bias_place(a, e, p) + h];
    to = a.bias_of_parts || p == 0 ? by_score[h] : to + by_score[h];
  }
}

/// With G_e = g_i . v_j and G the mean of G_e by the weights w = a u:  ds_e = w_e (G_e - G),  da_e = u_e (G_e - G).
template <class T>
void centres(const EdgeAttention<T>& a, int64_t first, int64_t last) {
  const int64_t size = a.channels;
  for (int64_t node = first; node < last; ++node) {
    for (int64_t e = a.begins[node]; a.by_weight && e < a.begins[node + 1]; ++e) {
      a.by_weight[e] = 0;
    }
    for (int64_t p = 0; p < a.part_count; ++p) {
      const AttentionPart<T>& part = a.parts[p];
      each_edge(a, node, p, [&](int64_t e, int64_t at) {
        for (int64_t h = 0; h < a.heads; ++h) {
          const auto r = head_rows(part.g, node, part.v, a.neighbour[e], h * size);
          a.passed[at + h] = a.shares[at + h] * weight(a, e);
          a.by_score[at + h] = dot(part, size, r.x, part.g.component_apart, r.y, part.v.component_apart);
        }
      });
      along<T>(a.heads, [&]<bool whole>(int64_t h, int64_t left) {
        const auto each = [&](const auto& f) { each_edge_at<whole>(a, node, p, h, left, f); };
        Vec<T> mean{};
        each([&](int64_t, const auto& at, const auto&) { mean += at(a.passed) * at(a.by_score); });
        each([&](int64_t e, const auto& at, const auto& set) {
          const Vec<T> apart = at(a.by_score) - mean;
          set(a.by_score, at(a.passed) * apart);
          if (a.by_weight) {
            a.by_weight[e] += sum_of<T>(at(a.shares) * apart);
          }
        });
      });
      each_edge(a, node, p, [&](int64_t e, int64_t at) {
        give_bias(a, e, p, a.by_score + at);
        for (int64_t h = 0; part.gq.at && h < a.heads; ++h) {
          add_head<false>(part, size, h * size, part.scale * a.by_score[at + h], T(0), part.k, a.neighbour[e],
                          part.gq, part.gq.at, node);
        }
      });
    }
  }
}

/// The gradients and, where there are any, their derivatives.
template <class T>
void neighbours(const EdgeAttention<T>& a, int64_t first, int64_t last) {
  const int64_t size = a.channels;
  for (int64_t node = first; node < last; ++node) {
    for (int64_t n = a.incoming_begins[node]; n < a.incoming_begins[node + 1]; ++n) {
      const int64_t e = a.incoming[n], centre = a.centre[e];
      for (int64_t p = 0; p < a.part_count; ++p) {
        const AttentionPart<T>& part = a.parts[p];
        for (int64_t h = 0; h < a.heads; ++h) {
          const int64_t at = place(a, e, p) + h, begin = h * size;
          if (part.gk.at) {
            add_head<false>(part, size, begin, part.scale * a.by_score[at], T(0), part.q, centre, part.gk,
                            part.gk.at, node);
          }
          if (part.gk.slope) {
            add_head<true>(part, size, begin, part.scale * a.by_score_slopes[at], part.scale * a.by_score[at],
                           part.q, centre, part.gk, part.gk.slope, node);
          }
          if (part.gv.at) {
            add_head<false>(part, size, begin, a.passed[at], T(0), part.g, centre, part.gv, part.gv.at, node);
          }
          if (part.gv.slope) {
            add_head<false>(part, size, begin, a.passed_slopes[at], T(0), part.g, centre, part.gv,
                            part.gv.slope, node);
          }
        }
      }
    }
  }
}

/// Derivatives of `centres`, marked ': with S the sum of w_e s_e' + u_e a_e',
///   w' = w (s' - S) + u a',   u' = u (s' - S),   ds' = w' (G_e - G) + w (G_e' - G'),   da' = u' (G_e - G) + u (G_e' - G').
template <class T>
inline void second_of_scores(const EdgeAttention<T>& a, int64_t node, int64_t p) {
  along<T>(a.heads, [&]<bool whole>(int64_t h, int64_t left) {
    const auto each = [&](const auto& f) { each_edge_at<whole>(a, node, p, h, left, f); };
    Vec<T> sum{}, mean{}, mean_slope{};
    each([&](int64_t e, const auto& at, const auto&) {
      sum += at(a.passed) * at(a.passed_slopes) + at(a.shares) * weight_slope(a, e);
      mean += at(a.passed) * at(a.by_score);
    });
    each([&](int64_t e, const auto& at, const auto& set) {
      const Vec<T> score = at(a.passed_slopes) - sum, u = at(a.shares), w = at(a.passed), G = at(a.by_score);
      const Vec<T> w_slope = w * score + u * weight_slope(a, e);
      set(a.passed_slopes, w_slope);
      mean_slope += w_slope * G + w * at(a.by_score_slopes);
      if (a.by_weight) {
        a.by_weight[e] += sum_of<T>(u * score * (G - mean));
      }
    });
    each([&](int64_t e, const auto& at, const auto& set) {
      const Vec<T> apart = at(a.by_score) - mean, slope = at(a.by_score_slopes) - mean_slope;
      set(a.by_score, at(a.passed) * apart);
      set(a.by_score_slopes, at(a.passed_slopes) * apart + at(a.passed) * slope);
      if (a.by_weight) {
        a.by_weight[e] += sum_of<T>(at(a.shares) * slope);
      }
    });
  });
}

template <class T>
void second_centres(const EdgeAttention<T>& a, int64_t first, int64_t last) {
  const int64_t size = a.channels;
  for (int64_t node = first; node < last; ++node) {
    for (int64_t e = a.begins[node]; a.by_weight && e < a.begins[node + 1]; ++e) {
      a.by_weight[e] = 0;
    }
    for (int64_t p = 0; p < a.part_count; ++p) {
      const AttentionPart<T>& part = a.parts[p];
      each_edge(a, node, p, [&](int64_t e, int64_t at) {
        for (int64_t h = 0; h < a.heads; ++h) {
          const auto qk = head_rows(part.q, node, part.k, a.neighbour[e], h * size);
          const auto gv = head_rows(part.g, node, part.v, a.neighbour[e], h * size);
          const T bias = a.bias_slope ? a.bias_slope[bias_place(a, e, p) + h] : T(0);
          a.passed[at + h] = a.shares[at + h] * weight(a, e);
          a.passed_slopes[at + h] =
              bias + part.scale * dot_slope(part, size, qk, part.q.component_apart, part.k.component_apart);
          a.by_score[at + h] = dot(part, size, gv.x, part.g.component_apart, gv.y, part.v.component_apart);
          a.by_score_slopes[at + h] =
              dot_slope(part, size, gv, part.g.component_apart, part.v.component_apart);
        }
      });
      second_of_scores(a, node, p);
      each_edge(a, node, p, [&](int64_t e, int64_t at) {
        give_bias(a, e, p, a.by_score_slopes + at);
        for (int64_t h = 0; h < a.heads; ++h) {
          const int64_t j = a.neighbour[e], begin = h * size;
          if (part.gq.slope) {
            add_head<true>(part, size, begin, part.scale * a.by_score_slopes[at + h],
                           part.scale * a.by_score[at + h], part.k, j, part.gq, part.gq.slope, node);
          }
          if (part.out.slope) {
            add_head<true>(part, size, begin, a.passed_slopes[at + h], a.passed[at + h], part.v, j, part.out,
                           part.out.slope, node);
          }
        }
      });
    }
  }
}

template <class T>
void product(const NodeProduct<T>& p, int64_t first, int64_t last) {
  const bool dots = p.y_components == 3;
  for (int64_t node = first; node < last; ++node) {
    const int64_t x = node * p.x.row_apart, y = node * p.y.row_apart, to = node * p.to.row_apart;
    const int64_t y_apart = dots ? p.y.component_apart : 0, to_apart = dots ? 0 : p.to.component_apart;
    for (int64_t c = 0; c < 3; ++c) {
      const int64_t xc = x + c * p.x.component_apart, yc = y + c * y_apart, tc = to + c * to_apart;
      along<T>(p.width, [&]<bool whole>(int64_t k, int64_t left) {
        const auto at = [&](const T* from, int64_t offset) { return get<whole>(from + offset + k, left); };
        if (p.to.at) {
          put<whole>(p.to.at + tc + k, at(p.to.at, tc) + at(p.x.at, xc) * at(p.y.at, yc), left);
        }
        if (p.to.slope) {
          Vec<T> sum = at(p.to.slope, tc);
          if (p.x.slope) {
            sum += at(p.x.slope, xc) * at(p.y.at, yc);
          }
          if (p.y.slope) {
            sum += at(p.x.at, xc) * at(p.y.slope, yc);
          }
          put<whole>(p.to.slope + tc + k, sum, left);
        }
      });
    }
  }
}

template <class T>
constexpr EdgeAttentions<T> table{product<T>, forward<T>, centres<T>, second_centres<T>, neighbours<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const EdgeAttentions<float>& compiled<EdgeAttentions<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const EdgeAttentions<double>& compiled<EdgeAttentions<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

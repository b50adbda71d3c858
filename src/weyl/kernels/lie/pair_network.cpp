#include "weyl/kernels/lie/pair_network.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/normal.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

constexpr int64_t chunk = 512;  // pairs at a time, whose coordinates stay in the first cache
constexpr int64_t group = 4;    // vectors at a time, to hide the latency of their sums

/// Present pairs, packed one after the other; those of `wide` beyond `count` are zeros.
template <class T, int E>
struct PackedPairs {
  int64_t count = 0, wide = 0;
  int64_t pair[chunk];
  T w[E][chunk];

  /// Takes pairs from `at` on, and returns the first that it has not looked at.
  int64_t fill(const PairNetworkInput<T>& n, int64_t at, int64_t last) {
    for (count = 0; at < last && count < chunk; ++at) {
      pair[count] = at;
      count += n.present[at];
    }
    constexpr int64_t step = group * lanes<T>;
    wide = (count + step - 1) / step * step;
    for (int64_t e = 0; e < E; ++e) {
      gather(n.w + e * n.pairs, w[e]);
    }
    return at;
  }
  void gather(const T* from, T* to) const {
    for (int64_t k = 0; k < count; ++k) {
      to[k] = from[pair[k]];
    }
    for (int64_t k = count; k < wide; ++k) {
      to[k] = 0;
    }
  }
  void scatter(const T* from, T* to) const {
    for (int64_t k = 0; k < count; ++k) {
      to[pair[k]] = from[k];
    }
  }

  /// first . w_p + bias for the pairs of the vector at k.
  Vec<T> inner(const T* first, T bias, int64_t k) const {
    Vec<T> t = spread(bias);
    for (int64_t e = 0; e < E; ++e) {
      t += load(w[e] + k) * first[e];
    }
    return t;
  }
};

template <class T>
void clear_planes(T* planes, int64_t count, int64_t pairs, int64_t first, int64_t last) {
  for (int64_t c = 0; c < count; ++c) {
    clear(planes + c * pairs + first, last - first);
  }
}

/// g(t) and g'(t) of a vector. Of ReLU NaN stays NaN, and the derivative at 0 is 0.
template <weyl::lie::ScoreActivation law, class T>
struct Activated {
  Vec<T> value, slope;
  explicit Activated(Vec<T> t) {
    if constexpr (law == weyl::lie::ScoreActivation::relu) {
      const auto off = t <= T(0);
      value = off ? Vec<T>{} : t;
      slope = off ? Vec<T>{} : spread(T(1));
    } else {
      Vec<T> bell;
      const Vec<T> cdf = normal_cdf<T>(t, bell);
      value = t * cdf;
      slope = cdf + t * bell * T(0.39894228040143267794);
    }
  }
};

template <weyl::lie::ScoreActivation law, class T, int E>
void forward_of(const PairNetworkInput<T>& n, T* y, int64_t first, int64_t last) {
  PackedPairs<T, E> p;
  T sums[chunk];
  clear_planes(y, n.heads, n.pairs, first, last);
  for (int64_t at = first; at < last;) {
    at = p.fill(n, at, last);
    for (int64_t h = 0; h < n.heads; ++h) {
      for (int64_t k = 0; k < p.wide; k += group * lanes<T>) {
        Vec<T> sum[group];
        for (Vec<T>& s : sum) {
          s = spread(n.second_bias[h]);
        }
        for (int64_t m = h * n.hidden; m < (h + 1) * n.hidden; ++m) {
          for (int64_t v = 0; v < group; ++v) {
            const Vec<T> t = p.inner(n.first + m * E, n.first_bias[m], k + v * lanes<T>);
            sum[v] += Activated<law, T>(t).value * n.second[m];
          }
        }
        for (int64_t v = 0; v < group; ++v) {
          store(sums + k + v * lanes<T>, sum[v]);
        }
      }
      p.scatter(sums, y + h * n.pairs);
    }
  }
}

template <weyl::lie::ScoreActivation law, class T, int E>
void backward_of(const PairNetworkInput<T>& n, const T* gy, const PairNetworkGradients<T>& to, int64_t first,
                 int64_t last) {
  PackedPairs<T, E> p;
  T g[chunk], gw[E][chunk];
  if (to.w) {
    clear_planes(to.w, E, n.pairs, first, last);
  }
  for (int64_t at = first; at < last;) {
    at = p.fill(n, at, last);
    if (to.w) {
      __builtin_memset(gw, 0, sizeof gw);
    }
    for (int64_t h = 0; h < n.heads; ++h) {
      p.gather(gy + h * n.pairs, g);
      Vec<T> by_second_bias{};
      for (int64_t k = 0; k < p.wide; k += lanes<T>) {
        by_second_bias += load(g + k);
      }
      to.second_bias[h] += sum_of<T>(by_second_bias);
      for (int64_t m = h * n.hidden; m < (h + 1) * n.hidden; ++m) {
        const T* in = n.first + m * E;
        const T out = n.second[m];
        Vec<T> by_first[E] = {}, by_first_bias{}, by_second{};  // the first two but for this factor
        for (int64_t k = 0; k < p.wide; k += lanes<T>) {
          const Activated<law, T> inner(p.inner(in, n.first_bias[m], k));
          const Vec<T> gk = load(g + k), gt = gk * inner.slope;
          by_second += gk * inner.value;
          by_first_bias += gt;
          for (int64_t e = 0; e < E; ++e) {
            by_first[e] += gt * load(p.w[e] + k);
            if (to.w) {
              store(gw[e] + k, load(gw[e] + k) + gt * (out * in[e]));
            }
          }
        }
        to.second[m] += sum_of<T>(by_second);
        to.first_bias[m] += out * sum_of<T>(by_first_bias);
        for (int64_t e = 0; e < E; ++e) {
          to.first[m * E + e] += out * sum_of<T>(by_first[e]);
        }
      }
    }
    for (int64_t e = 0; to.w && e < E; ++e) {
      p.scatter(gw[e], to.w + e * n.pairs);
    }
  }
}

/// f(E) with the number of coordinates as a constant.
template <weyl::lie::ScoreActivation law, class F>
void with_coordinates(int64_t coordinates, const F& f) {
  switch (coordinates) {
    case 1:
      return f.template operator()<law, 1>();
    case 3:
      return f.template operator()<law, 3>();
    case 6:
      return f.template operator()<law, 6>();
    default:
      return f.template operator()<law, 12>();
  }
}

/// f(law, E), both constants.
template <class F>
void with_constants(weyl::lie::ScoreActivation law, int64_t coordinates, const F& f) {
  using Law = weyl::lie::ScoreActivation;
  law == Law::relu ? with_coordinates<Law::relu>(coordinates, f)
                   : with_coordinates<Law::gelu>(coordinates, f);
}

template <class T>
void forward(const PairNetworkInput<T>& n, T* y, int64_t first, int64_t last) {
  with_constants(n.activation, n.coordinates,
                 [&]<weyl::lie::ScoreActivation law, int E>() { forward_of<law, T, E>(n, y, first, last); });
}
template <class T>
void backward(const PairNetworkInput<T>& n, const T* gy, const PairNetworkGradients<T>& to, int64_t first,
              int64_t last) {
  with_constants(n.activation, n.coordinates, [&]<weyl::lie::ScoreActivation law, int E>() {
    backward_of<law, T, E>(n, gy, to, first, last);
  });
}

template <class T>
constexpr PairNetwork<T> table{forward<T>, backward<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const PairNetwork<float>& compiled<PairNetwork<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const PairNetwork<double>& compiled<PairNetwork<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

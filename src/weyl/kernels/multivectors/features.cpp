#include "weyl/kernels/multivectors/features.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/multivectors/distance.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

constexpr int products = 7;  // features of the inner product
constexpr int inner_of[products] = {clifford::one, clifford::e1,  clifford::e2, clifford::e3,
                                    clifford::e12, clifford::e13, clifford::e23};

template <class T>
struct Features {
  Vec<T> at[most_features];
};

/// f(m, numbers) for the vectors of a token's channels, none of them across the end of a run.
template <class T, class F>
[[gnu::always_inline]] inline void each_vector(const MultivectorFeaturesInput<T>& in, const F& f) {
  const int64_t run = in.run > 0 ? in.run : in.channels;
  for (int64_t begin = 0; begin < in.channels; begin += run) {
    for (int64_t m = begin; m < begin + run; m += lanes<T>) {
      f(m, begin + run - m < lanes<T> ? begin + run - m : lanes<T>);
    }
  }
}

/// f(l) for the first lanes, written out: of a loop compilers make the processor's own gathers and scatters, which take
/// several times as long.
template <int64_t l, class T, class F>
[[gnu::always_inline]] inline void each_lane(int64_t numbers, const F& f) {
  if constexpr (l < lanes<T>) {
    if (l < numbers) {
      f(l);
      each_lane<l + 1, T>(numbers, f);
    }
  }
}

template <class T>
inline Channels<T> channels_at(const MultivectorRows<const T>& x, int64_t n, int64_t m, int64_t numbers) {
  Channels<T> v;
  for (int i = 0; i < components; ++i) {
    v.at[i] = get(x.at(i, n) + m, numbers);
  }
  return v;
}
template <class T>
inline void put_channels(const MultivectorRows<T>& x, int64_t n, int64_t m, int64_t numbers,
                         const Channels<T>& v) {
  for (int i = 0; i < components; ++i) {
    put(x.at(i, n) + m, v.at[i], numbers);
  }
}
template <class T>
inline Features<T> features_at(const MultivectorFeaturesInput<T>& in, const T* row, int64_t m,
                               int64_t numbers) {
  Features<T> v;
  for (int f = 0; f < features_of(in.role); ++f) {
    const T* from = row + f * in.stride;
    if (in.run > 0) {
      v.at[f] = get(from + in.places[m], numbers);
    } else {
      T packed[lanes<T>] = {};
      each_lane<0, T>(numbers, [&](int64_t l) { packed[l] = from[in.places[m + l]]; });
      v.at[f] = load(packed);
    }
  }
  return v;
}
template <class T>
inline void put_features(const MultivectorFeaturesInput<T>& in, T* row, int64_t m, int64_t numbers,
                         const Features<T>& v) {
  for (int f = 0; f < features_of(in.role); ++f) {
    T* to = row + f * in.stride;
    if (in.run > 0) {
      put(to + in.places[m], v.at[f], numbers);
    } else {
      T packed[lanes<T>];
      store(packed, v.at[f]);
      each_lane<0, T>(numbers, [&](int64_t l) { to[in.places[m + l]] = packed[l]; });
    }
  }
}

template <class T>
inline void put_parts(FeatureRole role, const Parts<T>& parts, Features<T>& y) {
  const bool query = role == FeatureRole::query;
  y.at[products] = query ? parts.a : -parts.b;
  y.at[products + 1] = query ? parts.b : -parts.a;
  for (int i = 0; i < 3; ++i) {
    y.at[products + 2 + i] = query ? parts.p[i] : 2 * parts.p[i];
  }
}
/// What the features' gradients are for A, B and P; of queries still without w.
template <class T>
inline Parts<T> parts_of(FeatureRole role, const Features<T>& g) {
  const bool query = role == FeatureRole::query;
  Parts<T> parts{
      query ? g.at[products] : -g.at[products + 1], query ? g.at[products + 1] : -g.at[products], {}};
  for (int i = 0; i < 3; ++i) {
    parts.p[i] = query ? g.at[products + 2 + i] : 2 * g.at[products + 2 + i];
  }
  return parts;
}

template <class T>
inline Vec<T> weight_at(const T* weights, int64_t m, int64_t numbers, T otherwise) {
  return weights ? get(weights + m, numbers) : spread(otherwise);
}
template <class T>
inline void add_at(T* sums, int64_t m, int64_t numbers, Vec<T> v) {
  put(sums + m, get(sums + m, numbers) + v, numbers);
}

/// Values are the components as they are: written component by component, since components lie far apart, often by a
/// power of two, and sixteen such lines push each other out of the cache.
template <class T, class F>
[[gnu::always_inline]] inline void each_value(const MultivectorFeaturesInput<T>& in, const F& f) {
  for (int i = 0; i < components; ++i) {
    each_vector<T>(in, [&](int64_t m, int64_t numbers) {
      if (in.run > 0) {
        f(i, m, in.places[m] + i * in.stride, numbers);
      } else {
        each_lane<0, T>(numbers, [&](int64_t l) { f(i, m + l, in.places[m + l] + i * in.stride, 1); });
      }
    });
  }
}

template <class T>
void forward(const MultivectorFeaturesInput<T>& in, T* y, int64_t first, int64_t last) {
  for (int64_t n = first; n < last; ++n) {
    T* row = y + n * in.width;
    if (in.role == FeatureRole::value) {
      each_value<T>(in, [&](int i, int64_t m, int64_t place, int64_t numbers) {
        put(row + place, get(in.x.at(i, n) + m, numbers), numbers);
      });
    } else {
      each_vector<T>(in, [&](int64_t m, int64_t numbers) {
        const Channels<T> x = channels_at<T>(in.x, n, m, numbers);
        Features<T> out;
        for (int f = 0; f < products; ++f) {
          out.at[f] = x.at[inner_of[f]];
        }
        const Trivector<T> t(x);
        const Parts<T> parts = values<T>(t, Laws<T>(t.v, in.epsilon));
        put_parts<T>(in.role, mixed<T>(parts, weight_at<T>(in.weights, m, numbers, T(1)), parts, Vec<T>{}),
                     out);
        put_features<T>(in, row, m, numbers, out);
      });
    }
    for (int64_t s = 0; s < in.scalar_count; ++s) {
      row[in.scalar_places[s]] = in.scalars[n * in.scalar_row + s];
    }
  }
}

template <class T>
void backward(const MultivectorFeaturesInput<T>& in, const T* gy, MultivectorRows<T> gx, T* gscalars,
              T* gweights, int64_t first, int64_t last) {
  for (int64_t n = first; n < last; ++n) {
    const T* row = gy + n * in.width;
    if (in.role == FeatureRole::value) {
      if (gx.data) {
        each_value<T>(in, [&](int i, int64_t m, int64_t place, int64_t numbers) {
          put(gx.at(i, n) + m, get(row + place, numbers), numbers);
        });
      }
    } else {
      each_vector<T>(in, [&](int64_t m, int64_t numbers) {
        const Features<T> g = features_at<T>(in, row, m, numbers);
        Channels<T> to = {};
        for (int f = 0; f < products; ++f) {
          to.at[inner_of[f]] = g.at[f];
        }
        const Trivector<T> x(channels_at<T>(in.x, n, m, numbers));
        const Laws<T> l(x.v, in.epsilon);
        const Parts<T> parts = parts_of<T>(in.role, g);
        add_gradient<T>(x, l, mixed<T>(parts, weight_at<T>(in.weights, m, numbers, T(1)), parts, Vec<T>{}),
                        to);
        if (gweights) {
          add_at<T>(gweights, m, numbers, dot<T>(parts, values<T>(x, l)));
        }
        if (gx.data) {
          put_channels<T>(gx, n, m, numbers, to);
        }
      });
    }
    for (int64_t s = 0; s < in.scalar_count && gscalars; ++s) {
      gscalars[n * in.scalar_count + s] = row[in.scalar_places[s]];
    }
  }
}

// With g the gradients of A, B, P, these are the derivatives of
//   <inner features of dx, gy> + w <g, motion(x, dx)> + dw <g, values(x)> + <dscalars, gy>.
template <class T>
void second(const MultivectorFeaturesInput<T>& in, const T* gy, MultivectorRows<const T> dx,
            const T* dscalars, const T* dweights, MultivectorRows<T> gx, T* gweights, T* ggy, int64_t first,
            int64_t last) {
  for (int64_t n = first; n < last; ++n) {
    const T* row = gy + n * in.width;
    T* to_gradient = ggy ? ggy + n * in.width : nullptr;
    each_vector<T>(in, [&](int64_t m, int64_t numbers) {
      const Channels<T> d = dx.data ? channels_at<T>(dx, n, m, numbers) : Channels<T>{};
      Channels<T> to = {};
      Features<T> out = {};
      if (in.role == FeatureRole::value) {
        for (int i = 0; i < components; ++i) {
          out.at[i] = d.at[i];
        }
      } else {
        for (int f = 0; f < products; ++f) {
          out.at[f] = d.at[inner_of[f]];
        }
        const Trivector<T> x(channels_at<T>(in.x, n, m, numbers)), along(d);
        const Laws<T> l(x.v, in.epsilon);
        const Parts<T> g = parts_of<T>(in.role, features_at<T>(in, row, m, numbers)),
                       moved = motion<T>(x, l, along);
        const Vec<T> w = weight_at<T>(in.weights, m, numbers, T(1)),
                     dw = weight_at<T>(dweights, m, numbers, T(0));
        put_parts<T>(in.role, mixed<T>(moved, w, values<T>(x, l), dw), out);
        add_second<T>(x, l, mixed<T>(g, w, g, Vec<T>{}), along, to);
        add_gradient<T>(x, l, mixed<T>(g, dw, g, Vec<T>{}), to);
        if (gweights) {
          add_at<T>(gweights, m, numbers, dot<T>(g, moved));
        }
      }
      if (gx.data) {
        put_channels<T>(gx, n, m, numbers, to);
      }
      if (to_gradient) {
        put_features<T>(in, to_gradient, m, numbers, out);
      }
    });
    for (int64_t s = 0; s < in.scalar_count && to_gradient; ++s) {
      to_gradient[in.scalar_places[s]] = dscalars ? dscalars[n * in.scalar_count + s] : T(0);
    }
  }
}

template <class T>
constexpr MultivectorFeatures<T> table{forward<T>, backward<T>, second<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const MultivectorFeatures<float>& compiled<MultivectorFeatures<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const MultivectorFeatures<double>& compiled<MultivectorFeatures<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

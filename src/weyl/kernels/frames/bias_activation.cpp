#include "weyl/kernels/frames/bias_activation.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/normal.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// g, and what its derivatives are made of.
template <class T>
struct Gelu {
  static Vec<T> value(Vec<T> t) {
    Vec<T> bell;
    return t * normal_cdf<T>(t, bell);
  }
  static Vec<T> slope(Vec<T> t) {
    Vec<T> bell;
    const Vec<T> cdf = normal_cdf<T>(t, bell);
    return cdf + t * bell * T(0.39894228040143267794);
  }
  static void both(Vec<T> t, Vec<T>& slope, Vec<T>& second) {
    Vec<T> bell;
    const Vec<T> cdf = normal_cdf<T>(t, bell);
    bell *= T(0.39894228040143267794);
    slope = cdf + t * bell;
    second = bell * (T(2) - t * t);
  }
};
template <class T>
struct Silu {
  static Vec<T> value(Vec<T> t) { return t * sigmoid_of<T>(t); }
  static Vec<T> slope(Vec<T> t) {
    const Vec<T> s = sigmoid_of<T>(t);
    return s * (T(1) + t * (T(1) - s));
  }
  static void both(Vec<T> t, Vec<T>& slope, Vec<T>& second) {
    const Vec<T> s = sigmoid_of<T>(t), rest = s * (T(1) - s);
    slope = s + t * rest;
    second = rest * (T(2) + t * (T(1) - s - s));
  }
};
template <class T>
struct Relu {
  static Vec<T> value(Vec<T> t) { return t < T(0) ? Vec<T>{} : t; }  // NaN stays
  static Vec<T> slope(Vec<T> t) { return t > T(0) ? spread(T(1)) : Vec<T>{}; }
  static void both(Vec<T> t, Vec<T>& slope_there, Vec<T>& second) {
    slope_there = slope(t);
    second = Vec<T>{};
  }
};
/// With e = exp(t) and w = e (e + 2): tanh(log(1 + e)) = w / (w + 2). From t = 20 on that is one.
template <class T>
struct Mish {
  static Vec<T> value(Vec<T> t) {
    const Vec<T> w = above_two(exponential(t));
    return t * (w / (w + T(2)));
  }
  static Vec<T> slope(Vec<T> t) {
    Vec<T> slope_there, second;
    both(t, slope_there, second);
    return slope_there;
  }
  static void both(Vec<T> t, Vec<T>& slope_there, Vec<T>& second) {
    const Vec<T> e = exponential(t), w = above_two(e), over = T(1) / (w + T(2)), sigmoid = e / (T(1) + e);
    const Vec<T> gate = w * over, squeeze = T(4) * (w + T(1)) * over * over;  // 1 - gate^2
    const Vec<T> first = squeeze * sigmoid;
    slope_there = gate + t * first;
    second = T(2) * first + t * (squeeze * sigmoid * (T(1) - sigmoid) - T(2) * gate * first * sigmoid);
  }

 private:
  static Vec<T> exponential(Vec<T> t) { return exp_of<T>(t < T(20) ? t : spread(T(20))); }
  static Vec<T> above_two(Vec<T> e) { return e * (e + T(2)); }
};

template <class T, class F>
inline void with_law(ActivationLaw law, const F& f) {
  switch (law) {
    case ActivationLaw::gelu:
      return f(Gelu<T>{});
    case ActivationLaw::silu:
      return f(Silu<T>{});
    case ActivationLaw::relu:
      return f(Relu<T>{});
    case ActivationLaw::mish:
      return f(Mish<T>{});
  }
}

/// f(at, channel, left) for the vectors of rows first <= i < last.
template <class T, class F>
inline void each_vector(const BiasActivationInput<T>& a, int64_t first, int64_t last, const F& f) {
  const int64_t period = a.bias ? a.channels : a.width, step = lanes<T>;
  for (int64_t at = first * a.width; at < last * a.width; at += period) {
    int64_t c = 0;
    for (; c + step <= period; c += step) {
      f.template operator()<true>(at + c, c, step);
    }
    if (c < period) {
      f.template operator()<false>(at + c, c, period - c);
    }
  }
}
template <class T, bool whole>
inline Vec<T> sum_at(const BiasActivationInput<T>& a, int64_t at, int64_t c, int64_t left) {
  Vec<T> t = get<whole>(a.x + at, left);
  if (a.bias) {
    t += get<whole>(a.bias + c, left);
  }
  return t;
}
template <class T, bool whole>
inline Vec<T> with_noise(const BiasActivationInput<T>& a, Vec<T> t, int64_t at, int64_t left) {
  return a.noise ? t * get<whole>(a.noise + at, left) : t;
}

template <class T>
void forward(const BiasActivationInput<T>& a, T* y, int64_t first, int64_t last) {
  with_law<T>(a.law, [&](auto law) {
    each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
      const Vec<T> g = law.value(sum_at<T, whole>(a, at, c, left));
      put<whole>(y + at, with_noise<T, whole>(a, g, at, left), left);
    });
  });
}

template <class T>
void backward(const BiasActivationInput<T>& a, const T* gy, T* gx, T* gbias, int64_t first, int64_t last) {
  with_law<T>(a.law, [&](auto law) {
    each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
      const Vec<T> g = with_noise<T, whole>(a, get<whole>(gy + at, left), at, left) *
                       law.slope(sum_at<T, whole>(a, at, c, left));
      if (gx) {
        put<whole>(gx + at, g, left);
      }
      if (gbias) {
        put<whole>(gbias + c, get<whole>(gbias + c, left) + g, left);
      }
    });
  });
}

template <class T>
void second(const BiasActivationInput<T>& a, const T* gy, const T* dx, const T* dbias, T* gx, T* gbias,
            T* ggy, int64_t first, int64_t last) {
  with_law<T>(a.law, [&](auto law) {
    each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
      Vec<T> d{}, slope, curvature;
      if (dx) {
        d = get<whole>(dx + at, left);
      }
      if (dbias) {
        d += get<whole>(dbias + c, left);
      }
      d = with_noise<T, whole>(a, d, at, left);
      law.both(sum_at<T, whole>(a, at, c, left), slope, curvature);
      const Vec<T> g = get<whole>(gy + at, left) * curvature * d;
      if (ggy) {
        put<whole>(ggy + at, slope * d, left);
      }
      if (gx) {
        put<whole>(gx + at, g, left);
      }
      if (gbias) {
        put<whole>(gbias + c, get<whole>(gbias + c, left) + g, left);
      }
    });
  });
}

template <class T>
constexpr BiasActivation<T> table{forward<T>, backward<T>, second<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const BiasActivation<float>& compiled<BiasActivation<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const BiasActivation<double>& compiled<BiasActivation<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

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
  static Vec<T> sigmoid(Vec<T> t) { return T(1) / (T(1) + exp_of<T>(-t)); }
  static Vec<T> value(Vec<T> t) { return t * sigmoid(t); }
  static Vec<T> slope(Vec<T> t) {
    const Vec<T> s = sigmoid(t);
    return s * (T(1) + t * (T(1) - s));
  }
  static void both(Vec<T> t, Vec<T>& slope, Vec<T>& second) {
    const Vec<T> s = sigmoid(t), rest = s * (T(1) - s);
    slope = s + t * rest;
    second = rest * (T(2) + t * (T(1) - s - s));
  }
};

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

template <class T, template <class> class Law>
void forward_of(const BiasActivationInput<T>& a, T* y, int64_t first, int64_t last) {
  each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
    put<whole>(y + at, Law<T>::value(sum_at<T, whole>(a, at, c, left)), left);
  });
}

template <class T, template <class> class Law>
void backward_of(const BiasActivationInput<T>& a, const T* gy, T* gx, T* gbias, int64_t first, int64_t last) {
  each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
    const Vec<T> g = get<whole>(gy + at, left) * Law<T>::slope(sum_at<T, whole>(a, at, c, left));
    if (gx) {
      put<whole>(gx + at, g, left);
    }
    if (gbias) {
      put<whole>(gbias + c, get<whole>(gbias + c, left) + g, left);
    }
  });
}

template <class T, template <class> class Law>
void second_of(const BiasActivationInput<T>& a, const T* gy, const T* dx, const T* dbias, T* gx, T* gbias,
               T* ggy, int64_t first, int64_t last) {
  each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
    Vec<T> d{}, slope, second;
    if (dx) {
      d = get<whole>(dx + at, left);
    }
    if (dbias) {
      d += get<whole>(dbias + c, left);
    }
    Law<T>::both(sum_at<T, whole>(a, at, c, left), slope, second);
    if (ggy) {
      put<whole>(ggy + at, slope * d, left);
    }
    const Vec<T> g = get<whole>(gy + at, left) * second * d;
    if (gx) {
      put<whole>(gx + at, g, left);
    }
    if (gbias) {
      put<whole>(gbias + c, get<whole>(gbias + c, left) + g, left);
    }
  });
}

template <class T>
void forward(const BiasActivationInput<T>& a, T* y, int64_t first, int64_t last) {
  a.law == ActivationLaw::gelu ? forward_of<T, Gelu>(a, y, first, last)
                               : forward_of<T, Silu>(a, y, first, last);
}
template <class T>
void backward(const BiasActivationInput<T>& a, const T* gy, T* gx, T* gbias, int64_t first, int64_t last) {
  a.law == ActivationLaw::gelu ? backward_of<T, Gelu>(a, gy, gx, gbias, first, last)
                               : backward_of<T, Silu>(a, gy, gx, gbias, first, last);
}
template <class T>
void second(const BiasActivationInput<T>& a, const T* gy, const T* dx, const T* dbias, T* gx, T* gbias,
            T* ggy, int64_t first, int64_t last) {
  a.law == ActivationLaw::gelu ? second_of<T, Gelu>(a, gy, dx, dbias, gx, gbias, ggy, first, last)
                               : second_of<T, Silu>(a, gy, dx, dbias, gx, gbias, ggy, first, last);
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

#include "weyl/kernels/frames/bias_activation.h"

#include "weyl/kernels/simd/normal.h"

namespace weyl::kernels {

template <class T>
struct BiasActivationTable {
  decltype(&bias_activation<T>) forward;
  decltype(&bias_activation_backward<T>) backward;
  decltype(&bias_activation_second<T>) second;
};

namespace WEYL_ISA {

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
  static void both(Vec<T> t, Vec<T>& slope, Vec<T>& bend) {
    Vec<T> bell;
    const Vec<T> cdf = normal_cdf<T>(t, bell);
    bell *= T(0.39894228040143267794);
    slope = cdf + t * bell;
    bend = bell * (T(2) - t * t);
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
  static void both(Vec<T> t, Vec<T>& slope, Vec<T>& bend) {
    const Vec<T> s = sigmoid(t), rest = s * (T(1) - s);
    slope = s + t * rest;
    bend = rest * (T(2) + t * (T(1) - s - s));
  }
};

/// f(at, channel, left) for the vectors of rows first <= i < last.
template <class T, class F>
inline void each_vector(const BiasActivation<T>& a, int64_t first, int64_t last, const F& f) {
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
inline Vec<T> get(const T* p, int64_t left) {
  return whole ? load(p) : load_part(p, left);
}
template <class T, bool whole>
inline void put(T* p, Vec<T> v, int64_t left) {
  whole ? store(p, v) : store_part(p, v, left);
}
template <class T, bool whole>
inline Vec<T> sum_at(const BiasActivation<T>& a, int64_t at, int64_t c, int64_t left) {
  Vec<T> t = get<T, whole>(a.x + at, left);
  if (a.bias) {
    t += get<T, whole>(a.bias + c, left);
  }
  return t;
}

template <class T, template <class> class Law>
void forward_of(const BiasActivation<T>& a, T* y, int64_t first, int64_t last) {
  each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
    put<T, whole>(y + at, Law<T>::value(sum_at<T, whole>(a, at, c, left)), left);
  });
}

template <class T, template <class> class Law>
void backward_of(const BiasActivation<T>& a, const T* gy, T* gx, T* gbias, int64_t first, int64_t last) {
  each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
    const Vec<T> g = get<T, whole>(gy + at, left) * Law<T>::slope(sum_at<T, whole>(a, at, c, left));
    if (gx) {
      put<T, whole>(gx + at, g, left);
    }
    if (gbias) {
      put<T, whole>(gbias + c, get<T, whole>(gbias + c, left) + g, left);
    }
  });
}

template <class T, template <class> class Law>
void second_of(const BiasActivation<T>& a, const T* gy, const T* dx, const T* dbias, T* gx, T* gbias, T* ggy,
               int64_t first, int64_t last) {
  each_vector(a, first, last, [&]<bool whole>(int64_t at, int64_t c, int64_t left) {
    Vec<T> d{}, slope, bend;
    if (dx) {
      d = get<T, whole>(dx + at, left);
    }
    if (dbias) {
      d += get<T, whole>(dbias + c, left);
    }
    Law<T>::both(sum_at<T, whole>(a, at, c, left), slope, bend);
    if (ggy) {
      put<T, whole>(ggy + at, slope * d, left);
    }
    const Vec<T> g = get<T, whole>(gy + at, left) * bend * d;
    if (gx) {
      put<T, whole>(gx + at, g, left);
    }
    if (gbias) {
      put<T, whole>(gbias + c, get<T, whole>(gbias + c, left) + g, left);
    }
  });
}

template <class T>
void bias_activation(const BiasActivation<T>& a, T* y, int64_t first, int64_t last) {
  a.law == ActivationLaw::gelu ? forward_of<T, Gelu>(a, y, first, last)
                               : forward_of<T, Silu>(a, y, first, last);
}
template <class T>
void bias_activation_backward(const BiasActivation<T>& a, const T* gy, T* gx, T* gbias, int64_t first,
                              int64_t last) {
  a.law == ActivationLaw::gelu ? backward_of<T, Gelu>(a, gy, gx, gbias, first, last)
                               : backward_of<T, Silu>(a, gy, gx, gbias, first, last);
}
template <class T>
void bias_activation_second(const BiasActivation<T>& a, const T* gy, const T* dx, const T* dbias, T* gx,
                            T* gbias, T* ggy, int64_t first, int64_t last) {
  a.law == ActivationLaw::gelu ? second_of<T, Gelu>(a, gy, dx, dbias, gx, gbias, ggy, first, last)
                               : second_of<T, Silu>(a, gy, dx, dbias, gx, gbias, ggy, first, last);
}

template <class T>
BiasActivationTable<T> bias_activation_table() {
  return {&WEYL_ISA::bias_activation<T>, &WEYL_ISA::bias_activation_backward<T>,
          &WEYL_ISA::bias_activation_second<T>};
}
template BiasActivationTable<float> bias_activation_table();
template BiasActivationTable<double> bias_activation_table();

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
BiasActivationTable<T> bias_activation_table();
}
namespace v4 {
template <class T>
BiasActivationTable<T> bias_activation_table();
}
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

namespace {
template <class T>
BiasActivationTable<T> chosen_activation() {
  return choose(&baseline::bias_activation_table<T>, &v3::bias_activation_table<T>,
                &v4::bias_activation_table<T>)();
}
}  // namespace

template <class T>
void bias_activation(const BiasActivation<T>& args, T* y, int64_t first, int64_t last) {
  chosen_activation<T>().forward(args, y, first, last);
}
template <class T>
void bias_activation_backward(const BiasActivation<T>& args, const T* gy, T* gx, T* gbias, int64_t first,
                              int64_t last) {
  chosen_activation<T>().backward(args, gy, gx, gbias, first, last);
}
template <class T>
void bias_activation_second(const BiasActivation<T>& args, const T* gy, const T* dx, const T* dbias, T* gx,
                            T* gbias, T* ggy, int64_t first, int64_t last) {
  chosen_activation<T>().second(args, gy, dx, dbias, gx, gbias, ggy, first, last);
}
template void bias_activation<float>(const BiasActivation<float>&, float*, int64_t, int64_t);
template void bias_activation<double>(const BiasActivation<double>&, double*, int64_t, int64_t);
template void bias_activation_backward<float>(const BiasActivation<float>&, const float*, float*, float*,
                                              int64_t, int64_t);
template void bias_activation_backward<double>(const BiasActivation<double>&, const double*, double*, double*,
                                               int64_t, int64_t);
template void bias_activation_second<float>(const BiasActivation<float>&, const float*, const float*,
                                            const float*, float*, float*, float*, int64_t, int64_t);
template void bias_activation_second<double>(const BiasActivation<double>&, const double*, const double*,
                                             const double*, double*, double*, double*, int64_t, int64_t);
#endif

}  // namespace weyl::kernels

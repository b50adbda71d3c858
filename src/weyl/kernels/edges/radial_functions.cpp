#include "weyl/kernels/edges/radial_functions.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/elementary.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// f(first numbers, second numbers, value, slope) for the vectors of a row of functions.
template <class T, class F>
inline void each_function(const RadialInput<T>& in, T* values, T* slopes, const F& f) {
  along<T>(in.functions, [&]<bool whole>(int64_t k, int64_t left) {
    Vec<T> value, slope;
    f(get<whole>(in.first + k, left), in.second ? get<whole>(in.second + k, left) : Vec<T>{}, value, slope);
    put<whole>(values + k, value, left);
    put<whole>(slopes + k, slope, left);
  });
}

template <class T>
void run(const RadialInput<T>& in, T* values, T* slopes) {
  for (int64_t e = 0; e < in.count; ++e, values += in.functions, slopes += in.functions) {
    const T d = in.lengths[e];
    switch (in.law) {
      case RadialLaw::exp_normal: {
        const Vec<T> along_d = exp_of<T>(spread(in.rate * (in.start - d)));
        const T fade = in.fade[e], fade_slope = in.fade_slope[e];
        each_function(in, values, slopes, [&](Vec<T> mean, Vec<T> beta, Vec<T>& value, Vec<T>& slope) {
          const Vec<T> t = along_d - mean, bell = exp_of<T>(-beta * t * t);
          value = fade * bell;
          slope = fade_slope * bell + value * beta * t * along_d * (T(2) * in.rate);
        });
        break;
      }
      case RadialLaw::bessel:
        each_function(in, values, slopes, [&](Vec<T> frequency, Vec<T>, Vec<T>& value, Vec<T>& slope) {
          Vec<T> sine, cosine;
          sincos_of<T>(frequency * d, sine, cosine);
          value = d > T(0) ? sine / d : frequency;
          slope = d > T(0) ? (frequency * cosine - value) / d : Vec<T>{};
        });
        break;
      case RadialLaw::gaussian:
        each_function(in, values, slopes, [&](Vec<T> offset, Vec<T>, Vec<T>& value, Vec<T>& slope) {
          const Vec<T> t = d - offset;
          value = exp_of<T>(in.rate * t * t);
          slope = T(2) * in.rate * t * value;
        });
        break;
    }
  }
}

template <class T>
constexpr RadialFunctions<T> table{run<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const RadialFunctions<float>& compiled<RadialFunctions<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const RadialFunctions<double>& compiled<RadialFunctions<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels

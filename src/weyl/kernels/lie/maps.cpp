#include "weyl/kernels/lie/maps.h"

#include "weyl/algebra/lie/dual.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/map_formulas.h"
#include "weyl/kernels/lie/pack.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {
namespace {

/// `left` rows of n numbers or a whole pack of them; lanes beyond the end repeat the first row.
template <class S, int n, class T>
inline Vector<Pack<S>, n> read_rows(const T* p, int64_t left) {
  Vector<Pack<S>, n> v;
  for (int l = 0; l < Pack<S>::lanes; ++l) {
    const T* row = p + (l < left ? l * n : 0);
    for (int c = 0; c < n; ++c) {
      v[c].v[l] = static_cast<S>(row[c]);
    }
  }
  return v;
}
template <class S, int n, class T>
inline void write_rows(T* p, int64_t left, const Vector<Pack<S>, n>& v) {
  for (int l = 0; l < Pack<S>::lanes && l < left; ++l) {
    for (int c = 0; c < n; ++c) {
      p[l * n + c] = static_cast<T>(v[c].v[l]);
    }
  }
}

template <class T>
void forward(LieMap map, LieGroup group, const T* x, T* y, int64_t first, int64_t last) {
  visit_map(map, group, [&]<class M, class G>(M, G) {
    using S = Computed<G, T>;
    for (int64_t i = first; i < last; i += Pack<S>::lanes) {
      write_rows<S>(y + i * M::out, last - i, M::of(read_rows<S, M::in>(x + i * M::in, last - i)));
    }
  });
}

template <class T>
void backward(LieMap map, LieGroup group, const T* x, const T* gy, T* gx, int64_t first, int64_t last) {
  visit_map(map, group, [&]<class M, class G>(M, G) {
    using S = Computed<G, T>;
    using P = Pack<S>;
    using D = Dual<P, 1>;
    for (int64_t i = first; i < last; i += P::lanes) {
      const auto at = read_rows<S, M::in>(x + i * M::in, last - i);
      const auto g = read_rows<S, M::out>(gy + i * M::out, last - i);
      Vector<D, M::in> moved;
      Vector<P, M::in> found;
      for (int c = 0; c < M::in; ++c) {
        moved[c] = D(at[c]);
      }
      for (int c = 0; c < M::in; ++c) {
        moved[c].d[0] = P(1);
        const auto y = M::of(moved);
        moved[c].d[0] = P(0);
        found[c] = P(0);
        for (int k = 0; k < M::out; ++k) {
          found[c] += g[k] * y[k].d[0];
        }
      }
      write_rows<S>(gx + i * M::in, last - i, found);
    }
  });
}

template <class T>
constexpr LieMaps<T> table{forward<T>, backward<T>};

}  // namespace
}  // namespace WEYL_ISA::lie

template <>
const LieMaps<float>& compiled<LieMaps<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<float>;
}
template <>
const LieMaps<double>& compiled<LieMaps<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<double>;
}

}  // namespace weyl::kernels

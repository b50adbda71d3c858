#include "weyl/kernels/lie/maps.h"

#include "weyl/algebra/lie/dual.h"
#include "weyl/kernels/lie/map_formulas.h"
#include "weyl/kernels/lie/pack.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

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

}  // namespace WEYL_ISA::lie

namespace WEYL_ISA {

template <class T>
void lie_map(LieMap map, LieGroup group, const T* x, T* y, int64_t first, int64_t last) {
  lie::visit_map(map, group, [&]<class M, class G>(M, G) {
    using S = lie::Computed<G, T>;
    for (int64_t i = first; i < last; i += lie::Pack<S>::lanes) {
      lie::write_rows<S>(y + i * M::out, last - i, M::of(lie::read_rows<S, M::in>(x + i * M::in, last - i)));
    }
  });
}

template <class T>
void lie_map_backward(LieMap map, LieGroup group, const T* x, const T* gy, T* gx, int64_t first,
                      int64_t last) {
  lie::visit_map(map, group, [&]<class M, class G>(M, G) {
    using S = lie::Computed<G, T>;
    using P = lie::Pack<S>;
    using D = lie::Dual<P, 1>;
    for (int64_t i = first; i < last; i += P::lanes) {
      const auto at = lie::read_rows<S, M::in>(x + i * M::in, last - i);
      const auto g = lie::read_rows<S, M::out>(gy + i * M::out, last - i);
      lie::Vector<D, M::in> moved;
      lie::Vector<P, M::in> found;
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
      lie::write_rows<S>(gx + i * M::in, last - i, found);
    }
  });
}

template void lie_map<float>(LieMap, LieGroup, const float*, float*, int64_t, int64_t);
template void lie_map<double>(LieMap, LieGroup, const double*, double*, int64_t, int64_t);
template void lie_map_backward<float>(LieMap, LieGroup, const float*, const float*, float*, int64_t, int64_t);
template void lie_map_backward<double>(LieMap, LieGroup, const double*, const double*, double*, int64_t,
                                       int64_t);

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
void lie_map(LieMap, LieGroup, const T*, T*, int64_t, int64_t);
template <class T>
void lie_map_backward(LieMap, LieGroup, const T*, const T*, T*, int64_t, int64_t);
}  // namespace v3
namespace v4 {
template <class T>
void lie_map(LieMap, LieGroup, const T*, T*, int64_t, int64_t);
template <class T>
void lie_map_backward(LieMap, LieGroup, const T*, const T*, T*, int64_t, int64_t);
}  // namespace v4
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

template <class T>
void lie_map(LieMap map, LieGroup group, const T* x, T* y, int64_t first, int64_t last) {
  choose(&baseline::lie_map<T>, &v3::lie_map<T>, &v4::lie_map<T>)(map, group, x, y, first, last);
}
template <class T>
void lie_map_backward(LieMap map, LieGroup group, const T* x, const T* gy, T* gx, int64_t first,
                      int64_t last) {
  choose(&baseline::lie_map_backward<T>, &v3::lie_map_backward<T>, &v4::lie_map_backward<T>)(
      map, group, x, gy, gx, first, last);
}
template void lie_map<float>(LieMap, LieGroup, const float*, float*, int64_t, int64_t);
template void lie_map<double>(LieMap, LieGroup, const double*, double*, int64_t, int64_t);
template void lie_map_backward<float>(LieMap, LieGroup, const float*, const float*, float*, int64_t, int64_t);
template void lie_map_backward<double>(LieMap, LieGroup, const double*, const double*, double*, int64_t,
                                       int64_t);
#endif

}  // namespace weyl::kernels

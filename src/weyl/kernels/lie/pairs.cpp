#include "weyl/kernels/lie/pairs.h"

#include "weyl/kernels/lie/pack_memory.h"

namespace weyl::kernels {
namespace WEYL_ISA {

template <class T>
void lie_pair_logs(const LieElements<T>& a, const LieElements<T>& b, T* w, T* margin, int64_t first,
                   int64_t last) {
  lie::visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = lie::Computed<G, T>;
    using P = lie::Pack<S>;
    const bool same = a.planes == b.planes;
    for (int64_t i = first; i < last; ++i) {
      const auto anchor = lie::anchor_of<G, S>(a, i);
      T* row = w + i * G::dof * b.count;
      for (int64_t j = 0; j < b.count; j += P::lanes) {
        const int64_t left = b.count - j;
        P inside;
        const auto log = lie::guarded_log<G>(G::from_anchor(anchor, lie::read_elements<G, S>(b, j)),
                                             margin ? &inside : nullptr);
        lie::write_planes(row + j, b.count, left, log);
        if (margin) {
          lie::write(margin + i * b.count + j, inside, left);
        }
      }
      for (int k = 0; same && k < G::dof; ++k) {
        row[k * b.count + i] = 0;
      }
    }
  });
}

template <class T>
void lie_logs(const LieElements<T>& a, const LieElements<T>& b, T* w, int64_t stride, T* margin,
              int64_t first, int64_t last) {
  lie::visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = lie::Computed<G, T>;
    using P = lie::Pack<S>;
    for (int64_t k = first; k < last; k += P::lanes) {
      const int64_t left = last - k;
      P inside;
      const auto anchor = G::anchor(lie::read_elements<G, S>(a, k));
      const auto log = lie::guarded_log<G>(G::from_anchor(anchor, lie::read_elements<G, S>(b, k)),
                                           margin ? &inside : nullptr);
      lie::write_planes(w + k, stride, left, log);
      if (margin) {
        lie::write(margin + k, inside, left);
      }
    }
  });
}

template void lie_pair_logs<float>(const LieElements<float>&, const LieElements<float>&, float*, float*,
                                   int64_t, int64_t);
template void lie_pair_logs<double>(const LieElements<double>&, const LieElements<double>&, double*, double*,
                                    int64_t, int64_t);
template void lie_logs<float>(const LieElements<float>&, const LieElements<float>&, float*, int64_t, float*,
                              int64_t, int64_t);
template void lie_logs<double>(const LieElements<double>&, const LieElements<double>&, double*, int64_t,
                               double*, int64_t, int64_t);

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
void lie_pair_logs(const LieElements<T>&, const LieElements<T>&, T*, T*, int64_t, int64_t);
template <class T>
void lie_logs(const LieElements<T>&, const LieElements<T>&, T*, int64_t, T*, int64_t, int64_t);
}  // namespace v3
namespace v4 {
template <class T>
void lie_pair_logs(const LieElements<T>&, const LieElements<T>&, T*, T*, int64_t, int64_t);
template <class T>
void lie_logs(const LieElements<T>&, const LieElements<T>&, T*, int64_t, T*, int64_t, int64_t);
}  // namespace v4
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

template <class T>
void lie_pair_logs(const LieElements<T>& a, const LieElements<T>& b, T* w, T* margin, int64_t first,
                   int64_t last) {
  choose(&baseline::lie_pair_logs<T>, &v3::lie_pair_logs<T>, &v4::lie_pair_logs<T>)(a, b, w, margin, first,
                                                                                    last);
}
template <class T>
void lie_logs(const LieElements<T>& a, const LieElements<T>& b, T* w, int64_t stride, T* margin,
              int64_t first, int64_t last) {
  choose(&baseline::lie_logs<T>, &v3::lie_logs<T>, &v4::lie_logs<T>)(a, b, w, stride, margin, first, last);
}
template void lie_pair_logs<float>(const LieElements<float>&, const LieElements<float>&, float*, float*,
                                   int64_t, int64_t);
template void lie_pair_logs<double>(const LieElements<double>&, const LieElements<double>&, double*, double*,
                                    int64_t, int64_t);
template void lie_logs<float>(const LieElements<float>&, const LieElements<float>&, float*, int64_t, float*,
                              int64_t, int64_t);
template void lie_logs<double>(const LieElements<double>&, const LieElements<double>&, double*, int64_t,
                               double*, int64_t, int64_t);
#endif

}  // namespace weyl::kernels

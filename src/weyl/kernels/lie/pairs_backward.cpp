#include "weyl/kernels/lie/pack_memory.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA {

template <class T>
void lie_pair_logs_backward(const LieElements<T>& a, const LieElements<T>& b, const T* gw, T* ga, T* gb,
                            int64_t first, int64_t last) {
  lie::visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = lie::Computed<G, T>;
    using P = lie::Pack<S>;
    for (int64_t i = first; i < last; ++i) {
      const auto anchor = lie::anchor_of<G, S>(a, i);
      const T* row = gw + i * G::dof * b.count;
      auto sum = lie::zeros<P, G::dof>();
      for (int64_t j = 0; j < b.count; j += P::lanes) {
        const int64_t left = b.count - j;
        typename G::template Tangent<P> by_a, by_b;
        lie::guarded_adjoint<G>(G::from_anchor(anchor, lie::read_elements<G, S>(b, j)),
                                lie::read_planes<S, G::dof>(row + j, b.count, left), by_a, by_b);
        sum = sum + by_a;
        if (gb) {
          lie::write_planes(gb + j, b.stride, left,
                            by_b + lie::read_planes<S, G::dof>(gb + j, b.stride, left));
        }
      }
      for (int k = 0; ga && k < G::dof; ++k) {
        ga[k * a.stride + i] += static_cast<T>(sum_of<S>(sum[k].v));
      }
    }
  });
}

template <class T>
void lie_logs_backward(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride, T* ga,
                       T* gb, int64_t first, int64_t last) {
  lie::visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = lie::Computed<G, T>;
    using P = lie::Pack<S>;
    for (int64_t k = first; k < last; k += P::lanes) {
      const int64_t left = last - k;
      typename G::template Tangent<P> by_a, by_b;
      const auto anchor = G::anchor(lie::read_elements<G, S>(a, k));
      lie::guarded_adjoint<G>(G::from_anchor(anchor, lie::read_elements<G, S>(b, k)),
                              lie::read_planes<S, G::dof>(gw + k, stride, left), by_a, by_b);
      if (ga) {
        lie::write_planes(ga + k, a.stride, left, by_a);
      }
      if (gb) {
        lie::write_planes(gb + k, b.stride, left, by_b);
      }
    }
  });
}

template <class T>
void lie_compact_gradients(const LieElements<T>& g, const T* by_tangent, T* by_element, int64_t first,
                           int64_t last) {
  lie::visit(g.group, [&](auto tag) {
    using G = decltype(tag);
    using S = lie::Computed<G, T>;
    for (int64_t k = first; k < last; k += lie::Pack<S>::lanes) {
      const int64_t left = last - k;
      const auto gradient = G::compact_gradient(lie::read_elements<G, S>(g, k),
                                                lie::read_planes<S, G::dof>(by_tangent + k, g.stride, left));
      lie::write_planes(by_element + k, g.stride, left, gradient);
    }
  });
}

template void lie_pair_logs_backward<float>(const LieElements<float>&, const LieElements<float>&,
                                            const float*, float*, float*, int64_t, int64_t);
template void lie_pair_logs_backward<double>(const LieElements<double>&, const LieElements<double>&,
                                             const double*, double*, double*, int64_t, int64_t);
template void lie_logs_backward<float>(const LieElements<float>&, const LieElements<float>&, const float*,
                                       int64_t, float*, float*, int64_t, int64_t);
template void lie_logs_backward<double>(const LieElements<double>&, const LieElements<double>&, const double*,
                                        int64_t, double*, double*, int64_t, int64_t);
template void lie_compact_gradients<float>(const LieElements<float>&, const float*, float*, int64_t, int64_t);
template void lie_compact_gradients<double>(const LieElements<double>&, const double*, double*, int64_t,
                                            int64_t);

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
void lie_pair_logs_backward(const LieElements<T>&, const LieElements<T>&, const T*, T*, T*, int64_t, int64_t);
template <class T>
void lie_logs_backward(const LieElements<T>&, const LieElements<T>&, const T*, int64_t, T*, T*, int64_t,
                       int64_t);
template <class T>
void lie_compact_gradients(const LieElements<T>&, const T*, T*, int64_t, int64_t);
}  // namespace v3
namespace v4 {
template <class T>
void lie_pair_logs_backward(const LieElements<T>&, const LieElements<T>&, const T*, T*, T*, int64_t, int64_t);
template <class T>
void lie_logs_backward(const LieElements<T>&, const LieElements<T>&, const T*, int64_t, T*, T*, int64_t,
                       int64_t);
template <class T>
void lie_compact_gradients(const LieElements<T>&, const T*, T*, int64_t, int64_t);
}  // namespace v4
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

template <class T>
void lie_pair_logs_backward(const LieElements<T>& a, const LieElements<T>& b, const T* gw, T* ga, T* gb,
                            int64_t first, int64_t last) {
  choose(&baseline::lie_pair_logs_backward<T>, &v3::lie_pair_logs_backward<T>,
         &v4::lie_pair_logs_backward<T>)(a, b, gw, ga, gb, first, last);
}
template <class T>
void lie_logs_backward(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride, T* ga,
                       T* gb, int64_t first, int64_t last) {
  choose(&baseline::lie_logs_backward<T>, &v3::lie_logs_backward<T>, &v4::lie_logs_backward<T>)(
      a, b, gw, stride, ga, gb, first, last);
}
template <class T>
void lie_compact_gradients(const LieElements<T>& g, const T* by_tangent, T* by_element, int64_t first,
                           int64_t last) {
  choose(&baseline::lie_compact_gradients<T>, &v3::lie_compact_gradients<T>, &v4::lie_compact_gradients<T>)(
      g, by_tangent, by_element, first, last);
}
template void lie_pair_logs_backward<float>(const LieElements<float>&, const LieElements<float>&,
                                            const float*, float*, float*, int64_t, int64_t);
template void lie_pair_logs_backward<double>(const LieElements<double>&, const LieElements<double>&,
                                             const double*, double*, double*, int64_t, int64_t);
template void lie_logs_backward<float>(const LieElements<float>&, const LieElements<float>&, const float*,
                                       int64_t, float*, float*, int64_t, int64_t);
template void lie_logs_backward<double>(const LieElements<double>&, const LieElements<double>&, const double*,
                                        int64_t, double*, double*, int64_t, int64_t);
template void lie_compact_gradients<float>(const LieElements<float>&, const float*, float*, int64_t, int64_t);
template void lie_compact_gradients<double>(const LieElements<double>&, const double*, double*, int64_t,
                                            int64_t);
#endif

}  // namespace weyl::kernels

#include "weyl/kernels/lie/pack_memory.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// Derivatives along (va, vb): of log(a^-1 b), and of its gradients by the numbers of a and b.
template <class G, class P>
struct SecondOfLog {
  typename G::template Tangent<P> log;
  typename G::template Element<P> by_a, by_b;

  SecondOfLog(const typename G::template Element<P>& a, const typename G::template Element<P>& va,
              const typename G::template Element<P>& b, const typename G::template Element<P>& vb,
              const typename G::template Tangent<P>& gw) {
    using D = Dual<P, 1>;
    typename G::template Element<D> x, y, gx, gy;
    typename G::template Tangent<D> g;
    for (int c = 0; c < G::compact; ++c) {
      x[c] = D(a[c]);
      y[c] = D(b[c]);
      x[c].d[0] = va[c];
      y[c].d[0] = vb[c];
    }
    for (int k = 0; k < G::dof; ++k) {
      g[k] = D(gw[k]);
    }
    const auto relative = between<G, D>(admitted<G, D>(x), admitted<G, D>(y));
    const auto w = G::log(relative);
    log_between_gradient<G, D>(x, y, g, gx, gy);
    for (int k = 0; k < G::dof; ++k) {
      log[k] = w[k].d[0];
    }
    for (int c = 0; c < G::compact; ++c) {
      by_a[c] = gx[c].d[0];
      by_b[c] = gy[c].d[0];
    }
    if constexpr (!is_rigid(G::group)) {
      const auto inside = G::margin(relative) > D(P(0));
      log = select(inside, log, zeros<P, G::dof>());
      by_a = select(inside, by_a, zeros<P, G::compact>());
      by_b = select(inside, by_b, zeros<P, G::compact>());
    }
  }
};

/// The numbers at p, p + stride, ..., each in every lane.
template <class S, int n, class T>
inline Vector<Pack<S>, n> spread_planes(const T* p, int64_t stride) {
  Vector<Pack<S>, n> v;
  for (int c = 0; c < n; ++c) {
    v[c] = Pack<S>(p[c * stride]);
  }
  return v;
}

}  // namespace WEYL_ISA::lie

namespace WEYL_ISA {

template <class T>
void lie_pair_logs_second(const LieElements<T>& a, const LieElements<T>& b, const T* gw, const T* va,
                          const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last) {
  lie::visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = lie::Computed<G, T>;
    using P = lie::Pack<S>;
    for (int64_t i = first; i < last; ++i) {
      const auto x = lie::spread_planes<S, G::compact>(a.planes + i, a.stride);
      const auto vx = lie::spread_planes<S, G::compact>(va + i, a.stride);
      const int64_t row = i * G::dof * b.count;
      auto sum = lie::zeros<P, G::compact>();
      for (int64_t j = 0; j < b.count; j += P::lanes) {
        const int64_t left = b.count - j;
        const lie::SecondOfLog<G, P> d(x, vx, lie::read_elements<G, S>(b, j),
                                       lie::read_planes<S, G::compact>(vb + j, b.stride, left),
                                       lie::read_planes<S, G::dof>(gw + row + j, b.count, left));
        sum = sum + d.by_a;  // linear in gw, so 0 in the lanes beyond the end
        if (ggw) {
          lie::write_planes(ggw + row + j, b.count, left, d.log);
        }
        if (gb) {
          lie::write_planes(gb + j, b.stride, left,
                            d.by_b + lie::read_planes<S, G::compact>(gb + j, b.stride, left));
        }
      }
      for (int c = 0; ga && c < G::compact; ++c) {
        ga[c * a.stride + i] += static_cast<T>(sum_of<S>(sum[c].v));
      }
    }
  });
}

template <class T>
void lie_logs_second(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride,
                     const T* va, const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last) {
  lie::visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = lie::Computed<G, T>;
    using P = lie::Pack<S>;
    for (int64_t k = first; k < last; k += P::lanes) {
      const int64_t left = last - k;
      const lie::SecondOfLog<G, P> d(
          lie::read_elements<G, S>(a, k), lie::read_planes<S, G::compact>(va + k, a.stride, left),
          lie::read_elements<G, S>(b, k), lie::read_planes<S, G::compact>(vb + k, b.stride, left),
          lie::read_planes<S, G::dof>(gw + k, stride, left));
      if (ggw) {
        lie::write_planes(ggw + k, stride, left, d.log);
      }
      if (ga) {
        lie::write_planes(ga + k, a.stride, left, d.by_a);
      }
      if (gb) {
        lie::write_planes(gb + k, b.stride, left, d.by_b);
      }
    }
  });
}

template void lie_pair_logs_second<float>(const LieElements<float>&, const LieElements<float>&, const float*,
                                          const float*, const float*, float*, float*, float*, int64_t,
                                          int64_t);
template void lie_pair_logs_second<double>(const LieElements<double>&, const LieElements<double>&,
                                           const double*, const double*, const double*, double*, double*,
                                           double*, int64_t, int64_t);
template void lie_logs_second<float>(const LieElements<float>&, const LieElements<float>&, const float*,
                                     int64_t, const float*, const float*, float*, float*, float*, int64_t,
                                     int64_t);
template void lie_logs_second<double>(const LieElements<double>&, const LieElements<double>&, const double*,
                                      int64_t, const double*, const double*, double*, double*, double*,
                                      int64_t, int64_t);

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
void lie_pair_logs_second(const LieElements<T>&, const LieElements<T>&, const T*, const T*, const T*, T*, T*,
                          T*, int64_t, int64_t);
template <class T>
void lie_logs_second(const LieElements<T>&, const LieElements<T>&, const T*, int64_t, const T*, const T*, T*,
                     T*, T*, int64_t, int64_t);
}  // namespace v3
namespace v4 {
template <class T>
void lie_pair_logs_second(const LieElements<T>&, const LieElements<T>&, const T*, const T*, const T*, T*, T*,
                          T*, int64_t, int64_t);
template <class T>
void lie_logs_second(const LieElements<T>&, const LieElements<T>&, const T*, int64_t, const T*, const T*, T*,
                     T*, T*, int64_t, int64_t);
}  // namespace v4
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

template <class T>
void lie_pair_logs_second(const LieElements<T>& a, const LieElements<T>& b, const T* gw, const T* va,
                          const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last) {
  choose(&baseline::lie_pair_logs_second<T>, &v3::lie_pair_logs_second<T>, &v4::lie_pair_logs_second<T>)(
      a, b, gw, va, vb, ggw, ga, gb, first, last);
}
template <class T>
void lie_logs_second(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride,
                     const T* va, const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last) {
  choose(&baseline::lie_logs_second<T>, &v3::lie_logs_second<T>, &v4::lie_logs_second<T>)(
      a, b, gw, stride, va, vb, ggw, ga, gb, first, last);
}
template void lie_pair_logs_second<float>(const LieElements<float>&, const LieElements<float>&, const float*,
                                          const float*, const float*, float*, float*, float*, int64_t,
                                          int64_t);
template void lie_pair_logs_second<double>(const LieElements<double>&, const LieElements<double>&,
                                           const double*, const double*, const double*, double*, double*,
                                           double*, int64_t, int64_t);
template void lie_logs_second<float>(const LieElements<float>&, const LieElements<float>&, const float*,
                                     int64_t, const float*, const float*, float*, float*, float*, int64_t,
                                     int64_t);
template void lie_logs_second<double>(const LieElements<double>&, const LieElements<double>&, const double*,
                                      int64_t, const double*, const double*, double*, double*, double*,
                                      int64_t, int64_t);
#endif

}  // namespace weyl::kernels

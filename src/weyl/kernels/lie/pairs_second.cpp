#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pack_memory.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {
namespace {

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

template <class T>
void pairs(const LieElements<T>& a, const LieElements<T>& b, const T* gw, const T* va, const T* vb, T* ggw,
           T* ga, T* gb, int64_t first, int64_t last) {
  visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = Computed<G, T>;
    using P = Pack<S>;
    for (int64_t i = first; i < last; ++i) {
      const auto x = spread_planes<S, G::compact>(a.planes + i, a.stride);
      const auto vx = spread_planes<S, G::compact>(va + i, a.stride);
      const int64_t row = i * G::dof * b.count;
      auto sum = zeros<P, G::compact>();
      for (int64_t j = 0; j < b.count; j += P::lanes) {
        const int64_t left = b.count - j;
        const SecondOfLog<G, P> d(x, vx, read_elements<G, S>(b, j),
                                  read_planes<S, G::compact>(vb + j, b.stride, left),
                                  read_planes<S, G::dof>(gw + row + j, b.count, left));
        sum = sum + d.by_a;  // linear in gw, so 0 in the lanes beyond the end
        if (ggw) {
          write_planes(ggw + row + j, b.count, left, d.log);
        }
        if (gb) {
          write_planes(gb + j, b.stride, left, d.by_b + read_planes<S, G::compact>(gb + j, b.stride, left));
        }
      }
      for (int c = 0; ga && c < G::compact; ++c) {
        ga[c * a.stride + i] += static_cast<T>(sum_of<S>(sum[c].v));
      }
    }
  });
}

template <class T>
void rows(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride, const T* va,
          const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last) {
  visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = Computed<G, T>;
    using P = Pack<S>;
    for (int64_t k = first; k < last; k += P::lanes) {
      const int64_t left = last - k;
      const SecondOfLog<G, P> d(read_elements<G, S>(a, k), read_planes<S, G::compact>(va + k, a.stride, left),
                                read_elements<G, S>(b, k), read_planes<S, G::compact>(vb + k, b.stride, left),
                                read_planes<S, G::dof>(gw + k, stride, left));
      if (ggw) {
        write_planes(ggw + k, stride, left, d.log);
      }
      if (ga) {
        write_planes(ga + k, a.stride, left, d.by_a);
      }
      if (gb) {
        write_planes(gb + k, b.stride, left, d.by_b);
      }
    }
  });
}

template <class T>
constexpr LieLogsSecond<T> table{pairs<T>, rows<T>};

}  // namespace
}  // namespace WEYL_ISA::lie

template <>
const LieLogsSecond<float>& compiled<LieLogsSecond<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<float>;
}
template <>
const LieLogsSecond<double>& compiled<LieLogsSecond<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<double>;
}

}  // namespace weyl::kernels

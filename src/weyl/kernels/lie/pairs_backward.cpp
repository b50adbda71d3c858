#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pack_memory.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {
namespace {

template <class T>
void pairs(const LieElements<T>& a, const LieElements<T>& b, const T* gw, T* ga, T* gb, int64_t first,
           int64_t last) {
  visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = Computed<G, T>;
    using P = Pack<S>;
    for (int64_t i = first; i < last; ++i) {
      const auto anchor = anchor_of<G, S>(a, i);
      const T* row = gw + i * G::dof * b.count;
      auto sum = zeros<P, G::dof>();
      for (int64_t j = 0; j < b.count; j += P::lanes) {
        const int64_t left = b.count - j;
        typename G::template Tangent<P> by_a, by_b;
        guarded_adjoint<G>(G::from_anchor(anchor, read_elements<G, S>(b, j)),
                           read_planes<S, G::dof>(row + j, b.count, left), by_a, by_b);
        sum = sum + by_a;
        if (gb) {
          write_planes(gb + j, b.stride, left, by_b + read_planes<S, G::dof>(gb + j, b.stride, left));
        }
      }
      for (int k = 0; ga && k < G::dof; ++k) {
        ga[k * a.stride + i] += static_cast<T>(sum_of<S>(sum[k].v));
      }
    }
  });
}

template <class T>
void rows(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride, T* ga, T* gb,
          int64_t first, int64_t last) {
  visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = Computed<G, T>;
    using P = Pack<S>;
    for (int64_t k = first; k < last; k += P::lanes) {
      const int64_t left = last - k;
      typename G::template Tangent<P> by_a, by_b;
      const auto anchor = G::anchor(read_elements<G, S>(a, k));
      guarded_adjoint<G>(G::from_anchor(anchor, read_elements<G, S>(b, k)),
                         read_planes<S, G::dof>(gw + k, stride, left), by_a, by_b);
      if (ga) {
        write_planes(ga + k, a.stride, left, by_a);
      }
      if (gb) {
        write_planes(gb + k, b.stride, left, by_b);
      }
    }
  });
}

template <class T>
void compact(const LieElements<T>& g, const T* by_tangent, T* by_element, int64_t first, int64_t last) {
  visit(g.group, [&](auto tag) {
    using G = decltype(tag);
    using S = Computed<G, T>;
    for (int64_t k = first; k < last; k += Pack<S>::lanes) {
      const int64_t left = last - k;
      const auto gradient = G::compact_gradient(read_elements<G, S>(g, k),
                                                read_planes<S, G::dof>(by_tangent + k, g.stride, left));
      write_planes(by_element + k, g.stride, left, gradient);
    }
  });
}

template <class T>
constexpr LieLogsBackward<T> table{pairs<T>, rows<T>, compact<T>};

}  // namespace
}  // namespace WEYL_ISA::lie

template <>
const LieLogsBackward<float>& compiled<LieLogsBackward<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<float>;
}
template <>
const LieLogsBackward<double>& compiled<LieLogsBackward<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<double>;
}

}  // namespace weyl::kernels

#include "weyl/kernels/lie/pairs.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pack_memory.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {
namespace {

template <class T>
void pairs(const LieElements<T>& a, const LieElements<T>& b, T* w, T* margin, int64_t first, int64_t last) {
  visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = Computed<G, T>;
    using P = Pack<S>;
    const bool same = a.planes == b.planes;
    for (int64_t i = first; i < last; ++i) {
      const auto anchor = anchor_of<G, S>(a, i);
      T* row = w + i * G::dof * b.count;
      for (int64_t j = 0; j < b.count; j += P::lanes) {
        const int64_t left = b.count - j;
        P inside;
        const auto log =
            guarded_log<G>(G::from_anchor(anchor, read_elements<G, S>(b, j)), margin ? &inside : nullptr);
        write_planes(row + j, b.count, left, log);
        if (margin) {
          write(margin + i * b.count + j, inside, left);
        }
      }
      for (int k = 0; same && k < G::dof; ++k) {
        row[k * b.count + i] = 0;
      }
    }
  });
}

template <class T>
void rows(const LieElements<T>& a, const LieElements<T>& b, T* w, int64_t stride, T* margin, int64_t first,
          int64_t last) {
  visit(a.group, [&](auto tag) {
    using G = decltype(tag);
    using S = Computed<G, T>;
    using P = Pack<S>;
    for (int64_t k = first; k < last; k += P::lanes) {
      const int64_t left = last - k;
      P inside;
      const auto anchor = G::anchor(read_elements<G, S>(a, k));
      const auto log =
          guarded_log<G>(G::from_anchor(anchor, read_elements<G, S>(b, k)), margin ? &inside : nullptr);
      write_planes(w + k, stride, left, log);
      if (margin) {
        write(margin + k, inside, left);
      }
    }
  });
}

template <class T>
constexpr LieLogs<T> table{pairs<T>, rows<T>};

}  // namespace
}  // namespace WEYL_ISA::lie

template <>
const LieLogs<float>& compiled<LieLogs<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<float>;
}
template <>
const LieLogs<double>& compiled<LieLogs<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<double>;
}

}  // namespace weyl::kernels

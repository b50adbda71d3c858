#include "weyl/kernels/lie/tiles.h"

#include "weyl/algebra/lie/charts.h"
#include "weyl/kernels/lie/pack_memory.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {
namespace {

/// x is 0, and not NaN.
template <class S>
inline Mask<S> is_nothing(Pack<S> x) {
  const Pack<S> zero(0);
  return (!(x > zero)) & (!(x < zero)) & (x < Pack<S>(1));
}
/// g is a half-turn, the rigid groups' only elements outside the chart: exactly where G::margin is 0, without
/// its arc.
template <class S>
inline Mask<S> half_turn(SO2, const Vector<Pack<S>, 2>& g) {
  return is_nothing(g[1]) & (g[0] < Pack<S>(0));
}
template <class S>
inline auto half_turn(SE2, const Vector<Pack<S>, 4>& g) {
  return half_turn(SO2{}, SE2::rotation(g));
}
template <class S>
inline auto half_turn(SO3, const Vector<Pack<S>, 4>& g) {
  return is_nothing(g[3]);
}
template <class S>
inline auto half_turn(SE3, const Vector<Pack<S>, 7>& g) {
  return half_turn(SO3{}, SE3::rotation(g));
}

/// What attention takes from a relative pose.
template <class G, class S>
struct Geometry {
  using P = Pack<S>;
  static constexpr int blocks = block_count(G::group);
  typename G::template Tangent<P> w;  // orthonormal
  Vector<P, blocks> squares;
  Mask<S> outside, closed;

  Geometry(const typename G::template Element<P>& g, ChartPolicy policy) {
    const P zero(0);
    P margin(0);
    if constexpr (is_rigid(G::group)) {
      outside = half_turn(G{}, g);
      closed = Mask<S>{Bits<S>{}};
    } else {
      margin = G::margin(g);
      closed = outside = (!(margin > zero)) & (margin < P(1));  // NaN is neither
    }
    if (policy == ChartPolicy::frobenius) {
      auto regular = g;
      closed = Mask<S>{Bits<S>{}};
      if constexpr (!is_rigid(G::group)) {
        closed = G::singular(G::linear(g));
        regular = select(closed, G::template identity<P>(), g);
      }
      w = frobenius_log<G, P>(regular);
      squares = frobenius_squares<G, P, blocks>(regular);
    } else if (policy == ChartPolicy::polar) {
      P angle;
      w = polar_log(G{}, g, angle);
      if constexpr (!is_rigid(G::group)) {
        closed = angle < zero;
      }
    } else {
      w = guarded_log<G>(g, static_cast<P*>(nullptr));
    }
    constexpr const double* scale = norm_tables[static_cast<int>(G::group)];
    for (int k = 0; k < G::dof; ++k) {
      w[k] = P(scale[k]) * w[k];
    }
    if (policy != ChartPolicy::frobenius) {
      constexpr const LieBlock* parts = block_tables[static_cast<int>(G::group)];
      for (int b = 0; b < blocks; ++b) {
        squares[b] = w[parts[b].begin] * w[parts[b].begin];
        for (int k = parts[b].begin + 1; k < parts[b].begin + parts[b].size; ++k) {
          squares[b] += w[k] * w[k];
        }
      }
    }
  }
};

template <class T>
int64_t fill(const LieElements<double>& g, ChartPolicy policy, int64_t i, int64_t j, int64_t count,
             const PairTile<T>& to) {
  int64_t outside = 0;
  visit(g.group, [&](auto tag) {
    using G = decltype(tag);
    using S = double;
    using P = Pack<S>;
    const auto anchor = anchor_of<G, S>(g, i);
    const P none(0), never(-__builtin_inf());
    for (int64_t k = 0; k < padded<T>(count); k += P::lanes) {
      const Geometry<G, S> at(G::from_anchor(anchor, read_elements<G, S>(g, j + k)), policy);
      for (int c = 0; c < G::dof; ++c) {
        write(to.coordinates + c * tile + k, at.w[c], P::lanes);
        if (to.exact) {
          write(to.exact + c * tile + k, at.w[c], P::lanes);
        }
      }
      for (int b = 0; b < Geometry<G, S>::blocks; ++b) {
        write(to.squares + b * tile + k, at.squares[b], P::lanes);
      }
      write(to.open + k, select(at.closed, never, none), P::lanes);
      if (any(at.outside)) {
        for (int l = 0; l < P::lanes && k + l < count; ++l) {
          outside += at.outside.bits[l] != 0 && j + k + l != i;
        }
      }
    }
    if (j <= i && i < j + count) {
      for (int c = 0; c < G::dof; ++c) {
        to.coordinates[c * tile + i - j] = 0;
        if (to.exact) {
          to.exact[c * tile + i - j] = 0;
        }
      }
      for (int b = 0; b < Geometry<G, S>::blocks; ++b) {
        to.squares[b * tile + i - j] = 0;
      }
      to.open[i - j] = -__builtin_inf();
    }
    for (int64_t k = count; k < padded<T>(count); ++k) {
      to.open[k] = -__builtin_inf();
    }
  });
  return outside;
}

template <class T>
void pull(const LieElements<double>& g, int64_t i, int64_t j, int64_t count, const T* gw, double* ga,
          double* gb) {
  visit(g.group, [&](auto tag) {
    using G = decltype(tag);
    using S = double;
    using P = Pack<S>;
    constexpr const double* scale = norm_tables[static_cast<int>(G::group)];
    const auto anchor = anchor_of<G, S>(g, i);
    auto sum = zeros<P, G::dof>();
    for (int64_t k = 0; k < count; k += P::lanes) {
      const int64_t left = count - k;
      auto physical = read_planes<S, G::dof>(gw + k, tile, left);
      for (int c = 0; c < G::dof; ++c) {
        physical[c] = P(scale[c]) * physical[c];
      }
      typename G::template Tangent<P> by_a, by_b;
      guarded_adjoint<G>(G::from_anchor(anchor, read_elements<G, S>(g, j + k)), physical, by_a, by_b);
      sum = sum + by_a;
      double* to = gb + j + k;
      write_planes(to, g.stride, left, by_b + read_planes<S, G::dof>(to, g.stride, left));
    }
    for (int c = 0; c < G::dof; ++c) {
      ga[c * g.stride + i] += sum_of<S>(sum[c].v);
    }
  });
}

template <class T>
constexpr LieTiles<T> table{fill<T>, pull<T>};

}  // namespace
}  // namespace WEYL_ISA::lie

template <>
const LieTiles<float>& compiled<LieTiles<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<float>;
}
template <>
const LieTiles<double>& compiled<LieTiles<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<double>;
}

}  // namespace weyl::kernels

// Jacobians, adjoints and gradients.
#include "weyl/algebra/lie/group.h"
#include "weyl/algebra/lie/spans.h"

namespace weyl {

using namespace lie_spans;  // NOLINT(google-build-using-namespace): the other half of this file

template <class T>
void Lie<T>::integral(In w, Out V) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    constexpr int n = G::dimension;
    require(G::dof > n, "Lie::integral: ", name_of(group), " has no translations");
    auto moved = tangent<G, S>(w, "integral: w");
    formulas::Matrix<S, n> columns{};
    if constexpr (G::matrix > n) {
      for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
          moved[i] = i == k;
        }
        const auto g = G::translation(G::exp(moved));
        for (int i = 0; i < n; ++i) {
          columns[i][k] = g[i];
        }
      }
    }
    put(columns, V, "integral: V");
  });
}

template <class T>
void Lie<T>::integral_inverse(In w, Out V_inverse) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    constexpr int n = G::dimension;
    require(G::dof > n, "Lie::integral_inverse: ", name_of(group), " has no translations");
    formulas::Matrix<S, n> columns{};
    if constexpr (G::matrix > n) {
      auto g = G::to_matrix(G::exp(tangent<G, S>(w, "integral_inverse: w")));
      for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
          g[i][n] = i == k;
        }
        const auto log = G::log(G::from_matrix(g));
        for (int i = 0; i < n; ++i) {
          columns[i][k] = log[i];
        }
      }
    }
    put(columns, V_inverse, "integral_inverse: V");
  });
}

template <class T>
void Lie<T>::left_jacobian(In w, Out J) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::left_jacobian(tangent<G, S>(w, "left_jacobian: w")), J, "left_jacobian: J");
  });
}

template <class T>
void Lie<T>::right_jacobian(In w, Out J) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::left_jacobian(-tangent<G, S>(w, "right_jacobian: w")), J, "right_jacobian: J");
  });
}

template <class T>
void Lie<T>::left_jacobian_inverse(In w, Out J) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::left_jacobian_inverse(tangent<G, S>(w, "left_jacobian_inverse: w")), J,
        "left_jacobian_inverse: J");
  });
}

template <class T>
void Lie<T>::right_jacobian_inverse(In w, Out J) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::left_jacobian_inverse(-tangent<G, S>(w, "right_jacobian_inverse: w")), J,
        "right_jacobian_inverse: J");
  });
}

template <class T>
void Lie<T>::adjoint(In g, Out Ad) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::adjoint(element<G, S>(g, "adjoint: g")), Ad, "adjoint: Ad");
  });
}

template <class T>
void Lie<T>::log_adjoint(In a, In b, In gw, Out by_a, Out by_b) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    const auto g =
        formulas::between<G, S>(element<G, S>(a, "log_adjoint: a"), element<G, S>(b, "log_adjoint: b"));
    auto left = formulas::zeros<S, G::dof>(), right = left;
    if (is_rigid(group) || G::margin(g) > 0) {
      formulas::log_adjoint<G, S>(g, tangent<G, S>(gw, "log_adjoint: gw"), left, right);
    }
    put(left, by_a, "log_adjoint: by_a");
    put(right, by_b, "log_adjoint: by_b");
  });
}

template <class T>
void Lie<T>::compact_gradient(In g, In by_tangent, Out by_element) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::compact_gradient(element<G, S>(g, "compact_gradient: g"),
                            tangent<G, S>(by_tangent, "compact_gradient: by_tangent")),
        by_element, "compact_gradient: by_element");
  });
}

template void Lie<float>::integral(In, Out) const;
template void Lie<double>::integral(In, Out) const;
template void Lie<float>::integral_inverse(In, Out) const;
template void Lie<double>::integral_inverse(In, Out) const;
template void Lie<float>::left_jacobian(In, Out) const;
template void Lie<double>::left_jacobian(In, Out) const;
template void Lie<float>::right_jacobian(In, Out) const;
template void Lie<double>::right_jacobian(In, Out) const;
template void Lie<float>::left_jacobian_inverse(In, Out) const;
template void Lie<double>::left_jacobian_inverse(In, Out) const;
template void Lie<float>::right_jacobian_inverse(In, Out) const;
template void Lie<double>::right_jacobian_inverse(In, Out) const;
template void Lie<float>::adjoint(In, Out) const;
template void Lie<double>::adjoint(In, Out) const;
template void Lie<float>::log_adjoint(In, In, In, Out, Out) const;
template void Lie<double>::log_adjoint(In, In, In, Out, Out) const;
template void Lie<float>::compact_gradient(In, In, Out) const;
template void Lie<double>::compact_gradient(In, In, Out) const;

}  // namespace weyl

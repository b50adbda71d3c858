#include "weyl/algebra/lie_group.h"

#include <algorithm>
#include <cmath>

#include "weyl/algebra/lie_formulas.h"
#include "weyl/core/check.h"
#include "weyl/kernels/lie/charts.h"

namespace weyl {
namespace {

namespace formulas = kernels::WEYL_ISA::lie;

/// f(SO2{}, S{}), S what the group computes in.
template <class T, class F>
decltype(auto) visit(LieGroup group, F&& f) {
  return formulas::visit(group, [&](auto tag) { return f(tag, formulas::Computed<decltype(tag), T>{}); });
}

template <class S, int n, class T>
formulas::Vector<S, n> taken(std::span<const T> from, const char* what) {
  require(from.size() == n, "Lie::", what, " must have ", n, " numbers, got ", from.size());
  formulas::Vector<S, n> v;
  for (int i = 0; i < n; ++i) {
    v[i] = static_cast<S>(from[i]);
  }
  return v;
}
template <class S, int n, class T>
formulas::Matrix<S, n> taken_matrix(std::span<const T> from, const char* what) {
  const auto flat = taken<S, n * n>(from, what);
  formulas::Matrix<S, n> m;
  for (int i = 0; i < n * n; ++i) {
    m[i / n][i % n] = flat[i];
  }
  return m;
}
template <class G, class S, class T>
typename G::template Element<S> element(std::span<const T> from, const char* what) {
  return taken<S, G::compact>(from, what);
}
template <class G, class S, class T>
typename G::template Tangent<S> tangent(std::span<const T> from, const char* what) {
  return taken<S, G::dof>(from, what);
}

template <class S, int n, class T>
void put(const formulas::Vector<S, n>& v, std::span<T> to, const char* what) {
  require(to.size() == n, "Lie::", what, " must have ", n, " numbers, got ", to.size());
  for (int i = 0; i < n; ++i) {
    to[i] = static_cast<T>(v[i]);
  }
}
template <class S, int n, class T>
void put(const formulas::Matrix<S, n>& m, std::span<T> to, const char* what) {
  require(to.size() == n * n, "Lie::", what, " must have ", n * n, " numbers, got ", to.size());
  for (int i = 0; i < n * n; ++i) {
    to[i] = static_cast<T>(m[i / n][i % n]);
  }
}

}  // namespace

template <class T>
void Lie<T>::identity(Out g) const {
  visit<T>(group, [&]<class G, class S>(G, S) { put(G::template identity<S>(), g, "identity: g"); });
}

template <class T>
void Lie<T>::compose(In a, In b, Out ab) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::compose(element<G, S>(a, "compose: a"), element<G, S>(b, "compose: b")), ab, "compose: ab");
  });
}

template <class T>
void Lie<T>::inverse(In g, Out back) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::inverse(element<G, S>(g, "inverse: g")), back, "inverse: back");
  });
}

template <class T>
void Lie<T>::between(In a, In b, Out relative) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(formulas::between<G, S>(element<G, S>(a, "between: a"), element<G, S>(b, "between: b")), relative,
        "between: relative");
  });
}

template <class T>
void Lie<T>::normalise(Out g) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::normalised(element<G, S>(In(g), "normalise: g")), g, "normalise: g");
  });
}

template <class T>
void Lie<T>::act(In g, In p, Out moved) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::act(element<G, S>(g, "act: g"), taken<S, G::dimension>(p, "act: p")), moved, "act: moved");
  });
}

template <class T>
void Lie<T>::exp(In w, Out g) const {
  visit<T>(group, [&]<class G, class S>(G, S) { put(G::exp(tangent<G, S>(w, "exp: w")), g, "exp: g"); });
}

template <class T>
T Lie<T>::chart_margin(In g) const {
  return visit<T>(group, [&]<class G, class S>(G, S) {
    return static_cast<T>(G::margin(element<G, S>(g, "chart_margin: g")));
  });
}

template <class T>
T Lie<T>::log(In g, Out w) const {
  return visit<T>(group, [&]<class G, class S>(G, S) {
    const auto e = element<G, S>(g, "log: g");
    const S margin = G::margin(e);
    auto found = formulas::zeros<S, G::dof>();
    if (is_rigid(group) || margin > 0) {
      found = G::log(e);
    } else if (std::isnan(margin)) {
      std::ranges::fill(found.v, margin);
    }
    put(found, w, "log: w");
    return static_cast<T>(margin);
  });
}

template <class T>
void Lie<T>::frobenius_log(In g, Out w) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(formulas::frobenius_log<G, S>(element<G, S>(g, "frobenius_log: g")), w, "frobenius_log: w");
  });
}

template <class T>
void Lie<T>::frobenius_squares(In g, Out squares) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    constexpr int K = blocks_of(G::group).size();
    put(formulas::frobenius_squares<G, S, K>(element<G, S>(g, "frobenius_squares: g")), squares,
        "frobenius_squares: squares");
  });
}

template <class T>
T Lie<T>::polar_log(In g, Out w) const {
  return visit<T>(group, [&]<class G, class S>(G, S) {
    S margin;
    put(formulas::polar_log(G{}, element<G, S>(g, "polar_log: g"), margin), w, "polar_log: w");
    return static_cast<T>(margin);
  });
}

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

template <class T>
void Lie<T>::hat(In w, Out X) const {
  visit<T>(group, [&]<class G, class S>(G, S) { put(G::hat(tangent<G, S>(w, "hat: w")), X, "hat: X"); });
}

template <class T>
void Lie<T>::vee(In X, Out w) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::vee(taken_matrix<S, G::matrix>(X, "vee: X")), w, "vee: w");
  });
}

template <class T>
void Lie<T>::to_matrix(In g, Out matrix) const {
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(G::to_matrix(element<G, S>(g, "to_matrix: g")), matrix, "to_matrix: matrix");
  });
}

template <class T>
void Lie<T>::to_orthonormal(Out w) const {
  const auto scale = orthonormal_scales(group);
  require(w.size() == scale.size(), "Lie::to_orthonormal: w must have ", scale.size(), " numbers, got ",
          w.size());
  for (size_t k = 0; k < scale.size(); ++k) {
    w[k] = static_cast<T>(w[k] * scale[k]);
  }
}

template <class T>
void Lie<T>::from_orthonormal(Out w) const {
  const auto scale = orthonormal_scales(group);
  require(w.size() == scale.size(), "Lie::from_orthonormal: w must have ", scale.size(), " numbers, got ",
          w.size());
  for (size_t k = 0; k < scale.size(); ++k) {
    w[k] = static_cast<T>(w[k] / scale[k]);
  }
}

// Members that take matrices or random numbers: lie_input.cpp.
template class Lie<float>;
template class Lie<double>;

}  // namespace weyl

#include "weyl/algebra/lie/group.h"

#include <algorithm>
#include <cmath>

#include "weyl/algebra/lie/charts.h"
#include "weyl/algebra/lie/spans.h"

namespace weyl {

using namespace lie_spans;  // NOLINT(google-build-using-namespace): the other half of this file

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
  visit<T>(group, [&]<class G, class S>(G, S) {
    put(formulas::exponential<G, S>(tangent<G, S>(w, "exp: w")), g, "exp: g");
  });
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

// Derivatives: derivatives.cpp; what takes matrices or random numbers: input.cpp.
template class Lie<float>;
template class Lie<double>;

}  // namespace weyl

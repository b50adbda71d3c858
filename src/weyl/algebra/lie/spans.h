// How the run-time interface of the Lie groups reaches the formulas: spans, checked, to vectors and back.
#pragma once

#include <span>

#include "weyl/algebra/lie/formulas.h"
#include "weyl/core/check.h"

namespace weyl::lie_spans {

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

}  // namespace weyl::lie_spans

// A column of a tensor as a number of the formulas in kernels/lie: the torch expression of a formula is the
// formula itself. Constants stay constants until they meet a column. Only for .cpp files of this folder.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/atan2.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <vector>

#include "weyl/algebra/lie/charts.h"

namespace weyl::lie_number {

using at::Tensor;
namespace formulas = kernels::WEYL_ISA::lie;

struct Condition {
  Tensor column;  // bool; undefined: the constant
  bool constant = false;

  friend Condition operator&(const Condition& a, const Condition& b) {
    if (!a.column.defined()) {
      return a.constant ? b : a;
    }
    return b.column.defined() ? Condition{at::logical_and(a.column, b.column)} : b & a;
  }
  friend Condition operator|(const Condition& a, const Condition& b) { return !((!a) & (!b)); }
  Condition operator!() const {
    return column.defined() ? Condition{at::logical_not(column)} : Condition{{}, !constant};
  }
};
inline bool any(const Condition& c) {
  return c.column.defined() ? c.column.any().item<bool>() : c.constant;
}

/// S is float or double, the dtype of the column.
template <class S>
struct Number {
  Tensor column;  // undefined: the constant
  double constant = 0;

  Number() = default;
  explicit Number(Tensor x) : column(std::move(x)) {}
  template <class U>
    requires std::is_arithmetic_v<U>
  Number(U x) : constant(static_cast<double>(x)) {}  // NOLINT(google-explicit-constructor): a constant

  bool is(double x) const { return !column.defined() && constant == x; }
  bool fixed() const { return !column.defined(); }

  friend Number operator+(const Number& a, const Number& b) {
    if (a.fixed()) {
      return b.fixed() ? Number(a.constant + b.constant) : (a.is(0) ? b : Number(b.column + a.constant));
    }
    return b.fixed() ? b + a : Number(a.column + b.column);
  }
  friend Number operator-(const Number& a, const Number& b) {
    if (b.fixed()) {
      return a + Number(-b.constant);
    }
    return a.is(0) ? -b : (a.fixed() ? Number(a.constant - b.column) : Number(a.column - b.column));
  }
  friend Number operator*(const Number& a, const Number& b) {
    if (a.fixed()) {
      return b.fixed() ? Number(a.constant * b.constant)
                       : (a.is(0) ? a : (a.is(1) ? b : Number(b.column * a.constant)));
    }
    return b.fixed() ? b * a : Number(a.column * b.column);
  }
  friend Number operator/(const Number& a, const Number& b) {
    if (b.fixed()) {
      return a * Number(1 / b.constant);
    }
    return a.fixed() ? Number(a.constant / b.column) : Number(a.column / b.column);
  }
  Number operator-() const { return fixed() ? Number(-constant) : Number(-column); }
  Number& operator+=(const Number& b) { return *this = *this + b; }
  Number& operator-=(const Number& b) { return *this = *this - b; }
  Number& operator*=(const Number& b) { return *this = *this * b; }
  friend Condition operator<(const Number& a, const Number& b) { return b > a; }
  friend Condition operator>(const Number& a, const Number& b) {
    if (a.fixed()) {
      return b.fixed() ? Condition{{}, a.constant > b.constant} : Condition{b.column < a.constant};
    }
    return {b.fixed() ? a.column > b.constant : a.column > b.column};
  }
};

template <class S>
inline constexpr at::ScalarType dtype_of = sizeof(S) == 4 ? at::kFloat : at::kDouble;

/// x as a tensor that broadcasts, on the device of `like`.
template <class S>
inline Tensor tensor_of(const Number<S>& x, const Tensor& like) {
  return x.fixed() ? at::scalar_tensor(x.constant, like.options().dtype(dtype_of<S>)) : x.column;
}

template <class S>
inline Number<S> select(const Condition& c, const Number<S>& yes, const Number<S>& no) {
  if (!c.column.defined()) {
    return c.constant ? yes : no;
  }
  if (yes.fixed() && no.fixed() && yes.constant == no.constant) {
    return yes;
  }
  return Number<S>(at::where(c.column, tensor_of(yes, c.column), tensor_of(no, c.column)));
}

template <class S>
inline Number<S> sqrt_of(const Number<S>& x) {
  return x.fixed() ? Number<S>(std::sqrt(x.constant)) : Number<S>(at::sqrt(x.column));
}
template <class S>
inline Number<S> exp_of(const Number<S>& x) {
  return x.fixed() ? Number<S>(std::exp(x.constant)) : Number<S>(at::exp(x.column));
}
template <class S>
inline Number<S> log_of(const Number<S>& x) {
  return x.fixed() ? Number<S>(std::log(x.constant)) : Number<S>(at::log(x.column));
}
template <class S>
inline Number<S> log1p_of(const Number<S>& x) {
  return x.fixed() ? Number<S>(std::log1p(x.constant)) : Number<S>(at::log1p(x.column));
}
template <class S>
inline Number<S> atan2_of(const Number<S>& y, const Number<S>& x) {
  if (y.fixed() && x.fixed()) {
    return Number<S>(std::atan2(y.constant, x.constant));
  }
  const Tensor& like = y.fixed() ? x.column : y.column;
  return Number<S>(at::atan2(tensor_of(y, like), tensor_of(x, like)));
}
template <class S>
inline void sincos_of(const Number<S>& x, Number<S>& sine, Number<S>& cosine) {
  sine = x.fixed() ? Number<S>(std::sin(x.constant)) : Number<S>(at::sin(x.column));
  cosine = x.fixed() ? Number<S>(std::cos(x.constant)) : Number<S>(at::cos(x.column));
}
template <class S>
inline Number<S> difference_of_products(const Number<S>& a, const Number<S>& b, const Number<S>& c,
                                        const Number<S>& d) {
  return a * b - c * d;
}
template <class To, class S>
inline To converted(const Number<S>& x) {
  To y(x.constant);
  if (!x.fixed()) {
    y.column = x.column.to(sizeof(formulas::Scalar<To>) == 4 ? at::kFloat : at::kDouble);
  }
  return y;
}

/// The square root U of A with its derivatives of up to third order: Newton's steps on U^2 = A from the
/// value, U <- U + L(A - U^2), U L(F) + L(F) U = F; each doubles the order that is right.
template <class S>
inline formulas::Matrix<Number<S>, 3> principal_root(const formulas::Matrix<Number<S>, 3>& A, bool first) {
  using M = formulas::Matrix<Number<S>, 3>;
  M value = A;
  for (auto& row : value.v) {
    for (Number<S>& x : row) {
      x.column = x.fixed() ? x.column : x.column.detach();
    }
  }
  M U = formulas::principal_root<Number<S>>(value, first);
  bool tracked = false;
  for (const auto& row : A.v) {
    for (const Number<S>& x : row) {
      tracked = tracked || (!x.fixed() && x.column.requires_grad());
    }
  }
  for (int step = 0; step < 2 && tracked; ++step) {
    U = U + formulas::RootDerivative<Number<S>>(U)(A - U * U);
  }
  return U;
}

/// The columns of x (N, n), and back.
template <class S, int n>
inline formulas::Vector<Number<S>, n> columns_of(const Tensor& x) {
  const Tensor cast = x.to(dtype_of<S>);
  formulas::Vector<Number<S>, n> v;
  for (int i = 0; i < n; ++i) {
    v[i] = Number<S>(cast.select(1, i));
  }
  return v;
}
template <class S, int n>
inline Tensor rows_of(const formulas::Vector<Number<S>, n>& v, int64_t rows,
                      const at::TensorOptions& options) {
  std::vector<Tensor> columns;
  for (int i = 0; i < n; ++i) {
    columns.push_back(v[i].fixed() ? at::full({rows}, v[i].constant, options)
                                   : v[i].column.to(options.dtype()).expand({rows}));
  }
  return at::stack(columns, 1);
}

/// f(G{}, S{}): a group, and the float or double that the torch expression of its formulas computes in.
template <class F>
inline decltype(auto) visit(LieGroup group, at::ScalarType type, const F& f) {
  return formulas::visit(group, [&]<class G>(G) {
    if (type == at::kDouble || !is_rigid(G::group)) {
      return f(G{}, double{});
    }
    return f(G{}, formulas::Computed<G, float>{});
  });
}

}  // namespace weyl::lie_number

namespace weyl::kernels::WEYL_ISA::lie {

template <class S>
struct ScalarOf<lie_number::Number<S>> {
  using type = S;
};
template <class S>
struct WideOf<lie_number::Number<S>> {
  using type = lie_number::Number<double>;
};

}  // namespace weyl::kernels::WEYL_ISA::lie

// Laws that every group and every representation must pass, each with its negative control.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/core/worst_of.h"

namespace weyl::laws {

/// The operations of a group on elements of any type; `distance` is zero for equal elements.
template <class Element>
struct Operations {
  std::function<Element(const Element&, const Element&)> compose;
  std::function<Element(const Element&)> inverse;
  Element identity;
  std::function<double(const Element&, const Element&)> distance;
};

/// The largest violation, over all samples, of the laws of identity, inverse and associativity.
template <class Element>
double group_law_defect(const Operations<Element>& of, const std::vector<Element>& samples) {
  double worst = 0;
  const auto check = [&](const Element& a, const Element& b) { worst = worst_of(worst, of.distance(a, b)); };
  for (const auto& a : samples) {
    check(of.compose(of.identity, a), a);
    check(of.compose(a, of.identity), a);
    check(of.compose(a, of.inverse(a)), of.identity);
    check(of.compose(of.inverse(a), a), of.identity);
    for (const auto& b : samples) {
      for (const auto& c : samples) {
        check(of.compose(of.compose(a, b), c), of.compose(a, of.compose(b, c)));
      }
    }
  }
  return worst;
}

/// The largest distance of rho(a b) from rho(a) rho(b), or, `reversed`, from rho(b) rho(a).
template <class From, class To>
double homomorphism_defect(const std::function<To(const From&)>& rho, const Operations<From>& from,
                           const Operations<To>& to, const std::vector<From>& samples,
                           bool reversed = false) {
  double worst = 0;
  for (const auto& a : samples) {
    for (const auto& b : samples) {
      const auto image = reversed ? to.compose(rho(b), rho(a)) : to.compose(rho(a), rho(b));
      worst = worst_of(worst, to.distance(rho(from.compose(a, b)), image));
    }
  }
  return worst;
}

/// The laws hold to `tolerance`. The control: with the inverse taken for the identity map they must fail, so
/// the samples must not all be their own inverses.
template <class Element>
void expect_group_laws(const Operations<Element>& of, const std::vector<Element>& samples, double tolerance) {
  EXPECT_LE(group_law_defect(of, samples), tolerance);
  auto broken = of;
  broken.inverse = [](const Element& a) { return a; };
  EXPECT_GT(group_law_defect(broken, samples), 100 * tolerance)
      << "the control passed: samples are too special";
}

/// rho is a homomorphism to `tolerance`. The control: in the reversed order it must not be one, so the group
/// must not be abelian on the samples, nor rho blind to that.
template <class From, class To>
void expect_homomorphism(const std::function<To(const From&)>& rho, const Operations<From>& from,
                         const Operations<To>& to, const std::vector<From>& samples, double tolerance) {
  EXPECT_LE(homomorphism_defect(rho, from, to, samples), tolerance);
  EXPECT_GT(homomorphism_defect(rho, from, to, samples, true), 100 * tolerance)
      << "the control passed: the reversed order is a homomorphism too";
}

/// A finite group's elements as indices.
inline Operations<int64_t> operations(const FiniteGroup& group) {
  return {[&group](const int64_t& a, const int64_t& b) { return group.product(a, b); },
          [&group](const int64_t& a) { return group.inverse(a); }, group.identity(),
          [](const int64_t& a, const int64_t& b) { return a == b ? 0.0 : 1.0; }};
}

/// Square matrices, row-major, under multiplication; the inverse is the transpose.
inline Operations<std::vector<double>> orthogonal_matrices(int64_t D) {
  using Matrix = std::vector<double>;
  Operations<Matrix> of;
  of.compose = [D](const Matrix& a, const Matrix& b) {
    Matrix product(D * D, 0.0);
    for (int64_t i = 0; i < D; ++i) {
      for (int64_t j = 0; j < D; ++j) {
        for (int64_t k = 0; k < D; ++k) {
          product[i * D + j] += a[i * D + k] * b[k * D + j];
        }
      }
    }
    return product;
  };
  of.inverse = [D](const Matrix& a) {
    Matrix transpose(D * D);
    for (int64_t i = 0; i < D; ++i) {
      for (int64_t j = 0; j < D; ++j) {
        transpose[i * D + j] = a[j * D + i];
      }
    }
    return transpose;
  };
  of.identity.assign(D * D, 0.0);
  for (int64_t i = 0; i < D; ++i) {
    of.identity[i * D + i] = 1;
  }
  of.distance = [](const Matrix& a, const Matrix& b) {
    double worst = a.size() == b.size() ? 0 : INFINITY;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
      worst = worst_of(worst, std::abs(a[i] - b[i]));
    }
    return worst;
  };
  return of;
}

inline std::vector<int64_t> indices(const FiniteGroup& group) {
  std::vector<int64_t> all(group.order());
  for (int64_t g = 0; g < group.order(); ++g) {
    all[g] = g;
  }
  return all;
}

inline std::vector<double> matrix(const FiniteGroup& group, int64_t g) {
  return {group.element(g).begin(), group.element(g).end()};
}

/// Every law of a finite group of matrices, over all its elements: the tables are those of a group, the
/// elements are orthogonal to `orthogonality` and multiply as the tables say to `tolerance`, determinants are
/// a homomorphism.
inline void expect_finite_group(const FiniteGroup& group, double orthogonality = 1e-15,
                                double tolerance = 2e-15) {
  SCOPED_TRACE(group.name());
  const int64_t G = group.order(), D = group.dimension();
  const auto all = indices(group);
  const auto abstract = operations(group);
  const auto matrices = orthogonal_matrices(D);
  EXPECT_EQ(group_law_defect(abstract, all), 0);
  double defect = 0;
  for (int64_t g = 0; g < G; ++g) {
    const auto r = matrix(group, g);
    defect = worst_of(defect, matrices.distance(matrices.compose(matrices.inverse(r), r), matrices.identity));
    std::vector<int64_t> row, column;
    for (int64_t h = 0; h < G; ++h) {
      row.push_back(group.product(g, h));
      column.push_back(group.product(h, g));
      EXPECT_EQ(group.determinant(group.product(g, h)), group.determinant(g) * group.determinant(h));
      EXPECT_EQ(group.product(g, group.left_quotient(g, h)), h);
    }
    std::ranges::sort(row);
    std::ranges::sort(column);
    EXPECT_EQ(row, all);
    EXPECT_EQ(column, all);
  }
  EXPECT_LE(defect, orthogonality);
  const std::function<std::vector<double>(const int64_t&)> rho = [&](const int64_t& g) {
    return matrix(group, g);
  };
  EXPECT_LE(homomorphism_defect(rho, abstract, matrices, all), tolerance);
  if (group.abelian()) {
    EXPECT_LE(homomorphism_defect(rho, abstract, matrices, all, true), tolerance);
  } else {
    EXPECT_GT(homomorphism_defect(rho, abstract, matrices, all, true), 0.01);
  }
}

}  // namespace weyl::laws

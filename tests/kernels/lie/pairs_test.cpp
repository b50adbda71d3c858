// Logarithms of pairs on vectors: every instruction set against the formulas on one number at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "weyl/algebra/lie/group_list.h"
#include "weyl/algebra/lie/groups.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl {
namespace pairs_test {

namespace formulas = kernels::WEYL_ISA::lie;
using kernels::InstructionSet;

/// `count` elements exp(w), w with entries N(0, scale^2), as planes (compact, stride), the tail not a number.
template <class G, class T>
struct Tokens {
  int64_t count, stride;
  std::vector<T> planes;

  Tokens(const char* name, int64_t n, double scale)
      : count(n), stride(n + 3), planes(G::compact * stride, NAN) {
    Stream stream(4, name);
    for (int64_t i = 0; i < n; ++i) {
      typename G::template Tangent<double> w;
      for (int k = 0; k < G::dof; ++k) {
        w[k] = scale * stream.normal();
      }
      const auto g = G::exp(w);
      for (int c = 0; c < G::compact; ++c) {
        planes[c * stride + i] = static_cast<T>(g[c]);
      }
    }
  }
  kernels::LieElements<T> view() const { return {G::group, count, stride, planes.data()}; }
  template <class S>
  typename G::template Element<S> at(int64_t i) const {
    typename G::template Element<S> g;
    for (int c = 0; c < G::compact; ++c) {
      g[c] = static_cast<S>(planes[c * stride + i]);
    }
    return g;
  }
};

/// |found - wanted| relative to 1 + |wanted|.
template <class T>
double error(T found, double wanted) {
  return std::abs(static_cast<double>(found) - wanted) / (1 + std::abs(wanted));
}

/// What an error of log(a^-1 b) = w is relative to: |w| of rigid motions; affine maps lose the digits of 1
/// when A_a^-1 A_b is rounded.
template <class G>
double size_of(const typename G::template Tangent<double>& w) {
  return std::sqrt(formulas::dot(w, w)) + (is_rigid(G::group) ? 0 : 1);
}

constexpr InstructionSet sets[] = {InstructionSet::baseline, InstructionSet::v3, InstructionSet::v4};

template <class G, class T>
void expect_pairs(double scale) {
  SCOPED_TRACE(name_of(G::group));
  const int64_t N = 19, M = 37;
  const Tokens<G, T> a("a", N, scale), b("b", M, scale);
  const double eps = std::numeric_limits<T>::epsilon();
  const size_t size = N * G::dof * M;
  Stream stream(5, "gradient");
  std::vector<T> gw(size);
  std::ranges::generate(gw, [&] { return static_cast<T>(stream.normal()); });
  for (const InstructionSet set : sets) {
    const kernels::UseInstructionSet scope(set);
    std::vector<T> w(size, NAN), margin(N * M, NAN), ga(G::dof * a.stride, 0), gb(G::dof * b.stride, 0);
    // Two ranges of rows: what two threads do.
    for (const auto& [first, last] : {std::pair<int64_t, int64_t>{0, 7}, {7, N}}) {
      kernels::best<kernels::LieLogs<T>>().pairs(a.view(), b.view(), w.data(), margin.data(), first, last);
      kernels::best<kernels::LieLogsBackward<T>>().pairs(a.view(), b.view(), gw.data(), ga.data(), gb.data(),
                                                         first, last);
    }
    std::vector<double> right_ga(ga.size(), 0), right_gb(gb.size(), 0);
    double worst = 0, worst_margin = 0, worst_gradient = 0, gradients = 1;
    int outside = 0;
    for (int64_t i = 0; i < N; ++i) {
      for (int64_t j = 0; j < M; ++j) {
        const auto g = formulas::between<G, double>(a.template at<double>(i), b.template at<double>(j));
        const double inside = G::margin(g);
        const bool in = is_rigid(G::group) || inside > 0;
        if (std::abs(inside) < 1e-2) {
          continue;  // at the cut, rounding decides
        }
        outside += !in;
        const auto log = in ? G::log(g) : formulas::zeros<double, G::dof>();
        typename G::template Tangent<double> gradient, by_a = log, by_b = log;
        for (int k = 0; k < G::dof; ++k) {
          worst = worst_of(worst, std::abs(w[(i * G::dof + k) * M + j] - log[k]) / size_of<G>(log));
          gradient[k] = gw[(i * G::dof + k) * M + j];
        }
        worst_margin = worst_of(worst_margin, error(margin[i * M + j], inside));
        if (in) {
          formulas::log_adjoint<G, double>(g, gradient, by_a, by_b);
          for (int k = 0; k < G::dof; ++k) {
            right_ga[k * a.stride + i] += by_a[k];
            right_gb[k * b.stride + j] += by_b[k];
          }
        }
      }
    }
    for (size_t k = 0; k < right_ga.size(); ++k) {
      gradients = worst_of(gradients, std::abs(right_ga[k]));
      worst_gradient = worst_of(worst_gradient, std::abs(ga[k] - right_ga[k]));
    }
    for (size_t k = 0; k < right_gb.size(); ++k) {
      worst_gradient = worst_of(worst_gradient, std::abs(gb[k] - right_gb[k]));
    }
    EXPECT_LE(worst, 100 * eps) << static_cast<int>(set);
    EXPECT_LE(worst_margin, 300 * eps) << static_cast<int>(set);
    EXPECT_LE(worst_gradient, 300 * eps * gradients) << static_cast<int>(set);
    if (!is_rigid(G::group) && scale > 1) {
      EXPECT_GT(outside, 10);
    }
  }
}

template <class T>
void expect_all(double scale) {
  expect_pairs<formulas::SO2, T>(scale);
  expect_pairs<formulas::SE2, T>(scale);
  expect_pairs<formulas::SO3, T>(scale);
  expect_pairs<formulas::SE3, T>(scale);
  expect_pairs<formulas::AFF2, T>(scale);
  expect_pairs<formulas::AFF3, T>(scale);
}

TEST(LiePairs, EveryInstructionSetHasTheFormulas) {
  expect_all<double>(0.3);
  expect_all<float>(0.3);
}

TEST(LiePairs, TinyMotionsKeepTheirDigits) {
  expect_all<double>(1e-7);
  expect_all<float>(1e-4);
}

template <class G, class T>
void expect_defined() {
  SCOPED_TRACE(name_of(G::group));
  const Tokens<G, T> a("far", 21, 1.5);
  for (const InstructionSet set : sets) {
    const kernels::UseInstructionSet scope(set);
    std::vector<T> w(a.count * G::dof * a.count, NAN), margin(a.count * a.count, NAN), gw(w.size(), 1);
    std::vector<T> ga(G::dof * a.stride, 0), gb = ga;
    kernels::best<kernels::LieLogs<T>>().pairs(a.view(), a.view(), w.data(), margin.data(), 0, a.count);
    kernels::best<kernels::LieLogsBackward<T>>().pairs(a.view(), a.view(), gw.data(), ga.data(), gb.data(), 0,
                                                       a.count);
    for (const T x : w) {
      EXPECT_TRUE(std::isfinite(x));
    }
    for (int k = 0; k < G::dof; ++k) {
      for (int64_t i = 0; i < a.count; ++i) {
        EXPECT_EQ(w[(i * G::dof + k) * a.count + i], 0);
        EXPECT_TRUE(std::isfinite(ga[k * a.stride + i]) && std::isfinite(gb[k * a.stride + i]));
      }
    }
    int outside = 0;
    for (int64_t i = 0; i < a.count; ++i) {
      for (int64_t j = 0; j < a.count; ++j) {
        const bool out = !(margin[i * a.count + j] > 0);
        EXPECT_FALSE(std::isnan(margin[i * a.count + j]));
        outside += out;
        for (int k = 0; out && k < G::dof; ++k) {
          EXPECT_EQ(w[(i * G::dof + k) * a.count + j], 0);
        }
      }
    }
    EXPECT_EQ(outside > 5, !is_rigid(G::group));
  }
}

TEST(LiePairs, OutsideTheChartIsZeroAndNothingIsEverNotANumber) {
  expect_defined<formulas::SE2, float>();
  expect_defined<formulas::SE3, float>();
  expect_defined<formulas::AFF2, float>();
  expect_defined<formulas::AFF2, double>();
  expect_defined<formulas::AFF3, float>();
  expect_defined<formulas::AFF3, double>();
}

template <class G, class T>
void expect_rows() {
  SCOPED_TRACE(name_of(G::group));
  const Tokens<G, T> a("a", 23, 0.4), b("b", 23, 0.4);
  const int64_t N = a.count;
  std::vector<T> w(G::dof * N), margin(N), gw(w.size(), T(0.5)), ga(G::dof * a.stride), gb = ga;
  std::vector<T> all(N * G::dof * N), elements(G::compact * a.stride);
  kernels::best<kernels::LieLogs<T>>().rows(a.view(), b.view(), w.data(), N, margin.data(), 0, N);
  kernels::best<kernels::LieLogsBackward<T>>().rows(a.view(), b.view(), gw.data(), N, ga.data(), gb.data(), 0,
                                                    N);
  kernels::best<kernels::LieLogs<T>>().pairs(a.view(), b.view(), all.data(), nullptr, 0, N);
  kernels::best<kernels::LieLogsBackward<T>>().compact(b.view(), gb.data(), elements.data(), 0, N);
  const double eps = std::numeric_limits<T>::epsilon();
  for (int64_t i = 0; i < N; ++i) {
    const auto x = a.template at<double>(i), y = b.template at<double>(i);
    typename G::template Tangent<double> gradient, left, right;
    const double size = size_of<G>(G::log(formulas::between<G, double>(x, y)));
    for (int k = 0; k < G::dof; ++k) {
      EXPECT_NEAR(w[k * N + i], all[(i * G::dof + k) * N + i], 50 * eps * size);
      gradient[k] = 0.5;
    }
    formulas::log_adjoint<G, double>(formulas::between<G, double>(x, y), gradient, left, right);
    const auto compact = G::compact_gradient(y, right);
    for (int k = 0; k < G::dof; ++k) {
      EXPECT_LE(error(ga[k * a.stride + i], left[k]), 300 * eps);
      EXPECT_LE(error(gb[k * b.stride + i], right[k]), 300 * eps);
    }
    for (int c = 0; c < G::compact; ++c) {
      EXPECT_LE(error(elements[c * b.stride + i], compact[c]), 1000 * eps);
    }
  }
}

TEST(LiePairs, RowsAreTheDiagonalOfPairs) {
  expect_rows<formulas::SO2, double>();
  expect_rows<formulas::SE2, double>();
  expect_rows<formulas::SO3, float>();
  expect_rows<formulas::SE3, double>();
  expect_rows<formulas::AFF2, double>();
  expect_rows<formulas::AFF3, double>();
  expect_rows<formulas::AFF3, float>();
}

template <class G, class T>
void expect_second(double scale) {
  SCOPED_TRACE(name_of(G::group));
  using D = formulas::Dual<double, 1>;
  const int64_t N = 3, M = 19;
  const Tokens<G, T> a("a", N, scale), b("b", M, scale), va("va", N, 0.5), vb("vb", M, 0.5);
  const double eps = std::numeric_limits<T>::epsilon();
  Stream stream(5, "gradient");
  std::vector<T> gw(N * G::dof * M);
  std::ranges::generate(gw, [&] { return static_cast<T>(stream.normal()); });
  std::vector<double> wanted_a(G::compact * a.stride, 0), wanted_b(G::compact * b.stride, 0),
      wanted_w(gw.size(), 0);
  double size = 1;
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = 0; j < M; ++j) {
      typename G::template Element<D> x, y, gx, gy;
      typename G::template Tangent<D> g;
      for (int c = 0; c < G::compact; ++c) {
        x[c] = D(a.template at<double>(i)[c]);
        y[c] = D(b.template at<double>(j)[c]);
        x[c].d[0] = va.template at<double>(i)[c];
        y[c].d[0] = vb.template at<double>(j)[c];
      }
      for (int k = 0; k < G::dof; ++k) {
        g[k] = D(static_cast<double>(gw[(i * G::dof + k) * M + j]));
      }
      formulas::log_between_gradient<G, D>(x, y, g, gx, gy);
      const auto w = G::log(formulas::between<G, D>(G::exactly_normalised(x), G::exactly_normalised(y)));
      for (int c = 0; c < G::compact; ++c) {
        wanted_a[c * a.stride + i] += gx[c].d[0];
        wanted_b[c * b.stride + j] += gy[c].d[0];
        size = worst_of(size, worst_of(std::abs(gx[c].d[0]), std::abs(gy[c].d[0])));
      }
      for (int k = 0; k < G::dof; ++k) {
        wanted_w[(i * G::dof + k) * M + j] = w[k].d[0];
      }
    }
  }
  for (const InstructionSet set : sets) {
    const kernels::UseInstructionSet scope(set);
    std::vector<T> ggw(gw.size(), NAN), ga(wanted_a.size(), 0), gb(wanted_b.size(), 0);
    kernels::best<kernels::LieLogsSecond<T>>().pairs(a.view(), b.view(), gw.data(), va.planes.data(),
                                                     vb.planes.data(), ggw.data(), ga.data(), gb.data(), 0,
                                                     N);
    double worst = 0, worst_w = 0;
    for (size_t k = 0; k < ga.size(); ++k) {
      worst = worst_of(worst, std::abs(ga[k] - wanted_a[k]));
    }
    for (size_t k = 0; k < gb.size(); ++k) {
      worst = worst_of(worst, std::abs(gb[k] - wanted_b[k]));
    }
    for (size_t k = 0; k < ggw.size(); ++k) {
      worst_w = worst_of(worst_w, error(ggw[k], wanted_w[k]));
    }
    EXPECT_LE(worst, 3000 * eps * size) << static_cast<int>(set);
    EXPECT_LE(worst_w, 1000 * eps) << static_cast<int>(set);
    // Rows are the diagonal of pairs.
    std::vector<T> one_w(G::dof * N), one_a(G::compact * a.stride), one_b(G::compact * b.stride);
    std::vector<T> row_gw(G::dof * N);
    for (int64_t i = 0; i < N; ++i) {
      for (int k = 0; k < G::dof; ++k) {
        row_gw[k * N + i] = gw[(i * G::dof + k) * M + i];
      }
    }
    auto shorter = b.view();
    shorter.count = N;
    kernels::best<kernels::LieLogsSecond<T>>().rows(a.view(), shorter, row_gw.data(), N, va.planes.data(),
                                                    vb.planes.data(), one_w.data(), one_a.data(),
                                                    one_b.data(), 0, N);
    for (int64_t i = 0; i < N; ++i) {
      for (int k = 0; k < G::dof; ++k) {
        EXPECT_LE(error(one_w[k * N + i], wanted_w[(i * G::dof + k) * M + i]), 1000 * eps);
      }
    }
  }
}

TEST(LiePairs, SecondDerivativesAreThoseOfTheFormulas) {
  expect_second<formulas::SO2, double>(0.3);
  expect_second<formulas::SE2, float>(0.3);
  expect_second<formulas::SO3, double>(0.3);
  expect_second<formulas::SE3, double>(0.3);
  expect_second<formulas::SE3, float>(0.3);
  expect_second<formulas::AFF2, double>(0.2);
  expect_second<formulas::AFF3, double>(0.2);
  expect_second<formulas::AFF3, float>(0.2);
}

TEST(LiePairs, OfNotANumberComesNotANumber) {
  const auto check = []<class G>(G) {
    SCOPED_TRACE(name_of(G::group));
    const Tokens<G, double> a("a", 2, 0.2);
    for (int c = 0; c < G::compact; ++c) {
      Tokens<G, double> b = a;
      b.planes[c * b.stride + 1] = NAN;
      for (const InstructionSet set : sets) {
        const kernels::UseInstructionSet scope(set);
        std::vector<double> w(G::dof * 2), margin(2);
        kernels::best<kernels::LieLogs<double>>().rows(a.view(), b.view(), w.data(), 2, margin.data(), 0, 2);
        bool lost = true;
        for (int k = 0; k < G::dof; ++k) {
          EXPECT_NEAR(w[2 * k], 0, 1e-12);
          lost &= !std::isnan(w[2 * k + 1]);
        }
        EXPECT_FALSE(lost) << c;
      }
    }
  };
  check(formulas::SO2{});
  check(formulas::SE2{});
  check(formulas::SO3{});
  check(formulas::SE3{});
  check(formulas::AFF2{});
  check(formulas::AFF3{});
}

TEST(LiePairs, NoPairsAndOnePair) {
  const Tokens<formulas::SE3, float> one("one", 1, 0.3), none("none", 0, 0.3);
  std::vector<float> w(6, NAN), margin(1, NAN);
  kernels::best<kernels::LieLogs<float>>().pairs(one.view(), none.view(), w.data(), margin.data(), 0, 1);
  EXPECT_TRUE(std::isnan(w[0]));
  kernels::best<kernels::LieLogs<float>>().pairs(one.view(), one.view(), w.data(), margin.data(), 0, 1);
  EXPECT_EQ(w, std::vector<float>(6, 0));
  EXPECT_NEAR(margin[0], 3.14159265, 1e-6);
}

}  // namespace pairs_test
}  // namespace weyl

#include "weyl/algebra/finite/lifted_spectrum.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

// The largest number of Q x^ - x, x(g)_a of f = e_b: S_g^T.
double remainder_of(const LiftedSpectrum& lifted, const GroupSpectrum& spectrum,
                    const std::vector<double>& matrices) {
  const int64_t G = spectrum.order(), n = lifted.components;
  double largest = 0;
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t a = 0; a < n; ++a) {
      for (int64_t b = 0; b < n; ++b) {
        double sum = -matrices[(g * n + b) * n + a];
        for (int64_t c = 0; c < G; ++c) {
          sum += spectrum.transform()[g * G + c] * lifted.coefficients[(c * n + a) * n + b];
        }
        largest = std::max(largest, std::abs(sum));
      }
    }
  }
  return largest;
}

// matrices (G, n, n): S.
LiftedSpectrum lifted_by(const FiniteGroup& group, const GroupSpectrum& spectrum, int64_t n,
                         const std::vector<double>& matrices) {
  const int64_t G = group.order();
  require(spectrum.order() == G, "lifted_spectrum: the spectrum must be of a group of ", G, " elements, got ",
          spectrum.order());
  LiftedSpectrum lifted{n, {}, std::vector<double>(G * n * n, 0.0), 0};
  for (size_t r = 0; r < spectrum.irreps().size(); ++r) {
    const auto& irrep = spectrum.irreps()[r];
    double common = 0;  // times the irrep is in S, times delta
    for (int64_t g = 0; g < G; ++g) {
      for (int64_t a = 0; a < n; ++a) {
        common += irrep.character[g] * matrices[(g * n + a) * n + a] / static_cast<double>(G);
      }
    }
    if (common < 0.5) {
      continue;
    }
    lifted.irreps.push_back(static_cast<int64_t>(r));
    const int64_t last = irrep.offset + irrep.multiplicity * irrep.dimension;
    for (int64_t c = irrep.offset; c < last; ++c) {
      for (int64_t a = 0; a < n; ++a) {
        for (int64_t b = 0; b < n; ++b) {
          DoubleDouble sum;
          for (int64_t g = 0; g < G; ++g) {
            sum += DoubleDouble::product(spectrum.transform()[g * G + c], matrices[(g * n + b) * n + a]);
          }
          lifted.coefficients[(c * n + a) * n + b] = std::abs(sum.high) < 1e-14 ? 0 : sum.high;
        }
      }
    }
  }
  lifted.remainder = remainder_of(lifted, spectrum, matrices);
  return lifted;
}

// S (G, n, n) of scalars, n = 1, and of vectors.
std::vector<double> matrices_of(const FiniteGroup& group, bool vectors, bool axial) {
  std::vector<double> matrices;
  for (int64_t g = 0; g < group.order(); ++g) {
    const double sign = axial ? group.determinant(g) : 1;
    if (!vectors) {
      matrices.push_back(sign);
      continue;
    }
    for (const double x : group.element(g)) {
      matrices.push_back(sign * x);
    }
  }
  return matrices;
}

double dot_of_rows(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// Takes what it has along `direction` out of a row; how many times that is.
double take_out(std::span<double> row, std::span<const double> direction) {
  const double share = dot_of_rows(row, direction) / dot_of_rows(direction, direction);
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] -= share * direction[i];
  }
  return share;
}

// A matrix of `columns` columns as sum_k onto[k] along[k]^T with orthogonal `along`: what is left of its longest row, again
// and again. Shares are those of what is left, which holds too where it is short, as of a representation that is rounded.
struct Terms {
  std::vector<std::vector<double>> onto, along;
};

Terms terms_of(std::vector<double> matrix, int64_t columns) {
  constexpr double nought = 1e-12;
  const auto count = static_cast<int64_t>(matrix.size()) / columns;
  const auto row = [&](int64_t i) { return std::span(matrix).subspan(i * columns, columns); };
  Terms terms;
  double first = 0;
  for (int64_t k = 0; k < std::min(count, columns); ++k) {
    int64_t longest = 0;
    for (int64_t i = 1; i < count; ++i) {
      // Rows of equal length differ by rounding: the earlier one.
      if (dot_of_rows(row(i), row(i)) > (1 + 1e-6) * dot_of_rows(row(longest), row(longest))) {
        longest = i;
      }
    }
    const double length = std::sqrt(dot_of_rows(row(longest), row(longest)));
    first = std::max(first, length);
    if (length <= nought * first) {
      break;
    }
    const std::vector<double> direction(row(longest).begin(), row(longest).end());
    std::vector<double> shares;
    for (int64_t i = 0; i < count; ++i) {
      shares.push_back(take_out(row(i), direction));
    }
    terms.onto.push_back(shares);
    terms.along.push_back(direction);
  }
  return terms;
}

}  // namespace

LiftedSpectrum lifted_scalar(const FiniteGroup& group, const GroupSpectrum& spectrum, bool axial) {
  return lifted_by(group, spectrum, 1, matrices_of(group, false, axial));
}

LiftedSpectrum lifted_vector(const FiniteGroup& group, const GroupSpectrum& spectrum, bool axial) {
  return lifted_by(group, spectrum, group.dimension(), matrices_of(group, true, axial));
}

std::vector<LiftedFactors> factors_of(const LiftedSpectrum& lifted, const GroupSpectrum& spectrum) {
  const int64_t n = lifted.components;
  std::vector<LiftedFactors> all;
  for (const int64_t r : lifted.irreps) {
    const RealIrrep& irrep = spectrum.irreps()[r];
    const int64_t m = irrep.multiplicity, d = irrep.dimension;
    std::vector<double> matrix(m * n * d * n);  // (i, b), (l, a)
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t l = 0; l < d; ++l) {
        for (int64_t a = 0; a < n; ++a) {
          for (int64_t b = 0; b < n; ++b) {
            matrix[((i * n + b) * d + l) * n + a] =
                lifted.coefficients[((irrep.offset + i * d + l) * n + a) * n + b];
          }
        }
      }
    }
    const Terms terms = terms_of(std::move(matrix), d * n);
    LiftedFactors factors{r, static_cast<int64_t>(terms.along.size()), {}, {}};
    for (size_t k = 0; k < terms.along.size(); ++k) {
      factors.onto.insert(factors.onto.end(), terms.onto[k].begin(), terms.onto[k].end());
      factors.along.insert(factors.along.end(), terms.along[k].begin(), terms.along[k].end());
    }
    all.push_back(std::move(factors));
  }
  return all;
}

}  // namespace weyl

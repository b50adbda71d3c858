#include "weyl/data/files/composition_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weyl {
namespace {

/// Reorders the numbers, of which there is one at least.
double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Solves A x = b, A (T, T) symmetric, positive semidefinite and scaled to a unit diagonal; what it leaves open is small.
std::vector<double> solved(std::vector<double> a, std::vector<double> b) {
  const size_t n = b.size();
  std::vector<double> scale(n);
  for (size_t i = 0; i < n; ++i) {
    scale[i] = a[i * n + i] > 0 ? 1 / std::sqrt(a[i * n + i]) : 0;
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      a[i * n + j] *= scale[i] * scale[j];
    }
    a[i * n + i] += scale[i] > 0 ? 1e-12 : 1;
    b[i] *= scale[i];
  }
  for (size_t j = 0; j < n; ++j) {  // Cholesky, in place
    for (size_t k = 0; k < j; ++k) {
      a[j * n + j] -= a[j * n + k] * a[j * n + k];
    }
    a[j * n + j] = std::sqrt(std::max(a[j * n + j], 1e-13));
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) {
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
      }
      a[i * n + j] /= a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k * n + i] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (size_t i = 0; i < n; ++i) {
    b[i] *= scale[i];
  }
  return b;
}

}  // namespace

std::vector<double> composition_estimates(
    const std::vector<std::vector<std::pair<int64_t, int64_t>>>& compositions, const std::vector<double>& y,
    const std::vector<double>& weights) {
  std::map<int64_t, size_t> column;
  struct Term {
    size_t column;
    double count;
  };
  const size_t n = y.size();
  std::vector<std::vector<Term>> terms(n);
  std::vector<double> nodes(n, 0), each(n, 0);
  for (size_t k = 0; k < n; ++k) {
    for (const auto& [type, count] : compositions[k]) {
      terms[k].push_back({column.try_emplace(type, column.size()).first->second, static_cast<double>(count)});
      nodes[k] += static_cast<double>(count);
    }
    each[k] = nodes[k] > 0 ? std::abs(y[k]) / nodes[k] : 0;
  }
  const size_t t = column.size();
  // A first estimate must not be ruined by one number: none is larger than a thousand usual ones for its nodes.
  const double usual = n > 0 ? 1e3 * median(each) : 0;
  std::vector<double> target(n), estimates(n, 0), weight = weights;
  for (size_t k = 0; k < n; ++k) {
    target[k] = usual > 0 ? std::clamp(y[k], -usual * nodes[k], usual * nodes[k]) : y[k];
  }
  for (int round = 0; round < 40 && n > 0; ++round) {
    std::vector<double> gram(t * t, 0), moment(t, 0);
    for (size_t k = 0; k < n; ++k) {
      for (const Term& a : terms[k]) {
        moment[a.column] += weight[k] * a.count * target[k];
        for (const Term& b : terms[k]) {
          gram[a.column * t + b.column] += weight[k] * a.count * b.count;
        }
      }
    }
    const std::vector<double> e = solved(std::move(gram), std::move(moment));
    std::vector<double> distances(n);
    for (size_t k = 0; k < n; ++k) {
      estimates[k] = 0;
      for (const Term& a : terms[k]) {
        estimates[k] += e[a.column] * a.count;
      }
      distances[k] = std::abs(target[k] - estimates[k]);
    }
    std::vector<double> sorted = distances;
    const double least = std::max(1e-3 * median(sorted), 1e-12 * usual);
    if (!(least > 0)) {
      break;
    }
    for (size_t k = 0; k < n; ++k) {
      weight[k] = weights[k] * least / std::max(distances[k], least);
    }
  }
  return estimates;
}

}  // namespace weyl

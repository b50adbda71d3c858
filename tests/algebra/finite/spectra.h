// Groups on which Fourier analysis is tested, and the simplest forms of what it must equal.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/algebra/finite/group_spectrum.h"
#include "weyl/algebra/finite/point_groups.h"
#include "weyl/core/worst_of.h"

namespace weyl::spectra {

using Matrix = std::vector<double>;

/// Left multiplication by the quaternion w + x i + y j + z k, as a 4 x 4 matrix.
inline Matrix by_quaternion(double w, double x, double y, double z) {
  return {w, -x, -y, -z, x, w, -z, y, y, z, w, -x, z, -y, x, w};
}

inline Matrix identity(int64_t n) {
  Matrix one(n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    one[i * (n + 1)] = 1;
  }
  return one;
}

/// a and b (n x n, m x m) along the diagonal.
inline Matrix direct_sum(const Matrix& a, const Matrix& b) {
  const auto n = std::lround(std::sqrt(a.size())), m = std::lround(std::sqrt(b.size())), size = n + m;
  Matrix sum(size * size, 0.0);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      sum[i * size + j] = i < n && j < n ? a[i * n + j] : i >= n && j >= n ? b[(i - n) * m + j - n] : 0;
    }
  }
  return sum;
}

inline Matrix rotation(int64_t k, int64_t n) {
  const auto [c, s] = turn(k, n);
  return {c, -s, s, c};
}

/// Groups of one's own: a prism's, and groups that have irreps of every type with multiplicities above one, which no
/// group of space has.
inline std::vector<GroupPtr> own_groups() {
  const double p = (1 + std::sqrt(5.0)) / 4, q = 0.25 / p;  // phi / 2, 1 / (2 phi)
  const Matrix i = by_quaternion(0, 1, 0, 0), j = by_quaternion(0, 0, 1, 0), third = rotation(1, 3),
               flip{1, 0, 0, -1}, one2 = identity(2), half = by_quaternion(0.5, 0.5, 0.5, 0.5);
  Matrix shift(36, 0.0);  // of three planes
  for (int64_t r = 0; r < 6; ++r) {
    shift[r * 6 + (r + 2) % 6] = 1;
  }
  std::vector<Matrix> signs(5, identity(5));
  for (int64_t r = 0; r < 5; ++r) {
    signs[r][r * 6] = -1;
  }
  const auto make = [](const char* name, int64_t dimension, const std::vector<Matrix>& generators) {
    return std::make_shared<const FiniteGroup>(FiniteGroup::from_generators(name, dimension, generators));
  };
  return {
      make("D6h", 3,
           {{0.5, -std::sqrt(0.75), 0, std::sqrt(0.75), 0.5, 0, 0, 0, 1},
            {1, 0, 0, 0, -1, 0, 0, 0, 1},
            {1, 0, 0, 0, 1, 0, 0, 0, -1}}),
      make("Q8", 4, {i, j}),
      make("binary_tetrahedral", 4, {i, half}),
      make("binary_icosahedral", 4, {half, by_quaternion(p, q, 0.5, 0)}),
      make("C3xS3", 4, {direct_sum(third, one2), direct_sum(one2, third), direct_sum(one2, flip)}),
      make("Q8xS3", 6,
           {direct_sum(i, one2), direct_sum(j, one2), direct_sum(identity(4), third),
            direct_sum(identity(4), flip)}),
      make("Heisenberg3", 6, {shift, direct_sum(direct_sum(one2, third), rotation(2, 3))}),
      make("C2^5", 5, signs),
  };
}

/// Every name of `named_group`, families with several n, and the groups of one's own.
inline const std::vector<GroupPtr>& groups() {
  static const std::vector<GroupPtr> all = [] {
    std::vector<GroupPtr> groups = own_groups();
    for (const std::string& name : group_names()) {
      if (!name.ends_with("_n")) {
        groups.push_back(named_group(name));
        continue;
      }
      const std::string stem = name.substr(0, name.size() - 1);
      if (stem == "cyclic_" || stem == "dihedral_") {
        for (const char* n : {"2", "3", "4", "5", "6", "7", "12", "20", "64"}) {
          groups.push_back(named_group(stem + n));
        }
      } else {  // small ones, or the same groups in space
        for (const char* n : {"2", stem.starts_with("flop") ? "1" : "6"}) {
          groups.push_back(named_group(stem + n));
        }
      }
    }
    return groups;
  }();
  return all;
}

inline const GroupSpectrum& spectrum(const FiniteGroup& group) {
  static std::map<std::string, GroupSpectrum> made;
  const auto found = made.find(group.name());
  return found != made.end() ? found->second : made.emplace(group.name(), GroupTable(group)).first->second;
}

/// Numbers that no symmetry favours.
inline std::vector<double> some_numbers(int64_t count, double seed) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(std::sin(seed + 1.7 * static_cast<double>(i) + 0.3 * static_cast<double>(i * i % 97)));
  }
  return numbers;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    largest = worst_of(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

/// Q^T x, x (G, channels).
inline std::vector<double> analysed(const GroupSpectrum& spectrum, const std::vector<double>& x,
                                    int64_t channels) {
  const int64_t G = spectrum.order();
  std::vector<double> y(x.size(), 0.0);
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t c = 0; c < G; ++c) {
      for (int64_t i = 0; i < channels; ++i) {
        y[c * channels + i] += spectrum.transform()[g * G + c] * x[g * channels + i];
      }
    }
  }
  return y;
}

/// Q y.
inline std::vector<double> synthesised(const GroupSpectrum& spectrum, const std::vector<double>& y,
                                       int64_t channels) {
  const int64_t G = spectrum.order();
  std::vector<double> x(y.size(), 0.0);
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t c = 0; c < G; ++c) {
      for (int64_t i = 0; i < channels; ++i) {
        x[g * channels + i] += spectrum.transform()[g * G + c] * y[c * channels + i];
      }
    }
  }
  return x;
}

}  // namespace weyl::spectra

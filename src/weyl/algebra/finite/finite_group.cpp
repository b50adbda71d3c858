#include "weyl/algebra/finite/finite_group.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace {

constexpr double orthogonality_tolerance = 1e-6;
constexpr double match_tolerance = 1e-5;  // of one entry of a product of two elements
constexpr double least_separation = 1e-3;

using Matrix = std::vector<double>;

void multiply(int64_t D, const double* a, const double* b, double* product) {
  for (int64_t i = 0; i < D; ++i) {
    for (int64_t j = 0; j < D; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < D; ++k) {
        sum += a[i * D + k] * b[k * D + j];
      }
      product[i * D + j] = sum;
    }
  }
}

double distance(int64_t size, const double* a, const double* b) {
  double largest = 0;
  for (int64_t i = 0; i < size; ++i) {
    largest = worst_of(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

Matrix identity_matrix(int64_t D) {
  Matrix identity(D * D, 0.0);
  for (int64_t i = 0; i < D; ++i) {
    identity[i * D + i] = 1;
  }
  return identity;
}

// max |R^T R - 1|
double orthogonality_defect(int64_t D, const double* r) {
  double largest = 0;
  for (int64_t i = 0; i < D; ++i) {
    for (int64_t j = i; j < D; ++j) {
      double sum = i == j ? -1 : 0;
      for (int64_t k = 0; k < D; ++k) {
        sum += r[k * D + i] * r[k * D + j];
      }
      largest = worst_of(largest, std::abs(sum));
    }
  }
  return largest;
}

// Gaussian elimination with row pivoting, the sign of the result only.
double sign_of_determinant(int64_t D, Matrix r) {
  double sign = 1;
  for (int64_t c = 0; c < D; ++c) {
    int64_t pivot = c;
    for (int64_t i = c + 1; i < D; ++i) {
      if (std::abs(r[i * D + c]) > std::abs(r[pivot * D + c])) {
        pivot = i;
      }
    }
    if (pivot != c) {
      std::swap_ranges(r.begin() + c * D, r.begin() + (c + 1) * D, r.begin() + pivot * D);
      sign = -sign;
    }
    sign = r[c * D + c] < 0 ? -sign : sign;
    for (int64_t i = c + 1; i < D; ++i) {
      const double factor = r[i * D + c] / r[c * D + c];
      for (int64_t j = c; j < D; ++j) {
        r[i * D + j] -= factor * r[c * D + j];
      }
    }
  }
  return sign;
}

void require_orthogonal(const std::string& name, int64_t D, const char* what, size_t index, const Matrix& r) {
  require<ConfigError>(static_cast<int64_t>(r.size()) == D * D, "group '", name, "': ", what, " ", index,
                       " must have ", D, " x ", D, " entries, got ", r.size());
  require<ConfigError>(std::ranges::all_of(r, [](double x) { return std::isfinite(x); }), "group '", name,
                       "': ", what, " ", index, " must be finite, got NaN or infinity");
  const double defect = orthogonality_defect(D, r.data());
  require<ConfigError>(defect < orthogonality_tolerance, "group '", name, "': ", what, " ", index,
                       " must be orthogonal to ", orthogonality_tolerance, ", got |R^T R - 1| = ", defect);
}

// Finds the element nearest to a matrix. Elements are sorted by one generic linear function of their entries;
// only those whose value is within reach of the tolerance are compared. (A hash of rounded entries would miss
// entries that straddle a rounding boundary.)
class NearestElement {
 public:
  NearestElement(int64_t size, int64_t count, const double* elements) : size_(size), elements_(elements) {
    weights_.resize(size);
    for (int64_t i = 0; i < size; ++i) {
      weights_[i] = std::sin(1.7 * static_cast<double>(i) + 1);  // nothing that a symmetry would cancel
      reach_ += std::abs(weights_[i]) * match_tolerance;
    }
    keys_.reserve(count);
    for (int64_t g = 0; g < count; ++g) {
      keys_.emplace_back(key(elements + g * size), g);
    }
    std::ranges::sort(keys_);
  }

  // The index of the element within `match_tolerance` in every entry, or -1.
  int64_t operator()(const double* r) const {
    const double value = key(r);
    auto it = std::ranges::lower_bound(keys_, std::pair<double, int64_t>{value - reach_, -1});
    for (; it != keys_.end() && it->first <= value + reach_; ++it) {
      if (distance(size_, r, elements_ + it->second * size_) < match_tolerance) {
        return it->second;
      }
    }
    return -1;
  }

 private:
  double key(const double* r) const {
    double sum = 0;
    for (int64_t i = 0; i < size_; ++i) {
      sum += weights_[i] * r[i];
    }
    return sum;
  }

  int64_t size_;
  const double* elements_;
  std::vector<double> weights_;
  double reach_ = 0;
  std::vector<std::pair<double, int64_t>> keys_;
};

}  // namespace

FiniteGroup::FiniteGroup(std::string name, int64_t dimension, std::vector<std::vector<double>> elements)
    : name_(std::move(name)), dimension_(dimension), order_(static_cast<int64_t>(elements.size())) {
  const int64_t D = dimension_, G = order_, size = D * D;
  require<ConfigError>(D >= 1 && D <= 16, "group '", name_, "': dimension must be 1 to 16, got ", D);
  require<ConfigError>(G >= 1, "group '", name_, "': must have at least one element, got none");
  elements_.reserve(G * size);
  for (size_t g = 0; g < elements.size(); ++g) {
    require_orthogonal(name_, D, "element", g, elements[g]);
    determinants_.push_back(sign_of_determinant(D, elements[g]));
    for (const double x : elements[g]) {
      elements_.push_back(x + 0.0);  // -0 becomes 0
    }
  }

  const auto at = [&](int64_t g) { return elements_.data() + g * size; };
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t h = 0; h < g; ++h) {
      require<ConfigError>(distance(size, at(g), at(h)) > least_separation, "group '", name_,
                           "': elements must differ, got elements ", h, " and ", g, " alike");
    }
  }

  const NearestElement nearest_element(size, G, elements_.data());
  identity_ = nearest_element(identity_matrix(D).data());
  require<ConfigError>(identity_ >= 0, "group '", name_, "': must hold the identity, got ", G,
                       " elements without it");
  cayley_.resize(G * G);
  inverse_.assign(G, -1);
  Matrix product(size);
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t h = 0; h < G; ++h) {
      multiply(D, at(g), at(h), product.data());
      const int64_t gh = nearest_element(product.data());
      require<ConfigError>(gh >= 0, "group '", name_, "': must be closed under products, got element ", g,
                           " times element ", h, " which is none of the ", G);
      cayley_[g * G + h] = gh;
      if (gh == identity_) {
        inverse_[g] = h;  // a finite set of invertible matrices that is closed has all inverses
      }
    }
  }
}

FiniteGroup FiniteGroup::from_generators(std::string name, int64_t dimension,
                                         const std::vector<std::vector<double>>& generators,
                                         int64_t max_order) {
  const int64_t D = dimension;
  require<ConfigError>(D >= 1 && D <= 16, "group '", name, "': dimension must be 1 to 16, got ", D);
  for (size_t i = 0; i < generators.size(); ++i) {
    require_orthogonal(name, D, "generator", i, generators[i]);
  }
  std::vector<Matrix> elements{identity_matrix(D)};
  Matrix product(D * D);
  for (size_t next = 0; next < elements.size(); ++next) {
    for (const Matrix& generator : generators) {
      multiply(D, elements[next].data(), generator.data(), product.data());
      const bool known = std::ranges::any_of(elements, [&](const Matrix& e) {
        return distance(D * D, e.data(), product.data()) < match_tolerance;
      });
      if (!known) {
        elements.push_back(product);
        require<ConfigError>(static_cast<int64_t>(elements.size()) <= max_order, "group '", name,
                             "': generators must generate at most ", max_order,
                             " elements, got more (no finite group, a larger one, or too few digits)");
      }
    }
  }
  return {std::move(name), dimension, std::move(elements)};
}

bool FiniteGroup::has_reflections() const {
  return std::ranges::any_of(determinants_, [](double d) { return d < 0; });
}

bool FiniteGroup::abelian() const {
  for (int64_t g = 0; g < order_; ++g) {
    for (int64_t h = 0; h < g; ++h) {
      if (product(g, h) != product(h, g)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace weyl

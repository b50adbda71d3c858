#include "weyl/algebra/finite/prime_field.h"

#include <algorithm>
#include <utility>

namespace weyl {
namespace {

bool is_prime(int64_t n) {
  for (int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) {
      return false;
    }
  }
  return n >= 2;
}

}  // namespace

PrimeField::PrimeField(int64_t exponent, int64_t least) {
  prime_ = (std::max<int64_t>(least, 2) - 2) / exponent * exponent + 1;
  while (prime_ < least || !is_prime(prime_)) {
    prime_ += exponent;
  }
  // a^((p-1)/e) has an order that divides e; it is e unless a proper divisor does.
  const auto has_full_order = [&](int64_t root) {
    for (int64_t d = 1; d < exponent; ++d) {
      if (exponent % d == 0 && power(root, d) == 1) {
        return false;
      }
    }
    return true;
  };
  for (int64_t a = 1; root_ == 0; ++a) {
    const int64_t root = power(a, (prime_ - 1) / exponent);
    root_ = has_full_order(root) ? root : 0;
  }
}

int64_t PrimeField::power(int64_t a, int64_t n) const {
  int64_t result = 1 % prime_;
  for (; n > 0; n /= 2) {
    result = n % 2 == 1 ? multiply(result, a) : result;
    a = multiply(a, a);
  }
  return result;
}

std::vector<int64_t> PrimeField::relation(std::vector<std::vector<int64_t>> vectors) const {
  // Gauss and Jordan on the columns: the system sum_i c_i v_i[t] = v_n[t], one equation for each t.
  const auto n = static_cast<int64_t>(vectors.size()) - 1;
  for (int64_t i = 0; i < n; ++i) {
    int64_t pivot = i;
    while (pivot < n && vectors[i][pivot] == 0) {
      ++pivot;
    }
    if (pivot == n) {
      return {};
    }
    const int64_t scale = inverse(vectors[i][pivot]);
    for (auto& v : vectors) {
      std::swap(v[i], v[pivot]);
      v[i] = multiply(v[i], scale);
    }
    for (int64_t t = 0; t < n; ++t) {
      const int64_t factor = vectors[i][t];
      if (t == i || factor == 0) {
        continue;
      }
      for (int64_t j = i; j <= n; ++j) {
        vectors[j][t] = subtract(vectors[j][t], multiply(factor, vectors[j][i]));
      }
    }
  }
  return vectors[n];
}

}  // namespace weyl

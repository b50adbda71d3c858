// Numbers modulo a prime below 2^31, in which characters are exact.
#pragma once

#include <cstdint>
#include <vector>

namespace weyl {

class PrimeField {
 public:
  /// The smallest prime that is 1 modulo `exponent` and at least `least`: it has all roots of unity of that order.
  PrimeField(int64_t exponent, int64_t least);

  int64_t prime() const { return prime_; }
  int64_t root() const { return root_; }  // a primitive root of unity of order `exponent`
  int64_t multiply(int64_t a, int64_t b) const { return a * b % prime_; }
  int64_t subtract(int64_t a, int64_t b) const { return a < b ? a - b + prime_ : a - b; }
  int64_t power(int64_t a, int64_t n) const;  // n >= 0
  int64_t inverse(int64_t a) const { return power(a, prime_ - 2); }

  /// Monic coefficients c_0 ... c_n-1 of the relation v_n = sum c_i v_i, v_i the first n+1 rows of `vectors`, each of n
  /// numbers; empty when the first n rows are dependent.
  std::vector<int64_t> relation(std::vector<std::vector<int64_t>> vectors) const;

 private:
  int64_t prime_ = 0, root_ = 0;
};

}  // namespace weyl

// Numbers modulo a prime below 2^31, in which characters are exact.
#pragma once

#include <cstdint>
#include <vector>

#include "weyl/algebra/finite/double_double.h"
#include "weyl/algebra/finite/group_table.h"

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

/// What commutes with a real irrep: the real numbers, complex numbers or quaternions.
enum class IrrepType { real, complex, quaternionic };

/// delta: 1, 2, 4.
constexpr int64_t commutant_dimension(IrrepType type) {
  return type == IrrepType::real ? 1 : type == IrrepType::complex ? 2 : 4;
}

/// The character of a real irrep. Over the complex numbers a real irrep is one irrep (type real), an irrep and its
/// conjugate (complex) or an irrep twice (quaternionic): the type is that of Frobenius' and Schur's indicator
/// (1/G) sum_g chi(g^2) = 1, 0, -1.
struct RealCharacter {
  IrrepType type = IrrepType::real;
  int64_t dimension = 0;             // d
  std::vector<DoubleDouble> values;  // (G) by element
};

/// All of them, in the order of docs/conventions.md: by dimension, then type (real, complex, quaternionic), then by the
/// first class of conjugate elements on which they differ, the larger value first; so the trivial one is the first. Exact:
/// found modulo a prime by the method of Burnside and Dixon, hence independent of rounding. Costs O(c^3 + c G), c classes.
std::vector<RealCharacter> real_characters(const GroupTable& group);

}  // namespace weyl

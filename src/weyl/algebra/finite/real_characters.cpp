#include "weyl/algebra/finite/real_characters.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "weyl/core/check.h"

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

namespace {

using Residues = std::vector<int64_t>;  // one for each class, modulo the prime

int64_t order_of(const GroupTable& group, int64_t g) {
  int64_t n = 1;
  for (int64_t x = g; x != group.identity(); x = group.product(x, g)) {
    ++n;
  }
  return n;
}

// Characters modulo a prime. Class sums span the centre of the group algebra, an algebra of functions on the irreps; so
// an element z that has another value on each has powers which span it, and the primitive idempotents
// e_chi = chi(1)/G sum_g conj(chi(g)) g are polynomials of z.
class DixonCharacters {
 public:
  explicit DixonCharacters(const GroupTable& group)
      : group_(group),
        classes_(group),
        exponent_(exponent(group, classes_)),
        field_(exponent_, least_prime()) {
    for (int64_t generator = 2; characters_.empty(); ++generator) {
      find(generator);
    }
  }

  const ConjugacyClasses& classes() const { return classes_; }
  const std::vector<Residues>& characters() const { return characters_; }

  Residues conjugate(const Residues& chi) const {
    Residues conjugated(chi.size());
    for (size_t c = 0; c < chi.size(); ++c) {
      conjugated[c] = chi[classes_.of[group_.inverse(classes_.first[c])]];
    }
    return conjugated;
  }

  IrrepType type(const Residues& chi) const {
    int64_t sum = 0;
    for (int64_t g = 0; g < group_.order(); ++g) {
      sum += chi[classes_.of[group_.product(g, g)]];
    }
    const int64_t indicator = field_.multiply(sum % field_.prime(), field_.inverse(group_.order()));
    return indicator == 1 ? IrrepType::real : indicator == 0 ? IrrepType::complex : IrrepType::quaternionic;
  }

  // The real part of chi on a class: an element of order n has eigenvalues exp(2 pi i j / n), how many of each is
  // (1/n) sum_l chi(g^l) z^(-j l), z the root of unity.
  DoubleDouble real_part(const Residues& chi, int64_t c) const {
    const int64_t g = classes_.first[c], n = order_of(group_, g);
    const int64_t z = field_.power(field_.root(), exponent_ / n), scale = field_.inverse(n);
    Residues powers;  // chi(g^l)
    for (int64_t l = 0, x = group_.identity(); l < n; ++l, x = group_.product(x, g)) {
      powers.push_back(chi[classes_.of[x]]);
    }
    if (chi[0] == 1) {  // what follows, much faster
      int64_t j = 0;
      while (field_.power(z, j) != chi[c]) {
        ++j;
      }
      return cosine_of_turn(j, n);
    }
    DoubleDouble total;
    int64_t left = chi[0];
    for (int64_t j = 0; left > 0; ++j) {
      const int64_t step = field_.power(z, (n - j) % n);
      int64_t sum = 0;
      for (int64_t l = n - 1; l >= 0; --l) {
        sum = (field_.multiply(sum, step) + powers[l]) % field_.prime();
      }
      const int64_t count = field_.multiply(sum, scale);
      total += cosine_of_turn(j, n) * static_cast<double>(count);
      left -= count;
    }
    return total;
  }

 private:
  static int64_t exponent(const GroupTable& group, const ConjugacyClasses& classes) {
    int64_t exponent = 1;
    for (const int64_t g : classes.first) {
      exponent = std::lcm(exponent, order_of(group, g));
    }
    return exponent;
  }
  // Above all dimensions, and so large that a z at random mostly has distinct values.
  int64_t least_prime() const { return std::max<int64_t>(1000, 4 * classes_.count() * classes_.count()); }

  // z = sum_c generator^c C_c over class sums C_c; leaves no characters when its powers do not span.
  void find(int64_t generator) {
    const int64_t k = classes_.count(), p = field_.prime();
    // Row s: z C_s, of which the coefficient on C_t counts pairs x y = z_t, y in C_s.
    std::vector<Residues> times(k, Residues(k, 0));
    for (int64_t t = 0; t < k; ++t) {
      for (int64_t x = 0; x < group_.order(); ++x) {
        const int64_t s = classes_.of[group_.left_quotient(x, classes_.first[t])];
        times[s][t] = (times[s][t] + field_.power(generator, classes_.of[x])) % p;
      }
    }
    std::vector<Residues> powers{Residues(k, 0)};
    powers[0][0] = 1;
    for (int64_t n = 0; n < k; ++n) {
      Residues next(k, 0);
      for (int64_t s = 0; s < k; ++s) {
        for (int64_t t = 0; t < k; ++t) {
          next[t] = (next[t] + powers[n][s] * times[s][t]) % p;
        }
      }
      powers.push_back(std::move(next));
    }
    const Residues relation = field_.relation(powers);
    if (relation.empty()) {
      return;
    }
    for (int64_t value = 0; value < p; ++value) {  // of z on one irrep: a root of the minimal polynomial
      int64_t at = 1;
      Residues quotient(k);  // the polynomial divided by (x - value), by Horner's scheme
      for (int64_t n = k - 1; n >= 0; --n) {
        quotient[n] = at;
        at = field_.subtract(field_.multiply(at, value), relation[n]);
      }
      if (at == 0) {
        characters_.push_back(character(quotient, powers));
      }
    }
  }

  // Of the idempotent sum_n quotient[n] z^n, up to a factor: conj(chi) is its coefficients' multiple by G/chi(1), and
  // sum_g chi(g) conj(chi(g)) = G says which.
  Residues character(const Residues& quotient, const std::vector<Residues>& powers) const {
    const int64_t k = classes_.count(), p = field_.prime();
    Residues conjugated(k, 0);
    for (int64_t n = 0; n < k; ++n) {
      for (int64_t t = 0; t < k; ++t) {
        conjugated[t] = (conjugated[t] + quotient[n] * powers[n][t]) % p;
      }
    }
    const int64_t scale = field_.inverse(conjugated[0]);  // now chi(1) = 1
    for (auto& value : conjugated) {
      value = field_.multiply(value, scale);
    }
    const Residues chi = conjugate(conjugated);
    int64_t norm = 0;
    for (int64_t t = 0; t < k; ++t) {
      norm = (norm + field_.multiply(classes_.sizes[t], field_.multiply(chi[t], conjugated[t]))) % p;
    }
    int64_t dimension = 1;  // d^2 norm = G
    while (field_.multiply(dimension * dimension, norm) != group_.order() % p) {
      ++dimension;
    }
    Residues character(k);
    for (int64_t t = 0; t < k; ++t) {
      character[t] = field_.multiply(chi[t], dimension);
    }
    return character;
  }

  const GroupTable& group_;
  ConjugacyClasses classes_;
  int64_t exponent_;
  PrimeField field_;
  std::vector<Residues> characters_;
};

bool before(const RealCharacter& a, const RealCharacter& b, const ConjugacyClasses& classes) {
  if (a.dimension != b.dimension) {
    return a.dimension < b.dimension;
  }
  if (a.type != b.type) {
    return a.type < b.type;
  }
  for (const int64_t g : classes.first) {
    const DoubleDouble difference = a.values[g] - b.values[g];
    if (std::abs(difference.high) > 1e-12) {  // values that differ differ by far more
      return difference.high > 0;
    }
  }
  return false;
}

}  // namespace

std::vector<RealCharacter> real_characters(const GroupTable& group) {
  const DixonCharacters found(group);
  std::vector<RealCharacter> characters;
  for (const auto& chi : found.characters()) {
    if (found.conjugate(chi) < chi) {
      continue;  // one of a conjugate pair is enough
    }
    RealCharacter character{found.type(chi), 0, {}};
    const double times = character.type == IrrepType::real ? 1 : 2;
    character.dimension = chi[0] * static_cast<int64_t>(times);
    std::vector<DoubleDouble> on_class;
    for (int64_t c = 0; c < found.classes().count(); ++c) {
      on_class.push_back(found.real_part(chi, c) * times);
    }
    for (const int64_t c : found.classes().of) {
      character.values.push_back(on_class[c]);
    }
    characters.push_back(std::move(character));
  }
  std::ranges::sort(characters, [&](const auto& a, const auto& b) { return before(a, b, found.classes()); });
  return characters;
}

}  // namespace weyl

// Numbers of about 32 digits, as unevaluated sums of two doubles. Tables that are computed in them and then rounded
// have the same bits whatever the compiler contracts: errors of 1e-30 do not reach the last bit of a double.
#pragma once

#include <cmath>
#include <cstdint>

namespace weyl {

/// high + low, |low| at most half a unit in the last place of high. Finite numbers; dividing by zero is an error of the
/// caller.
struct DoubleDouble {
  double high = 0, low = 0;

  DoubleDouble() = default;
  DoubleDouble(double x) : high(x) {}  // without `explicit`: every double is such a number
  DoubleDouble(double h, double l) : high(h), low(l) {}

  /// a + b of any two doubles, exactly (Knuth).
  static DoubleDouble sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
  }
  /// a b, exactly.
  static DoubleDouble product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
  }

  DoubleDouble operator-() const { return {-high, -low}; }
  friend DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const auto s = sum(a.high, b.high), t = sum(a.low, b.low);
    const auto u = sum(s.high, s.low + t.high);
    return sum(u.high, u.low + t.low);
  }
  friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
  friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const auto p = product(a.high, b.high);
    return sum(p.high, p.low + (a.high * b.low + a.low * b.high));
  }
  friend DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high / b.high;
    const DoubleDouble rest = a - b * first;
    const double second = rest.high / b.high;
    return sum(first, second) + (rest - b * second).high / b.high;
  }
  DoubleDouble& operator+=(const DoubleDouble& b) { return *this = *this + b; }
  DoubleDouble& operator-=(const DoubleDouble& b) { return *this = *this - b; }
  DoubleDouble& operator*=(const DoubleDouble& b) { return *this = *this * b; }

  friend bool operator<(const DoubleDouble& a, const DoubleDouble& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
  friend bool operator>(const DoubleDouble& a, const DoubleDouble& b) { return b < a; }
};

inline DoubleDouble abs(const DoubleDouble& x) {
  return x.high < 0 ? -x : x;
}

/// Of a number of at least zero.
inline DoubleDouble sqrt(const DoubleDouble& x) {
  if (x.high <= 0) {
    return {};
  }
  const double root = std::sqrt(x.high);  // correctly rounded, as IEEE 754 has it
  return DoubleDouble(root) + (x - DoubleDouble::product(root, root)) / (2 * root);
}

/// The nearest double; zero for what is smaller than any number but zero of the tables made here (1e-20).
inline double rounded(const DoubleDouble& x) {
  return std::abs(x.high) < 1e-20 ? 0 : x.high;
}

/// cos(2 pi k / n), n > 0.
inline DoubleDouble cosine_of_turn(int64_t k, int64_t n) {
  // Symmetries bring the angle to at most an eighth of a turn, where the series converges fast.
  k = ((k % n) + n) % n;
  k = 2 * k > n ? n - k : k;  // half a turn
  const bool negative = 4 * k > n;
  int64_t numerator =
      negative ? n - 2 * k : 2 * k;  // of pi / n, at most a quarter of a turn: 2 numerator <= n
  const bool sine = 4 * numerator > n;
  if (sine) {
    numerator = n - 2 * numerator;  // of pi / (2 n): pi/2 - angle
  }
  const DoubleDouble pi(3.141592653589793116, 1.2246467991473532072e-16);
  const DoubleDouble angle = pi * static_cast<double>(numerator) / static_cast<double>(sine ? 2 * n : n);
  DoubleDouble term = sine ? angle : DoubleDouble(1), total = term;
  for (int64_t power = sine ? 3 : 2; power < 32; power += 2) {
    term = -(term * angle * angle) / static_cast<double>(power * (power - 1));
    total += term;
  }
  return negative ? -total : total;
}

}  // namespace weyl

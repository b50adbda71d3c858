#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace weyl {

/// The draws of numpy's legacy RandomState(seed), bit for bit: MT19937 seeded by one 32-bit number.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : bits_(seed) {}

  /// random_sample: 53 bits in [0, 1).
  double uniform() {
    const uint32_t a = bits_() >> 5, b = bits_() >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
  }

  /// randn: polar Box-Muller; the second number of a pair is kept for the next call.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const Pair p = pair();
    const double f = std::sqrt(-2.0 * std::log(p.square) / p.square);
    spare_ = f * p.x;
    has_spare_ = true;
    return f * p.y;
  }

  /// permutation(n) of 0 .. n - 1, n at most 2^32: each place, from the last on, changes with one of those up to it,
  /// drawn from as many bits as that one has; draws beyond it are drawn again.
  std::vector<int64_t> permutation(int64_t n) {
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (auto i = static_cast<uint64_t>(order.size()); i-- > 1;) {
      const uint64_t mask = std::bit_ceil(i + 1) - 1;
      uint64_t j = bits_() & mask;
      while (j > i) {
        j = bits_() & mask;
      }
      std::swap(order[i], order[j]);
    }
    return order;
  }

  /// Skips `count` calls of normal; numbers that nobody sees cost no logarithm.
  void discard_normals(int64_t count) {
    if (count > 0 && has_spare_) {
      has_spare_ = false;
      --count;
    }
    for (; count >= 2; count -= 2) {
      pair();
    }
    if (count == 1) {
      normal();
    }
  }

 private:
  struct Pair {
    double x, y, square;
  };
  Pair pair() {
    Pair p;
    do {
      p.x = 2.0 * uniform() - 1.0;
      p.y = 2.0 * uniform() - 1.0;
      p.square = p.x * p.x + p.y * p.y;
    } while (p.square >= 1.0 || p.square == 0.0);
    return p;
  }

  std::mt19937 bits_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace weyl

#include "weyl/core/permutation.h"

#include <algorithm>
#include <bit>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection in which every bit depends on all.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Permutation::Permutation(int64_t n, Stream stream) : n_(n) {
  require(n >= 1, "Permutation: n must be positive, got ", n);
  const int bits = std::max(2, static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1))));
  low_ = bits / 2;
  high_ = bits - low_;
  for (uint64_t& key : keys_) {
    key = stream.bits();
  }
}

int64_t Permutation::operator()(int64_t i) const {
  require(i >= 0 && i < n_, "Permutation: place ", i, " is not one of 0 .. ", n_ - 1);
  auto x = static_cast<uint64_t>(i);
  do {
    uint64_t high = x >> low_, low = x & ((uint64_t{1} << low_) - 1);
    for (size_t round = 0; round < keys_.size(); round += 2) {
      high ^= mixed(low + keys_[round]) >> (64 - high_);
      low ^= mixed(high + keys_[round + 1]) >> (64 - low_);
    }
    x = (high << low_) | low;
  } while (x >= static_cast<uint64_t>(n_));
  return static_cast<int64_t>(x);
}

}  // namespace weyl

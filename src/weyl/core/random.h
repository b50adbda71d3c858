#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace weyl {

/// A named stream of random numbers: a pure function of (seed, name, indices), the same on every
/// machine. Streams with different names or indices are independent, so a draw added to one never
/// shifts another: Stream(seed, "augment", {epoch, sample}).
class Stream {
 public:
  Stream(uint64_t seed, std::string_view name, std::initializer_list<uint64_t> indices = {});

  uint64_t bits();             // 64 random bits (Philox 4x32-10, counter based)
  double uniform();            // in [0, 1), 53 bits
  double normal();             // standard Gaussian (Box-Muller)
  int64_t below(int64_t n);    // uniform in {0, ..., n-1}, unbiased; n > 0
  std::vector<int64_t> permutation(int64_t n);
};

}  // namespace weyl

#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace weyl {

/// Philox 4x32-10 of Salmon et al. (SC'11), "Parallel random numbers: as easy as 1, 2, 3": a bijection from a counter
/// of 128 bits to 128 random bits, for a key of 64 bits.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// A named stream of random numbers: a pure function of (seed, name, indices), with the same bits on every machine
/// (`normal` to the last bit of the machine's log and cos). Streams with different names or indices are independent, so
/// a draw that is added to one never shifts another: Stream(seed, "augment", {epoch, sample}). A copy continues where
/// the original was.
class Stream {
 public:
  Stream(uint64_t seed, std::string_view name, std::initializer_list<uint64_t> indices = {});

  uint64_t bits();                              // 64 random bits (Philox 4x32-10, counter based)
  double uniform();                             // in [0, 1), 53 bits
  double normal();                              // standard Gaussian (Box-Muller)
  int64_t below(int64_t n);                     // uniform in {0, ..., n-1}, unbiased; ShapeError unless n > 0
  std::vector<int64_t> permutation(int64_t n);  // of {0, ..., n-1}, uniform; ShapeError unless n >= 0

 private:
  std::array<uint32_t, 2> key_;
  uint64_t block_ = 0, high_;  // the counter: the position, and the part of the name's hash that key_ lacks
  uint64_t spare_ = 0;         // the second half of the last block
  double spare_normal_ = 0;    // the second number of the last Box-Muller pair
  bool has_spare_ = false, has_spare_normal_ = false;
};

}  // namespace weyl

#pragma once

#include <array>
#include <cstdint>

namespace weyl {

class Stream;

/// A random permutation of {0, ..., n-1} that is computed place by place and takes no memory: an alternating Feistel network on
/// the least number of bits that n - 1 fits in (2 at least), with keys from a stream. What it brings beyond n - 1 goes through it
/// again until it does not (cycle walking), less than twice on average for n >= 3. For orders of so many samples that a list of them is a
/// burden; Stream::permutation is uniform over all n! orders, of which this one has 2^512 at most.
class Permutation {
 public:
  /// ShapeError unless n >= 1.
  Permutation(int64_t n, Stream stream);
  int64_t size() const { return n_; }
  /// What stands at place i. ShapeError: there is no such place.
  int64_t operator()(int64_t i) const;

 private:
  int64_t n_;
  int high_, low_;  // bits of the two halves
  std::array<uint64_t, 8> keys_;
};

}  // namespace weyl

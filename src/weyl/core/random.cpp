#include "weyl/core/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

// 128 bits of hash in two lanes, each word mixed in by the finaliser of SplitMix64. Lengths are mixed in too,
// so that ("ab", {}) and ("a", {'b'}) differ.
struct Hash {
  uint64_t a = 0x243f6a8885a308d3, b = 0x13198a2e03707344;  // digits of pi

  static uint64_t mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  void add(uint64_t word) {
    a = mix(a ^ word);
    b = mix(b + (word ^ 0xa4093822299f31d0) * 0xd1342543de82ef95);
  }

  void add(std::string_view bytes) {
    add(bytes.size());
    for (size_t i = 0; i < bytes.size(); i += 8) {
      uint64_t word = 0;
      for (size_t j = i; j < std::min(i + 8, bytes.size()); ++j) {
        word |= uint64_t{static_cast<unsigned char>(bytes[j])} << (8 * (j - i));
      }
      add(word);
    }
  }
};

}  // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xd2511f53} * c[0], q = uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return c;
}

Stream::Stream(uint64_t seed, std::string_view name, std::initializer_list<uint64_t> indices) {
  Hash hash;
  hash.add(seed);
  hash.add(name);
  hash.add(indices.size());
  for (const uint64_t index : indices) {
    hash.add(index);
  }
  key_ = {static_cast<uint32_t>(hash.a), static_cast<uint32_t>(hash.a >> 32)};
  high_ = hash.b;
}

uint64_t Stream::bits() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const auto r = philox4x32({static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32),
                             static_cast<uint32_t>(high_), static_cast<uint32_t>(high_ >> 32)},
                            key_);
  ++block_;
  spare_ = uint64_t{r[3]} << 32 | r[2];
  has_spare_ = true;
  return uint64_t{r[1]} << 32 | r[0];
}

double Stream::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double Stream::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u lies in (0, 1]
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

int64_t Stream::below(int64_t n) {
  require(n > 0, "Stream::below: n must be positive, got ", n);
  // Lemire's method: the high word of a product, and a redraw where the low word would favour some values.
  const auto range = static_cast<uint64_t>(n);
  const uint64_t unfair = (0 - range) % range;
  while (true) {
    const unsigned __int128 product = static_cast<unsigned __int128>(bits()) * range;
    if (static_cast<uint64_t>(product) >= unfair) {
      return static_cast<int64_t>(product >> 64);
    }
  }
}

std::vector<int64_t> Stream::permutation(int64_t n) {
  require(n >= 0, "Stream::permutation: n must not be negative, got ", n);
  std::vector<int64_t> order(n);
  for (int64_t i = 0; i < n; ++i) {
    order[i] = i;
  }
  for (int64_t i = n - 1; i > 0; --i) {
    std::swap(order[i], order[below(i + 1)]);
  }
  return order;
}

}  // namespace weyl

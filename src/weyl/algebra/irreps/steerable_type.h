#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weyl {

/// What a steerable feature holds at each pixel: irrep i with multiplicity channels[i], in the plane the order k = i
/// of SO(2) (one component), in space the degree l = i of SO(3) (2 l + 1 components). Features are complex.
/// Their F numbers stand in the order irrep, component, channel; tensors are (B, 2 F, pixels...), all real
/// parts before all imaginary ones.
struct SteerableType {
  int64_t dimension = 2;  // of the grid: 2 or 3
  std::vector<int64_t> channels;

  int64_t irreps() const { return static_cast<int64_t>(channels.size()); }
  int64_t components(int64_t irrep) const { return dimension == 2 ? 1 : 2 * irrep + 1; }
  /// How many numbers irrep i has, and the first of them.
  int64_t width(int64_t irrep) const { return components(irrep) * channels[irrep]; }
  int64_t offset(int64_t irrep) const {
    int64_t first = 0;
    for (int64_t i = 0; i < irrep; ++i) {
      first += width(i);
    }
    return first;
  }
  int64_t width() const { return offset(irreps()); }  // F
  int64_t multiplicity() const {                      // S, summed over the irreps
    int64_t sum = 0;
    for (const int64_t c : channels) {
      sum += c;
    }
    return sum;
  }
  bool operator==(const SteerableType&) const = default;
};

/// Which filter orders k join order m1 to order m in the plane. `exact`: k = m - m1, the constraint of SO(2)
/// itself. The authors' forms, to compare with: `triangular`, those with m >= m1 alone; `cyclic`, k = m - m1
/// modulo the number of orders, which turns exactly by multiples of 2 pi / K only.
enum class OrderCoupling { exact, triangular, cyclic };
constexpr auto names_of(OrderCoupling) {
  return std::array<std::string_view, 3>{"exact", "triangular", "cyclic"};
}

}  // namespace weyl

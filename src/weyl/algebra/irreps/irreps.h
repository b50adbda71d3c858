#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// An irreducible representation of SO(3), or with a parity of O(3): 2 degree + 1 components.
enum class Parity { none, even, odd };
struct Irrep {
  int64_t degree = 0;
  Parity parity = Parity::none;
  int64_t dimension() const { return 2 * degree + 1; }
  bool operator==(const Irrep&) const = default;
};

/// A direct sum, as e3nn writes it: "8x0e+4x1o", without parities "8x0+4x1+2x2"; "1x" may be left out.
struct Irreps {
  struct Part {
    int64_t channels = 1;
    Irrep irrep;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;

  /// ConfigError naming the part that is not one: channels from 1 to 1e6, degrees from 0 to 64, parities for
  /// all or for none.
  static Irreps parse(std::string_view text);
  std::string text() const;
  int64_t dimension() const;  // sum of channels (2 degree + 1)
  int64_t highest() const;    // degree; 0 without parts
  bool operator==(const Irreps&) const = default;
};

}  // namespace weyl

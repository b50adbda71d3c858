#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// A finite group of orthogonal D x D matrices acting on column vectors, v' = R v, in double precision.
///
/// Elements keep the order in which they were given: it is the layout of features on the group and of stored weights.
/// The identity may have any index. The constructor checks the class invariants and throws ConfigError unless
///   * every element is orthogonal, to 1e-6;
///   * elements are distinct, by 1e-3 at least;
///   * the set is closed under products (hence under inverses), to 1e-5.
class FiniteGroup {
 public:
  /// elements: G matrices, row-major D*D doubles each, finite; a negative zero becomes zero. D is 1 to 16
  /// (data have D = 2 or 3). Costs O(G^2 (D^3 + log G)): 1 ms for G = 120.
  FiniteGroup(std::string name, int64_t dimension, std::vector<std::vector<double>> elements);

  /// The group that matrices generate. Elements are found breadth first from the identity (index 0), by multiplication
  /// from the right. ConfigError beyond `max_order` elements: the generators then do not generate a finite group, or
  /// generate a larger one than expected, or are written with too few digits.
  static FiniteGroup from_generators(std::string name, int64_t dimension,
                                     const std::vector<std::vector<double>>& generators,
                                     int64_t max_order = 240);

  const std::string& name() const { return name_; }
  int64_t order() const { return order_; }            // G
  int64_t dimension() const { return dimension_; }    // D
  std::span<const double> element(int64_t g) const {  // R_g: D*D, row-major
    return {elements_.data() + g * dimension_ * dimension_, static_cast<size_t>(dimension_ * dimension_)};
  }
  double determinant(int64_t g) const { return determinants_[g]; }  // +1 or -1, exactly
  bool has_reflections() const;
  int64_t identity() const { return identity_; }
  int64_t product(int64_t g, int64_t h) const { return cayley_[g * order_ + h]; }  // index of R_g R_h
  int64_t inverse(int64_t g) const { return inverse_[g]; }
  int64_t left_quotient(int64_t g, int64_t h) const { return product(inverse(g), h); }  // of g^-1 h
  bool abelian() const;

 private:
  std::string name_;
  int64_t dimension_, order_;
  std::vector<double> elements_, determinants_;
  std::vector<int64_t> cayley_, inverse_;
  int64_t identity_ = 0;
};

using GroupPtr = std::shared_ptr<const FiniteGroup>;

/// A group by its name in a config (n is 2 to 64, but 1 to 10 in `trivial_n`):
///   solid   trivial, tetrahedron (12), tetrahedron_full (24), octahedron (24), octahedron_full (48),
///           icosahedron (60), icosahedron_full (120), octahedron_reflections (8), flop_3d_1..3,
///           cyclic_3d_n, dihedral_3d_n (n rotations about `axis`, and n half-turns about axes normal to it)
///   planar  trivial_2, cyclic_n, dihedral_n (order 2n), flop_2d_1..2
///   any     trivial_n (dimension n)
/// Elements stand in the order of the authors' code, which algebra/finite/point_groups.h states. Only the *_3d_n
/// families use `axis` (any length but zero). ConfigError, naming the nearest group, when there is no such group.
GroupPtr named_group(std::string_view name, std::array<double, 3> axis = {0, 0, 1});

/// Every name accepted above, families by their pattern ("cyclic_n").
std::vector<std::string> group_names();

}  // namespace weyl

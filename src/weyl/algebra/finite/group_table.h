#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"

namespace weyl {

/// A finite group known by its table of products alone: what elements are is forgotten. Class invariants, checked on
/// construction (ConfigError): at least 1 and at most `most_elements`, an identity, inverses, associativity.
class GroupTable {
 public:
  static constexpr int64_t most_elements = 240;  // irreps and transforms grow with the square

  /// products[g G + h]: the index of g h.
  GroupTable(std::string name, std::vector<int64_t> products);
  explicit GroupTable(const FiniteGroup& group);

  const std::string& name() const { return name_; }
  int64_t order() const { return order_; }  // G
  int64_t identity() const { return identity_; }
  int64_t product(int64_t g, int64_t h) const { return products_[g * order_ + h]; }
  int64_t inverse(int64_t g) const { return inverse_[g]; }
  int64_t left_quotient(int64_t g, int64_t h) const { return product(inverse(g), h); }  // g^-1 h

  /// The smallest subgroup that holds the elements; ascending indices.
  std::vector<int64_t> generated(std::span<const int64_t> elements) const;
  /// The group of these elements, of which products stay among them; element i is elements[i].
  GroupTable subgroup(std::span<const int64_t> elements) const;
  /// One element t of each coset t H of a subgroup: of H the identity, of the others the first; H first, the others by
  /// their t.
  std::vector<int64_t> left_cosets(std::span<const int64_t> subgroup) const;

 private:
  void require_laws();

  std::string name_;
  int64_t order_ = 0, identity_ = -1;
  std::vector<int64_t> products_, inverse_;
};

/// Classes of conjugate elements: that of the identity first, the others by their first element.
struct ConjugacyClasses {
  explicit ConjugacyClasses(const GroupTable& group);

  std::vector<int64_t> of;     // (G) class of an element
  std::vector<int64_t> first;  // an element of each class
  std::vector<int64_t> sizes;  // elements in each
  int64_t count() const { return static_cast<int64_t>(first.size()); }
};

/// Subgroups 1 = H_0 < H_1 < ... < H_k = G, each given by its elements' indices in the whole group, ascending. H_i is the
/// largest proper subgroup of H_i+1 that was found, the first by its elements among those of one size. Groups of more than
/// 400 subgroups are not searched to the end.
std::vector<std::vector<int64_t>> subgroup_chain(const GroupTable& group);

}  // namespace weyl

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/algebra/lie/group_list.h"
#include "weyl/config/fields.h"

namespace weyl {

class Json;

/// What a quantity is attached to.
enum class Level { node, pair, object, graph };

/// How a quantity moves under x -> R x + t (R orthogonal):
///   scalar            s
///   pseudoscalar      det(R) s
///   vector            R v (Role::point adds t)
///   axial_vector      det(R) R v
///   symmetric_tensor  R S R^T
///   category          a label, which does not move
///   element           of a Lie group, moved from the left
///   multivector       of G(3,0,1) in three dimensions, by the sandwich of the motion's versor
///                     (algebra/clifford/motion_matrix.h), so by translations too
enum class Kind {
  scalar,
  pseudoscalar,
  vector,
  axial_vector,
  symmetric_tensor,
  category,
  element,
  multivector
};

/// What a vector means:
///   free    a velocity
///   offset  a point at position + v
///   normal  an oriented plane
///   point   a place: it moves with translations too, R v + t
/// Scalars of poses have one role besides `free`. `offset`, on a scalar with as many channels as the Lie algebra has
/// dimensions, marks the orthonormal coordinates w of a right factor, g exp(w), which no left multiplication changes.
enum class Role { free, offset, normal, point };

/// A named, typed number on nodes, pairs, objects or graphs. Columns of data, labels and model outputs are all
/// Quantities: collation works by level, augmentation and audit by kind.
struct Quantity {
  std::string name;
  Level level = Level::node;
  Kind kind = Kind::scalar;
  int64_t channels = 1;
  Role role = Role::free;
  bool extensive = false;  // grows with the number of nodes: summed over a graph, never averaged
  std::string unit;
  int64_t categories = 0;  // how many values a category has, 0 .. categories - 1; 0: not known

  bool operator==(const Quantity&) const = default;
};

/// What tokens are: points in space, elements of a Lie group, cells of an image or a volume.
enum class Carrier { points, poses, grid };

/// The inputs and outputs of a model.
///   types          the number of distinct node types; 0: none
///   elements       where the types are chemical elements: their symbols, in the order of the types
///   length_unit    the unit of positions, cells and translations; empty: not known
///   typical_nodes  the mean number of nodes of a graph in the training data; it scales sums
///   group          for poses: the Lie group whose elements the tokens are; `dimension` is then the group's own
///   grid           whether the tokens are the cells of an image or a volume
struct Interface {
  int64_t dimension = 3;
  int64_t types = 0;
  double typical_nodes = 1;
  std::vector<Quantity> features, outputs;
  std::optional<LieGroup> group;
  bool grid = false;
  std::vector<std::string> elements;
  std::string length_unit;

  bool operator==(const Interface&) const = default;
};

/// The carrier of an interface: poses where there is a group, a grid where `grid` is set, else points.
Carrier carrier_of(const Interface& interface);

constexpr std::string_view carrier_names[] = {"points", "poses", "grid"};
constexpr std::string_view name_of(Carrier carrier) {
  return carrier_names[static_cast<int>(carrier)];
}
constexpr std::string_view level_names[] = {"node", "pair", "object", "graph"};
constexpr std::string_view kind_names[] = {"scalar",           "pseudoscalar", "vector",  "axial_vector",
                                           "symmetric_tensor", "category",     "element", "multivector"};
constexpr std::string_view role_names[] = {"free", "offset", "normal", "point"};

/// For config/fields.h.
constexpr const auto& names_of(Level) {
  return level_names;
}
constexpr const auto& names_of(Kind) {
  return kind_names;
}
constexpr const auto& names_of(Role) {
  return role_names;
}
constexpr const auto& names_of(LieGroup) {
  return lie_group_names;
}

/// The quantity of that name; null when there is none.
const Quantity* find_quantity(std::span<const Quantity> quantities, std::string_view name);
/// The unit of the quantity of that name; "" when there is none.
std::string unit_of(std::span<const Quantity> quantities, std::string_view name);

/// Sum of `channels` over the quantities of one level and kind.
int64_t channels_of(const std::vector<Quantity>&, Level, Kind);

/// How many numbers one channel has in D dimensions: scalars 1, vectors D, symmetric tensors D*D; axial vectors none in
/// 1-D, 1 in 2-D and 3 in 3-D; multivectors 16 (three dimensions alone).
int64_t components(Kind, int64_t dimension);

/// Whether a kind takes one number a channel in the feature column `scalars`: scalars, pseudoscalars, and axial vectors
/// in 2-D, which have the parity of a pseudoscalar.
bool is_number(Kind, int64_t dimension);
/// Whether a kind takes a vector of D numbers a channel: vectors, and axial vectors in 3-D.
bool is_vector(Kind, int64_t dimension);

/// Whether a quantity of points moves with translations: multivectors, and vectors of role `point`.
bool has_place(const Quantity&);

// The keys of an [interface] of a config and of a model file.
void fields(Fields& f, Quantity& q);
void fields(Fields& f, Interface& i);

/// [{name, level, kind, channels, role, extensive, unit, categories}]
Json quantities_json(const std::vector<Quantity>& quantities);

}  // namespace weyl

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/algebra/lie/group_list.h"

namespace weyl {

/// What a quantity is attached to.
enum class Level { node, pair, object, graph };

/// How a quantity moves under x -> R x + t (R orthogonal): scalar s; pseudoscalar det(R) s; vector R v;
/// axial_vector det(R) R v; symmetric_tensor R S R^T; category (a label); element (of a Lie group); multivector, of
/// G(3,0,1) in three dimensions, by the sandwich of the motion's versor (algebra/clifford/motion_matrix.h), so by
/// translations too.
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

/// What a vector is: `free` (a velocity), `offset` (a point at position + v), `normal` (an oriented plane),
/// `point` (moves with translations too: R v + t). Of a scalar of poses with as many channels as the Lie
/// algebra has dimensions: `offset`, the orthonormal coordinates w of a right factor, g exp(w), which no left
/// multiplication changes.
enum class Role { free, offset, normal, point };

/// A named, typed number on nodes, pairs, objects or graphs. Columns of data, labels and model outputs
/// are all Quantities: collate works by level, augmentation and audit by kind.
struct Quantity {
  std::string name;
  Level level = Level::node;
  Kind kind = Kind::scalar;
  int64_t channels = 1;
  Role role = Role::free;
  bool extensive = false;  // grows with the number of nodes: summed over a graph, never averaged
  std::string unit;
  int64_t categories = 0;  // of a category: its values are 0 .. categories - 1; 0: not said

  bool operator==(const Quantity&) const = default;
};

/// What tokens are: points in space, elements of a Lie group, cells of an image or a volume.
enum class Carrier { points, poses, grid };

/// What a model is told and asked. `types` is the number of distinct node types (0: none), `elements` the
/// chemical symbols of the types in their order where they are elements, `length_unit` that of positions, cells
/// and translations (empty: not known),
/// `typical_nodes` the mean number of nodes of a graph in the training data (it scales sums), `group` the Lie
/// group whose elements the tokens are (poses; `dimension` is its own), absent for other carriers; `grid`
/// says that they are the cells of an image or a volume.
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

/// Poses where there is a group, a grid where it says so, else points: the one place that says it.
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

/// The one of that name, null when there is none.
const Quantity* find_quantity(std::span<const Quantity> quantities, std::string_view name);
/// Its unit; of none "".
std::string unit_of(std::span<const Quantity> quantities, std::string_view name);

/// Sum of `channels` over the quantities of one level and kind.
int64_t channels_of(const std::vector<Quantity>&, Level, Kind);

/// Numbers per channel in D dimensions: 1, D (vectors), D*D (tensors); axial vectors are 1 in 2-D, 3 in 3-D
/// (and none in 1-D), multivectors 16, of three dimensions alone.
int64_t components(Kind, int64_t dimension);

/// Whether each channel is one number of a feature column (scalars, pseudoscalars, and axial vectors in 2-D, which have
/// the parity of a pseudoscalar), or a vector of D numbers (vectors, axial vectors in 3-D).
bool is_number(Kind, int64_t dimension);
bool is_vector(Kind, int64_t dimension);

/// Whether a quantity of points moves with translations, so that it has a place: multivectors, and vectors of role
/// `point`.
bool has_place(const Quantity&);

}  // namespace weyl

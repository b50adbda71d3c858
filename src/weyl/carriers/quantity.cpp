#include "weyl/carriers/quantity.h"

#include <algorithm>

#include "weyl/core/json.h"

namespace weyl {

Carrier carrier_of(const Interface& interface) {
  return interface.group ? Carrier::poses : interface.grid ? Carrier::grid : Carrier::points;
}

const Quantity* find_quantity(std::span<const Quantity> quantities, std::string_view name) {
  const auto found = std::ranges::find(quantities, name, &Quantity::name);
  return found == quantities.end() ? nullptr : &*found;
}

std::string unit_of(std::span<const Quantity> quantities, std::string_view name) {
  const Quantity* found = find_quantity(quantities, name);
  return found == nullptr ? "" : found->unit;
}

int64_t channels_of(const std::vector<Quantity>& quantities, Level level, Kind kind) {
  int64_t sum = 0;
  for (const auto& q : quantities) {
    if (q.level == level && q.kind == kind) {
      sum += q.channels;
    }
  }
  return sum;
}

int64_t components(Kind kind, int64_t dimension) {
  switch (kind) {
    case Kind::vector:
      return dimension;
    case Kind::axial_vector:
      return dimension * (dimension - 1) / 2;
    case Kind::symmetric_tensor:
      return dimension * dimension;
    case Kind::multivector:
      return 16;
    case Kind::scalar:
    case Kind::pseudoscalar:
    case Kind::category:
    case Kind::element:
      break;
  }
  return 1;
}

bool is_number(Kind kind, int64_t dimension) {
  return kind == Kind::scalar || kind == Kind::pseudoscalar ||
         (kind == Kind::axial_vector && components(kind, dimension) == 1);
}

bool is_vector(Kind kind, int64_t dimension) {
  return kind == Kind::vector || (kind == Kind::axial_vector && components(kind, dimension) == dimension);
}

bool has_place(const Quantity& q) {
  return q.kind == Kind::multivector || (q.kind == Kind::vector && q.role == Role::point);
}

void fields(Fields& f, Quantity& q) {
  f("name", q.name, "its name in data files, labels and predictions; must be given");
  f("level", q.level, "what it is attached to");
  f("kind", q.kind, "how it moves when the input is rotated, reflected or moved");
  f("channels", q.channels, "how many of the kind stand side by side", {1, 1e6});
  f("role", q.role,
    "of a vector: free (a velocity), offset (from its node), normal (of a plane), point (in space)");
  f("extensive", q.extensive, "grows with the number of nodes: summed over a graph, never averaged");
  f("unit", q.unit, "its unit, for reports");
  f("categories", q.categories, "of a category: how many there are, numbered from 0; 0: not said", {0, 1e6});
}

void fields(Fields& f, Interface& i) {
  f("group", i.group, "the Lie group whose elements the tokens are: the carrier is then poses");
  if (i.group) {
    i.dimension = dimension_of(*i.group);  // unless the file gives another, which read_recipe refuses
  }
  f("dimension", i.dimension, "of space; where a group is given, that of the group", {1, 3});
  f("grid", i.grid, "the tokens are the cells of an image or a volume: the carrier is a grid");
  f("types", i.types, "how many types of node there are; 0: none", {0, 1e6});
  f("elements", i.elements, "chemical symbols of the types, in their order; none: they are no elements");
  f("length_unit", i.length_unit, "unit of positions; none: the data do not say");
  f("typical_nodes", i.typical_nodes, "mean number of nodes of a graph in the training data", {1e-3, 1e9});
  f("features", i.features,
    "what the model is told of nodes, pairs, objects and graphs, in the order of the file's columns");
  f("outputs", i.outputs, "what the model is asked");
}

Json quantities_json(const std::vector<Quantity>& quantities) {
  Json list = Json::array();
  for (const Quantity& q : quantities) {
    list.add(Json::object()
                 .set("name", q.name)
                 .set("level", level_names[static_cast<size_t>(q.level)])
                 .set("kind", kind_names[static_cast<size_t>(q.kind)])
                 .set("channels", q.channels)
                 .set("role", role_names[static_cast<size_t>(q.role)])
                 .set("extensive", q.extensive)
                 .set("unit", q.unit)
                 .set("categories", q.categories));
  }
  return list;
}

}  // namespace weyl

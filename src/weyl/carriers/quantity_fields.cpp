#include "weyl/carriers/quantity_fields.h"

namespace weyl {

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

}  // namespace weyl

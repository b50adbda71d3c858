#include "weyl/models/gatr/options.h"

#include <algorithm>

#include "weyl/carriers/quantity.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/models/shared_options.h"

namespace weyl::gatr {

namespace {

/// Puts what the size decides into `o`.
void take_size(int64_t n, Options& o) {
  o.size = n;
  o.width = n;
  o.scalars = 4 * n;
  o.heads = o.blocks = 2 * n;
  o.hidden_factor = 4;
}

}  // namespace

Options options_of_size(int64_t n) {
  Options o;
  take_size(n, o);
  return o;
}

void fields(Fields& f, Options& o) {
  const std::optional<int64_t> before = o.size;
  f("size", o.size,
    "the scaling study's model of size n: width n, 4n scalars, 2n blocks and heads, hidden_factor 4, in "
    "place of these keys",
    {1, 1000});
  if (o.size && o.size != before) {
    take_size(*o.size, o);
  }
  also_called_as_usual(f);
  LeftToSize unless_sized(f, o.size.has_value(), o.beside_size);
  unless_sized("width", o.width, "multivector channels of a node, 16 numbers each", {1, 1e6});
  unless_sized("scalars", o.scalars, "scalar channels beside them", {1, 1e6});
  unless_sized("heads", o.heads, "attention heads", {1, 1e6});
  unless_sized("blocks", o.blocks, "transformer blocks", {0, 1000});
  f("multi_query", o.multi_query, "one key and value head for all query heads");
  unless_sized("hidden_factor", o.hidden_factor,
               "channels of the queries of all heads together, in widths (at least 1 multivector and 4 "
               "scalars a head)",
               {1, 64});
  f("positions", o.positions, "nodes' positions as points, a multivector channel before those of features");
  f("reinsert_multivectors", o.reinsert_multivectors,
    "input channels that queries and keys of every block read beside the features, counted from 0 (with "
    "multi_query = false values too)",
    {0, 1e6});
  f("reinsert_scalars", o.reinsert_scalars, "the same of scalar input channels", {0, 1e6});
  f("reference", o.reference,
    "the join's pseudoscalar: mean of a graph's input multivectors; constant (canonical: rotations alone are "
    "exact then); or given, a multivector feature 'reference' of graphs, objects or nodes, which is no input "
    "channel then");
  f("rotary", o.rotary,
    "base of a rotary encoding of the order of nodes, on scalar queries and keys (the authors': 4096); off "
    "by default, since order is no symmetry then",
    {1e-3, 1e9});
  f("rotary_axes", o.rotary_axes,
    "with axial: blocks within objects know the order of nodes (within), blocks across objects that of objects "
    "(across), or both do");
  f("axial", o.axial,
    "blocks attend in turn within objects and across them, among the nodes of equal number in their objects: "
    "for objects that are rows of a grid, such as the times of a trajectory");
  f("activation", o.activation,
    "nonlinearity: gate of multivectors by their scalar part, and of scalars (gelu: by tanh and by erf, as "
    "the authors')");
  f("epsilon", o.epsilon,
    "added to the squared weight of a point by which attention divides it, so that distances of points of "
    "little weight fade",
    {1e-12, 1e3});
  f("dropout", o.dropout,
    "dropout of the outputs of both residual branches and of the hidden layer of the feed-forward part: each "
    "grade of a channel as one; attention weights keep all",
    {0, 0.99});
  f("attention", o.attention,
    "what heads attend to: their graph; or, half of them, their own object alone (needs objects, and an even "
    "number of heads)");
  nearest_field(f, o.nearest);
  f("scalars_as", o.scalars_as,
    "scalar features and outputs as auxiliary scalars, or each as the scalar part of a multivector");
  f("point_regulariser", o.point_regulariser,
    "added to the loss: this times the squared difference of 1 and the weights of the points that are given, "
    "summed over a graph",
    {0, 1e6});
}

HeadChannels head_channels(const Options& o) {
  HeadChannels c{std::max<int64_t>(o.hidden_factor * o.width / o.heads, 1),
                 std::max<int64_t>(o.hidden_factor * o.scalars / o.heads, 4)};
  if (o.rotary) {
    c.scalars = std::max<int64_t>((c.scalars + 1) / 2 * 2, 8);
  }
  return c;
}

Options options_of_block(const Options& o, bool across) {
  Options own = o;
  if (o.axial && o.rotary_axes == (across ? RotaryAxes::within : RotaryAxes::across)) {
    own.rotary.reset();
  }
  return own;
}

std::string must_without_objects(const Options& o) {
  return o.axial                                       ? "model.gatr.axial: must be false"
         : o.attention == AttentionScope::hierarchical ? "model.gatr.attention: must be \"global\""
                                                       : "";
}

void check(const Options& o) {
  require_left_to_size("model.gatr", o.size, o.beside_size);
  require<ConfigError>(o.attention == AttentionScope::global || o.heads % 2 == 0,
                       "model.gatr.heads: must be even with attention = \"hierarchical\", got ", o.heads);
  require<ConfigError>(o.attention == AttentionScope::global || !o.axial,
                       "model.gatr.axial: must be false with attention = \"hierarchical\"");
  require<ConfigError>(o.nearest == 0 || (o.attention == AttentionScope::global && !o.axial),
                       "model.gatr.nearest: must be 0 with ",
                       o.axial ? "axial" : "attention = \"hierarchical\"", ", got ", o.nearest);
  for (const auto* list : {&o.reinsert_multivectors, &o.reinsert_scalars}) {
    const char* key = list == &o.reinsert_scalars ? "reinsert_scalars" : "reinsert_multivectors";
    std::vector<int64_t> sorted = *list;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    require<ConfigError>(twice == sorted.end(), "model.gatr.", key, ": must name each channel once, got ",
                         twice == sorted.end() ? 0 : *twice, " twice");
  }
}

void require_effects(const Options& o, const Interface* interface) {
  check(o);
  const bool layers = o.blocks > 0;
  const bool scalars =
      interface == nullptr || interface->types > 0 ||
      std::ranges::any_of(interface->features, [](const Quantity& q) { return q.kind == Kind::scalar; }) ||
      std::ranges::any_of(interface->outputs, [](const Quantity& q) { return q.kind == Kind::scalar; });
  // Of points alone the mean is what the constant is.
  const bool diluted = interface == nullptr || !o.positions ||
                       (o.scalars_as == ScalarsAs::multivector && interface->types > 0) ||
                       std::ranges::any_of(interface->features, [&](const Quantity& q) {
                         const bool point =
                             q.kind == Kind::vector && (q.role == Role::offset || q.role == Role::point);
                         return !point && (q.kind != Kind::scalar || o.scalars_as == ScalarsAs::multivector);
                       });
  const bool points = interface == nullptr || std::ranges::any_of(interface->outputs, [](const Quantity& q) {
                        return q.kind == Kind::vector && (q.role == Role::offset || q.role == Role::point);
                      });
  const auto block = [&](std::string_view key) { return Conditional{key, layers, "with blocks = 0"}; };
  const Conditional options[] = {
      block("heads"),
      block("multi_query"),
      block("hidden_factor"),
      block("reinsert_multivectors"),
      block("reinsert_scalars"),
      block("reference"),
      {"reference", diluted, "where every multivector that comes in is a point"},
      block("rotary"),
      {"rotary_axes", o.rotary && o.axial, "without rotary and axial"},
      block("axial"),
      block("activation"),
      block("epsilon"),
      block("dropout"),
      block("attention"),
      block("nearest"),
      {"scalars_as", scalars, "where there are no scalar features and no scalar outputs"},
      {"point_regulariser", points, "where no output is a point or an offset of one"}};
  refuse_unused("model.gatr", o, Options{}, options);
}

std::string blinding(const Options& o) {
  return o.positions ? ""
                     : "model.gatr.positions: must be true: without it nodes have no positions but where "
                       "features are points or planes";
}

}  // namespace weyl::gatr

#include "weyl/models/transformer/options.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/models/shared_options.h"

namespace weyl::transformer {

void fields(Fields& f, FourierOptions& o) {
  f("frequencies", o.frequencies, "number of random frequencies; twice as many features", {1, 1e6});
  f("sigma", o.sigma, "their standard deviation, in turns per unit of length", {0, 1e6});
}

namespace {

bool is_size(double n) {
  return n > 0 && 2 * n == std::floor(2 * n);
}

/// Puts what the size decides into `o`.
void take_size(double n, Options& o) {
  o.size = n;
  o.blocks = o.heads = std::llround(2 * n);
  o.width = std::llround(64 * n);
  o.head_width = 64;
  o.hidden_factor = 2;
  o.multi_query = true;
}

}  // namespace

Options options_of_size(double n) {
  require<ConfigError>(is_size(n), "model.transformer.size: must be a whole number or a half more, got ", n);
  Options o;
  take_size(n, o);
  return o;
}

void fields(Fields& f, Options& o) {
  const std::optional<double> before = o.size;
  f("size", o.size,
    "the scaling study's model of size n, a whole number or a half more: 2n blocks and heads, width 64n, "
    "head_width 64, hidden_factor 2, multi_query, in place of these keys",
    {0.5, 1000});
  if (o.size && o.size != before && is_size(*o.size)) {
    take_size(*o.size, o);
  }
  also_called_as_usual(f);
  LeftToSize unless_sized(f, o.size.has_value(), o.beside_size);
  unless_sized("width", o.width, "channels of a node", {1, 1e6});
  unless_sized("heads", o.heads, "attention heads", {1, 1e6});
  unless_sized("blocks", o.blocks, "transformer blocks", {0, 1000});
  unless_sized("head_width", o.head_width, "width of a query, key and value; by default width / heads",
               {1, 1e6});
  f("multi_query", o.multi_query, "one key and value head for all query heads");
  f("rotary", o.rotary,
    "base of a rotary encoding of the order of nodes, on queries and keys (the public baseline's: 4096); off by "
    "default, since order is no symmetry then",
    {1e-3, 1e9});
  f("attention", o.attention,
    "what heads attend to: the whole graph (global), or (hierarchical) the first half of them inside a "
    "node's own object, the others the whole graph; the input then has objects");
  nearest_field(f, o.nearest);
  unless_sized("hidden_factor", o.hidden_factor, "hidden width of the feed-forward part, in widths", {1, 64});
  f("activation", o.activation, "nonlinearity of the feed-forward part");
  f("fourier", o.fourier, "random Fourier features of all coordinates together, in place of the coordinates");
  f("centre", o.centre, "count positions from each graph's centroid, which makes translations exact");
  f("dropout", o.dropout,
    "dropout of the outputs of both residual branches (attention after its output projection, feed-forward "
    "after its second matrix), before drop path; attention weights and hidden layers keep all",
    {0, 0.99});
  f("drop_path", o.drop_path, "probability that a graph skips a residual branch", {0, 0.99});
  f.also_called("drop_path", {"drop_path_rate", "stochastic_depth"});
  f("pooling", o.pooling, "how nodes become a graph: sum / typical nodes, or mean");
}

int64_t head_width_of(const Options& o) {
  const int64_t width = o.width / o.heads;
  return o.head_width.value_or(o.rotary ? std::max<int64_t>((width + 1) / 2 * 2, 16) : width);
}

std::string must_without_objects(const Options& o) {
  return o.attention == AttentionScope::hierarchical ? "model.transformer.attention: must be \"global\"" : "";
}

void check(const Options& o) {
  if (o.size) {
    require<ConfigError>(is_size(*o.size),
                         "model.transformer.size: must be a whole number or a half more, got ", *o.size);
    require_left_to_size("model.transformer", o.size, o.beside_size);
    require<ConfigError>(o.multi_query, "model.transformer.multi_query: must be left to size = ", *o.size,
                         ", which makes it true, got false");
  }
  require<ConfigError>(o.head_width || o.width % o.heads == 0,
                       "model.transformer.heads: must divide the width ", o.width,
                       " when head_width is not given, got ", o.heads);
  require<ConfigError>(!o.rotary || o.head_width.value_or(0) % 2 == 0,
                       "model.transformer.head_width: must be even with rotary, got ",
                       o.head_width.value_or(0));
  const bool halves = o.attention == AttentionScope::global || o.heads % 2 == 0;
  require<ConfigError>(halves || !o.size,
                       "model.transformer.size: must be a whole number with attention = "
                       "\"hierarchical\", which halves the heads, got ",
                       o.size.value_or(0));
  require<ConfigError>(
      halves, "model.transformer.heads: must be even with attention = \"hierarchical\", got ", o.heads);
  require<ConfigError>(o.nearest == 0 || o.attention == AttentionScope::global,
                       "model.transformer.nearest: must be 0 with attention = \"hierarchical\", got ",
                       o.nearest);
}

void require_effects(const Options& o, const Interface* interface) {
  check(o);
  const Conditional options[] = {{"nearest", o.blocks > 0, "with blocks = 0"},
                                 {"pooling", pools_nodes(interface), without_pooling},
                                 {"rotary", o.blocks > 0, "with blocks = 0"}};
  refuse_unused("model.transformer", o, Options{}, options);
}

}  // namespace weyl::transformer

#include "weyl/models/transformer/options.h"

#include "weyl/config/idle.h"
#include "weyl/models/pooled_outputs.h"
#include "weyl/models/usual_words.h"

namespace weyl::transformer {

void fields(Fields& f, FourierOptions& o) {
  f("frequencies", o.frequencies, "number of random frequencies; twice as many features", {1, 1e6});
  f("sigma", o.sigma, "their standard deviation, in turns per unit of length", {0, 1e6});
}

void fields(Fields& f, Options& o) {
  also_called_as_usual(f);
  f("width", o.width, "channels of a node", {1, 1e6});
  f("heads", o.heads, "attention heads", {1, 1e6});
  f("blocks", o.blocks, "transformer blocks", {0, 1000});
  f("head_width", o.head_width, "width of a query, key and value; by default width / heads", {1, 1e6});
  f("multi_query", o.multi_query, "one key and value head for all query heads");
  f("hidden_factor", o.hidden_factor, "hidden width of the feed-forward part, in widths", {1, 64});
  f("activation", o.activation, "nonlinearity of the feed-forward part");
  f("fourier", o.fourier, "random Fourier features of all coordinates together, in place of the coordinates");
  f("centre", o.centre, "count positions from each graph's centroid, which makes translations exact");
  f("dropout", o.dropout,
    "dropout of the outputs of both residual branches (attention after its output projection, feed-forward "
    "after its "
    "second matrix), before drop path; attention weights and hidden layers keep all",
    {0, 0.99});
  f("drop_path", o.drop_path, "probability that a residual branch is skipped", {0, 0.99});
  f.also_called("drop_path", {"drop_path_rate", "stochastic_depth"});
  f("drop_path_by", o.drop_path_by, "what drop path skips as one: a graph, or a node");
  f("pooling", o.pooling, "how nodes become a graph: sum / typical nodes, or mean");
}

void require_effects(const Options& o, const Interface* interface) {
  const Conditional options[] = {{"drop_path_by", o.drop_path > 0, "with drop_path = 0"},
                                 {"pooling", pools_nodes(interface), without_pooling}};
  refuse_idle("model.transformer", o, Options{}, options);
}

}  // namespace weyl::transformer

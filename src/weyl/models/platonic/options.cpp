#include "weyl/models/platonic/options.h"

#include <algorithm>
#include <cmath>

#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/models/shared_options.h"

namespace weyl::platonic {

void fields(Fields& f, RopeOptions& o) {
  f("sigma", o.sigma, "size of the frequencies, in radians per unit of length", {0, 1e6});
  f("init", o.init, "initial frequencies: Gaussian, or a spiral that is the same in every layer");
  f("learned", o.learned, "train the frequencies");
}

void fields(Fields& f, ApeOptions& o) {
  f("sigma", o.sigma, "standard deviation of the frequencies, in radians per unit of length", {0, 1e6});
  f("learned", o.learned, "train the frequencies");
}

void fields(Fields& f, Options& o) {
  f("group", o.group,
    "the frames: trivial, tetrahedron, octahedron, icosahedron, each with _full; cyclic_n, dihedral_n, ...");
  f("axis", o.axis, "rotation axis of cyclic_3d_n and dihedral_3d_n");
  f("generators", o.generators,
    "a group of your own: orthogonal matrices, row by row, that generate it; replaces `group`");
  also_called_as_usual(f);
  f("width", o.width, "channels of a node, all frames together (a multiple of the group's order)", {1, 1e6});
  f("heads", o.heads,
    "attention heads, all frames together (a multiple of the group's order that divides the width)",
    {1, 1e6});
  f("blocks", o.blocks, "transformer blocks", {0, 1000});
  f("ffn_factor", o.ffn_factor, "hidden width of the feed-forward part, in widths", {0, 64});
  f("activation", o.activation, "nonlinearity of the feed-forward part");
  f("norm", o.norm, "norm over the channels of one frame");
  f("norm_place", o.norm_place, "norms before each part of a block, or after each residual sum");
  f("attention", o.attention, "softmax (quadratic in nodes), or linear: a dynamic convolution");
  nearest_field(f, o.nearest);
  f("scores", o.scores, "attention pattern of each frame by itself, or one for all frames (softmax only)");
  f("values", o.values, "attention mixes the values of each frame, or their mean over the frames");
  f("linear_norm", o.linear_norm,
    "linear attention divides by the typical number of nodes, or by the graph's own");
  f("use_key", o.use_key, "learned keys; without them keys are constant before their rotation");
  f("qk_norm", o.qk_norm,
    "RMS norm of each head's queries and learned keys, with a learned weight, before they are rotated");
  f("rope", o.rope,
    "rotary position encoding; `rope = false` switches it off, and then keys are always learned");
  f("rope_on_values", o.rope_on_values, "rotate values too, and the result back");
  f("ape", o.ape, "absolute position encoding; off by default, since it knows the origin (see `centre`)");
  f("centre", o.centre,
    "count positions from each graph's centroid: exact under translations, also with `ape`");
  f("position_vector", o.position_vector,
    "give each node its position as one more vector (exact under translations with `centre` alone): true, "
    "false, or auto, true where nothing else would show the model where nodes are: with softmax attention no "
    "types, no features of nodes or objects, no rope_on_values and no ape");
  f("layer_scale", o.layer_scale, "initial value of a learned factor per channel on each residual branch",
    {-1e3, 1e3});
  f("dropout", o.dropout,
    "dropout of the outputs of both residual branches (attention after its output projection, feed-forward "
    "after its second matrix) and of the hidden layer of the feed-forward part",
    {0, 0.99});
  f("attention_dropout", o.attention_dropout,
    "dropout of softmax attention's weights, by a torch expression: memory grows with the square of a graph",
    {0, 0.99});
  f("drop_path", o.drop_path, "probability that a residual branch is skipped", {0, 0.99});
  f.also_called("drop_path", {"drop_path_rate", "stochastic_depth"});
  f("drop_path_by", o.drop_path_by,
    "what drop path skips as one: a graph, or a node (the authors' ragged code)");
  f("drop_path_grows", o.drop_path_grows,
    "drop path grows from 0 in the first block to `drop_path` in the last, in equal steps");
  f("recompute", o.recompute,
    "gradient checkpointing: a block keeps its input alone and is worked out again in the backward pass, "
    "which FLOPs do not count");
  f.also_called("recompute", {"gradient_checkpointing", "checkpointing"});
  f("pooling", o.pooling,
    "how nodes become a graph: sum is divided by the typical number of nodes, total by nothing; authors_* "
    "divide twice, for imported weights only");
  f("ffn_readout", o.ffn_readout, "readout with a hidden layer");
  f("both_readouts", o.both_readouts,
    "build the scalar and the vector readout even where one has no output, as the authors do");
  f("authors_tables", o.authors_tables,
    "round the group's matrices to float32, as the authors' weights were trained");
  f("linear", o.linear,
    "how linear maps are worked out: dense, one matrix; spectral, by irreps of the group, with fewer "
    "operations; or auto, by a rule of group and width. The weights are the same");
}

namespace {

/// All generators are the identity, so that there is one frame.
bool are_trivial(const std::vector<std::vector<double>>& generators) {
  return std::ranges::all_of(generators, [](const std::vector<double>& g) {
    const auto D = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(g.size()))));
    for (size_t i = 0; i < g.size(); ++i) {
      if (std::abs(g[i] - (i % (D + 1) == 0 ? 1 : 0)) > 1e-6) {
        return false;
      }
    }
    return true;
  });
}

}  // namespace

void require_effects(const Options& o, const Interface* interface) {
  const bool generated = !o.generators.empty(), layers = o.blocks > 0;
  const bool turns_about_axis = o.group.starts_with("cyclic_3d_") || o.group.starts_with("dihedral_3d_");
  const bool alone = generated ? are_trivial(o.generators) : o.group.starts_with("trivial");
  const std::string one_frame = generated ? "with these generators, which make one frame"
                                          : "with group = \"" + o.group + "\", which has one frame";
  const auto block = [&](std::string_view key) { return Conditional{key, layers, "with blocks = 0"}; };
  const Conditional options[] = {
      block("ffn_factor"),
      block("activation"),
      block("norm"),
      block("norm_place"),
      block("attention"),
      block("nearest"),
      block("scores"),
      block("values"),
      block("use_key"),
      block("qk_norm"),
      block("rope"),
      block("rope_on_values"),
      block("layer_scale"),
      block("dropout"),
      block("attention_dropout"),
      block("drop_path"),
      block("recompute"),
      {"group", !generated, "beside generators"},
      {"axis", turns_about_axis && !generated,
       generated ? "beside generators"
                 : "with group = \"" + o.group + "\": cyclic_3d_n and dihedral_3d_n alone have one"},
      {"scores", !alone, one_frame},
      {"values", !alone, one_frame},
      {"linear_norm", o.attention == AttentionLaw::linear, "with attention = \"softmax\""},
      {"use_key", o.rope.has_value(), "with rope = false, where keys are always learned"},
      {"attention_dropout", o.attention == AttentionLaw::softmax, "with attention = \"linear\""},
      {"drop_path_by", o.drop_path > 0, "with drop_path = 0"},
      {"drop_path_grows", o.drop_path > 0 && o.blocks > 1,
       o.drop_path > 0 ? "with fewer than two blocks" : "with drop_path = 0"},
      {"centre", o.ape || o.position_vector != PositionVector::off,
       "without ape and position_vector, because attention reads differences of positions alone"},
      {"pooling", pools_nodes(interface), without_pooling}};
  refuse_unused("model.platonic", o, Options{}, options);
}

Options resolved(const Options& options, const Interface& interface) {
  Options chosen = options;
  if (options.position_vector == PositionVector::automatic) {
    const bool alike =
        interface.types <= 1 && std::ranges::none_of(interface.features, [](const Quantity& q) {
          return q.level == Level::node || q.level == Level::object;
        });
    const bool sees = options.ape ||
                      (options.rope && (options.rope_on_values || options.attention == AttentionLaw::linear));
    chosen.position_vector = alike && !sees ? PositionVector::on : PositionVector::off;
  }
  if (options.linear == LinearForm::automatic) {
    const GroupPtr group = frames_of(options, interface.dimension);
    chosen.linear = form_that_pays(*group, options.width / group->order());
  }
  return chosen;
}

Options resolved_by(const Options& options, const Interface& interface, const TensorShapes& weights) {
  Options chosen = options;
  const auto kernel = weights.find("x_embedder.kernel");  // (G, O, I)
  if (options.position_vector != PositionVector::automatic || kernel == weights.end() ||
      kernel->second.size() != 3) {
    return chosen;
  }
  int64_t inputs = interface.types;
  for (const Quantity& q : interface.features) {
    inputs += q.channels * (is_vector(q.kind, interface.dimension) ? interface.dimension : 1);
  }
  inputs = std::max<int64_t>(inputs, 1);  // the constant scalar of nodes that have none
  const int64_t beyond = kernel->second[2] - inputs;
  if (beyond == 0 || beyond == interface.dimension) {
    chosen.position_vector = beyond == 0 ? PositionVector::off : PositionVector::on;
  }
  return chosen;
}

bool needs_unlike_nodes(const Options& o) {
  return o.position_vector != PositionVector::on && !o.ape && o.rope &&
         o.attention == AttentionLaw::softmax && !o.rope_on_values;
}

std::string blinding(const Options& o) {
  if (o.position_vector == PositionVector::on || o.ape) {
    return "";
  }
  const std::string must = "model.platonic.position_vector: must be true (or ape be on): ";
  if (!o.rope) {
    return must + "without rope nothing else reads positions";
  }
  if (needs_unlike_nodes(o)) {
    return must +
           "softmax attention weighs the values of nodes by their positions, and where those are all alike "
           "every weighted mean of them is the same";
  }
  return "";
}

namespace {

/// The same elements rounded to float32: the tables that the authors' weights were trained with.
GroupPtr rounded(const FiniteGroup& group) {
  std::vector<std::vector<double>> elements;
  for (int64_t g = 0; g < group.order(); ++g) {
    std::vector<double> element;
    for (const double x : group.element(g)) {
      element.push_back(static_cast<float>(x));
    }
    elements.push_back(std::move(element));
  }
  return std::make_shared<FiniteGroup>(group.name(), group.dimension(), std::move(elements));
}

/// The group that options ask for; the errors of algebra with the key before them.
GroupPtr asked_for(const Options& options, int64_t dimension) {
  if (!options.generators.empty()) {
    try {
      return std::make_shared<FiniteGroup>(
          FiniteGroup::from_generators("generated", dimension, options.generators));
    } catch (const ConfigError& error) {
      throw ConfigError(text("model.platonic.generators: ", error.what()));
    }
  }
  require<ConfigError>(options.axis.size() == 3, "model.platonic.axis: must be three numbers, got ",
                       options.axis.size());
  try {
    return named_group(options.group, {options.axis[0], options.axis[1], options.axis[2]});
  } catch (const ConfigError& error) {
    throw ConfigError(text("model.platonic.", error.what()));
  }
}

}  // namespace

GroupPtr frames_of(const Options& options, int64_t dimension) {
  const GroupPtr group = asked_for(options, dimension);
  require<ConfigError>(group->dimension() == dimension, "model.platonic.group: '", group->name(),
                       "' acts in ", group->dimension(), " dimensions, the data have ", dimension);
  return options.authors_tables ? rounded(*group) : group;
}

LinearForm form_that_pays(const FiniteGroup& group, int64_t channels) {
  // Measured (docs/papers/platonic-transformer.md): from here on spectral is the faster one for every group that was tried.
  // Narrower frames were not, and norms over fewer than eight channels amplify the rounding of the transforms.
  const int64_t width = group.order() * channels;
  const bool pays = (width >= 256 && channels >= 8) || (width >= 192 && channels >= 16);
  return group.order() >= 2 && pays ? LinearForm::spectral : LinearForm::dense;
}

}  // namespace weyl::platonic

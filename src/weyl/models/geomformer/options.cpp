#include "weyl/models/geomformer/options.h"

#include <algorithm>
#include <cmath>

#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/models/shared_options.h"

namespace weyl::geomformer {

void fields(Fields& f, CutoffOptions& o) {
  f("name", o.name, "how the weight falls: cosine, polynomial or smooth");
  f("radius", o.radius, "distance at which the weight of a neighbour reaches zero, in the positions' unit",
    {1e-6, 1e6});
  f.also_called("radius", {"cutoff_distance", "cutoff_radius", "cutoff_upper", "r_cut", "r_max", "rcut"});
  f("lower", o.lower, "distance below which it is zero as well (cosine alone)", {0, 1e6});
}

void fields(Fields& f, Dropout& o) {
  f("embedding", o.embedding, "of the nodes' first features", {0, 0.99});
  f("attention", o.attention, "of attention weights", {0, 0.99});
  f("activation", o.activation, "of the hidden layers of feed-forward networks", {0, 0.99});
  f("hidden", o.hidden, "of what a module adds to its stream", {0, 0.99});
  f("path", o.path, "probability that a graph skips a module", {0, 0.99});
}

void fields(Fields& f, Parts& o) {
  f("inv_self", o.inv_self, "invariant self-attention");
  f("inv_cross", o.inv_cross, "invariant attention to the equivariant stream");
  f("equ_self", o.equ_self, "equivariant self-attention");
  f("equ_cross", o.equ_cross, "equivariant attention to the invariant stream");
  f("inv_ffn", o.inv_ffn, "invariant feed-forward network");
  f("equ_ffn", o.equ_ffn, "equivariant feed-forward network");
  f("inv_norm", o.inv_norm, "layer norms of the invariant stream");
  f("equ_norm", o.equ_norm, "norms of the equivariant stream");
}

Options preset_options(Preset preset) {
  Options o;
  o.preset = preset;
  if (preset == Preset::geomformer) {
    return o;
  }
  o.interaction = Interaction::messages;
  o.activation = Activation::silu;
  o.cutoff.emplace();
  o.input = VectorInput::zero;
  o.norm = VectorNormLaw::none;
  o.bias = BiasScope::none;
  if (preset == Preset::et) {  // the MD17 settings of TorchMD-Net
    o.blocks = 6;
    o.basis = Basis::exp_normal;
    o.kernels = 32;
    o.normaliser = Normaliser::silu;
    o.neighbour_embedding = true;
    o.feed_forward = FeedForward::none;
    o.head = Head::gated;
  } else {
    o.blocks = 3;
    o.basis = Basis::bessel;
    o.kernels = 20;
    o.normaliser = Normaliser::constant;
    o.parts.inv_norm = false;
    o.feed_forward = FeedForward::mixing;
    o.head_hidden = 64;
  }
  return o;
}

void fields(Fields& f, Options& o) {
  const Preset before = o.preset;
  f("preset", o.preset,
    "a published model, which sets all other options of this table: geomformer, et (TorchMD-Net's "
    "Equivariant Transformer) or painn; options given beside it change single ones");
  if (o.preset != before) {
    o = preset_options(o.preset);
  }
  also_called_as_usual(f);
  f("width", o.width, "channels of a node, of numbers and of vectors each", {1, 1e6});
  f("heads", o.heads, "attention heads (divide the width)", {1, 1e6});
  f("blocks", o.blocks, "layers", {0, 1000});
  f("hidden", o.hidden, "hidden width of the feed-forward networks; by default the width", {1, 1e6});
  f("cutoff", o.cutoff,
    "a smooth cut-off, which messages and periodic cells need; off: all pairs of a graph");
  f("basis", o.basis, "functions of the distance: pair_gaussian, exp_normal, bessel or gaussian");
  f("kernels", o.kernels, "number of these functions", {1, 1e5});
  f.also_called("kernels", {"n_rbf", "num_gaussians", "num_radial", "num_rbf"});
  f("least_width", o.least_width,
    "added to the learned widths of Gaussians, in the positions' unit (published: 1e-5 or 1e-2, so sharp "
    "that forces jump)",
    {0, 1e3});
  f("interaction", o.interaction,
    "four attentions (GeoMFormer), filtered messages (ET, PaiNN), or both side by side, the messages without scores");
  f("normaliser", o.normaliser,
    "from scores to weights: softmax, silu, constant (sums, whatever the scores) or count");
  f("vector_cutoff", o.vector_cutoff,
    "messages with silu: the cut-off weighs values, not scores alone (without it energies jump)");
  f("input", o.input,
    "the first vectors of nodes: from the centroid, local sums over neighbours, both, or zero");
  f("smoothing", o.smoothing,
    "length s below which directions from the centroid and to neighbours fade in the first vectors (r / "
    "sqrt(r^2 + s^2); 0: they jump where atoms meet), in the positions' unit",
    {0, 1e6});
  f("neighbour_embedding", o.neighbour_embedding,
    "the first features of nodes are of their own type and a sum over their neighbours' types (ET); with "
    "messages alone");
  f("pair_embedding", o.pair_embedding,
    "a map of the sum of a node's distance functions is added to its first features (Graphormer-3D)");
  f("order", o.order, "attentions of a stream in parallel on the layer's input, or sequential");
  f("shared_query", o.shared_query,
    "the cross-attention of a stream asks with the query of its self-attention");
  f("equ_scale", o.equ_scale,
    "equivariant scores are divided by the root of a head's channels, or of 3 of them");
  f("bias", o.bias,
    "structural bias of the scores: none, shared by all layers, of each layer, of each module");
  f("bias_heads", o.bias_heads, "one number for each head, or one for all");
  f("norm", o.norm,
    "norm of the equivariant stream: none, rms (root mean square length), or whiten (the paper; amplifies "
    "what is out of the plane of flat molecules, so not for forces as gradients)");
  f("norm_epsilon", o.norm_epsilon, "added to mean squares there", {1e-12, 1e3});
  f("rho", o.rho, "whiten: share of the isotropic part; 0: the paper's, 1: rms", {0, 1});
  f("feed_forward", o.feed_forward,
    "gated networks (GeoMFormer), mixing of the streams (PaiNN), or none (ET)");
  f("activation", o.activation, "nonlinearity of feed-forward networks and heads (structural bias: gelu)");
  f("head", o.head, "outputs by an MLP and a linear map (mlp), or by gated equivariant blocks (gated, ET)");
  f("head_hidden", o.head_hidden, "hidden width of the mlp head; by default the width", {1, 1e6});
  f("pooling", o.pooling,
    "how nodes become a graph, where the output does not grow with it: mean, or sum / typical nodes");
  f("parts", o.parts, "parts of a block, each of which can be left out");
  f("dropout", o.dropout, "rates of dropout in training");
  f("towers", o.towers,
    "one pair of streams that starts from positions and vector features alike; separate: a pair for each, read "
    "out together (the paper's N-body form: positions and velocities); joined: where attention of each takes "
    "its inner products of the vectors of both");
  f("init", o.init,
    "how linear maps start, but for those that ET and PaiNN start by their own law: torch, weights and biases U(-a, a) with a = "
    "1 / sqrt(inputs), or xavier, a = sqrt(6 / (inputs + outputs)) and no bias");
  f("rounds", o.rounds,
    "times the whole net runs, each from the positions that the last one gave; 1 for slabs, of which not all atoms move",
    {1, 16});
}

double residual_init(const Options& o) {
  return 1 / std::sqrt(2.0 * static_cast<double>(std::max<int64_t>(o.blocks, 1)));
}

bool learns_basis(const Options& o) {
  return o.preset == Preset::geomformer || o.basis == Basis::pair_gaussian;
}

bool has_self_edges(const Options& o) {
  return o.preset != Preset::painn || o.interaction != Interaction::messages;
}

Messages messages_of(const Options& o) {
  if (attends(o.interaction)) {
    return {.scores = false, .own_products = false, .vectors = o.parts.equ_self || o.parts.equ_cross};
  }
  const bool painn = o.preset == Preset::painn;
  return {.deep_values = painn,
          .filter_activation = !painn,
          .scores = o.normaliser == Normaliser::silu,
          .own_products = !painn,
          .vector_cutoff = o.vector_cutoff || o.normaliser != Normaliser::silu};
}

bool has_heads(const Options& o) {
  return attends(o.interaction) || o.normaliser != Normaliser::constant;
}

void check(const Options& o) {
  const auto must = [](bool holds, const char* key, auto... rest) {
    require<ConfigError>(holds, "model.geomformer.", key, ": ", rest...);
  };
  const bool messages = !attends(o.interaction), sent = sends_messages(o.interaction);
  must(o.width % o.heads == 0 || !has_heads(o), "heads", "must divide the width ", o.width, ", got ",
       o.heads);
  must(!sent || o.cutoff, "cutoff", "must be on with interaction = messages or both");
  must(!messages || o.normaliser == Normaliser::silu || o.normaliser == Normaliser::constant, "normaliser",
       "must be silu or constant with interaction = messages");
  must(o.basis == Basis::pair_gaussian || o.cutoff, "basis",
       "exp_normal, bessel and gaussian end at the cut-off, which is off");
  must(!messages || o.basis != Basis::pair_gaussian, "basis", "must not be pair_gaussian with messages");
  must(!o.cutoff || o.cutoff->lower < o.cutoff->radius, "cutoff.lower", "must be below the radius");
  must(!o.cutoff || o.cutoff->name == CutoffLaw::cosine || o.cutoff->lower == 0, "cutoff.lower",
       "must be 0 but with name = cosine");
  // A lone neighbour would have all of the softmax, however faint, and nothing a step further.
  const bool competes = !messages && o.normaliser == Normaliser::softmax && o.cutoff;
  must(!competes || o.cutoff->lower == 0, "cutoff.lower",
       "must be 0 with normaliser = softmax, whose share of the node itself it takes away: energies would "
       "jump at the cut-off");
  must(!messages || o.bias == BiasScope::none, "bias", "must be none with interaction = messages");
  must(o.smoothing == 0 || o.smoothing >= 1e-6, "smoothing", "must be 0 or at least 1e-6, got ", o.smoothing);
  must(!sent || o.towers == Towers::one, "towers", "must be one with interaction = messages or both");
  must(o.towers != Towers::joined || o.parts.inv_cross || o.parts.equ_self || o.parts.equ_cross, "towers",
       "must not be joined without parts.inv_cross, equ_self and equ_cross, which alone read both");
  must(o.towers != Towers::joined || o.order == Order::parallel, "towers",
       "must be one or separate with order = sequential: joined towers meet once in a layer");
  must(!o.neighbour_embedding || sent, "neighbour_embedding", "needs interaction = messages or both");
  must(!o.shared_query ||
           ((o.parts.inv_self || !o.parts.inv_cross) && (o.parts.equ_self || !o.parts.equ_cross)),
       "shared_query", "a cross-attention without self-attention of its stream has no query to share");
  must(o.head != Head::gated || o.width >= 2, "width", "must be 2 at least with head = gated, got ", o.width);
}

void require_effects(const Options& o, const Interface* interface) {
  check(o);
  const auto any = [&](auto quantities, auto holds) {
    return interface == nullptr || std::ranges::any_of(interface->*quantities, holds);
  };
  const bool attention = attends(o.interaction);
  const bool scored = !attention || o.normaliser != Normaliser::constant;
  const bool numbers = any(&Interface::outputs, [](const Quantity& q) { return q.kind == Kind::scalar; });
  const bool vectors = any(&Interface::outputs, [](const Quantity& q) { return q.kind != Kind::scalar; });
  const bool products = any(&Interface::outputs, [](const Quantity& q) {
    return q.kind == Kind::pseudoscalar || q.kind == Kind::axial_vector || q.kind == Kind::symmetric_tensor;
  });
  const bool told_vectors =
      any(&Interface::features, [](const Quantity& q) { return q.kind == Kind::vector; });
  const bool told_scalars =
      any(&Interface::features, [](const Quantity& q) { return q.kind == Kind::scalar; });
  const bool mlp_head = o.head == Head::mlp, hidden_head = (mlp_head && numbers) || products;
  const bool gated = o.feed_forward == FeedForward::gated;
  const bool feeds = o.feed_forward == FeedForward::mixing || (gated && (o.parts.inv_ffn || o.parts.equ_ffn));
  const bool distances =
      sends_messages(o.interaction) || (o.bias != BiasScope::none && scored) || o.pair_embedding;
  const bool gaussians =
      (o.basis == Basis::pair_gaussian && distances) || o.input != VectorInput::zero || told_vectors;
  const bool normed = o.norm != VectorNormLaw::none;
  // Where nobody reads the vectors of the last block, it has no parts that make them.
  const bool equ_parts = o.blocks > 1 || o.head == Head::gated || vectors;
  const bool equ_scores = equ_parts && (o.parts.equ_self || o.parts.equ_cross);
  const char* without_attention = "without interaction = attention";
  const char* without_gated = "without feed_forward = gated";
  const char* without_norm = "without a norm";
  const char* without_equ_norm = "with parts.equ_norm = false";
  const char* without_scores = "with normaliser = \"constant\", where nothing reads scores";
  const char* without_distances =
      "without messages, a bias of the scores or pair_embedding, which read distances";
  const char* without_vectors = "with one block whose vectors no output reads";
  const Conditional options[] = {
      {"parts.inv_self", attention, without_attention},
      {"parts.inv_cross", attention, without_attention},
      {"parts.equ_self", attention, without_attention},
      {"parts.equ_cross", attention, without_attention},
      {"dropout.attention", attention, without_attention},
      {"order", attention, without_attention},
      {"shared_query", attention, without_attention},
      {"equ_scale", attention, without_attention},
      {"vector_cutoff", !attention && o.normaliser == Normaliser::silu,
       "without interaction = messages and normaliser = silu"},
      {"bias_heads", o.bias != BiasScope::none, "without a bias"},
      {"dropout.activation", gated, without_gated},
      {"parts.inv_ffn", gated, without_gated},
      {"parts.equ_ffn", gated, without_gated},
      {"hidden", gated, without_gated},
      {"parts.equ_norm", normed, without_norm},
      {"smoothing", o.input != VectorInput::zero, "without an input"},
      {"norm_epsilon", normed, without_norm},
      {"rho", o.norm == VectorNormLaw::whiten, "without norm = whiten"},
      {"head_hidden", mlp_head, "without head = mlp"},
      {"heads", has_heads(o), without_scores},
      {"bias", scored, without_scores},
      {"bias_heads", scored, without_scores},
      {"equ_scale", scored && equ_scores, scored ? "without equivariant attention" : without_scores},
      {"shared_query", scored, without_scores},
      {"basis", distances, without_distances},
      {"kernels", distances, without_distances},
      {"least_width", gaussians,
       "without Gaussians: basis = \"pair_gaussian\", an input, or features that are vectors"},
      {"norm", o.parts.equ_norm, without_equ_norm},
      {"norm_epsilon", o.parts.equ_norm, without_equ_norm},
      {"rho", o.parts.equ_norm, without_equ_norm},
      {"parts.equ_self", equ_parts, without_vectors},
      {"parts.equ_cross", equ_parts, without_vectors},
      {"parts.equ_ffn", equ_parts, without_vectors},
      {"activation", feeds || hidden_head,
       "without feed-forward networks and an MLP as head (gated heads have SiLU)"},
      {"head_hidden", hidden_head, "where no output has an MLP as head"},
      {"init", attention || hidden_head || o.pair_embedding || o.input != VectorInput::zero || told_scalars,
       "where all maps start by the laws of ET and PaiNN"},
      {"pooling", pools_nodes(interface), without_pooling}};
  refuse_unused("model.geomformer", o, preset_options(o.preset), options);
}

/// Every map of the equivariant stream is linear in it, the gated ones too (feed-forward, heads, products of the two
/// streams): from zero vectors, and no vector features, it stays zero. Messages alone make vectors of directions.
std::string blinding(const Options& o) {
  if (o.input != VectorInput::zero || o.interaction != Interaction::attention) {
    return "";
  }
  return "model.geomformer.input: must be \"centroid\", \"local\" or \"both\" with interaction = "
         "\"attention\": vectors "
         "that start at zero stay zero, and attention then sees distances in its weights alone";
}

}  // namespace weyl::geomformer

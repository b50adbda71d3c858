#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weyl/config/fields.h"
#include "weyl/nn/activation.h"
#include "weyl/nn/linear_init.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/edges/cutoff.h"

namespace weyl {

struct Interface;

}  // namespace weyl

namespace weyl::geomformer {

/// Three published models as settings of one block: GeoMFormer itself, TorchMD-Net's Equivariant Transformer,
/// and PaiNN. A preset sets every option below it; options given beside it change single ones. What no option changes is
/// said by learns_basis, has_self_edges and messages_of.
enum class Preset { geomformer, et, painn };
constexpr auto names_of(Preset) {
  return std::array<std::string_view, 3>{"geomformer", "et", "painn"};
}

/// How nodes attend to one another: the four attentions within and between the two streams (GeoMFormer, eq. 5
/// to 7), one weighted sum of filtered messages for both (ET, PaiNN), or both side by side: the attentions, and messages
/// that only the cut-off weighs, so that values meet functions of the distance for each channel and directions in every
/// layer, as in appendix C.1.
enum class Interaction { attention, messages, both };
constexpr auto names_of(Interaction) {
  return std::array<std::string_view, 3>{"attention", "messages", "both"};
}
constexpr bool attends(Interaction interaction) {
  return interaction != Interaction::messages;
}
constexpr bool sends_messages(Interaction interaction) {
  return interaction != Interaction::attention;
}

/// What scores become before they weigh: softmax over the neighbours (with a cut-off its smooth weight is a
/// factor of the exponentials); SiLU(score) times the cut-off (ET); 1 times the cut-off (PaiNN), where
/// queries, keys and bias do nothing; softmax times the number of neighbours (with a cut-off: the sum of
/// their smooth weights).
enum class Normaliser { softmax, silu, constant, count };
constexpr auto names_of(Normaliser) {
  return std::array<std::string_view, 4>{"softmax", "silu", "constant", "count"};
}

/// The vectors that nodes start with: the direction to the node from its graph's centroid, sums over
/// neighbours of directions (which need no centroid, so cells may be periodic), or none.
enum class VectorInput { centroid, local, both, zero };
constexpr auto names_of(VectorInput) {
  return std::array<std::string_view, 4>{"centroid", "local", "both", "zero"};
}
constexpr bool uses_centroid(VectorInput input) {
  return input == VectorInput::centroid || input == VectorInput::both;
}
constexpr bool uses_neighbours(VectorInput input) {
  return input == VectorInput::local || input == VectorInput::both;
}

/// Functions of the distance: Gaussians of a distance that is first mapped linearly by the pair of types
/// (GeoMFormer, Graphormer-3D), exponential-normal (ET), sin(k pi d / c) / d (PaiNN), plain Gaussians.
enum class Basis { pair_gaussian, exp_normal, bessel, gaussian };
constexpr auto names_of(Basis) {
  return std::array<std::string_view, 4>{"pair_gaussian", "exp_normal", "bessel", "gaussian"};
}

/// Norms of the equivariant stream: none, vectors divided by their root mean square, or whitened (the paper).
enum class VectorNormLaw { none, rms, whiten };
constexpr auto names_of(VectorNormLaw) {
  return std::array<std::string_view, 3>{"none", "rms", "whiten"};
}

/// After the interaction: two feed-forward networks, the equivariant one gated by the invariant stream
/// (GeoMFormer), PaiNN's mixing of the streams, or nothing (ET).
enum class FeedForward { gated, mixing, none };
constexpr auto names_of(FeedForward) {
  return std::array<std::string_view, 3>{"gated", "mixing", "none"};
}

/// Self- and cross-attention of a stream side by side on the layer's input (the paper's figure), or one after
/// the other.
enum class Order { parallel, sequential };
constexpr auto names_of(Order) {
  return std::array<std::string_view, 2>{"parallel", "sequential"};
}

/// Whose structural bias a module adds: none, one for all, one for each layer, one for each module of each.
enum class BiasScope { none, shared, layer, module };
constexpr auto names_of(BiasScope) {
  return std::array<std::string_view, 4>{"none", "shared", "layer", "module"};
}

/// Equivariant scores, sums over 3 h products, are divided by the root of h or of 3 h.
enum class EquivariantScale { head, vectors };
constexpr auto names_of(EquivariantScale) {
  return std::array<std::string_view, 2>{"head", "vectors"};
}

/// From nodes to numbers: an MLP of the invariant stream and a linear map of the equivariant one, or gated
/// equivariant blocks that read both (ET).
enum class Head { mlp, gated };
constexpr auto names_of(Head) {
  return std::array<std::string_view, 2>{"mlp", "gated"};
}

/// Where positions and vector features of nodes (N-body: velocities) start: in one pair of streams; in a pair each, two
/// towers of their own weights, which share the structural bias and are read out together (section 5.4); or in two towers
/// that run layer by layer, where every inner product that attention takes is of the vectors of both (StreamAttention).
enum class Towers { one, separate, joined };
constexpr auto names_of(Towers) {
  return std::array<std::string_view, 3>{"one", "separate", "joined"};
}

/// A smooth fall to zero at a distance. With input = local or zero it makes energies of distant parts add up
/// and lets cells be periodic; the centroid of the default input would still tie all parts together.
struct CutoffOptions {
  CutoffLaw name = CutoffLaw::cosine;
  double radius = 5;  // in the unit of the positions
  double lower = 0;   // ET: nothing nearer than this
};
void fields(Fields& f, CutoffOptions& o);

/// Rates in training. Vectors are dropped whole, never one of their components.
struct Dropout {
  double embedding = 0, attention = 0, activation = 0, hidden = 0, path = 0;
};
void fields(Fields& f, Dropout& o);

/// The parts of a block, to leave single ones out.
struct Parts {
  bool inv_self = true, inv_cross = true, equ_self = true, equ_cross = true;
  bool inv_ffn = true, equ_ffn = true;
  bool inv_norm = true, equ_norm = true;
};
void fields(Fields& f, Parts& o);

struct Options {
  static constexpr const char* name_in_config = "geomformer";
  Preset preset = Preset::geomformer;
  int64_t width = 128, heads = 8, blocks = 4;
  std::optional<int64_t> hidden;
  std::optional<CutoffOptions> cutoff;
  Basis basis = Basis::pair_gaussian;
  int64_t kernels = 64;
  double least_width = 0.05;
  Interaction interaction = Interaction::attention;
  Normaliser normaliser = Normaliser::softmax;
  bool vector_cutoff = true;
  VectorInput input = VectorInput::centroid;
  double smoothing = 0.2;
  bool neighbour_embedding = false, pair_embedding = false;
  Order order = Order::parallel;
  bool shared_query = false;
  EquivariantScale equ_scale = EquivariantScale::head;
  BiasScope bias = BiasScope::shared;
  bool bias_heads = true;
  VectorNormLaw norm = VectorNormLaw::rms;
  double norm_epsilon = 1e-2, rho = 0.05;
  FeedForward feed_forward = FeedForward::gated;
  Activation activation = Activation::gelu;
  Head head = Head::mlp;
  std::optional<int64_t> head_hidden;
  Pooling pooling = Pooling::mean;
  Parts parts;
  Dropout dropout;
  Towers towers = Towers::one;
  LinearInit init = LinearInit::torch;
  int64_t rounds = 1;
};
void fields(Fields& f, Options& o);

/// What a preset stands for.
Options preset_options(Preset preset);

/// By what the last map of a branch is multiplied at the start, 1 / sqrt(2 blocks), so that the sum of all
/// branches has a size of its own whatever the depth.
double residual_init(const Options& options);

/// Whether the centres and widths of the functions of the distance are parameters: as published, not those of ET and
/// PaiNN, but always those of pair_gaussian.
bool learns_basis(const Options& options);

/// Whether a node is a neighbour of its own within a cut-off. Without one it always is, and in PaiNN's messages never.
bool has_self_edges(const Options& options);

/// What filtered messages are made of: values of the sender by two layers in place of one (PaiNN), SiLU on the filters (ET),
/// weights by scores (with normaliser = silu), whether the sum of a node's messages multiplies products of its own vectors
/// before it is added (ET), whether there are messages of vectors, and whether the cut-off weighs all of a message or the
/// scores alone (ET as published). Beside attention neither scores nor products: those are the attentions' part; and vectors
/// where one of these gives some.
struct Messages {
  bool deep_values = false, filter_activation = true, scores = true, own_products = true, vectors = true;
  bool vector_cutoff = true;
};
Messages messages_of(const Options& options);

/// Whether anything is divided among heads: not where messages are summed without scores (PaiNN).
bool has_heads(const Options& options);

/// ConfigError, naming the key, for options that exclude one another.
void check(const Options& options);

/// ConfigError for what `check` refuses, and for an option that nothing reads as the others stand, or in a model of this
/// interface, and that is not as the preset has it (config/unused_options.h). `interface`: null where it is not known yet.
void require_effects(const Options& options, const Interface* interface);

/// What to say when an output of a model of these options cannot change with the positions: one line that names the
/// option responsible; empty where no option is.
std::string blinding(const Options& options);

}  // namespace weyl::geomformer

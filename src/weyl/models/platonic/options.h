#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/models/system_options.h"
#include "weyl/nn/activation.h"
#include "weyl/nn/drop_path.h"

namespace weyl {

struct Interface;

}  // namespace weyl

namespace weyl::platonic {

enum class FrequencyInit { random, spiral };
constexpr auto names_of(FrequencyInit) {
  return std::array<std::string_view, 2>{"random", "spiral"};
}

enum class FrameNorm { layer, rms };
constexpr auto names_of(FrameNorm) {
  return std::array<std::string_view, 2>{"layer", "rms"};
}

enum class AttentionLaw { softmax, linear };
constexpr auto names_of(AttentionLaw) {
  return std::array<std::string_view, 2>{"softmax", "linear"};
}

/// How softmax scores are made: in each frame by itself (paper, eq. 11), or summed over the frames first (eq. 12).
enum class Scores { equivariant, invariant };
constexpr auto names_of(Scores) {
  return std::array<std::string_view, 2>{"equivariant", "invariant"};
}

/// The values of attention: those of each frame, or the mean over the frames in place of each (paper, end of section
/// 4.2).
enum class FrameValues { equivariant, invariant };
constexpr auto names_of(FrameValues) {
  return std::array<std::string_view, 2>{"equivariant", "invariant"};
}

/// Where the norms of a block stand (appendix F): before each of its two parts, or after each residual sum.
enum class NormPlace { before, after };
constexpr auto names_of(NormPlace) {
  return std::array<std::string_view, 2>{"before", "after"};
}

/// What linear attention divides by: the typical number of nodes, or each graph's own.
enum class LinearNorm { typical, mean };
constexpr auto names_of(LinearNorm) {
  return std::array<std::string_view, 2>{"typical", "mean"};
}

/// How nodes are pooled into a graph:
///
///   sum           sum / typical nodes
///   mean          mean over the nodes
///   authors_sum   sum / typical^2, as in the authors' ragged code
///   authors_mean  sum / (typical count), as in the authors' ragged code
///   total         the sum itself, as in the authors' code where it has no typical number
enum class FramePooling { sum, mean, authors_sum, authors_mean, total };
constexpr auto names_of(FramePooling) {
  return std::array<std::string_view, 5>{"sum", "mean", "authors_sum", "authors_mean", "total"};
}

/// Whether each node has its position as one more vector. `resolved` replaces `automatic`, by the interface, with `on`
/// where the model could not see positions otherwise, else with `off`; a built model has one of these.
enum class PositionVector { automatic, off, on };
constexpr auto names_of(PositionVector) {
  return std::array<std::string_view, 3>{"auto", "false", "true"};
}

/// How linear maps of functions on the group are computed: by one dense matrix, or by irreps (paper, appendix N). Both
/// are the same function of the same weights. `resolved` replaces `automatic` by a fixed rule of group and width; a
/// built model has one of the others.
enum class LinearForm { automatic, dense, spectral };
constexpr auto names_of(LinearForm) {
  return std::array<std::string_view, 3>{"auto", "dense", "spectral"};
}

struct RopeOptions {
  double sigma = 1;
  FrequencyInit init = FrequencyInit::spiral;
  bool learned = true;
};
void fields(Fields& f, RopeOptions& o);

struct ApeOptions {
  double sigma = 1;
  bool learned = true;
};
void fields(Fields& f, ApeOptions& o);

/// Widths are totals over the group: `width` = G channels, `heads` = G heads per frame.
struct Options {
  static constexpr const char* name_in_config = "platonic";
  std::string group = "tetrahedron";
  std::vector<double> axis{0, 0, 1};
  std::vector<std::vector<double>> generators;  // when given, they generate the group in place of `group`
  int64_t width = 192, heads = 12, blocks = 4;
  double ffn_factor = 4;
  Activation activation = Activation::gelu;
  FrameNorm norm = FrameNorm::layer;
  NormPlace norm_place = NormPlace::before;
  AttentionLaw attention = AttentionLaw::softmax;
  int64_t nearest = 0;  // nodes that one attends to; 0: all
  Scores scores = Scores::equivariant;
  FrameValues values = FrameValues::equivariant;
  LinearNorm linear_norm = LinearNorm::typical;
  bool use_key = false, qk_norm = false;
  std::optional<RopeOptions> rope = RopeOptions{};
  bool rope_on_values = false;
  std::optional<ApeOptions> ape;
  bool centre = true;
  PositionVector position_vector = PositionVector::automatic;
  std::optional<double> layer_scale;
  double dropout = 0, attention_dropout = 0, drop_path = 0;
  DropPathBy drop_path_by = DropPathBy::graph;
  bool drop_path_grows = false;
  bool recompute = false;
  FramePooling pooling = FramePooling::sum;
  bool ffn_readout = true;
  bool both_readouts = false;
  bool authors_tables = false;
  LinearForm linear = LinearForm::automatic;
};
void fields(Fields& f, Options& o);

/// Reports options that are set but have no effect (config/unused_options.h). `interface`: the model's; null where it
/// is not known yet, and then an option that depends on it counts as having an effect.
void require_effects(const Options& options, const Interface* interface);

/// The options with `linear` (form_that_pays) and `position_vector` decided where they are automatic. `position_vector`
/// is on where all nodes are alike (at most one type, no features of nodes or objects) and nothing else lets the model
/// see positions. Softmax attention with `rope` does not: it weighs values by relative positions, but its weights sum
/// to one, so that every weighted mean of equal values is the same. The model does see positions with `ape`, which adds
/// them to the nodes, and with `rope` where values are rotated too (`rope_on_values`) or where attention is linear,
/// whose weights do not sum to one.
Options resolved(const Options& options, const Interface& interface);

/// The options with an automatic `position_vector` decided by the weights that the model will get (`weights`: shapes by
/// name). It is on where their embedder reads D more numbers than the interface's features, which are the position of
/// the node; it is off where it reads no more. The options are unchanged where the weights do not say it, and `linear`
/// is not decided.
Options resolved_by(const Options& options, const Interface& interface, const TensorShapes& weights);

/// Whether the model sees positions only through the weights of softmax attention, which tell nothing where all nodes
/// of a graph are alike. `o` must be resolved.
bool needs_unlike_nodes(const Options& o);

/// The message for a model of these options of which no output changes with the positions: one line that names the
/// responsible option; empty where no option is.
std::string blinding(const Options& o);

/// The group that the options name or generate. ConfigError unless it acts in `dimension` dimensions.
GroupPtr frames_of(const Options& options, int64_t dimension);

/// The form that `linear = "auto"` chooses for frames of `channels` channels.
LinearForm form_that_pays(const FiniteGroup& group, int64_t channels);

}  // namespace weyl::platonic

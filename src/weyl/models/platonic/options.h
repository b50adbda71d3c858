#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// softmax scores of each frame by itself (paper, eq. 11), or summed over the frames first (eq. 12).
enum class Scores { equivariant, invariant };
constexpr auto names_of(Scores) {
  return std::array<std::string_view, 2>{"equivariant", "invariant"};
}

/// The values of each frame, or their mean over the frames in all of them (paper, end of section 4.2).
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

/// sum / typical nodes; mean; the authors' ragged code: sum / typical^2, and sum / (typical count); and the sum itself,
/// as theirs where it takes no typical number.
enum class FramePooling { sum, mean, authors_sum, authors_mean, total };
constexpr auto names_of(FramePooling) {
  return std::array<std::string_view, 5>{"sum", "mean", "authors_sum", "authors_mean", "total"};
}

/// Whether each node has its position as one more vector. `automatic`: where the model could not see positions
/// otherwise (`resolved` decides it from the interface), so that a built model has `off` or `on`.
enum class PositionVector { automatic, off, on };
constexpr auto names_of(PositionVector) {
  return std::array<std::string_view, 3>{"auto", "false", "true"};
}

/// How linear maps of functions on the group are worked out: by one dense matrix, or by irreps (paper, appendix N). The
/// same function of the same weights. `automatic`: `resolved` decides it by a fixed rule of group and width, so that a
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
  std::vector<std::vector<double>> generators;  // when given, the group they generate, in place of `group`
  int64_t width = 192, heads = 12, blocks = 4;
  double ffn_factor = 4;
  Activation activation = Activation::gelu;
  FrameNorm norm = FrameNorm::layer;
  NormPlace norm_place = NormPlace::before;
  AttentionLaw attention = AttentionLaw::softmax;
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

/// ConfigError for an option that nothing reads as the others stand (config/idle.h). `interface`: the model's, null
/// where it is not known yet.
void require_effects(const Options& options, const Interface* interface);

/// The options with `linear` (form_that_pays) and `position_vector` decided where they are automatic. The latter is on
/// where a model of this interface could not see positions otherwise. Attention with `rope` weighs values by relative
/// positions, but softmax weights sum to one: of nodes that are all alike (at most one type, no features of nodes or
/// objects) every weighted mean is the same, unless values are rotated too (`rope_on_values`). Linear attention sums
/// weights that do not sum to one, and `ape` adds positions to the nodes: both see.
Options resolved(const Options& options, const Interface& interface);

/// The same, decided by weights that a model of this interface will get (`weights`: shapes by name), where these say it:
/// their embedder reads D numbers more when each node has its position. Else as they are.
Options resolved_by(const Options& options, const Interface& interface, const TensorShapes& weights);

/// Whether the model sees where nodes are by weights of softmax attention alone, which tell nothing where all nodes of a
/// graph are alike. Of resolved options.
bool needs_unlike_nodes(const Options& o);

/// What to say when no output of a model of these options changes with the positions: one line that names the option
/// responsible; empty where no option is.
std::string blinding(const Options& o);

}  // namespace weyl::platonic

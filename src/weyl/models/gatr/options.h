#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/models/shared_options.h"
#include "weyl/ops/multivectors/options.h"

namespace weyl {

struct Interface;

}  // namespace weyl

namespace weyl::gatr {

/// Where the pseudoscalar comes from that makes the join equivariant: the mean of the input multivectors of a graph over
/// its nodes and channels; a constant, which reflections should turn and do not; or the feature `given_reference`, one
/// multivector of each graph, object or node, which is no input channel then.
enum class Reference { data, canonical, given };
constexpr auto names_of(Reference) {
  return std::array<std::string_view, 3>{"data", "canonical", "given"};
}
constexpr const char* given_reference = "reference";

/// Which of an axial net's blocks know the order: those that attend within objects, those that attend across them, or both.
enum class RotaryAxes { both, within, across };
constexpr auto names_of(RotaryAxes) {
  return std::array<std::string_view, 3>{"both", "within", "across"};
}

/// How scalar features come in and scalar outputs go out: as auxiliary scalars, or as scalar parts of multivectors.
enum class ScalarsAs { auxiliary, multivector };
constexpr auto names_of(ScalarsAs) {
  return std::array<std::string_view, 2>{"auxiliary", "multivector"};
}

struct Options {
  static constexpr const char* name_in_config = "gatr";
  std::optional<int64_t> size;  // of the scaling study: sets what options_of_size says
  std::string beside_size;      // a key that a config gives beside it
  int64_t width = 16, scalars = 32, heads = 8, blocks = 4;
  bool multi_query = true;
  int64_t hidden_factor = 2;
  bool positions = true;
  std::vector<int64_t> reinsert_multivectors, reinsert_scalars;
  Reference reference = Reference::data;
  std::optional<double> rotary;
  RotaryAxes rotary_axes = RotaryAxes::both;
  bool axial = false;
  MultivectorGate activation = MultivectorGate::gelu;
  double epsilon = 1e-3;
  double dropout = 0;
  AttentionScope attention = AttentionScope::global;
  int64_t nearest = 0;  // nodes that one attends to; 0: all
  ScalarsAs scalars_as = ScalarsAs::auxiliary;
  double point_regulariser = 0;
};
void fields(Fields& f, Options& o);

/// The model of size n of the scaling study ("Does equivariance matter at scale?", table 1): n multivector and 4 n scalar
/// channels, 2 n blocks, 2 n heads of 2 and 8 channels. The other options are as by default.
Options options_of_size(int64_t n);

/// Channels of one query, key or value, as the authors' code has them.
struct HeadChannels {
  int64_t multivectors, scalars;
};
HeadChannels head_channels(const Options& options);

/// The options of a block, which in an axial net attends within objects or `across` them: without `rotary` where the block
/// does not know the order.
Options options_of_block(const Options& options, bool across);

/// ConfigError: width, scalars, heads, blocks or hidden_factor beside a size, an odd number of heads with
/// hierarchical attention, that with `axial`, `nearest` with either, a channel that is inserted again twice.
void check(const Options& options);

/// ConfigError for an option that nothing reads as the others stand (config/unused_options.h). `interface`: the model's, null
/// where it is not known yet.
void require_effects(const Options& options, const Interface* interface);

/// What to say when no output of a model of these options changes with the positions: one line that names the option
/// responsible; empty where no option is.
std::string blinding(const Options& options);

/// What must be otherwise for data without objects, a key and its value; empty: nothing.
std::string must_without_objects(const Options& options);

}  // namespace weyl::gatr

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"

namespace weyl {

/// A whole number that each frame has, from `least` to `most`, such as its charge or the multiplicity of its spin. A
/// model learns what each value means: the number is one-hot encoded as a feature of the graph, with a channel for each
/// value, so that the model's first linear map embeds it.
struct FrameState {
  std::string key;
  int64_t least = 0, most = 0;
  std::vector<int64_t> known;  // the values that a model's training data had; no key of a config

  int64_t channels() const { return most - least + 1; }
  bool operator==(const FrameState&) const = default;
};
void fields(Fields& f, FrameState& o);

/// The feature of a state: one channel of the graph for each value.
Quantity feature_of(const FrameState& state);

/// The states that are among a model's features, in the order of the features. `known` holds the values that the
/// model's training data had (SampleFacts::states); they become FrameState::known.
std::vector<FrameState> states_told(const std::vector<FrameState>& states, const Interface& model,
                                    const std::map<std::string, std::vector<int64_t>>& known);

/// The channel of a frame's state, 0 .. channels - 1: its value less `least`. DataError naming `where` when
///   * the frame has no such value, or not one whole number;
///   * the number is not between `least` and `most`;
///   * the state has `known` values and the number is not among them.
/// `option` is the name of the option that declares the state, for messages.
int64_t channel_of(const FrameState& state, const AtomsFrame& frame, std::string_view where,
                   std::string_view option);

}  // namespace weyl

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

/// A whole number of frames from `least` to `most`, such as their charge or the multiplicity of their spin, of each of
/// which a model learns what it means: it is given as a feature of the graph with a channel for each value, 1 in that of
/// the frame's own, so that a model's first linear map is an embedding of it.
struct FrameState {
  std::string key;
  int64_t least = 0, most = 0;
  std::vector<int64_t> known;  // of a model: those of its training data; no key of a config

  int64_t channels() const { return most - least + 1; }
  bool operator==(const FrameState&) const = default;
};
void fields(Fields& f, FrameState& o);

/// The feature that a model is told of a state: a channel of the graph for each value.
Quantity feature_of(const FrameState& state);

/// Those of the states that are among a model's features, in the order of the features, with the values that the model's
/// training data had where `known` says them (SampleFacts::states).
std::vector<FrameState> states_told(const std::vector<FrameState>& states, const Interface& model,
                                    const std::map<std::string, std::vector<int64_t>>& known);

/// The channel of its feature that the state of a frame has, 0 .. channels - 1: of its value, less the least. DataError
/// naming `where`: the frame has none, or no whole number, or one that is not of the state's or, of a model, that none
/// of its training data had. `option` is the option that says the state, for messages.
int64_t channel_of(const FrameState& state, const AtomsFrame& frame, std::string_view where,
                   std::string_view option);

}  // namespace weyl

#include "weyl/carriers/frame_state.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// "-1, 0, 2"
std::string list_of_states(const std::vector<int64_t>& values) {
  std::string line;
  for (const int64_t value : values) {
    line += text(line.empty() ? "" : ", ", value);
  }
  return line;
}

}  // namespace

void fields(Fields& f, FrameState& o) {
  f("key", o.key, "of the value in the files, and the feature's name; must be given");
  f("least", o.least, "its least value", {-1000, 1000});
  f("most", o.most, "its largest value, which must be above the least", {-1000, 1000});
}

Quantity feature_of(const FrameState& state) {
  return {.name = state.key, .level = Level::graph, .channels = state.channels()};
}

std::vector<FrameState> states_told(const std::vector<FrameState>& states, const Interface& model,
                                    const std::map<std::string, std::vector<int64_t>>& known) {
  std::vector<FrameState> told;
  for (const Quantity& q : model.features) {
    const auto state = std::ranges::find_if(states, [&](const FrameState& s) { return q == feature_of(s); });
    if (state != states.end()) {
      told.push_back(*state);
      if (const auto values = known.find(state->key); values != known.end()) {
        told.back().known = values->second;
      }
    }
  }
  return told;
}

int64_t channel_of(const FrameState& state, const AtomsFrame& frame, std::string_view where,
                   std::string_view option) {
  const FrameValue* found = frame.value(state.key);
  if (found == nullptr) {
    throw DataError(text(where, ": must have ", quote(state.key), " (", option, "), has ", names_in(frame)));
  }
  const auto reals = reals_of(found->values);
  const bool one = reals && reals->size() == 1;
  const double value = one ? reals->front() : 0;
  const auto whole = static_cast<double>(state.least) <= value && value <= static_cast<double>(state.most)
                         ? static_cast<int64_t>(std::llround(value))
                         : state.most + 1;
  if (!one || static_cast<double>(whole) != value || whole > state.most) {
    throw DataError(text(where, ": ", quote(state.key), " must be one whole number of ", state.least, " .. ",
                         state.most, " (", option, ")", one ? text(", got ", value) : std::string()));
  }
  if (!state.known.empty() && std::ranges::find(state.known, whole) == state.known.end()) {
    throw DataError(text(where, ": ", quote(state.key), " must be one that the model's training data had, ",
                         list_of_states(state.known), ", got ", whole));
  }
  return whole - state.least;
}

}  // namespace weyl

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weyl/carriers/batch.h"

namespace weyl {

class Stream;

/// One way to change samples. `make` gives them anew for each of `sight_draws` draws, which differ in size.
struct Change {
  std::string what;       // "positions", "types", "feature 'charge'"
  bool of_place = false;  // of positions, poses, or the values of a grid: the carrier's main input
  std::function<Input(Stream& stream, int64_t draw)> make;
};
constexpr int64_t sight_draws = 4;

/// What can be changed in samples of an interface, one thing at a time: places, not rigidly, by about the distance
/// between neighbours, and in later draws nearer to one another (a cut-off may be short); types, to others that occur;
/// each feature by as much as its values differ, or by its size where they do not. Places of graphs of one node (or
/// whose nodes all stand at one point), a single type, and kinds of features that no system reads are left out.
/// `samples` must outlive the changes.
std::vector<Change> changes_of(const Input& samples, const Interface& interface);

}  // namespace weyl

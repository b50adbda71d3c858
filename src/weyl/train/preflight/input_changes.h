#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"

namespace weyl {

/// A few samples of a training set to try a model on, without labels, float64 on the CPU, about `tokens` tokens in all.
///
/// * Graphs are taken that have two nodes or more, where there are such. A graph that is too large keeps the nodes
///   nearest to its first one, so that what was within a cut-off stays there. With objects, each object keeps its
///   nearest nodes, as many as the others. A graph with pairs stays whole.
/// * A grid is cut to `crop` where training is on crops; its middle is then halved until it is small enough.
Input check_samples(const Dataset& data, std::span<const int64_t> crop, int64_t tokens);

/// The places of poses: the last column (N, n) of their matrices. Groups without translations, such as rotations, have
/// none, and the whole matrices (N, n, n) are returned.
Tensor places_of(const Poses& poses);

class Stream;

/// One way to change samples. `make` makes changed samples for one of `draws_of_a_change` draws, which differ in size.
struct Change {
  std::string what;       // "positions", "types", "feature 'charge'"
  bool of_place = false;  // changes the carrier's main input: positions, poses, or the values of a grid
  std::function<Input(Stream& stream, int64_t draw)> make;
};
constexpr int64_t draws_of_a_change = 4;

/// The changes that samples of an interface allow, one thing at a time:
///
/// * places, not rigidly, by about the distance between neighbours; in later draws also drawn together, because a
///   cut-off may be short;
/// * types, to others that occur;
/// * each feature, by as much as its values differ or, where they do not, by its size.
///
/// Left out are the places of graphs of one node (or whose nodes are all at one point), a single type, and kinds of
/// features that no system reads. `samples` must outlive the changes.
std::vector<Change> changes_of(const Input& samples, const Interface& interface);

}  // namespace weyl

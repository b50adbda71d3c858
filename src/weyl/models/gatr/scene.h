#pragma once

#include "weyl/carriers/points.h"
#include "weyl/models/gatr/linear.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/gatr/rotary.h"

namespace weyl::gatr {

/// Groups of nodes that need not lie side by side: row `order[i]` of the nodes is row i of the groups, row `back[n]`
/// of the groups is node n. (N) int64.
struct Regrouped {
  Tensor order, back;
  Segments groups;
};

/// The nodes of each graph by their number in their object: the n-th nodes of all its objects are one group.
Regrouped across_objects(const Points& points);

/// What every block of one forward pass shares.
struct Scene {
  const Segments& graphs;
  const Segments& objects;
  Tensor reference;           // (N), for joins
  Streams again;              // input channels that are inserted again; undefined where there are none
  OrderAngles angles;         // of a node's number in its graph; in its object, where blocks are axial
  Regrouped across;           // for axial blocks that attend across objects
  OrderAngles angles_across;  // of the number of a node's object in its graph
  bool has_angles() const { return angles.cosine.defined(); }
};

/// `input`: the embedded points, whose mean is the reference of their graph. ShapeError: hierarchical or axial
/// attention without objects. Valid as long as `points` live.
Scene scene_of(const Points& points, const Streams& input, const Options& options);

}  // namespace weyl::gatr

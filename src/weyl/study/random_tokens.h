#pragma once

#include <span>

#include "weyl/carriers/batch.h"

namespace weyl {

/// Random samples of a declared schema, to audit, time or trace a model without data: `graphs` point clouds
/// of `nodes` tokens with standard normal positions, scalars, vectors (unit length for normals) and components of
/// multivectors, and uniform types, in objects of three nodes where a feature or a label is of objects; or poses g
/// exp(e_i), g random by the group's law (translations N(0, 3^2)), e_i normal, of size 1 in the translation and 0.2 else,
/// so that relative poses lie inside the chart of the logarithm.
/// float64, a pure function of the seed. ConfigError for a carrier or a kind of feature that
/// cannot be drawn.
Batch random_tokens(const Schema& schema, int64_t graphs, int64_t nodes, uint64_t seed);

/// Random grids of a declared schema: `count` of standard normal values, `shape` cells along each axis (one
/// number: along all). float64, a pure function of the seed. ConfigError: not a grid, or another number of
/// axes.
Batch random_grids(const Schema& schema, int64_t count, std::span<const int64_t> shape, uint64_t seed);

}  // namespace weyl

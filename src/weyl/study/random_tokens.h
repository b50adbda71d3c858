#pragma once

#include "weyl/data/batch.h"

namespace weyl {

/// Random samples of a declared schema, to audit, time or trace a model without data: `graphs` point clouds
/// of `nodes` tokens with standard normal positions, scalars and vectors (unit length for normals) and
/// uniform types, float64, a pure function of the seed. ConfigError for a carrier or a kind of feature that
/// cannot be drawn.
Batch random_tokens(const Schema& schema, int64_t graphs, int64_t nodes, uint64_t seed);

}  // namespace weyl

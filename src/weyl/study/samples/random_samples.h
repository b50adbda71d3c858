#pragma once

#include <memory>
#include <span>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/tasks/task.h"

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

/// Whether a task learns nothing but what potentials give, energies, forces and stress, of points in space: random
/// molecules can then stand for its data.
bool learns_a_potential(const Task& task, const Schema& schema);

/// Random molecules of a declared schema, to time or trace a force field without data: random_tokens whose
/// positions are `graphs` balls of `nodes` atoms, 10 Angstrom^3 to an atom as in organic molecules (so that
/// as many neighbours are within a cut-off), no two nearer than 0.9 Angstrom; types drawn from H, C, N and O
/// where the schema names elements. Labels `energy` (B, 1) and `forces` (N, 1, 3), standard normal. float64,
/// a pure function of the seed. ConfigError: not points in space; see random_tokens.
std::shared_ptr<const Dataset> random_molecules(Schema schema, int64_t graphs, int64_t nodes, uint64_t seed);

}  // namespace weyl

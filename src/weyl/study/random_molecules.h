#pragma once

#include <memory>

#include "weyl/carriers/dataset.h"
#include "weyl/tasks/task.h"

namespace weyl {

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

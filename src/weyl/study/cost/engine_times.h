#pragma once

#include <string>
#include <vector>

#include "weyl/saved/predictor.h"
#include "weyl/study/cost/bench.h"

namespace weyl {

/// Energy and forces of one sample as a program asks for them (saved/atoms.h): by the model's own derivative
/// (Model::bond_gradient), where it has one, and by autograd; without one both are the same.
struct EngineCase {
  int64_t atoms = 0;
  bool periodic = false;
  double ms = 0, autograd_ms = 0;
  BenchRatio of_autograd;  // ms / autograd_ms, repeat by repeat
  double error = 0;        // the largest difference of the energy, of it, or of a force, of the largest force
};

/// 7 molecules of water and, of models whose atoms see no farther than a cut-off, 64 in a periodic box. Atoms move a little
/// before each repeat, and the two ways take turns. Of models without oxygen and hydrogen the last and the first of their elements stand for them. ConfigError: the model
/// gives no energy and forces of atoms.
std::vector<EngineCase> time_engine(const Predictor& predictor, int64_t repeats);

}  // namespace weyl

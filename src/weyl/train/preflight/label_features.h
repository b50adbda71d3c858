#pragma once

#include <span>
#include <string>
#include <vector>

#include "weyl/train/recipe.h"

namespace weyl {

/// Checks that no feature is a label, because a model that is given what it should learn learns nothing else.
/// ConfigError, which names both: a feature that the recipe names (data.molecules.features, interface.features) is a
/// label of its task, by its name, by the key under which files have it, or by another usual key of the same number
/// ("REF_energy", "free_energy"), in upper or lower case. For a force field, energies, forces and stresses are labels,
/// learned or not. What a file has under any other name is not known.
void require_features_are_no_labels(const Recipe& recipe);

/// The same for features by name, for data that a program gives itself.
void require_features_are_no_labels(std::span<const Quantity> features, std::span<const Quantity> labels,
                                    const std::string& task);

}  // namespace weyl

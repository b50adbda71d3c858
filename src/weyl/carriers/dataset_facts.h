#pragma once

#include <string>
#include <string_view>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/sample_facts.h"

namespace weyl {

/// Where two have other units, in words that begin with the first ("the model was trained on"): of lengths, or of a feature of the
/// same name. "": nowhere. A unit that one side does not know contradicts nothing.
std::string units_apart(const Interface& one, const Interface& other,
                        std::string_view first = "the model was trained on",
                        std::string_view second = "the data have");

/// What a set knows of its samples: the spacing of those whose lattice it tells (Dataset::lattice), the names of the
/// channels and of the classes of its one label of categories, the values of features that are states. No sample is
/// read.
SampleFacts facts_of(const Dataset& data);

/// The first contradiction between what a model keeps and the samples of a set, a line that begins with the sample's
/// own file, else with `where`; "": none. No sample is read.
std::string contradiction(const SampleFacts& model, const Dataset& data, const std::string& where,
                          FactsCompared compared);

}  // namespace weyl

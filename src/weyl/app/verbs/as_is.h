#pragma once

#include <span>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/sample_facts.h"

namespace weyl {

/// Refuses data that contradict what one of some models keeps of those that it was trained on (`known`, of each), or whose
/// units are not those of `model`, which all share: DataError, one line with what the model knows, what the data say, and
/// --as-is. With `as_is` (--as-is) that line is a warning, and where nothing is
/// contradicted, one says that the flag has no effect. `where` names the data.
void check_facts(bool as_is, const Interface& model, std::span<const SampleFacts> known, const Dataset& data,
                 const std::string& where, FactsCompared compared);

/// The same of units alone, for data of which nothing else is kept.
void check_units(bool as_is, const Interface& model, const Interface& data, const std::string& where);

/// The same where the data are of a kind of which nothing is kept (atoms): only that --as-is has no effect.
void check_no_facts(bool as_is);

}  // namespace weyl

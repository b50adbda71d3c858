#include "weyl/app/verbs/as_is.h"

#include "weyl/app/terminal/log.h"
#include "weyl/carriers/dataset_facts.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {

namespace {

/// `apart`: what is contradicted, `kept`: what could be; empty: nothing.
void refuse_or_warn(bool as_is, const std::string& apart, const std::string& kept) {
  require<DataError>(apart.empty() || as_is, apart, "; --as-is takes the data as they are");
  if (!as_is) {
    return;
  }
  warn(!apart.empty() ? apart + "; taken as they are (--as-is)"
       : kept.empty()
           ? "--as-is: has no effect: the model keeps nothing that data could contradict"
           : "--as-is: has no effect: the data contradict nothing that the model keeps (" + kept + ")");
}

std::string line_on_units(const Interface& model, const Interface& data, const std::string& where) {
  const std::string apart = units_apart(model, data);
  return apart.empty() ? "" : where + ": " + apart;
}

std::string units_kept(const Interface& model) {
  return model.length_unit.empty() ? "" : "lengths in " + visible(model.length_unit);
}

}  // namespace

void check_facts(bool as_is, const Interface& model, std::span<const SampleFacts> known, const Dataset& data,
                 const std::string& where, FactsCompared compared) {
  std::string apart = line_on_units(model, data.schema().interface, where), kept;
  for (const SampleFacts& facts : known) {
    apart = apart.empty() ? contradiction(facts, data, where, compared) : apart;
    kept = kept.empty() ? description(facts) : kept;
  }
  refuse_or_warn(as_is, apart, kept.empty() ? units_kept(model) : kept);
}

void check_units(bool as_is, const Interface& model, const Interface& data, const std::string& where) {
  refuse_or_warn(as_is, line_on_units(model, data, where), units_kept(model));
}

void check_no_facts(bool as_is) {
  if (as_is) {
    warn("--as-is: has no effect on atoms, of which a model keeps nothing that is looked at");
  }
}

}  // namespace weyl

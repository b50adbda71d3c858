#include "weyl/app/verbs/as_is.h"

#include "weyl/app/terminal/log.h"
#include "weyl/carriers/dataset_facts.h"
#include "weyl/core/check.h"

namespace weyl {

void check_facts(bool as_is, std::span<const SampleFacts> known, const Dataset& data,
                 const std::string& where, FactsCompared compared) {
  std::string apart, kept;
  for (const SampleFacts& model : known) {
    apart = apart.empty() ? contradiction(model, data, where, compared) : apart;
    kept = kept.empty() ? description(model) : kept;
  }
  require<DataError>(apart.empty() || as_is, apart, "; --as-is takes the data as they are");
  if (!as_is) {
    return;
  }
  warn(!apart.empty() ? apart + "; taken as they are (--as-is)"
       : kept.empty()
           ? "--as-is: has no effect: the model keeps nothing that data could contradict"
           : "--as-is: has no effect: the data contradict nothing that the model keeps (" + kept + ")");
}

void check_no_facts(bool as_is) {
  if (as_is) {
    warn("--as-is: has no effect on atoms, of which a model keeps nothing that is looked at");
  }
}

}  // namespace weyl

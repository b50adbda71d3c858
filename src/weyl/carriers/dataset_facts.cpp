#include "weyl/carriers/dataset_facts.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

/// Names that say something: none is empty.
std::vector<std::string> whole(const std::vector<std::string>& names) {
  const bool some_empty = std::any_of(names.begin(), names.end(), [](const auto& n) { return n.empty(); });
  return some_empty ? std::vector<std::string>() : names;
}

SampleFacts named_facts(const Schema& schema) {
  SampleFacts facts;
  facts.unit = schema.interface.length_unit;
  facts.channels = whole(schema.channel_names);
  const std::vector<std::string> empty;
  for (const char* label : {"class", "mask"}) {  // what tasks of classes learn
    const auto found = schema.category_names.find(label);
    if (facts.classes.empty() && found != schema.category_names.end()) {
      facts.classes = whole(found->second);
    }
  }
  for (const Quantity& q : schema.interface.features) {
    const auto found = schema.category_names.find(q.name);
    for (const std::string& value : found != schema.category_names.end() ? found->second : empty) {
      facts.states[q.name].push_back(parse_integer(value).value());
    }
  }
  return facts;
}

/// The names, and the spacing of one sample; a lattice without cells is not known.
SampleFacts with_spacing(SampleFacts facts, const Lattice& lattice) {
  if (!lattice.cells.empty()) {
    const auto* first = lattice.spacing.data();
    const std::vector<double> spacing(first, first + std::min<size_t>(lattice.cells.size(), 3));
    facts.spacing = SampleFacts::Spacing{spacing, spacing};
  }
  return facts;
}

/// Whether two units are known and not of one size. Words that are no units, as the steps of a clock, are compared as such.
bool units_differ(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == b) {
    return false;
  }
  try {
    return !same_unit(a, b);
  } catch (const ConfigError&) {
    return true;
  }
}

std::string shown(const std::string& unit) {
  constexpr size_t most = 80;
  return visible(unit.substr(0, most));
}

}  // namespace

std::string units_apart(const Interface& one, const Interface& other, std::string_view first,
                        std::string_view second) {
  const auto apart = [&](const std::string& what, const std::string& a, const std::string& b) {
    return units_differ(a, b) ? text(first, " ", what, " in ", shown(a), ", ", second, " ", shown(b)) : "";
  };
  std::string found = apart("lengths", one.length_unit, other.length_unit);
  for (const Quantity& feature : one.features) {
    const Quantity* same = find_quantity(other.features, feature.name);
    found = found.empty() && same != nullptr ? apart(quote(feature.name), feature.unit, same->unit) : found;
  }
  return found;
}

SampleFacts facts_of(const Dataset& data) {
  const SampleFacts names = named_facts(data.schema());
  SampleFacts facts = names;
  for (int64_t i = 0; data.schema().interface.grid && i < data.size(); ++i) {
    facts = covering(facts, with_spacing(names, data.lattice(i)));
  }
  return facts;
}

std::string contradiction(const SampleFacts& model, const Dataset& data, const std::string& where,
                          FactsCompared compared) {
  const SampleFacts names = named_facts(data.schema());
  if (const std::string apart = contradiction(model, names, compared); !apart.empty()) {
    return where + ": " + apart;
  }
  for (int64_t i = 0; data.schema().interface.grid && i < data.size(); ++i) {
    if (const std::string apart = contradiction(model, with_spacing(names, data.lattice(i)), compared);
        !apart.empty()) {
      const std::string source = data.source(i);
      return (source.empty() ? where : source) + ": " + apart;
    }
  }
  return "";
}

}  // namespace weyl

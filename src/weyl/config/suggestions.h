#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/description.h"
#include "weyl/config/toml_tree.h"

namespace weyl {

/// A key that no option has, as it stands in a document.
struct UnknownKey {
  std::string table;  // the table of the key: "train"; empty: the document itself
  std::string key;    // "rate"
  std::string rest;   // the one key within it, where there is one alone: "rate" of `optimizer.rate=1e-3`
};

/// The keys that an unknown key may stand for, as whole paths ("train.optimiser.rate"). The first of these rules that
/// finds any decides; among what it finds, the nearest in the tree of tables count:
///
///   * keys of the same table that are also called by this word (Fields::also_called)
///   * keys of this name in other tables
///   * keys of other tables that are also called by this word
///   * keys of similar spelling: of the same table, then of others, then by their other names
///
/// Only keys that this document can set are suggested: where a choice selects a table (a system's options), the keys of
/// the chosen one. Empty: nothing is near, or more than three keys are.
struct Suggestions {
  std::vector<std::string> paths;
  std::string help;      // of the only suggestion, where it was found by another name: meanings may differ
  bool of_rest = false;  // nothing is near `key` itself: `paths` are those of `rest`
};
Suggestions suggestions_for(const UnknownKey& unknown, const Description& all, const TomlNode& document);

/// The suggestions among all keys, when there is no document.
Suggestions suggestions_for(const UnknownKey& unknown, const Description& all);

}  // namespace weyl

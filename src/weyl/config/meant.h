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
  std::string table;  // where it stands: "train"; empty: the document itself
  std::string key;    // "rate"
  std::string rest;   // what stands in it, where that is one key alone: "rate" of `optimizer.rate=1e-3`
};

/// What may be meant, all equally near, as whole paths ("train.optimiser.rate"): keys of the same last word elsewhere in
/// the config, else those that the word is another name of (Fields::also_called), each the nearest in the tree of tables;
/// else what is spelled nearly so, in its own table before others. Only keys that this document can set: of tables that
/// a choice brings (a system's options) those of its choice. Empty: nothing is near.
struct Meant {
  std::vector<std::string> paths;
  std::string help;      // of the key, where the word is another name, which need not mean quite the same
  bool of_rest = false;  // nothing is near the key itself: what stands in it alone is
};
Meant meant_by(const UnknownKey& unknown, const Description& all, const TomlNode& document);

/// The same without a document, of all keys.
Meant meant_by(const UnknownKey& unknown, const Description& all);

}  // namespace weyl

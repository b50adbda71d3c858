#pragma once

#include <string>
#include <vector>

#include "weyl/config/toml.h"
#include "weyl/config/toml_tree.h"

namespace weyl {

/// The keys of a config that had other names (Fields::renamed), and what of them a document and its overrides used.
class OldNames {
 public:
  explicit OldNames(const Visit& visit);

  /// Gives the keys of a document their names of today. ConfigError, `where:line: ...`: a table has a key under both.
  void rename(TomlNode& root, const std::string& where);
  /// An override with the names of today.
  std::string renamed(const std::string& override);
  /// A path of keys, "train.optimiser.law", with the names of today.
  std::string renamed_path(std::string path) const;

  /// One line that names all that were used, beginning with `where`; empty: none.
  std::string warning(const std::string& where) const;

 private:
  struct Name {
    std::string table;           // "train.optimiser"; empty: the document
    std::string old_key, key;    // "law", "name"
    std::string old_path, path;  // both, with the table
  };
  /// Gives a path that begins with an old name that of today; whether it did.
  static bool replace(const Name& name, std::string& path);
  void used(const Name& name);

  std::vector<Name> names_;
  std::vector<std::string> used_;  // "train.optimiser.law is now train.optimiser.name"
};

}  // namespace weyl

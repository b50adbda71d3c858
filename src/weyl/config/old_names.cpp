#include "weyl/config/old_names.h"

#include <algorithm>

#include "weyl/config/description.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

TomlEntry* find_entry(TomlNode::Table& table, std::string_view key) {
  const auto entry = std::ranges::find(table, key, &TomlEntry::key);
  return entry == table.end() ? nullptr : &*entry;
}

/// f(table) for each table at the end of a path: of a list of tables, for each of its items.
template <class F>
void each_table(TomlNode& node, std::string_view path, const F& f) {
  if (auto* list = std::get_if<TomlNode::List>(&node.value)) {
    for (TomlNode& item : *list) {
      each_table(item, path, f);
    }
  } else if (auto* table = std::get_if<TomlNode::Table>(&node.value)) {
    const size_t dot = path.find('.');
    if (path.empty()) {
      f(*table);
    } else if (TomlEntry* entry = find_entry(*table, path.substr(0, dot))) {
      each_table(entry->node, dot == path.npos ? "" : path.substr(dot + 1), f);
    }
  }
}

}  // namespace

OldNames::OldNames(const Visit& visit) {
  const auto collect = [&](const auto& self, const Description& d) -> void {
    for (const auto& [old_key, key] : d.renamed) {
      const std::string table = d.path.empty() ? "" : d.path + ".";
      names_.push_back({d.path, old_key, key, table + old_key, table + key});
    }
    for (const Description& child : d.children) {
      self(self, child);
    }
  };
  collect(collect, describe(visit));
}

void OldNames::used(const Name& name) {
  const std::string line = name.old_path + " is now " + name.path;
  if (std::ranges::find(used_, line) == used_.end()) {
    used_.push_back(line);
  }
}

void OldNames::rename(TomlNode& root, const std::string& where) {
  for (const Name& name : names_) {
    each_table(root, name.table, [&](TomlNode::Table& table) {
      TomlEntry* old = find_entry(table, name.old_key);
      if (old == nullptr) {
        return;
      }
      require<ConfigError>(find_entry(table, name.key) == nullptr, where, ":", old->place.line, ": ",
                           name.old_path, ": is the old name of '", name.key, "', which is given too");
      old->key = name.key;
      used(name);
    });
  }
}

bool OldNames::replace(const Name& name, std::string& path) {
  if (path != name.old_path && !path.starts_with(name.old_path + ".")) {
    return false;
  }
  path.replace(0, name.old_path.size(), name.path);
  return true;
}

std::string OldNames::renamed_path(std::string path) const {
  for (const Name& name : names_) {
    replace(name, path);
  }
  return path;
}

std::string OldNames::renamed(const std::string& override) {
  const size_t equals = override.find('=');
  if (equals == std::string::npos) {
    return override;
  }
  const size_t begin = std::min(override.find_first_not_of(" \t"), equals);
  const size_t end = override.find_last_not_of(" \t", equals == 0 ? 0 : equals - 1) + 1;
  std::string path = end > begin ? override.substr(begin, end - begin) : "";
  bool old = false;
  for (const Name& name : names_) {
    if (replace(name, path)) {
      used(name);
      old = true;
    }
  }
  return old ? path + override.substr(equals) : override;
}

std::string OldNames::warning(const std::string& where) const {
  std::string line;
  for (const std::string& name : used_) {
    line += (line.empty() ? where + ": old names are read, write the new: " : ", ") + name;
  }
  return line;
}

}  // namespace weyl

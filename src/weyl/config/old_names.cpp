#include "weyl/config/old_names.h"

#include <algorithm>

#include "weyl/config/description.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words{""};
  for (const char c : path) {
    if (c == '.') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string path;
  for (const std::string& word : words) {
    path += (path.empty() ? "" : ".") + word;
  }
  return path;
}

TomlEntry* find(TomlNode::Table& table, const std::string& key) {
  const auto entry = std::ranges::find(table, key, &TomlEntry::key);
  return entry == table.end() ? nullptr : &*entry;
}

/// f(table) for each table at the end of a path: of a list of tables, for each of its items.
template <class F>
void each_table(TomlNode& node, std::span<const std::string> path, const F& f) {
  if (auto* list = std::get_if<TomlNode::List>(&node.value)) {
    for (TomlNode& item : *list) {
      each_table(item, path, f);
    }
  } else if (auto* table = std::get_if<TomlNode::Table>(&node.value)) {
    if (path.empty()) {
      f(*table);
    } else if (TomlEntry* entry = find(*table, path.front())) {
      each_table(entry->node, path.subspan(1), f);
    }
  }
}

}  // namespace

OldNames::OldNames(const Visit& visit) {
  const auto collect = [&](const auto& self, const Description& d) -> void {
    for (const auto& [old_key, key] : d.renamed) {
      names_.push_back({d.path.empty() ? std::vector<std::string>{} : words_of(d.path), old_key, key});
    }
    for (const Description& child : d.children) {
      self(self, child);
    }
  };
  collect(collect, describe(visit));
}

void OldNames::used(const Name& name) {
  std::string table = joined(name.table);
  table += table.empty() ? "" : ".";
  const std::string line = table + name.old_key + " is now " + table + name.key;
  if (std::ranges::find(used_, line) == used_.end()) {
    used_.push_back(line);
  }
}

void OldNames::rename(TomlNode& root, const std::string& where) {
  for (const Name& name : names_) {
    each_table(root, name.table, [&](TomlNode::Table& table) {
      TomlEntry* old = find(table, name.old_key);
      if (old == nullptr) {
        return;
      }
      require<ConfigError>(find(table, name.key) == nullptr, where, ":", old->place.line, ": ",
                           joined(name.table), ".", name.old_key, ": is the old name of '", name.key,
                           "', which is given too");
      old->key = name.key;
      used(name);
    });
  }
}

std::string OldNames::renamed_path(const std::string& path) const {
  std::vector<std::string> words = words_of(path);
  bool old = false;
  for (const Name& name : names_) {
    const size_t at = name.table.size();
    if (words.size() > at && words[at] == name.old_key &&
        std::equal(name.table.begin(), name.table.end(), words.begin())) {
      words[at] = name.key;
      old = true;
    }
  }
  return old ? joined(words) : path;
}

std::string OldNames::renamed(const std::string& override) {
  const size_t equals = override.find('=');
  if (equals == std::string::npos) {
    return override;
  }
  const size_t begin = std::min(override.find_first_not_of(" \t"), equals);
  const size_t end = override.find_last_not_of(" \t", equals == 0 ? 0 : equals - 1) + 1;
  const std::string path = end > begin ? override.substr(begin, end - begin) : "", now = renamed_path(path);
  if (now == path) {
    return override;
  }
  for (const Name& name : names_) {
    const std::string prefix = joined(name.table) + (name.table.empty() ? "" : ".") + name.old_key;
    if (path == prefix || path.starts_with(prefix + ".")) {
      used(name);
    }
  }
  return now + override.substr(equals);
}

std::string OldNames::warning(const std::string& where) const {
  std::string line;
  for (const std::string& name : used_) {
    line += (line.empty() ? where + ": old names are read, write the new: " : ", ") + name;
  }
  return line;
}

}  // namespace weyl

#include "weyl/config/suggestions.h"

#include <algorithm>
#include <utility>

#include "weyl/config/wording.h"
#include "weyl/core/nearest.h"

namespace weyl {
namespace {

constexpr size_t most_named = 3;

/// A key that can be set, and under which word it is found: its own, or another name.
struct Candidate {
  std::string word;
  const Description* key;
  std::string table;  // where the key stands
};

std::vector<std::string_view> parts(std::string_view path) {
  std::vector<std::string_view> words;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    words.push_back(path.substr(0, dot));
    path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
  }
  return words;
}

/// How many tables are left and entered on the way from one to another.
size_t steps(std::string_view from, std::string_view to) {
  const auto a = parts(from), b = parts(to);
  const auto common = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  return a.size() + b.size() - 2 * common;
}

/// "interface.features[0]" -> "interface.features".
std::string without_indices(std::string_view path) {
  std::string plain;
  bool inside = false;
  for (const char c : path) {
    inside = inside || c == '[';
    if (!inside) {
      plain += c;
    }
    inside = inside && c != ']';
  }
  return plain;
}

const TomlNode* node_at(const TomlNode& document, std::string_view path) {
  const TomlNode* node = &document;
  for (const std::string_view word : parts(path)) {
    const auto* table = node->as<TomlNode::Table>();
    if (table == nullptr) {
      return nullptr;
    }
    const auto entry = std::ranges::find(*table, word, &TomlEntry::key);
    if (entry == table->end()) {
      return nullptr;
    }
    node = &entry->node;
  }
  return node;
}

/// Whether the table of an alternative is the one that the document chooses, or else the default.
bool is_chosen(const Description& alternative, const Description& parent, const TomlNode& document) {
  const auto choice = std::ranges::find(parent.children, alternative.chosen_by, &Description::key);
  if (choice == parent.children.end()) {
    return true;
  }
  const TomlNode* node = node_at(document, choice->path);
  const auto* word = node != nullptr ? node->as<std::string>() : nullptr;
  const bool valid = word != nullptr && std::ranges::find(choice->choices, *word) != choice->choices.end();
  return valid ? *word == alternative.key : toml_string(alternative.key) == choice->standard;
}

/// All that can be set by a path: nothing within lists of tables. Of alternatives, the chosen ones and that in which the
/// unknown key stands.
struct KeyCollector {
  const TomlNode* document;
  const std::string& here;  // the table of the unknown key
  std::vector<Candidate> keys, names;

  bool is_open(const Description& d, const Description& parent) const {
    return d.chosen_by.empty() || document == nullptr || (here + ".").starts_with(d.path + ".") ||
           is_chosen(d, parent, *document);
  }
  void operator()(const Description& table) {
    for (const Description& d : table.children) {
      if (!is_open(d, table)) {
        continue;
      }
      keys.push_back({d.key, &d, table.path});
      for (const auto& [word, key] : table.also_called) {
        if (key == d.key) {
          names.push_back({word, &d, table.path});
        }
      }
      if (d.type == Description::Type::table) {
        (*this)(d);
      }
    }
  }
};

/// Those of a word, the nearest in the tree.
std::vector<const Description*> nearest_of(const std::vector<Candidate>& candidates, std::string_view word,
                                           std::string_view table) {
  std::vector<const Description*> found;
  size_t least = 0;
  for (const Candidate& c : candidates) {
    const size_t far = steps(table, c.table);
    if (c.word != word || (!found.empty() && far > least)) {
      continue;
    }
    if (!found.empty() && far < least) {
      found.clear();
    }
    least = far;
    if (std::ranges::find(found, c.key) == found.end()) {
      found.push_back(c.key);
    }
  }
  return found;
}

std::vector<std::string> words_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> words;
  for (const Candidate& c : candidates) {
    words.push_back(c.word);
  }
  return words;
}

/// The keys of a word: by itself, by another name, by its spelling.
struct Found {
  std::vector<const Description*> keys;
  bool by_name = false;
};
Found find_meant(const std::string& word, const std::string& table, const std::vector<Candidate>& keys,
                 const std::vector<Candidate>& names) {
  const auto here = [&](const std::vector<Candidate>& all) {
    std::vector<Candidate> own;
    std::ranges::copy_if(all, std::back_inserter(own), [&](const Candidate& c) { return c.table == table; });
    return own;
  };
  const std::vector<Candidate> own = here(keys), own_names = here(names);
  for (const auto* of : {&own_names, &keys, &names}) {
    if (auto found = nearest_of(*of, word, table); !found.empty()) {
      return {std::move(found), of != &keys};
    }
  }
  if (const std::string near = nearest(word, words_of(own)); !near.empty()) {
    return {nearest_of(own, near, table), false};
  }
  for (const auto* of : {&keys, &names}) {
    if (const std::string near = nearest_spelling(word, words_of(*of)); !near.empty()) {
      return {nearest_of(*of, near, table), of != &keys};
    }
  }
  return {};
}

/// Where a table was unknown and one key stands in it: that key, unless the table's own name is all that is wrong.
Found follow(Found found, const std::string& rest, const std::string& table,
             const std::vector<Candidate>& keys, const std::vector<Candidate>& names) {
  for (const Description* d : found.keys) {
    const auto inside =
        std::ranges::find(keys, d->path + "." + rest, [](const Candidate& c) { return c.key->path; });
    if (inside != keys.end()) {
      const bool here = d->path == (table.empty() ? d->key : table + "." + d->key);
      return here ? found : Found{{inside->key}, false};
    }
  }
  const std::string from = found.keys.size() == 1 ? found.keys.front()->path : table;
  Found inside = find_meant(rest.substr(rest.rfind('.') + 1), from, keys, names);
  return inside.keys.empty() ? found : inside;
}

Suggestions suggestions_of(const UnknownKey& unknown, const Description& all, const TomlNode* document) {
  const std::string table = without_indices(unknown.table);
  KeyCollector collect{document, table, {}, {}};
  collect(all);
  const std::vector<Candidate>&keys = collect.keys, &names = collect.names;
  Found found = find_meant(unknown.key, table, keys, names);
  const bool of_rest = found.keys.empty();
  if (!unknown.rest.empty()) {
    found = follow(std::move(found), unknown.rest, table, keys, names);
  }
  Suggestions result{{}, "", of_rest};
  if (found.keys.size() > most_named) {
    return result;
  }
  for (const Description* d : found.keys) {
    result.paths.push_back(d->path);
  }
  if (found.by_name && found.keys.size() == 1) {
    result.help = found.keys.front()->help;
  }
  return result;
}

}  // namespace

Suggestions suggestions_for(const UnknownKey& unknown, const Description& all, const TomlNode& document) {
  return suggestions_of(unknown, all, &document);
}

Suggestions suggestions_for(const UnknownKey& unknown, const Description& all) {
  return suggestions_of(unknown, all, nullptr);
}

}  // namespace weyl

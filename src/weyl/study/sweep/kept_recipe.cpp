#include "weyl/study/sweep/kept_recipe.h"

#include <cerrno>
#include <filesystem>
#include <map>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/read_file.h"
#include "weyl/study/sweep/table.h"

namespace weyl {
namespace {

constexpr size_t largest_recipe = size_t{1} << 24;

/// The words that count, of the first line.
std::string words_of(const std::string& recipe) {
  const std::string line = recipe.substr(0, recipe.find('\n'));
  return line.substr(0, line.rfind(" --threads "));
}

/// Keys of the config below it, "train.batch", with their values as written; of a list of tables "name.2.key".
std::map<std::string, std::string> keys_of(const std::string& recipe) {
  std::map<std::string, std::string> keys;
  std::map<std::string, int64_t> tables;
  std::istringstream lines(recipe);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    if (line.starts_with("[[")) {
      const std::string name = line.substr(2, line.find(']') - 2);
      section = text(name, ".", ++tables[name], ".");
    } else if (line.starts_with('[')) {
      section = line.substr(1, line.find(']') - 1) + ".";
    } else if (!line.starts_with('#') && equals != std::string::npos) {
      keys[section + line.substr(0, equals)] = line.substr(equals + 3);
    }
  }
  return keys;
}

/// Whether a table of this name is there.
bool has_table(const std::map<std::string, std::string>& keys, const std::string& name) {
  const auto first = keys.lower_bound(name + ".");
  return first != keys.end() && first->first.starts_with(name + ".");
}

std::string first_word_that_differs(const std::string& kept, const std::string& now) {
  std::istringstream before(kept), after(now);
  std::string old_word, word;
  do {
    old_word.clear();
    word.clear();
    before >> old_word;
    after >> word;
  } while (old_word == word && !word.empty());
  return text(word.empty() ? "nothing" : visible(word), ", it was ",
              old_word.empty() ? "nothing" : visible(old_word));
}

}  // namespace

std::string recipe_file_of(const std::string& folder, const SweepTrial& trial) {
  return run_of(folder, trial) + ".recipe";
}

std::string difference_of(const std::string& kept, const std::string& now) {
  if (words_of(kept) != words_of(now)) {
    return first_word_that_differs(words_of(kept), words_of(now));
  }
  const auto before = keys_of(kept), after = keys_of(now);
  for (const auto& [key, value] : before) {
    const auto found = after.find(key);
    if (found != after.end() ? found->second != value : has_table(after, key)) {
      return text(key, " = ", found != after.end() ? visible(found->second) : "[...]", ", it was ",
                  visible(value));
    }
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key) && has_table(before, key)) {
      return text(key, " = ", visible(value), ", it was [...]");
    }
  }
  return "";
}

void require_same_recipe(const std::string& folder, const SweepTrial& trial, const std::string& recipe) {
  const std::string path = recipe_file_of(folder, trial), run = run_of(folder, trial);
  std::error_code error;
  if (!std::filesystem::exists(run, error)) {
    return;
  }
  const FileContents kept = read_file(path, largest_recipe);
  if (kept.error != 0 && kept.error != ENOENT) {
    throw_unread(path + ": " + kept.fault, kept.error);
  }
  require<ConfigError>(kept.fault.empty(), run, ": must be of this sweep, but ", path,
                       ", which would say what made it, is not there; give another --out, or remove it");
  const std::string difference = difference_of(kept.text, recipe);
  require<ConfigError>(
      difference.empty(), run,
      ": must be of this sweep, but was made by another: its sweep file, a config or the data "
      "have changed since, ",
      difference, "; give another --out, or remove it (", path, " has what it was made by)");
}

}  // namespace weyl

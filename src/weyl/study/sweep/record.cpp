#include "weyl/study/sweep/record.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/study/sweep/table.h"

namespace weyl {
namespace {

constexpr size_t largest_recipe = size_t{1} << 24;

void require_plain_names(const std::string& folder, const SweepRuns& runs) {
  constexpr const char* writer = "a sweep";
  for (const char* name : {"sweep.toml", "runs.csv", ".lock"}) {
    require_plain(folder + "/" + name, Plain::file, writer);
  }
  require_plain(folder + "/runs", Plain::folder, writer);
  for (const SweepRow& row : runs.rows) {
    for (const SweepTrial& trial : row.trials) {
      const std::string run = run_of(folder, trial);
      require_plain(run, Plain::folder, writer);
      for (const char* ending : {".recipe", ".lock", ".failed", ".killed", ".stderr"}) {
        require_plain(run + ending, Plain::file, writer);
      }
    }
  }
}

bool has_recipes(const std::string& runs) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(runs, error)) {
    if (entry.path().extension() == ".recipe") {
      return true;
    }
  }
  return false;
}

/// The contents of a file that need not be there.
std::optional<std::string> contents_if_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) ? std::optional(contents_of(path)) : std::nullopt;
}

/// The words that count, of the first line.
std::string words_of(const std::string& recipe) {
  const std::string line = recipe.substr(0, recipe.find('\n'));
  return line.substr(0, line.rfind(" --threads "));
}

/// Of the config below it.
struct Keys {
  std::map<std::string, std::string> values;  // "train.batch", as written; of a list of tables "name.2.key"
  std::map<std::string, int64_t> tables;      // of each list of them, how many
};

Keys keys_of(const std::string& recipe) {
  Keys keys;
  std::istringstream lines(recipe);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    if (line.starts_with("[[")) {
      const std::string name = line.substr(2, line.find(']') - 2);
      section = text(name, ".", ++keys.tables[name], ".");
    } else if (line.starts_with('[')) {
      section = line.substr(1, line.find(']') - 1) + ".";
    } else if (!line.starts_with('#') && equals != std::string::npos) {
      keys.values[section + line.substr(0, equals)] = line.substr(equals + 3);
    }
  }
  return keys;
}

/// Whether a table of this name is there.
bool has_table(const Keys& keys, const std::string& name) {
  const auto first = keys.values.lower_bound(name + ".");
  return first != keys.values.end() && first->first.starts_with(name + ".");
}

RecipeDifference first_word_that_differs(const std::string& kept, const std::string& now) {
  std::istringstream before(kept), after(now);
  std::string old_word, word;
  do {
    old_word.clear();
    word.clear();
    before >> old_word;
    after >> word;
  } while (old_word == word && !word.empty());
  const auto told = [](const std::string& w) { return w.empty() ? std::string("nothing") : visible(w); };
  return {"", told(old_word), told(word)};
}

}  // namespace

void require_sweep_folder(const std::string& folder, const SweepRuns& runs, const std::string& sweep) {
  require_plain_names(folder, runs);
  const auto require_own = [&](bool own, const std::string& path) {
    require<ConfigError>(own, "--out ", folder, ": must be the folder of a sweep or a new one, but ", path,
                         " is none of a sweep's");
  };
  // A start writes the table without rows, then sweep.toml, then recipes, and a row once its runs have ended. Another shard may be
  // at it: what is written later is read first.
  const std::string table = folder + "/runs.csv", copy = folder + "/sweep.toml";
  const std::optional<std::string> kept = contents_if_there(copy);
  const std::optional<std::string> rows = contents_if_there(table);
  const bool begun = has_recipes(folder + "/runs");
  require_own(!rows || (rows->starts_with(sweep_table_header) && (begun || *rows == sweep_table_header)),
              table);
  require_own(!kept || *kept == sweep || rows || begun, copy);
}

std::string recipe_file_of(const std::string& folder, const SweepTrial& trial) {
  return run_of(folder, trial) + ".recipe";
}

std::string RecipeDifference::now_text() const {
  return key.empty() ? now : text(key, " = ", now);
}

std::optional<RecipeDifference> difference_of(const std::string& kept, const std::string& now) {
  if (words_of(kept) != words_of(now)) {
    return first_word_that_differs(words_of(kept), words_of(now));
  }
  const Keys before = keys_of(kept), after = keys_of(now);
  for (const auto& [key, value] : before.values) {
    const auto found = after.values.find(key);
    if (found != after.values.end() ? found->second != value : has_table(after, key)) {
      return RecipeDifference{key, visible(value),
                              found != after.values.end() ? visible(found->second) : "[...]"};
    }
  }
  for (const auto& [key, value] : after.values) {
    if (!before.values.contains(key) && has_table(before, key)) {
      return RecipeDifference{key, "[...]", visible(value)};
    }
  }
  for (const auto& [name, count] : before.tables) {
    const auto found = after.tables.find(name);
    if (found != after.tables.end() && found->second != count) {
      return RecipeDifference{name, text("[", count, " of them]"), text("[", found->second, " of them]")};
    }
  }
  return std::nullopt;
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
  const std::optional<RecipeDifference> difference = difference_of(kept.text, recipe);
  require<ConfigError>(
      !difference, run,
      ": must be of this sweep, but was made by another: its sweep file, a config or the data "
      "have changed since, ",
      difference ? text(difference->now_text(), ", it was ", difference->before) : "",
      "; give another --out, or remove it (", path, " has what it was made by)");
}

namespace {

namespace fs = std::filesystem;

constexpr size_t largest_record = size_t{4} << 20;

std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  const std::string lines = contents_of(csv);
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string_view line(lines.data() + begin, end - begin);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && !line.starts_with('#')) {
      rows.push_back(csv_cells(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line));
    }
    begin = end + 1;
  }
  return rows;
}

std::string cell_of(const Json& environment, const char* key) {
  const Json* value = environment.find(key);
  return value == nullptr ? "" : std::string(value->string_or(value->dump()));
}

// How many runs each machine has made; of a record that is damaged nothing is known.
std::vector<std::vector<std::string>> machines_of(const std::string& runs) {
  std::map<std::vector<std::string>, int64_t> machines;
  std::error_code error;
  for (const auto& run : fs::directory_iterator(runs, error)) {
    const std::string path = (run.path() / "environment.json").string();
    const FileContents file = read_file(path, largest_record);
    if (!file.fault.empty()) {
      continue;
    }
    try {
      const Json environment = Json::parse(file.text, path);
      std::vector<std::string> row;
      for (const char* key : {"cpu", "instructions", "device", "threads", "precision", "weyl", "torch"}) {
        row.push_back(cell_of(environment, key));
      }
      ++machines[row];
    } catch (const DataError&) {
      continue;
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [machine, count] : machines) {
    if (rows.empty()) {
      rows.push_back(
          {"processor", "instructions", "device", "threads", "precision", "weyl", "torch", "runs"});
    }
    rows.push_back(machine);
    rows.back().push_back(std::to_string(count));
  }
  return rows;
}

// A damaged one is none. Models have a config each; its runs differ in what the command adds.
std::vector<KeptRecipe> recipes_of(const std::string& runs) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs, error)) {
    if (entry.path().extension() == ".recipe") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::vector<KeptRecipe> recipes;
  std::map<std::string, size_t> known;
  for (const fs::path& path : files) {
    const FileContents file = read_file(path.string(), largest_record);
    constexpr std::string_view mark = "# ";
    const size_t end = file.text.find('\n');
    if (!file.fault.empty() || !file.text.starts_with(mark) || end == std::string::npos) {
      continue;
    }
    const std::string config = file.text.substr(end + 1);
    const auto [found, fresh] = known.emplace(config, recipes.size());
    if (fresh) {
      recipes.push_back({config, {}});
    }
    recipes[found->second].trainings.push_back(path.stem().string() + ": " +
                                               file.text.substr(mark.size(), end - mark.size()));
  }
  return recipes;
}

}  // namespace

SweepRecord read_sweep_record(const std::string& runs_csv) {
  const fs::path folder = fs::path(runs_csv).parent_path();
  SweepRecord record;
  record.rows = rows_of(runs_csv);
  record.sweep = read_file((folder / "sweep.toml").string(), largest_record).text;
  record.recipes = recipes_of((folder / "runs").string());
  record.machines = machines_of((folder / "runs").string());
  return record;
}

}  // namespace weyl

#include "weyl/app/sweep_record.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/read_file.h"

namespace weyl {
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

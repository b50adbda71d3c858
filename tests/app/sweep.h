#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/app/program.h"
#include "weyl/core/quote.h"

namespace weyl {

namespace fs = std::filesystem;

inline const char* const tiny = "base = \"" WEYL_SOURCE_DIR
                                "/configs/nbody/transformer.toml\"\n"
                                "set = [\"train.batch=16\", \"train.save_every_steps=5\"]\n"
                                "budgets = [4e7, 2e8]\n"
                                "seeds = [2, 1]\n"
                                "rates = [1e-3, 3e-3]\n"
                                "rates_until = 1e8\n"
                                "epochs = \"repeat\"\n"
                                "validations = 3\n"
                                "[[systems]]\n"
                                "name = \"plain\"\n"
                                "augment = \"rotations\"\n"
                                "widths = [8, 16]\n"
                                "blocks = [1, 1]\n"
                                "largest = [\"w8b1\"]\n";

inline void write(const std::string& path, const std::string& words) {
  std::ofstream(path) << words;
}

/// A folder with data/nbody and sweep.toml.
inline std::string prepared(const std::string& name, const std::string& sweep = tiny) {
  const std::string folder = scratch(name);
  const Outcome made =
      weyl_program("data make nbody --out data/nbody train=100 valid=20 test=20 --quiet", folder);
  EXPECT_EQ(made.code, 0) << made.err;
  write(folder + "/sweep.toml", sweep);
  return folder;
}

/// Starts `weyl` with these words in a folder, for who is to kill it; its process.
inline pid_t start_weyl(std::vector<std::string> words, const std::string& folder,
                        const std::string& temporary = "") {
  words.insert(words.begin(), "weyl");
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) == 0 && (temporary.empty() || setenv("TMPDIR", temporary.c_str(), 1) == 0)) {
      execv(WEYL_BINARY_DIR "/bin/weyl", arguments.data());
    }
    _exit(127);
  }
  return child;
}

using Rows = std::vector<std::map<std::string, std::string>>;

inline Rows rows_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = csv_cells(line);
  Rows rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = csv_cells(line);
    EXPECT_EQ(cells.size(), names.size()) << line;
    for (size_t i = 0; i < std::min(cells.size(), names.size()); ++i) {
      if (i == 0) {
        rows.emplace_back();
      }
      rows.back()[names[i]] = cells[i];
    }
  }
  return rows;
}

inline Rows without_seconds(Rows rows) {
  for (auto& row : rows) {
    row.erase("seconds");
  }
  return rows;
}

}  // namespace weyl

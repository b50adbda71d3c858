#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/app/program.h"

/// Configs that `weyl config new` writes, and a step of training with each.
namespace weyl {

namespace fs = std::filesystem;

inline const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";

inline void put(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// The number behind a key at the beginning of a line; 0: there is none.
inline double number_of(const std::string& config, const std::string& key) {
  const size_t at = config.find("\n" + key + " = ");
  return at == std::string::npos ? 0 : std::stod(config.substr(at + key.size() + 4));
}

/// The config for `data` (with more arguments), after `config check` and a step of training with it.
inline std::string trained(const std::string& folder, const std::string& data,
                           const std::string& overrides = {}) {
  static int count = 0;
  const std::string name = "c" + std::to_string(++count);
  const Outcome made = weyl_program("config new --data " + data + " --out " + name + ".toml --quiet", folder);
  EXPECT_EQ(made.code, 0) << data << "\n" << made.err;
  const std::string config = contents(folder + "/" + name + ".toml");
  if (const double epochs = number_of(config, "epochs"); epochs > 0) {
    EXPECT_GE(epochs / number_of(config, "evaluate_every"), 10) << config;  // validations within the budget
  } else {
    EXPECT_GT(number_of(config, "max_seconds"), 0) << config;
  }
  const Outcome checked = weyl_program("config check " + name + ".toml", folder);
  EXPECT_EQ(checked.code, 0) << checked.err << config;
  const Outcome run = weyl_program(
      "train " + name + ".toml train.steps=1 " + overrides + " --out " + name + " --json --threads 1",
      folder);
  EXPECT_EQ(run.code, 0) << data << "\n" << run.err << config;
  return config;
}

inline void has(const std::string& config, const std::string& line) {
  EXPECT_NE(config.find(line), std::string::npos) << line << "\n" << config;
}

inline void has_not(const std::string& config, const std::string& line) {
  EXPECT_EQ(config.find(line), std::string::npos) << line << "\n" << config;
}

}  // namespace weyl

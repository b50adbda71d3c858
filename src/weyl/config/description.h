#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weyl/config/toml.h"

namespace weyl {

/// What one key of a config may hold, as plain data: the source of the reference page, JSON schema and `explain`.
struct Description {
  enum class Type { boolean, integer, real, string, integers, reals, matrix, strings, choice, table, tables };
  Type type = Type::table;
  std::string key, path;  // "rate", "train.optimiser.rate"
  std::string help;
  std::string standard;  // the default as TOML; empty for a table
  Range range;
  std::vector<std::string> choices;
  bool optional = false;              // `key = false` switches it off
  bool on = true;                     // whether an optional is on by default
  std::vector<Description> children;  // of a table, and of one item of `tables`
  std::string chosen_by;              // of a table: the key beside it that chooses it
  std::vector<std::pair<std::string, std::string>> also_called;  // word and key (Fields::also_called)
};

/// Everything that a Visit shows, as one table without a key.
Description describe(const Visit& visit);

/// "an integer from 1 to 1000, or false": what a value must be.
std::string requirement(const Description& d);
/// "must be an integer from 1 to 1000, or false; default 3".
std::string requirement_and_default(const Description& d);

}  // namespace weyl

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/train/options.h"

namespace weyl {

/// What the budgets of a sweep are counted in: nominal floating-point operations (train.flops), or seconds of training
/// (train.max_seconds), whose runs are not the same bit for bit.
enum class BudgetUnit { flops, seconds };
constexpr auto names_of(BudgetUnit) {
  return std::array<std::string_view, 2>{"flops", "seconds"};
}

/// Whether a run may see a sample more than once.
enum class SweepEpochs { unique, repeat };
constexpr auto names_of(SweepEpochs) {
  return std::array<std::string_view, 2>{"unique", "repeat"};
}

/// One model of a system.
struct SweepPoint {
  std::string name;              // in the table's column `size`
  std::vector<std::string> set;  // overrides of the config, "model.gatr.width=4"
  std::vector<double> budgets;   // those of the sweep that it is trained at; empty: all
};
void fields(Fields& f, SweepPoint& p);

struct SweepSystem {
  std::string name;    // in the table's column `system`
  std::string config;  // empty: the sweep's base
  std::vector<std::string> set;
  std::optional<Augmentation> augment;
  std::vector<double> sizes;            // the study's n: points "n2"
  std::vector<int64_t> widths, blocks;  // pairs: points "w8b2"
  std::vector<SweepPoint> points;       // by any overrides
  std::vector<std::string> largest;     // the points trained at the largest budget; empty: all
  std::vector<double> rates;            // in place of the sweep's
};
void fields(Fields& f, SweepSystem& s);

/// A scaling study: systems, the sizes of each, budgets, learning rates and seeds.
struct SweepOptions {
  std::string base;
  std::vector<std::string> set;
  BudgetUnit unit = BudgetUnit::flops;
  std::vector<double> budgets;
  SweepEpochs epochs = SweepEpochs::unique;
  std::vector<double> rates;
  std::optional<double> rates_until;
  std::vector<int64_t> seeds = {1};
  std::optional<int64_t> validations;
  std::optional<int64_t> patience;
  std::string loss;
  std::vector<SweepSystem> systems;
};
void fields(Fields& f, SweepOptions& o);

/// Reads a sweep file. ConfigError: see config/toml.h; no system, no budget, budgets that do not rise, a name that is
/// there twice or could be no file's, widths without as many blocks, a budget or a name that
/// the sweep does not have.
SweepOptions read_sweep(const std::string& path);

}  // namespace weyl

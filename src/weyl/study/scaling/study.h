#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weyl/study/scaling/system_fit.h"
#include "weyl/study/scaling/tables.h"

namespace weyl {

/// Two systems at equal budgets: `system` is the one with the lower loss in the middle of them.
struct SystemRatio {
  struct Point {
    double budget = 0;
    Estimate loss;  // L*_other(C) / L*_system(C)
    Estimate
        compute;  // C' / C with L*_other(C') = L*_system(C); unknown where the other never comes to that loss
  };
  std::string system, other;
  std::vector<Point> budgets, curve;
  std::vector<LeftOut> left_out;  // budgets whose loss the other never comes to, or not in all resamples
};

/// Of each two systems whose losses over compute are known; resample i of one is set beside resample i of the other,
/// which are independent.
std::vector<SystemRatio> ratios_of(const std::vector<SystemFit>& systems, const std::vector<double>& budgets,
                                   const std::vector<double>& curve);

/// What a study was asked for by a call, beside bootstraps and seed: with it the call can be given again.
struct ScalingRequest {
  std::map<std::string, double> xi;
  std::vector<double> budgets;
  std::optional<double> epochs;
  bool hold_out = false;
};

/// The fits of all systems of a table of runs, and how they compare.
struct ScalingStudy {
  std::string file;
  ScalingRequest asked;
  int64_t bootstraps = 0;
  uint64_t seed = 0;
  std::vector<SystemFit> systems;
  std::vector<SystemRatio> ratios;
  std::vector<RefusedLine> refused;
  std::vector<LeftOut> refused_systems;  // by name, and why they have no fit
};

/// Fits each system. DataError: no system has a fit (the reasons of all). ConfigError: options that name a system that is
/// not there.
ScalingStudy fit_study(const RunTable& table, const ScalingOptions& options);

/// What follows from given laws at some budgets.
ScalingStudy derived_study(const std::string& file, const std::vector<GivenLaw>& laws,
                           const std::vector<double>& budgets);
/// Whether a study is one of given laws: nothing was fitted.
bool is_derived(const ScalingStudy& study);

}  // namespace weyl

#include "weyl/study/scaling/ratios.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

// So many times the compute of one system for the loss of another is no number that runs have anything to say about.
constexpr double most_compute = 1e6;

SystemRatio::Point ratio_at(double budget, const SystemFit& system, const SystemFit& other) {
  const auto loss = [&](const ScalingLaw& one, const ScalingLaw& two) {
    return frontier_of(two, other.xi).loss(budget) / frontier_of(one, system.xi).loss(budget);
  };
  const auto compute = [&](const ScalingLaw& one, const ScalingLaw& two) {
    const double ratio =
        frontier_of(two, other.xi).flops_for(frontier_of(one, system.xi).loss(budget)) / budget;
    return ratio <= most_compute ? ratio : std::numeric_limits<double>::infinity();
  };
  std::vector<double> losses, computes;
  const size_t count = std::min(system.resampled.size(), other.resampled.size());
  for (size_t i = 0; i < count; ++i) {
    losses.push_back(loss(system.resampled[i], other.resampled[i]));
    computes.push_back(compute(system.resampled[i], other.resampled[i]));
  }
  SystemRatio::Point point{
      budget, basic_interval(loss(system.law, other.law), std::move(losses), Spread::logarithmic),
      basic_interval(compute(system.law, other.law), std::move(computes), Spread::logarithmic)};
  if (!std::isfinite(point.compute.value)) {
    point.compute = {};
  }
  return point;
}

// What the compute of equal loss does not tell at the budgets, and why.
void explain(SystemRatio& ratio, bool resampled) {
  std::string unreached, unsure;
  for (const SystemRatio::Point& point : ratio.budgets) {
    const bool reached = std::isfinite(point.compute.value);
    if (std::string& list = reached ? unsure : unreached;
        !reached || (resampled && std::isnan(point.compute.low))) {
      list += (list.empty() ? "" : ", ") + short_number(point.budget);
    }
  }
  if (!unreached.empty()) {
    ratio.left_out.push_back(
        {"compute for equal loss", text("at FLOPs ", unreached, ": ", ratio.other, " comes to the loss of ",
                                        ratio.system, " at no budget within a million times that")});
  }
  if (!unsure.empty()) {
    ratio.left_out.push_back(
        {"intervals of compute for equal loss",
         text("at FLOPs ", unsure, ": in more than one of a hundred resamples there is no such budget")});
  }
}

}  // namespace

std::vector<SystemRatio> ratios_of(const std::vector<SystemFit>& systems, const std::vector<double>& budgets,
                                   const std::vector<double>& curve) {
  std::vector<const SystemFit*> known;
  for (const SystemFit& fit : systems) {
    if (fit.xi && fit.law.has_optimum()) {
      known.push_back(&fit);
    }
  }
  std::vector<SystemRatio> ratios;
  if (budgets.empty()) {
    return ratios;
  }
  const double middle = std::sqrt(std::ranges::min(budgets) * std::ranges::max(budgets));
  for (size_t i = 0; i < known.size(); ++i) {
    for (size_t j = i + 1; j < known.size(); ++j) {
      const SystemFit *system = known[i], *other = known[j];
      if (frontier_of(other->law, other->xi).loss(middle) <
          frontier_of(system->law, system->xi).loss(middle)) {
        std::swap(system, other);
      }
      SystemRatio ratio{system->system, other->system, {}, {}, {}};
      for (const double budget : budgets) {
        ratio.budgets.push_back(ratio_at(budget, *system, *other));
      }
      for (const double budget : curve) {
        ratio.curve.push_back(ratio_at(budget, *system, *other));
      }
      explain(ratio, !system->resampled.empty() && !other->resampled.empty());
      ratios.push_back(std::move(ratio));
    }
  }
  return ratios;
}

}  // namespace weyl

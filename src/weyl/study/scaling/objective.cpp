#include "weyl/study/scaling/objective.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace weyl {

std::vector<size_t> LogRuns::points() const {
  std::map<std::array<double, 3>, size_t> seen;
  std::vector<size_t> points;
  for (size_t i = 0; i < size(); ++i) {
    const std::array<double, 3> point{parameters[i], tokens[i], epochs.empty() ? 0 : epochs[i]};
    points.push_back(seen.emplace(point, i).first->second);
  }
  return points;
}

size_t LogRuns::different_points() const {
  const std::vector<size_t> all = points();
  return std::set<size_t>(all.begin(), all.end()).size();
}

double LogRuns::total_weight() const {
  return std::accumulate(weight.begin(), weight.end(), 0.0);
}

// The centres are those of all runs, whatever their weights: coefficients of resamples mean the same.
Objective::Objective(const LogRuns& runs, const FitForm& form)
    : runs_(runs), form_(form), weight_(runs.total_weight()) {
  const auto count = static_cast<double>(runs.size());
  n0_ = std::accumulate(runs.parameters.begin(), runs.parameters.end(), 0.0) / count;
  d0_ = std::accumulate(runs.tokens.begin(), runs.tokens.end(), 0.0) / count;
}

Objective::Terms Objective::terms(std::span<const double> x, size_t i) const {
  Terms t{};
  t.tokens = runs_.tokens[i];
  if (form_.repetition && runs_.epochs[i] > 0) {
    const double R = std::exp(x[form_.place_of_R()]), z = runs_.epochs[i] / R;
    const double gain = -R * std::expm1(-z);  // passes that were worth new data
    t.tokens += std::log1p(gain);
    t.tokens_by_R = (gain - runs_.epochs[i] * std::exp(-z)) / (1 + gain);  // d log D' / d log R
  }
  const double p = x[0] - x[1] * (runs_.parameters[i] - n0_);
  const double q = form_.one_term ? p : x[2] - x[3] * (t.tokens - d0_);
  const double e = form_.free_E ? x[form_.place_of_E()] : p;
  const double largest = std::max({p, q, e});
  const double P = std::exp(p - largest), Q = form_.one_term ? 0 : std::exp(q - largest);
  const double floor = form_.free_E ? std::exp(e - largest) : 0, sum = P + Q + floor;
  t.log_loss = largest + std::log(sum);
  t.by_parameters = P / sum;
  t.by_tokens = Q / sum;
  t.by_E = floor / sum;
  return t;
}

double Objective::value(std::span<const double> x, std::span<double> gradient) const {
  const double delta = form_.delta;
  double sum = 0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_.weight[i] == 0) {
      continue;
    }
    const Terms t = terms(x, i);
    const double off = t.log_loss - runs_.loss[i], size = std::abs(off);
    sum += runs_.weight[i] * (size <= delta ? off * off / (2 * delta) : size - delta / 2);
    const double slope = runs_.weight[i] * std::clamp(off / delta, -1.0, 1.0);
    gradient[0] += slope * t.by_parameters;
    gradient[1] -= slope * t.by_parameters * (runs_.parameters[i] - n0_);
    if (!form_.one_term) {
      gradient[2] += slope * t.by_tokens;
      gradient[3] -= slope * t.by_tokens * (t.tokens - d0_);
    }
    if (form_.free_E) {
      gradient[form_.place_of_E()] += slope * t.by_E;
    }
    if (form_.repetition) {
      gradient[form_.place_of_R()] -= slope * t.by_tokens * x[3] * t.tokens_by_R;
    }
  }
  for (double& g : gradient) {
    g /= weight_;
  }
  return sum / weight_;
}

double Objective::predicted(std::span<const double> x, size_t i) const {
  return terms(x, i).log_loss;
}

FittedLaw Objective::law_at(std::span<const double> x) const {
  FittedLaw fitted;
  fitted.law.A = std::exp(x[0] + x[1] * n0_);
  fitted.law.alpha = x[1];
  if (!form_.one_term) {
    fitted.law.B = std::exp(x[2] + x[3] * d0_);
    fitted.law.beta = x[3];
  }
  fitted.law.E = form_.free_E ? std::exp(x[form_.place_of_E()]) : 0;
  fitted.R = form_.repetition ? std::exp(x[form_.place_of_R()]) : 0;
  return fitted;
}

Coefficients Objective::at_law(const FittedLaw& fitted) const {
  const ScalingLaw& law = fitted.law;
  Coefficients x{std::log(law.A) - law.alpha * n0_, law.alpha};
  if (!form_.one_term) {
    x[2] = std::log(law.B) - law.beta * d0_;
    x[3] = law.beta;
  }
  if (form_.free_E) {
    x[form_.place_of_E()] = std::log(law.E);
  }
  if (form_.repetition) {
    x[form_.place_of_R()] = std::log(fitted.R);
  }
  return x;
}

}  // namespace weyl

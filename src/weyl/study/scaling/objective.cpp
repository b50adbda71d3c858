#include "weyl/study/scaling/objective.h"

#include <lbfgs.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/jobs.h"

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

namespace {

constexpr double no_minimum = std::numeric_limits<double>::quiet_NaN();

double evaluate(void* objective, const double* x, double* gradient, int n, double) {
  const auto count = static_cast<size_t>(n);
  return static_cast<const Objective*>(objective)->value({x, count}, {gradient, count});
}

struct Free {
  void operator()(double* x) const { lbfgs_free(x); }
};

constexpr size_t finished_descents = 48;

lbfgs_parameter_t descent_parameters(Descent descent) {
  const bool coarse = descent == Descent::coarse;
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.epsilon = coarse ? 1e-3 : 1e-9;
  parameters.past = 4;
  parameters.delta = coarse ? 1e-2 : 1e-9;
  parameters.max_iterations = coarse ? 60 : 400;
  return parameters;
}

/// Minima that predict other losses than one another. An E of 1e-9 and one of 1e-20 are no two laws, so predictions are
/// compared, not coefficients.
class Distinct {
 public:
  Distinct(const Objective& objective, double tolerance) : objective_(objective), tolerance_(tolerance) {}

  /// False where one that was added before predicts the same of every run.
  bool add(const Minimum& m) {
    std::vector<double> losses;
    for (size_t i = 0; i < objective_.runs().size(); ++i) {
      losses.push_back(objective_.predicted(m.x, i));
    }
    for (const std::vector<double>& known : known_) {
      if (std::ranges::equal(losses, known,
                             [&](double a, double b) { return std::abs(a - b) <= tolerance_; })) {
        return false;
      }
    }
    known_.push_back(std::move(losses));
    return true;
  }

 private:
  const Objective& objective_;
  double tolerance_;
  std::vector<std::vector<double>> known_;
};

// The lowest as they come, and after them those of other valleys.
std::vector<Minimum> worth_finishing(const Objective& objective, const std::vector<Minimum>& found) {
  Distinct valleys(objective, 0.05);
  std::vector<Minimum> worth;
  for (const Minimum& m : found) {
    if (worth.size() == finished_descents) {
      break;
    }
    if (valleys.add(m) || worth.size() < finished_descents / 2) {
      worth.push_back(m);
    }
  }
  return worth;
}

}  // namespace

Minimum descend(const Objective& objective, const Coefficients& start, Descent descent) {
  lbfgs_parameter_t parameters = descent_parameters(descent);
  const int n = static_cast<int>(objective.form().coefficients());
  const std::unique_ptr<double, Free> x(lbfgs_malloc(n));
  if (x == nullptr) {
    throw std::bad_alloc();
  }
  std::copy_n(start.begin(), n, x.get());
  Minimum best{start, std::numeric_limits<double>::infinity()};
  for (int again = 0; again < (descent == Descent::coarse ? 1 : 20); ++again) {
    double value = no_minimum;
    const int code =
        lbfgs(n, x.get(), &value, evaluate, nullptr, const_cast<Objective*>(&objective), &parameters);
    if (code == LBFGSERR_OUTOFMEMORY) {
      throw std::bad_alloc();
    }
    const bool finite =
        std::isfinite(value) && std::all_of(x.get(), x.get() + n, [](double c) { return std::isfinite(c); });
    if (!finite || !(value < best.value)) {
      break;
    }
    const bool gained = best.value - value > 1e-7 * std::abs(value);
    std::copy_n(x.get(), n, best.x.begin());
    best.value = value;
    if (!gained || code == LBFGS_SUCCESS || code == LBFGS_ALREADY_MINIMIZED) {
      break;
    }
  }
  if (!std::isfinite(best.value)) {
    best.value = no_minimum;
  }
  return best;
}

Minimum lowest(const Objective& objective, const std::vector<Coefficients>& starts) {
  Minimum best{{}, no_minimum};
  for (const Coefficients& start : starts) {
    const Minimum found = descend(objective, start);
    if (!(best.value <= found.value) && std::isfinite(found.value)) {
      best = found;
    }
  }
  return best;
}

std::vector<Coefficients> grid_of_starts(const Objective& objective) {
  const FitForm& form = objective.form();
  const double least = std::ranges::min(objective.runs().loss);
  const std::vector<double> heights{-10, -5, 0, 5, 10, 15, 20, 25}, exponents{0, 0.5, 1, 1.5, 2};
  const std::vector<double> floors =
      form.free_E ? std::vector<double>{-1, -0.5, 0, 0.5, 1} : std::vector<double>{0};
  const std::vector<double> halves = form.repetition ? std::vector<double>{1, 5, 25} : std::vector<double>{1};
  std::vector<Coefficients> starts;
  for (const double log_A : heights) {
    for (const double log_B : heights) {
      for (const double alpha : exponents) {
        for (const double beta : exponents) {
          for (const double floor : floors) {
            for (const double R : halves) {
              starts.push_back(objective.at_law(
                  {{std::exp(log_A), alpha, std::exp(log_B), beta, std::exp(least + floor)}, R}));
            }
          }
        }
      }
    }
  }
  return starts;
}

std::vector<Minimum> best_minima(const Objective& objective, const std::vector<Coefficients>& starts,
                                 size_t most, int64_t threads) {
  std::vector<Minimum> found(starts.size());
  run_samples(static_cast<int64_t>(starts.size()), threads, {}, [&](int64_t i, const std::atomic<bool>&) {
    found[static_cast<size_t>(i)] = descend(objective, starts[static_cast<size_t>(i)], Descent::coarse);
  });
  const auto by_value = [](const Minimum& a, const Minimum& b) { return a.value < b.value; };
  std::erase_if(found, [](const Minimum& m) { return !std::isfinite(m.value); });
  require(!found.empty(), "fit: no start came to a finite minimum");
  std::stable_sort(found.begin(), found.end(), by_value);
  found = worth_finishing(objective, found);
  for (Minimum& m : found) {
    m = descend(objective, m.x);
  }
  std::stable_sort(found.begin(), found.end(), by_value);
  Distinct distinct(objective, 1e-4);
  std::vector<Minimum> best;
  for (const Minimum& m : found) {
    if (best.size() < most && distinct.add(m)) {
      best.push_back(m);
    }
  }
  return best;
}

}  // namespace weyl

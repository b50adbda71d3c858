#include "weyl/study/scaling/minimise.h"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>

#include "weyl/core/check.h"
#include "weyl/core/jobs.h"

namespace weyl {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double evaluate(void* objective, const double* x, double* gradient, int n, double) {
  const auto count = static_cast<size_t>(n);
  return static_cast<const Objective*>(objective)->value({x, count}, {gradient, count});
}

struct Free {
  void operator()(double* x) const { lbfgs_free(x); }
};

lbfgs_parameter_t descent_parameters() {
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.epsilon = 1e-9;
  parameters.past = 4;
  parameters.delta = 1e-9;
  parameters.max_iterations = 400;
  return parameters;
}

// An E of 1e-9 and one of 1e-20 are no two laws, so predictions are compared, not coefficients.
bool same(const Objective& objective, const Minimum& one, const Minimum& other) {
  for (size_t i = 0; i < objective.runs().size(); ++i) {
    if (std::abs(objective.predicted(one.x, i) - objective.predicted(other.x, i)) > 1e-4) {
      return false;
    }
  }
  return true;
}

}  // namespace

Minimum descend(const Objective& objective, const Coefficients& start) {
  static const lbfgs_parameter_t standard = descent_parameters();
  lbfgs_parameter_t parameters = standard;
  const int n = static_cast<int>(objective.form().coefficients());
  const std::unique_ptr<double, Free> x(lbfgs_malloc(n));
  if (x == nullptr) {
    throw std::bad_alloc();
  }
  std::copy_n(start.begin(), n, x.get());
  Minimum best{start, std::numeric_limits<double>::infinity()};
  for (int again = 0; again < 20; ++again) {
    double value = none;
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
    best.value = none;
  }
  return best;
}

Minimum lowest(const Objective& objective, const std::vector<Coefficients>& starts) {
  Minimum best{{}, none};
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
    found[static_cast<size_t>(i)] = descend(objective, starts[static_cast<size_t>(i)]);
  });
  std::erase_if(found, [](const Minimum& m) { return !std::isfinite(m.value); });
  require(!found.empty(), "fit: no start came to a finite minimum");
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.value < b.value; });
  std::vector<Minimum> best;
  for (const Minimum& m : found) {
    if (std::none_of(best.begin(), best.end(), [&](const Minimum& b) { return same(objective, m, b); })) {
      best.push_back(m);
    }
    if (best.size() == most) {
      break;
    }
  }
  return best;
}

}  // namespace weyl

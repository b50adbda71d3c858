#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/flip.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/models/model.h"

namespace weyl {

/// All that options come to: the numbers that somebody gets to see, what is said of them, or why they are refused.
struct Effect {
  std::map<std::string, at::Tensor> numbers;
  std::map<std::string, std::string> words;
  std::string refused;
};

/// `make()`, its error as a refusal.
template <class F>
Effect outcome_of(const F& make) {
  try {
    return make();
  } catch (const Error& error) {
    Effect refused;
    refused.refused = error.what();
    return refused;
  }
}

/// Equal to rounding: an option that only changes the order of sums, such as where positions are counted from,
/// changes nothing.
inline bool same(const Effect& a, const Effect& b) {
  const auto alike = [](const auto& x, const auto& y) {
    const at::Tensor &p = x.second, &q = y.second;
    return x.first == y.first && p.sizes() == q.sizes() && p.scalar_type() == q.scalar_type() &&
           at::allclose(p, q, 1e-9, 1e-12, /*equal_nan=*/true);
  };
  return a.refused == b.refused && a.words == b.words &&
         std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(), alike);
}

/// Whether any other value of a key (of `values`, or those that its type suggests) changes what options come to.
/// `usual`: what `base` comes to.
template <class S, class F>
bool has_effect(const S& base, const std::string& key, const F& outcome, const Effect& usual,
                const OtherValues& values = {}) {
  const auto visit = [](S& o) { return Visit([&o](Fields& f) { fields(f, o); }); };
  S reference = base;
  const bool reached = Flip::reach(visit(reference), key);
  const Effect before = reached ? outcome(reference) : usual;
  if (!before.refused.empty()) {
    return true;  // what it stands in is refused, and it with that
  }
  S other = reference;
  for (size_t n = 0; Flip::change(visit(other), key, n, values); ++n, other = reference) {
    if (!same(before, outcome(other))) {
      return true;
    }
  }
  return false;
}

/// Fails for each key of options that has no effect (`begin`: of those that begin so), unless `exceptions` says why it
/// may have none.
template <class S, class F>
void expect_effects(const std::string& name, const S& base, const F& outcome, const OtherValues& values = {},
                    const std::map<std::string, std::string>& exceptions = {},
                    const std::string& begin = "") {
  S listed = base;
  const std::vector<std::string> keys = Flip::keys([&](Fields& f) { fields(f, listed); });
  const Effect usual = outcome(base);
  ASSERT_EQ(usual.refused, "") << name;
  ASSERT_FALSE(usual.numbers.empty()) << name;
  ASSERT_TRUE(same(usual, outcome(base))) << name << ": must come out the same twice";
  for (const auto& [key, reason] : exceptions) {
    EXPECT_NE(std::find(keys.begin(), keys.end(), key), keys.end()) << name << ": no key '" << key << "'";
  }
  for (const std::string& key : keys) {
    if (key.starts_with(begin) && !exceptions.contains(key)) {
      EXPECT_TRUE(has_effect(base, key, outcome, usual, values)) << name << ": '" << key << "' has no effect";
    }
  }
}

/// Weights away from where they begin, where some are zero and hide what is behind them: each moved by noise drawn by
/// its name.
inline void wear(Model& model) {
  const at::NoGradGuard quiet;
  for (const Parameter& p : model.parameters()) {
    if (p.trainable && p.tensor.is_floating_point()) {
      Stream stream(17, p.name);
      at::Tensor noise = at::empty(p.tensor.sizes(), at::kDouble);
      std::generate_n(noise.mutable_data_ptr<double>(), noise.numel(), [&] { return 0.3 * stream.normal(); });
      p.tensor.add_(noise.to(p.tensor.scalar_type()));
    }
  }
  model.train(model.training());
}

/// What a model is made of: its parameters as they are drawn, and how they are treated.
inline void record_parameters(const Model& model, Effect& outcome) {
  for (const Parameter& p : model.parameters()) {
    outcome.numbers["weight " + p.name] = p.tensor.detach().clone();
    outcome.words["weight " + p.name] =
        std::string(p.trainable ? "trained" : "fixed") + (p.decay ? ", decays" : "");
  }
}

}  // namespace weyl

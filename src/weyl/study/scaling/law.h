#pragma once

#include <optional>

namespace weyl {

/// The loss of a model with N parameters that was trained on D tokens,
///
///     L(N, D) = A N^-alpha + B D^-beta + E        (Hoffmann et al. 2022; Brehmer et al. 2024, eq. 2)
struct ScalingLaw {
  double A = 0, alpha = 0, B = 0, beta = 0, E = 0;

  double loss(double parameters, double tokens) const;

  /// Both exponents are positive: there is a best split of a budget between size and tokens.
  bool has_optimum() const { return alpha > 0 && beta > 0; }
};

/// What follows where a training of N parameters and D tokens costs C = xi N D floating-point operations (eq. 4, 5):
///
///     N*(C) = G (C / xi)^a,  D*(C) = (C / xi)^b / G,  L*(C) = E + F C^-gamma
///     G = (alpha A / (beta B))^(1 / (alpha + beta)),  a = beta / (alpha + beta),  b = 1 - a
///     gamma = alpha beta / (alpha + beta),  F = (A G^-alpha + B G^beta) xi^gamma
///
/// Without xi the members that need it are NaN: F, and what depends on a budget.
struct Frontier {
  double a = 0, b = 0, gamma = 0, G = 0, F = 0, E = 0, xi = 0;

  double parameters(double flops) const;
  double tokens(double flops) const;
  double loss(double flops) const;
  /// The budget with which this loss is reached; infinite when no budget reaches it (loss <= E).
  double flops_for(double loss) const;
};

/// Needs a law with an optimum, or every member is NaN.
Frontier frontier_of(const ScalingLaw& law, std::optional<double> xi);

}  // namespace weyl

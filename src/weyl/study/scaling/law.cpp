#include "weyl/study/scaling/law.h"

#include <cmath>
#include <limits>

namespace weyl {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double ScalingLaw::loss(double parameters, double tokens) const {
  return A * std::pow(parameters, -alpha) + B * std::pow(tokens, -beta) + E;
}

Frontier frontier_of(const ScalingLaw& law, std::optional<double> xi) {
  if (!law.has_optimum()) {
    return {no_number, no_number, no_number, no_number, no_number, no_number, no_number};
  }
  const double sum = law.alpha + law.beta;
  Frontier f;
  f.a = law.beta / sum;
  f.b = law.alpha / sum;
  f.gamma = law.alpha * law.beta / sum;
  // In logarithms: a coefficient may be 1e-300, its ratio to another not.
  const double log_G = (std::log(law.alpha) + std::log(law.A) - std::log(law.beta) - std::log(law.B)) / sum;
  f.G = std::exp(log_G);
  f.E = law.E;
  f.xi = xi.value_or(no_number);
  f.F = (std::exp(std::log(law.A) - law.alpha * log_G) + std::exp(std::log(law.B) + law.beta * log_G)) *
        std::pow(f.xi, f.gamma);
  return f;
}

double Frontier::parameters(double flops) const {
  return G * std::pow(flops / xi, a);
}

double Frontier::tokens(double flops) const {
  return std::pow(flops / xi, b) / G;
}

double Frontier::loss(double flops) const {
  return E + F * std::pow(flops, -gamma);
}

double Frontier::flops_for(double loss) const {
  return loss > E    ? std::pow((loss - E) / F, -1 / gamma)
         : loss <= E ? std::numeric_limits<double>::infinity()
                     : no_number;
}

}  // namespace weyl

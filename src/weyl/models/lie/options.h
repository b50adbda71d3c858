#pragma once

#include <cstdint>
#include <string>

#include "weyl/algebra/lie/chart_policy.h"
#include "weyl/config/fields.h"

namespace weyl {

struct Interface;

constexpr auto names_of(ChartPolicy) {
  return std::array<std::string_view, 4>{"mask", "frobenius", "polar", "error"};
}

}  // namespace weyl

namespace weyl::lie {

/// How tokens attend: G, by the weighted norm of the logarithm of their relative pose; C, by a small network
/// on that logarithm; A, by plain queries and keys of their raw numbers, the control without the symmetry.
enum class Variant { G, C, A };
constexpr auto names_of(Variant) {
  return std::array<std::string_view, 3>{"G", "C", "A"};
}

/// What stands behind a token in an output of kind element, g_i Delta_i (theorem 4 of the paper): exp(delta_i), or an
/// element made of free numbers, which no chart bounds (ops/lie/factors.h).
enum class FactorForm { exponential, direct };
constexpr auto names_of(FactorForm) {
  return std::array<std::string_view, 2>{"exponential", "direct"};
}

/// What of w the score of G weighs: each block of the algebra by a number, all of w by one, or w by a positive definite
/// matrix.
enum class Metric { blocks, isotropic, full };
constexpr auto names_of(Metric) {
  return std::array<std::string_view, 3>{"blocks", "isotropic", "full"};
}

/// What the order of a sample's tokens says: nothing; a bias of the score, linear in how far apart two tokens stand; or which
/// tokens one may see, those before it.
enum class Order { none, bias, causal };
constexpr auto names_of(Order) {
  return std::array<std::string_view, 3>{"none", "bias", "causal"};
}

struct Options {
  static constexpr const char* name_in_config = "lie";
  Variant variant = Variant::G;
  int64_t width = 32, heads = 4, blocks = 3;
  int64_t ffn_factor = 4;
  Metric metric = Metric::blocks;
  bool directed = false;
  Order order = Order::none;
  double neighbours = 0;  // 0: all tokens of a sample
  int64_t nearest = 0;    // of them; 0: all
  ChartPolicy chart = ChartPolicy::mask;
  FactorForm factor = FactorForm::exponential;
  bool move_tokens = false;
  double length_scale = 1;  // of translations, in the unit of the poses
};
void fields(Fields& f, Options& o);

/// ConfigError for an option that nothing reads as the others stand (config/unused_options.h). `interface`: the model's, null
/// where it is not known yet.
void require_effects(const Options& options, const Interface* interface);

/// Reads poses, and no option keeps it from that (models/system_options.h).
inline std::string blinding(const Options&) {
  return "";
}

}  // namespace weyl::lie

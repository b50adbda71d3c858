#include "weyl/data/atoms/potential_keys.h"

#include <algorithm>

namespace weyl {

bool is_virial_key(std::string_view key) {
  return key.find("virial") != std::string_view::npos;
}

bool is_stress_key(std::string_view key) {
  if (key.starts_with(prediction_prefix)) {
    key.remove_prefix(prediction_prefix.size());
  }
  return std::ranges::find(stress_keys, key) != stress_keys.end();
}

std::optional<int> length_power_of(std::string_view key) {
  if (key.starts_with(prediction_prefix)) {
    key.remove_prefix(prediction_prefix.size());
  }
  const auto is_in = [&](const auto& keys) { return std::ranges::find(keys, key) != keys.end(); };
  if (is_in(energy_keys) || is_in(other_energy_keys)) {
    return 0;
  }
  if (is_in(forces_keys)) {
    return -1;
  }
  return is_in(stress_keys) ? std::optional(is_virial_key(key) ? 0 : -3) : std::nullopt;
}

}  // namespace weyl

#pragma once

#include <cstdint>

namespace weyl {

/// Of the integration of planets, in the reduced unit of time.
constexpr double kPlanetTimeStep = 0.001;

/// Between the two times of a system, unless the maker is asked for others: the paper's.
constexpr int64_t planet_steps = 100;

}  // namespace weyl

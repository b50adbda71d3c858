#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "weyl/dynamics/single_point.h"

namespace weyl {

/// Moves atoms downhill by FIRE of Bitzek et al. (PRL 2006, 97, 170201) until the longest force is at most
/// `largest` (eV/A); their positions and the point there. DataError when `steps` do not do. `stopped` true
/// ends it early, with what it has.
struct Relaxed {
  std::vector<double> positions;  // (N, 3) A
  SinglePoint point;
};
Relaxed relax(const EnergySurface& surface, std::vector<double> positions, double largest, int64_t steps,
              const std::function<bool()>& stopped = {});

}  // namespace weyl

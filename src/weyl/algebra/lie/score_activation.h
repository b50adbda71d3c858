#pragma once

namespace weyl::lie {

/// Between the two layers of the network that scores pairs in model C: max(x, 0), with derivative 0 at 0 (the paper),
/// or the exact GELU.
enum class ScoreActivation { relu, gelu };

}  // namespace weyl::lie

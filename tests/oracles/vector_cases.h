#pragma once

#include <utility>

#include "tests/oracles/kernel_case.h"
#include "weyl/ops/vectors/vector_norm.h"

namespace weyl {

inline void add_vector_cases(std::vector<KernelCase>& cases) {
  for (const auto& [rows, channels] : {std::pair{5, 7}, {3, 1}, {0, 4}, {9, 37}, {1728, 128}}) {
    for (const double rho : {0.0, 0.05, 1.0}) {
      // Fewer than three channels are a plane or a line, where without rho the definition loses its digits.
      if (channels < 3 && rho == 0) {
        continue;
      }
      cases.push_back({"vector_norm/rho_" + std::to_string(rho).substr(0, 4) + "/" + std::to_string(rows) +
                           "x" + std::to_string(channels),
                       [rho](const auto& in) -> std::vector<at::Tensor> {
                         return {vector_norm(in[0], in[1], rho, 0.01)};
                       },
                       {noise({rows, 3, channels}, 1), noise({channels}, 2) + 2},
                       {3e-5, 1e-10, 1e-3, 1e-9},
                       rows == 1728});
    }
  }
}

}  // namespace weyl

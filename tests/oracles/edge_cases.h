#pragma once

#include <utility>

#include "tests/oracles/edge_forms.h"
#include "tests/oracles/kernel_case.h"
#include "weyl/ops/edges/gaussian_densities.h"

namespace weyl {

inline KernelCase edge_case(const std::string& name, const EdgeSums& sums, const std::vector<int64_t>& sizes,
                            bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  return {"edge_sums/" + name,
          [=](const std::vector<at::Tensor>& x) {
            return edge_sums(sums, x, all_pairs(graphs.to(x[0].device())));
          },
          edge_inputs(sums, all_pairs(graphs)),
          {1e-4, 1e-12, 1e-4, 1e-12},
          timed};
}

inline void add_edge_cases(std::vector<KernelCase>& cases) {
  const std::vector<int64_t> ragged{4, 0, 1, 7}, none{0}, aspirins(8, 21);
  for (const EdgeForm& form : edge_forms(2, 10)) {
    cases.push_back(edge_case(form.name + "/ragged", form.sums, ragged));
  }
  cases.push_back(edge_case("ET message/no_node", et_message(2, 10), none));
  cases.push_back(edge_case("et_score/8x21x128", et_score(8, 128), aspirins, true));
  cases.push_back(edge_case("et_message/8x21x128", et_message(8, 128), aspirins, true));
  cases.push_back(edge_case("painn_message/8x21x128", painn_message(128), aspirins, true));
  cases.push_back(edge_case("vector_mixture/8x21x128", attention_mixture(8, 128, true), aspirins, true));
  for (const auto& [rows, count] : {std::pair{7, 5}, {1, 1}, {0, 8}, {40, 37}, {31104, 64}}) {
    const at::Tensor widths = noise({count}, 3).abs() + 0.2;
    cases.push_back(
        {"gaussian_densities/" + std::to_string(rows) + "x" + std::to_string(count),
         [](const auto& in) -> std::vector<at::Tensor> { return {gaussian_densities(in[0], in[1], in[2])}; },
         {noise({rows}, 1), noise({count}, 2), widths},
         {},
         rows == 31104});
  }
}

}  // namespace weyl

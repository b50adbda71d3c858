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

inline KernelCase attention_case(const std::string& name, const EdgeAttention& form,
                                 const std::vector<int64_t>& sizes, bool weights, bool timed = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const int64_t nodes = graphs.rows(), edges = graphs.pairs();
  const auto parts = static_cast<int64_t>(form.parts.size());
  std::vector<at::Tensor> inputs{noise({nodes, 6 * form.width}, 1), noise({nodes, 3, 10 * form.width}, 2),
                                 noise({edges, (weights ? parts : 1) * form.heads}, 3),
                                 weights ? noise({edges}, 4).abs() : at::Tensor()};
  return {"edge_attention/" + name,
          [=](const std::vector<at::Tensor>& x) {
            return edge_attention(form, x, all_pairs(graphs.to(x[0].device())));
          },
          std::move(inputs),
          {1e-4, 1e-12, 1e-3, 1e-11},
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
  cases.push_back(attention_case("ragged", stream_attention(2, 10), ragged, true));
  cases.push_back(attention_case("without_weights", stream_attention(3, 51, {1, 2}), ragged, false));
  cases.push_back(attention_case("no_node", stream_attention(2, 10), none, true));
  cases.push_back(attention_case("8x21x128", stream_attention(8, 128), aspirins, true, true));
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

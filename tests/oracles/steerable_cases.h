#pragma once

#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "tests/oracles/kernel_case.h"
#include "weyl/ops/steerable/attention.h"
#include "weyl/ops/steerable/conv.h"

namespace weyl {

inline KernelCase steerable_attention_case(const std::string& name, const SteerableType& type, int64_t heads,
                                           const std::vector<int64_t>& grid, steerable::RadialLaw law,
                                           int64_t batch, bool timed = false) {
  const int64_t n = std::accumulate(grid.begin(), grid.end(), int64_t{1}, std::multiplies<>());
  const steerable::PositionOptions options{law, 1.7, 2.5};
  const std::shared_ptr<const steerable::Positions> positions =
      law == steerable::RadialLaw::none ? nullptr
                                        : std::make_shared<const steerable::Positions>(type, grid, options);
  KernelCase c{
      "steerable_attention/" + name,
      [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
        return {steerable::attention(x[0], x[1], x[2], type, heads, 0.4, positions,
                                     positions ? x[3] : at::Tensor(), positions ? x[4] : at::Tensor())};
      },
      {},
      {3e-5, 1e-12, 1e-3, 1e-11},
      timed};
  for (uint64_t i = 1; i <= 3; ++i) {
    c.inputs.push_back(noise({batch, 2 * type.width(), n}, i));
  }
  for (uint64_t i = 4; i <= 5 && positions; ++i) {
    c.inputs.push_back(noise({positions->radii(), type.multiplicity(), 2}, i));
  }
  return c;
}

inline KernelCase steerable_conv_case(const std::string& name, const SteerableType& in,
                                      const SteerableType& out, int64_t size, int64_t rings,
                                      const std::vector<int64_t>& pixels, bool same, int64_t batch,
                                      bool timed = false) {
  steerable::KernelOptions options;
  options.rings.size = size;
  options.rings.rings = rings;
  const auto kernel = std::make_shared<const steerable::Kernel>(in, out, options);
  std::vector<int64_t> shape{batch, 2 * in.width()};
  shape.insert(shape.end(), pixels.begin(), pixels.end());
  return {"steerable_conv/" + name,
          [=](const std::vector<at::Tensor>& x) -> std::vector<at::Tensor> {
            return {steerable::conv(x[0], x[1], kernel, same)};
          },
          {noise(shape, 1), noise({kernel->weights(), 2}, 2)},
          {3e-5, 1e-12, 1e-4, 1e-11},
          timed};
}

inline void add_steerable_cases(std::vector<KernelCase>& cases) {
  for (const auto& [law, name] : {std::pair{steerable::RadialLaw::inverse_square, "inverse_square"},
                                  {steerable::RadialLaw::table, "table"},
                                  {steerable::RadialLaw::none, "none"}}) {
    const std::string prefix = std::string(name) + "/";
    cases.push_back(steerable_attention_case(prefix + "plane", {2, {4, 2, 2}}, 2, {3, 5}, law, 2));
    cases.push_back(steerable_attention_case(prefix + "space", {3, {6, 3}}, 3, {2, 3, 4}, law, 2));
    cases.push_back(steerable_attention_case(prefix + "line", {2, {1, 1, 1}}, 1, {2, 21}, law, 1));
    cases.push_back(steerable_attention_case(prefix + "one_token", {3, {2, 1}}, 1, {1, 1, 1}, law, 2));
  }
  cases.push_back(steerable_attention_case("table/8x8x8", {3, {64, 32, 16}}, 4, {8, 8, 8},
                                           steerable::RadialLaw::table, 1, true));
  const SteerableType plane{2, {3, 2, 5}}, even{2, {4, 4, 4}}, space{3, {5, 2}}, wide{3, {3, 9}};
  cases.push_back(steerable_conv_case("plane/same", plane, even, 5, 2, {6, 9}, true, 2));
  cases.push_back(steerable_conv_case("plane/valid", even, plane, 3, 1, {7, 20}, false, 2));
  cases.push_back(steerable_conv_case("space/same", space, wide, 5, 2, {4, 6, 5}, true, 2));
  cases.push_back(steerable_conv_case("space/valid", wide, space, 4, 2, {5, 4, 6}, false, 1));
  cases.push_back(steerable_conv_case("space/32_64/k5/1x14x14x10", {3, {32, 16, 8}}, {3, {64, 32, 16}}, 5, 2,
                                      {14, 14, 10}, true, 1, true));
}

}  // namespace weyl

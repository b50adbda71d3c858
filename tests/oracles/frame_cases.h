#pragma once

#include <memory>
#include <tuple>

#include "tests/oracles/kernel_case.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/frame_norm.h"
#include "weyl/ops/frames/group_fourier.h"
#include "weyl/ops/frames/group_linear.h"

namespace weyl {

inline void add_frame_cases(std::vector<KernelCase>& cases) {
  for (const auto& [rows, frames, channels] :
       {std::tuple{7, 3, 5}, {1, 1, 1}, {0, 2, 4}, {33, 4, 16}, {40, 2, 37}, {1728, 24, 48}}) {
    const int64_t n = rows, w = int64_t{frames} * channels;
    const std::string size =
        std::to_string(n) + "x" + std::to_string(frames) + "x" + std::to_string(channels);
    const bool timed = n == 1728;
    const at::Tensor x = noise({n, w}, 1, 3), b = noise({channels}, 2), weight = noise({channels}, 3),
                     branch = noise({n, w}, 4);
    cases.push_back({"bias_gelu/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {bias_gelu(in[0], in[1])}; },
                     {timed ? noise({n, 4 * w}, 1) : x, timed ? noise({4 * channels}, 2) : b},
                     {},
                     timed});
    cases.push_back({"bias_silu/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {bias_silu(in[0], in[1])}; },
                     {timed ? noise({n, 4 * w}, 1) : x, timed ? noise({4 * channels}, 2) : b},
                     {},
                     timed});
    cases.push_back({"gelu/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {bias_gelu(in[0], {})}; },
                     {x}});
    const at::Tensor kept = noise({n, w}, 5), rows_kept = noise({n}, 6);  // constants
    const auto like = [](const at::Tensor& constant, const at::Tensor& x) {
      return constant.to(x.options());
    };
    for (const ActivationLaw law : {ActivationLaw::relu, ActivationLaw::mish}) {
      cases.push_back({(law == ActivationLaw::relu ? "bias_relu/" : "bias_mish/") + size,
                       [=](const auto& in) -> std::vector<at::Tensor> {
                         return {bias_activation(in[0], in[1], law, like(kept, in[0]))};
                       },
                       {x, b}});
    }
    if (channels > 1) {  // one channel has no variance: nothing to compare but rounding
      const KernelTolerances tolerances{3e-5, 1e-12, 1e-3, 1e-11};
      cases.push_back(
          {"frame_layer_norm/" + size,
           [](const auto& in) -> std::vector<at::Tensor> { return {frame_norm(in[0], {in[1], in[2]})}; },
           {x, weight, b},
           tolerances,
           timed});
      cases.push_back({"add_branch_and_norm/" + size,
                       [](const auto& in) -> std::vector<at::Tensor> {
                         const NormedSum both = add_branch_and_norm(in[0], in[1], in[2], {in[3], in[4]});
                         return {both.sum, both.normed};
                       },
                       {x, branch, b, weight, b},
                       tolerances,
                       timed});
    }
    if (channels > 1) {
      cases.push_back({"add_branch_and_rms_norm/" + size,
                       [=](const auto& in) -> std::vector<at::Tensor> {
                         const NormedSum both =
                             add_branch_and_norm(in[0], in[1], in[2], {in[3], {}, 1e-3, /*centred=*/false},
                                                 {in[4], like(rows_kept, in[0]), like(kept, in[0])});
                         return {both.sum, both.normed};
                       },
                       {x, branch, b, weight, b},
                       {3e-5, 1e-12, 1e-3, 1e-11}});
    }
    if (w > 1) {  // the whole row as one frame, without parameters
      const KernelTolerances tolerances{3e-5, 1e-12, 1e-3, 1e-11};
      cases.push_back({"row_layer_norm/" + size,
                       [](const auto& in) -> std::vector<at::Tensor> { return {frame_norm(in[0], {})}; },
                       {x},
                       tolerances});
      cases.push_back({"add_branch_and_row_norm/" + size,
                       [](const auto& in) -> std::vector<at::Tensor> {
                         const NormedSum both = add_branch_and_norm(in[0], in[1], in[2]);
                         return {both.sum, both.normed};
                       },
                       {x, branch, noise({w}, 2)},
                       tolerances,
                       timed});
    }
    cases.push_back(
        {"add_branch/" + size,
         [](const auto& in) -> std::vector<at::Tensor> { return {add_branch(in[0], in[1], in[2])}; },
         {x, branch, b},
         {},
         timed});
    cases.push_back({"add_branch_no_bias/" + size,
                     [](const auto& in) -> std::vector<at::Tensor> { return {add_branch(in[0], in[1], {})}; },
                     {x, branch}});
  }
  for (const auto& [group, channels] : {std::pair{"tetrahedron", 5}, {"octahedron", 48}}) {
    const auto tables = std::make_shared<const GroupTables>(named_group(group));
    const int64_t width = tables->group().order() * channels;
    const at::Tensor x = noise({17, width}, 1, 3), branch = noise({17, width}, 4), b = noise({channels}, 2),
                     weight = noise({channels}, 3);
    cases.push_back({std::string("planes/") + group,
                     [=](const auto& in) -> std::vector<at::Tensor> {
                       const NormedPlanes both = add_branch_and_norm_planes(
                           in[0], group_fourier(in[1], *tables), *tables, in[2], {in[3], in[2], 1e-3});
                       const auto y = bias_activation(both.normed, *tables, in[2], ActivationLaw::gelu);
                       return {add_branch_planes(both.sum, y, *tables, in[2])};
                     },
                     {x, branch, b, weight},
                     {3e-5, 1e-12, 1e-3, 1e-11}});
  }
  for (const auto& [group, out, in] :
       {std::tuple{"tetrahedron", 3, 5}, {"octahedron", 48, 48}, {"trivial", 2, 3}}) {
    const auto tables = std::make_shared<const GroupTables>(named_group(group));
    const int64_t order = tables->group().order();
    cases.push_back({std::string("expand_group_kernel/") + group,
                     [tables](const auto& x) -> std::vector<at::Tensor> {
                       return {expand_group_kernels({x[0], x[1]}, *tables)};
                     },
                     {noise({order, out, in}, 1), noise({order, 2 * out, in}, 2)},
                     {},
                     out == 48});
  }
  for (const auto& [group, rows, channels] : {std::tuple{"tetrahedron", 5, 37},
                                              {"icosahedron", 2, 70},
                                              {"cyclic_5", 3, 16},
                                              {"octahedron", 3, 48},  // three vectors of sixteen
                                              {"dihedral_3", 3, 28},  // and of eight, and of four beside them
                                              {"octahedron", 1728, 48}}) {
    const auto tables = std::make_shared<const GroupTables>(named_group(group));
    const int64_t width = tables->group().order() * channels;
    const at::Tensor x = noise({rows, 2 * width}, 1);
    const bool timed = rows == 1728;
    cases.push_back(
        {std::string("group_fourier/") + group,
         [tables](const auto& in) -> std::vector<at::Tensor> { return group_fourier(in[0], *tables, 2); },
         {x},
         {},
         timed});
    cases.push_back({std::string("inverse_group_fourier/") + group,
                     [tables](const auto& in) -> std::vector<at::Tensor> {
                       return {inverse_group_fourier(in, *tables, 2)};
                     },
                     group_fourier(x, *tables, 2),
                     {},
                     timed});
  }
}

}  // namespace weyl

// A group of your own: the full symmetry of a hexagonal prism, D_6h, from three generators, and a linear
// layer that commutes with it. Prints how far the layer is from equivariant, under the group and, for
// comparison, under a wrong action; exit code 1 when the law does not hold.
#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <weyl/algebra/finite_group.h>
#include <weyl/ops/group_linear.h>
#include <weyl/ops/group_tables.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>

int main() try {
  const double c = 0.5, s = std::sqrt(0.75);
  const auto group = std::make_shared<const weyl::FiniteGroup>(
      weyl::FiniteGroup::from_generators("D_6h", 3,
                                         {
                                             {c, -s, 0, s, c, 0, 0, 0, 1},   // a sixth of a turn about z
                                             {1, 0, 0, 0, -1, 0, 0, 0, -1},  // half a turn about x
                                             {1, 0, 0, 0, 1, 0, 0, 0, -1},   // the mirror z -> -z
                                         }));
  std::printf("%s: %ld elements, %s reflections, %s\n", group->name().c_str(),
              static_cast<long>(group->order()), group->has_reflections() ? "with" : "without",
              group->abelian() ? "abelian" : "not abelian");

  // y(h) = sum_g kernel[g^-1 h] x(g): 3 channels in, 5 out, on each of the G frames.
  const weyl::GroupTables tables(group);
  const int64_t G = group->order(), I = 3, O = 5;
  const auto options = at::TensorOptions(at::kDouble);
  const auto weight = weyl::expand_group_kernel(at::randn({G, O, I}, options), tables);  // (G O, G I)
  const auto layer = [&](const at::Tensor& x) {                                          // (G, I) -> (G, O)
    return at::matmul(weight, x.reshape({G * I})).reshape({G, O});
  };

  // Turning the input by R_h moves features by the left regular representation: new[j] = old[h^-1 j].
  const auto x = at::randn({G, I}, options);
  double under_group = 0, under_wrong_action = 0;
  for (int64_t h = 0; h < G; ++h) {
    const auto left = tables.translation(h, at::kCPU),
               wrong = tables.translation(group->inverse(h), at::kCPU);
    const auto moved = layer(x.index_select(0, left));
    under_group = std::max(under_group, (moved - layer(x).index_select(0, left)).abs().max().item<double>());
    under_wrong_action =
        std::max(under_wrong_action, (moved - layer(x).index_select(0, wrong)).abs().max().item<double>());
  }
  std::printf("largest deviation under the group: %.1e, under a wrong action: %.1e\n", under_group,
              under_wrong_action);
  return under_group < 1e-12 && under_wrong_action > 0.1 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_group: %s\n", error.what());
  return 2;
}

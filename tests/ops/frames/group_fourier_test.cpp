#include "weyl/ops/frames/group_fourier.h"

#include <future>

#include "tests/algebra/finite/spectra.h"
#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/ops/frames/group_linear.h"

namespace weyl {
namespace group_fourier_test {

Tensor wave(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

// Groups of the real and of the complex type, planar ones, signs, one of order 1, and of one's own: the quaternions in R^4.
std::vector<GroupPtr> groups() {
  std::vector<GroupPtr> all;
  for (const char* name : {"trivial", "trivial_2", "flop_2d_1", "cyclic_5", "cyclic_6", "dihedral_3",
                           "dihedral_4", "octahedron_reflections", "tetrahedron", "tetrahedron_full",
                           "octahedron", "octahedron_full", "icosahedron", "icosahedron_full"}) {
    all.push_back(named_group(name));
  }
  const std::vector<GroupPtr> own = spectra::own_groups();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

Tensor by_irreps(const Tensor& x, const Tensor& kernel, const GroupTables& tables, int64_t parts = 1) {
  return rows_of_products(spectral_products(group_fourier(x, tables), spectral_blocks(kernel, tables)),
                          tables, parts);
}

/// What evaluation keeps beside the weights: d^2 numbers for each irrep, as many as elements where none is of the complex type.
TEST(GroupFourier, BlocksAreHardlyMoreNumbersThanTheKernel) {
  const std::pair<const char*, int64_t> cases[] = {{"octahedron_reflections", 8},
                                                   {"octahedron", 24},
                                                   {"icosahedron_full", 120},
                                                   {"tetrahedron", 14},
                                                   {"cyclic_6", 10}};
  for (const auto& [name, numbers] : cases) {
    const GroupPtr group = named_group(name);
    int64_t found = 0;
    for (const Tensor& block : spectral_blocks(wave({group->order(), 3, 2}, 0), GroupTables(group))) {
      found += block.numel();
    }
    EXPECT_EQ(found, numbers * 3 * 2) << name;
  }
}

TEST(GroupFourier, IsQTransposedAndBack) {
  for (const GroupPtr& group : groups()) {
    const GroupTables tables(group);
    const int64_t G = group->order();
    // Numbers of channels that are whole vectors of every instruction set, and parts of one.
    for (const int64_t channels : {1, 3, 16, 37, 96}) {
      for (const int64_t parts : {1, 2}) {
        const Tensor x = wave({3, parts * G * channels}, 0.4);
        const Tensors planes = group_fourier(x, tables, parts);
        const Tensor q = tables.fourier()->transform(at::kCPU, at::kDouble);
        const Tensor hat = at::matmul(q.t(), x.view({3 * parts, G, channels})).view({3, parts, G, channels});
        int64_t column = 0;
        for (size_t i = 0; i < planes.size(); ++i) {
          const RealIrrep& r = tables.fourier()->spectrum().irreps()[i];
          const Tensor plane = planes[i].view({r.multiplicity, 3, r.dimension, parts, channels});
          for (int64_t copy = 0; copy < r.multiplicity; ++copy) {
            for (int64_t l = 0; l < r.dimension; ++l, ++column) {
              ASSERT_TRUE(at::allclose(plane[copy].select(1, l), hat.select(2, column), 1e-12, 1e-13))
                  << group->name() << " column " << column;
            }
          }
        }
        EXPECT_TRUE(at::allclose(inverse_group_fourier(planes, tables, parts), x, 1e-12, 1e-13))
            << group->name();
        const UseReferences expressions;
        const Tensors composed = group_fourier(x, tables, parts);
        for (size_t i = 0; i < planes.size(); ++i) {
          EXPECT_TRUE(at::allclose(composed[i], planes[i], 1e-12, 1e-13));
        }
        EXPECT_TRUE(at::allclose(inverse_group_fourier(planes, tables, parts), x, 1e-12, 1e-13))
            << group->name();
      }
    }
  }
}

TEST(GroupFourier, OneProductForEachIrrepIsTheDenseMatrix) {
  for (const GroupPtr& group : groups()) {
    const GroupTables tables(group);
    const int64_t G = group->order();
    const Tensor x = wave({4, G * 3}, 0.2),
                 kernel = wave({G, 2, 3}, 0.9) / std::sqrt(3.0 * static_cast<double>(G));
    const Tensor want = at::matmul(x, expand_group_kernel(kernel, tables).t());
    EXPECT_TRUE(at::allclose(by_irreps(x, kernel, tables), want, 1e-12, 1e-12)) << group->name();
    const Tensor single = by_irreps(x.to(at::kFloat), kernel.to(at::kFloat), tables).to(at::kDouble);
    EXPECT_LT((single - want).abs().max().item<double>() / want.pow(2).mean().sqrt().item<double>(), 1e-5)
        << group->name();
    // Control: the kernel of the inverse elements is another map where the group is not of involutions.
    Tensor inverted = kernel.clone();
    bool other = false;
    for (int64_t g = 0; g < G; ++g) {
      inverted[g] = kernel[group->inverse(g)];
      other = other || group->inverse(g) != g;
    }
    EXPECT_EQ(!at::allclose(by_irreps(x, inverted, tables), want, 1e-6, 1e-6), other) << group->name();
  }
}

TEST(GroupFourier, PartsStandSideBySide) {
  const GroupTables tables(named_group("octahedron"));
  const Tensor x = wave({5, 24 * 3}, 0.2), first = wave({24, 2, 3}, 0.9), second = wave({24, 2, 3}, 1.3);
  const Tensor both = by_irreps(x, at::cat({first, second}, 1), tables, 2);
  EXPECT_TRUE(at::allclose(both, at::cat({by_irreps(x, first, tables), by_irreps(x, second, tables)}, 1),
                           1e-12, 1e-12));
}

TEST(GroupFourier, DerivativesAreRight) {
  for (const char* name : {"cyclic_5", "octahedron", "dihedral_3"}) {
    const GroupTables tables(named_group(name));
    const int64_t G = tables.group().order();
    const Tensor x = wave({2, 2 * G * 3}, 0.2);
    expect_second_gradients(
        [&](const auto& in) {
          Tensor sum;
          for (const Tensor& plane : group_fourier(in[0], tables, 2)) {
            const Tensor part = (plane.pow(3) + plane).sum();
            sum = sum.defined() ? sum + part : part;
          }
          return sum;
        },
        {x}, {.samples = 12});
    expect_second_gradients(
        [&](const auto& in) { return inverse_group_fourier({in.begin(), in.end()}, tables, 2).pow(3); },
        group_fourier(x, tables, 2), {.samples = 8});
    expect_second_gradients([&](const auto& in) { return by_irreps(in[0], in[1], tables).pow(2); },
                            {wave({2, G * 3}, 0.2), wave({G, 2, 3}, 0.9)}, {.samples = 12});
  }
}

// Transforms and blocks on a device read tables that were copied there once, by whichever thread came first.
TEST(GroupFourier, TablesAreCopiedOncePerDeviceAndType) {
  const GroupTables tables(named_group("octahedron"));
  const auto fourier = tables.fourier();
  std::vector<std::future<Tensor>> threads;
  for (int i = 0; i < 8; ++i) {
    threads.push_back(std::async(std::launch::async, [&fourier, i] {
      return i % 2 == 0 ? fourier->transform(at::kCPU, at::kFloat)
                        : fourier->transform(at::kMeta, at::kFloat);
    }));
  }
  const Tensor on_host = threads[0].get(), elsewhere = threads[1].get();
  EXPECT_EQ(on_host.scalar_type(), at::kFloat);
  EXPECT_TRUE(elsewhere.is_meta());
  for (size_t i = 2; i < threads.size(); ++i) {
    EXPECT_TRUE(threads[i].get().is_same(i % 2 == 0 ? on_host : elsewhere)) << i;
  }
  const Tensor blocks = fourier->blocks(at::kCPU, at::kDouble);
  EXPECT_TRUE(fourier->blocks(at::kCPU, at::kDouble).is_same(blocks));
  EXPECT_FALSE(blocks.requires_grad());
  EXPECT_EQ(fourier->blocks(at::kCPU, at::kFloat).scalar_type(), at::kFloat);
  const Tensor exact = fourier->transform(at::kCPU, at::kDouble);
  EXPECT_TRUE(at::equal(exact.to(at::kFloat), on_host));
}

TEST(GroupFourier, NoNodesAndWrongShapes) {
  const GroupTables tables(named_group("tetrahedron"));
  const Tensors none = group_fourier(at::zeros({0, 24}, at::kDouble), tables);
  EXPECT_EQ(inverse_group_fourier(none, tables).sizes(), (std::vector<int64_t>{0, 24}));
  EXPECT_THROW(group_fourier(wave({2, 25}, 0), tables), ShapeError);
  EXPECT_THROW(group_fourier(wave({2, 12}, 0), tables, 2), ShapeError);
  Tensors planes = group_fourier(wave({2, 24}, 0), tables);
  EXPECT_THROW(inverse_group_fourier({planes[0]}, tables), ShapeError);
  std::swap(planes[0], planes[1]);
  EXPECT_THROW(inverse_group_fourier(planes, tables), ShapeError);
  EXPECT_THROW(spectral_blocks(wave({11, 2, 2}, 0), tables), ShapeError);
}

}  // namespace group_fourier_test
}  // namespace weyl

// The first layer by irreps, in which lifted features are zero but in few, against the dense matrix on all frames.
#include "weyl/models/platonic/embedding.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/algebra/finite/spectra.h"
#include "tests/autocast.h"
#include "tests/models/rules.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/study/cost/operation_counts.h"

namespace weyl::platonic {
namespace embedder_test {

InputColumns columns_of(std::vector<bool> scalars, std::vector<bool> vectors) {
  return {.scalars = std::move(scalars), .vectors = std::move(vectors)};
}

/// Polar alone, mixed with odd ones, without scalars, without vectors.
std::vector<InputColumns> all_columns() {
  return {columns_of({false, false}, {false}), columns_of({false, true, true, false}, {true, false, true}),
          columns_of({}, {false, false}), columns_of({false, true}, {}), columns_of({true}, {true})};
}

struct Layers {
  Layers(const GroupPtr& group, const InputColumns& columns, int64_t channels = 3)
      : tables(std::make_shared<GroupTables>(group)), columns(columns) {
    const int64_t width = channels * group->order();
    dense = std::make_shared<Embedder>(tables, columns, width, LinearForm::dense);
    spectral = std::make_shared<Embedder>(tables, columns, width, LinearForm::spectral);
    for (const auto& layer : {dense, spectral}) {
      apply_weight_rule(*layer, 0.7);
    }
    const int64_t S = columns.scalar_count(), V = columns.vector_count();
    scalars = S > 0 ? sine({4, S}, 0.3).requires_grad_(true) : Tensor();
    vectors = V > 0 ? sine({4, V, group->dimension()}, 1.1).requires_grad_(true) : Tensor();
  }
  Tensor of(Embedder& layer) const { return layer.embedded(scalars, vectors); }

  GroupTablesPtr tables;
  InputColumns columns;
  std::shared_ptr<Embedder> dense, spectral;
  Tensor scalars, vectors;
};

double relative(const Tensor& found, const Tensor& want) {
  EXPECT_EQ(found.sizes(), want.sizes());
  return ((found - want).abs().max() / want.abs().max().clamp_min(1e-300)).item<double>();
}

std::vector<GroupPtr> groups() {
  std::vector<GroupPtr> all;
  for (const char* name :
       {"trivial", "trivial_2", "flop_2d_1", "flop_3d_2", "cyclic_5", "cyclic_6", "cyclic_3d_2",
        "cyclic_3d_4", "dihedral_2", "dihedral_3", "octahedron_reflections", "tetrahedron",
        "tetrahedron_full", "octahedron", "octahedron_full", "icosahedron", "icosahedron_full"}) {
    all.push_back(named_group(name));
  }
  const std::vector<GroupPtr> own = spectra::own_groups();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

TEST(PlatonicEmbedder, ByIrrepsGivesWhatTheDenseMatrixGivesAndItsGradients) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const GroupPtr& group : groups()) {
    for (const InputColumns& columns : all_columns()) {
      const Layers layers(group, columns);
      const auto values = [&](Embedder& layer) {
        const Tensor y = layers.of(layer);
        std::vector<Tensor> inputs{layer.kernel()};
        for (const Tensor& x : {layers.scalars, layers.vectors}) {
          if (x.defined()) {
            inputs.push_back(x);
          }
        }
        // A gradient, and that of a function of it.
        std::vector<Tensor> all = torch::autograd::grad({(y * y.sin()).sum()}, inputs, {}, {}, true);
        Tensor sum;
        for (const Tensor& g : all) {
          sum = sum.defined() ? sum + g.square().sum() : g.square().sum();
        }
        const auto second = torch::autograd::grad({sum}, inputs);
        all.insert(all.end(), second.begin(), second.end());
        all.push_back(y.detach());
        return all;
      };
      const auto want = values(*layers.dense), found = values(*layers.spectral);
      for (size_t i = 0; i < want.size(); ++i) {
        // Some gradients are sums that nearly cancel.
        EXPECT_LT(relative(found[i], want[i]), i + 1 == want.size() ? 1e-12 : 1e-10)
            << group->name() << ", " << columns.scalar_count() << " scalars, " << columns.vector_count()
            << " vectors, number " << i;
      }
    }
  }
}

TEST(PlatonicEmbedder, KeepsItsBlocksInEvaluation) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const at::NoGradGuard constants;
  const Layers layers(named_group("octahedron"), all_columns()[0]);
  layers.spectral->train(false);
  const Tensor before = layers.of(*layers.spectral);
  EXPECT_LT(relative(before, layers.of(*layers.dense)), 1e-12);
  layers.spectral->kernel().mul_(2);
  EXPECT_TRUE(at::equal(layers.of(*layers.spectral), before));
  layers.spectral->train(false);
  EXPECT_LT(relative(layers.of(*layers.spectral), 2 * before), 1e-12);
}

TEST(PlatonicEmbedder, TakesFewerProductsAndCountsThem) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const at::NoGradGuard constants;
  for (const char* name : {"octahedron", "tetrahedron_full", "dihedral_3", "trivial", "cyclic_3d_4"}) {
    for (const InputColumns& columns : all_columns()) {
      const Layers layers(named_group(name), columns, 8);
      for (const auto& layer : {layers.dense, layers.spectral}) {
        layer->train(false);
        layers.of(*layer);  // makes what follows from the kernel
      }
      const double found = operations_of([&] { layers.of(*layers.spectral); });
      EXPECT_DOUBLE_EQ(found, 4 * layers.spectral->work_of_token(LinearForm::spectral).forward) << name;
      EXPECT_DOUBLE_EQ(operations_of([&] { layers.of(*layers.dense); }),
                       4 * layers.dense->work_of_token(LinearForm::dense).forward)
          << name;
    }
  }
  // A vector is in one irrep, of dimension three, three times; eight channels come back from all irreps.
  const Layers octahedron(named_group("octahedron"), columns_of({}, {false}), 8);
  const double back = 2.0 * 8 * static_cast<double>(octahedron.tables->fourier()->multiply_adds());
  const Work work = octahedron.spectral->work_of_token(LinearForm::spectral);
  EXPECT_EQ(work.forward, 2.0 * 3 * 3 * 8 + 2.0 * 3 * 3 + back);
  EXPECT_EQ(work.backward, 2.0 * 3 * 3 * 8 + back);
  EXPECT_LT(2 * work.forward, octahedron.spectral->work(LinearForm::spectral, 1).forward);
}

// Of matrices of seven digits a vector is a little of every irrep: then all blocks are multiplied, as the dense matrix does.
// Those of dihedral_3 stay in one, but as more terms.
TEST(PlatonicEmbedder, LeavesNothingOutOfRoundedGroups) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const char* name : {"icosahedron", "cyclic_6", "dihedral_3"}) {
    const GroupPtr exact = named_group(name);
    std::vector<std::vector<double>> elements;
    for (int64_t g = 0; g < exact->order(); ++g) {
      std::vector<double> element;
      for (const double x : exact->element(g)) {
        element.push_back(static_cast<float>(x));
      }
      elements.push_back(std::move(element));
    }
    const Layers layers(std::make_shared<FiniteGroup>("rounded", exact->dimension(), std::move(elements)),
                        all_columns()[0]);
    const Tensor want = layers.of(*layers.dense);
    EXPECT_LT(relative(layers.of(*layers.spectral), want), 1e-12) << name;
    const Layers others(exact, all_columns()[0]);
    EXPECT_GT(relative(others.of(*others.spectral), want), 1e-11) << name;  // which that sees
    if (exact->order() == 60) {
      EXPECT_EQ(layers.spectral->work_of_token(LinearForm::spectral).forward,
                layers.spectral->work(LinearForm::spectral, 1).forward + 2 * 60 * 9);
    }
  }
}

TEST(PlatonicEmbedder, UnderAutocastItsProductsAreOfItsType) {
  const BuildOn float32(at::kCPU, at::kFloat);
  const at::NoGradGuard constants;
  Layers layers(named_group("octahedron"), all_columns()[0], 16);
  layers.scalars = layers.scalars.to(at::kFloat);
  layers.vectors = layers.vectors.to(at::kFloat);
  const Tensor want = layers.of(*layers.dense);
  const Autocast bfloat16;
  const Tensor found = layers.of(*layers.spectral);
  EXPECT_EQ(found.scalar_type(), at::kBFloat16);
  EXPECT_LT(relative(found.to(at::kFloat), want), 2e-2);
  EXPECT_GT(relative(found.to(at::kFloat), want), 1e-4);
}

TEST(PlatonicEmbedder, NoNodes) {
  const BuildOn float64(at::kCPU, at::kDouble);
  Layers layers(named_group("tetrahedron"), all_columns()[1]);
  layers.scalars = at::zeros({0, 4}, at::kDouble);
  layers.vectors = at::zeros({0, 3, 3}, at::kDouble);
  EXPECT_EQ(layers.of(*layers.spectral).sizes(), (std::vector<int64_t>{0, 36}));
}

}  // namespace embedder_test
}  // namespace weyl::platonic

// State dicts of TorchMD-Net's Equivariant Transformer and SchNetPack's PaiNN with random weights, made by
// tools/goldens/atom_models.py: their energies and forces, and the published parameter counts.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/models/geomformer/fixtures.h"
#include "weyl/core/check.h"
#include "weyl/train/import.h"

namespace weyl::geomformer {
namespace import_test {

struct Golden {
  NamedTensors weights;
  Points points;
  Tensor energy, forces;
};

Golden golden(const std::string& name) {
  Golden g;
  const NamedTensors all =
      load_tensors(std::string(WEYL_SOURCE_DIR) + "/tests/goldens/" + name + ".safetensors");
  for (const auto& [key, tensor] : all) {
    if (key.starts_with("weights.")) {
      g.weights[key.substr(8)] = tensor;
    }
  }
  const Tensor offsets = all.at("offsets");
  std::vector<int64_t> sizes;
  for (int64_t b = 0; b + 1 < offsets.numel(); ++b) {
    sizes.push_back((offsets[b + 1] - offsets[b]).item<int64_t>());
  }
  g.points.graphs = Segments::of_sizes(sizes);
  g.points.positions = all.at("positions");
  g.points.types = all.at("types");
  g.energy = all.at("energy").reshape({-1, 1});
  g.forces = all.at("forces");
  return g;
}

void expect_golden(const std::string& name, Options options) {
  SCOPED_TRACE(name);
  options.width = 12;
  options.heads = 3;
  options.blocks = 2;
  options.kernels = 6;
  if (options.head_hidden) {
    options.head_hidden = 6;
  }
  Golden g = golden(name);
  Interface interface = molecules_interface();
  interface.types = 10;
  const auto model = built(options, interface);
  const double shift = import_weights(*model, g.weights, name).shift;
  const Tensor x = g.points.positions.clone().requires_grad_();
  g.points.positions = x;
  const Tensor energy = (*model)(g.points).at("energy") + shift;
  const Tensor forces = -torch::autograd::grad({energy.sum()}, {x})[0];
  const auto error = [](const Tensor& a, const Tensor& b) {
    return ((a - b).abs().max() / b.abs().max()).item<double>();
  };
  EXPECT_LT(error(energy, g.energy), 1e-10);
  EXPECT_LT(error(forces, g.forces), 1e-10);
  // Another model's weights do not fit.
  std::erase_if(g.weights, [](const auto& entry) { return entry.first.ends_with("embedding.weight"); });
  EXPECT_THROW(import_weights(*model, g.weights, name), DataError);
}

TEST(GeomformerImport, GivesTheEnergiesAndForcesOfTorchMdNet) {
  Options et = preset_options(Preset::et);
  expect_golden("torchmd_et", et);
  et.vector_cutoff = false;
  expect_golden("torchmd_et_jumps", et);
}

TEST(GeomformerImport, GivesTheEnergiesAndForcesOfSchNetPack) {
  expect_golden("schnetpack_painn", preset_options(Preset::painn));
}

TEST(GeomformerImport, CountsThePublishedParameters) {
  const BuildOn shapes(at::kMeta, at::kFloat);
  Interface interface = molecules_interface();
  interface.types = 100;
  Options et = preset_options(Preset::et);
  EXPECT_EQ(Geomformer(et, interface).parameter_count(), 1339906);
  et.width = 256;
  et.blocks = 8;
  et.kernels = 64;
  EXPECT_EQ(Geomformer(et, interface).parameter_count(), 6864898);
}

}  // namespace import_test
}  // namespace weyl::geomformer

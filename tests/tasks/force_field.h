// A small set of atoms with energies and forces, and models of it.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/all_samples.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/tasks/force_field.h"

namespace weyl {

inline const std::vector<int64_t> sizes{4, 1, 5, 3};

inline Schema atoms() {
  Schema schema;
  schema.interface.types = 3;
  schema.interface.elements = {"H", "C", "O"};
  schema.interface.typical_nodes = 4;
  schema.interface.length_unit = "\u00c5";
  schema.labels = {{.name = "energy", .level = Level::graph, .extensive = true, .unit = "eV"},
                   {.name = "forces", .kind = Kind::vector, .unit = "eV/\u00c5"}};
  return schema;
}

/// Energies of the size of total energies, forces of order one.
inline std::shared_ptr<InMemory> set(uint64_t seed = 4) {
  at::manual_seed(seed);
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  p.positions = at::randn({13, 3}, at::kDouble) * 1.5;
  p.types = at::randint(0, 3, {13}, at::kLong);
  const Tensor e =
      at::randn({4, 1}, at::kDouble) - at::tensor(sizes, at::kLong).to(at::kDouble).unsqueeze(1) * 1000;
  return std::make_shared<InMemory>(Batch{p, {{"energy", e}, {"forces", at::randn({13, 1, 3}, at::kDouble)}}},
                                    atoms());
}

inline ModelOptions small(const char* system) {
  ModelOptions o;
  if (std::string(system) == "platonic") {
    platonic::Options p;
    p.group = "tetrahedron";
    p.width = 48;
    p.heads = 12;
    p.blocks = 2;
    p.ffn_factor = 2;
    p.position_vector = platonic::PositionVector::on;
    o.system = p;
  } else if (std::string(system) == "gatr") {
    gatr::Options g;
    g.width = 4;
    g.scalars = 8;
    g.heads = 2;
    g.blocks = 2;
    o.system = g;
  } else if (std::string(system) != "transformer") {
    const bool own = std::string(system) == "geomformer";
    geomformer::Options g = preset_options(own                           ? geomformer::Preset::geomformer
                                           : std::string(system) == "et" ? geomformer::Preset::et
                                                                         : geomformer::Preset::painn);
    if (own) {
      g.cutoff = geomformer::CutoffOptions{CutoffLaw::cosine, 4.0, 0};
      g.input = geomformer::VectorInput::local;
    }
    g.width = 16;
    g.heads = 4;
    g.blocks = 2;
    g.kernels = 8;
    o.system = g;
  } else {
    transformer::Options t;
    t.width = 16;
    t.heads = 2;
    t.blocks = 2;
    o.system = t;
  }
  return o;
}

inline std::shared_ptr<Model> model_of(const char* system, const Task& task, const Dataset& data) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(7);
  return build(small(system), task.interface(data.schema()));
}

/// E = sum over pairs of a graph and its cell of smooth functions, with one number to learn.
class Springs : public Model {
 public:
  explicit Springs(Interface interface) : Model(std::move(interface)) {
    k = parameter("k", at::full({1}, 0.3, at::kDouble));
  }
  Named operator()(const Input& input) override {
    const auto& p = std::get<Points>(input);
    std::vector<Tensor> energies, forces;
    for (int64_t g = 0; g < p.count(); ++g) {
      const Tensor x = p.positions.slice(0, p.graphs.offsets[g], p.graphs.offsets[g + 1]);
      const Tensor d2 = (x.unsqueeze(0) - x.unsqueeze(1)).square().sum(2);
      Tensor e = 0.5 * (d2 * k.to(x.scalar_type()) - at::exp(-d2)).sum();
      if (p.cell.defined()) {
        e = e + (p.cell[g].square().sum(1) * 0.1).sin().sum() + (x.sum(0) * p.cell[g][1]).sum() * 0.01;
      }
      energies.push_back(e.view({1, 1}));
    }
    Named out{{"energy", at::cat(energies)}};
    if (interface.outputs.size() > 1) {
      out["forces"] = p.positions.unsqueeze(1) * 0.1;
    }
    return out;
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
  Tensor k;
};

inline double number(const Tensor& t) {
  return t.item<double>();
}

inline Batch periodic(const std::shared_ptr<InMemory>& data) {
  Batch batch = all_of(*data);
  auto& p = std::get<Points>(batch.input);
  at::manual_seed(9);
  p.cell = at::eye(3, at::kDouble).expand({4, 3, 3}) * 4 + at::randn({4, 3, 3}, at::kDouble) * 0.3;
  p.pbc = at::ones({4, 3}, at::kBool);
  return batch;
}

}  // namespace weyl

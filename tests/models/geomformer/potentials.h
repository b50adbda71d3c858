// GeoMFormer, ET and PaiNN as potentials: energies, forces as their slopes, and how both are checked.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/gradients.h"
#include "tests/models/geomformer/fixtures.h"

namespace weyl::geomformer {

inline Tensor energy_of(Geomformer& model, Points points, const Tensor& positions, const Tensor& cell = {}) {
  points.positions = positions;
  if (cell.defined()) {
    points.cell = cell;
  }
  return model(points).at("energy").sum();
}

inline Expression energy(Geomformer& model, const Points& points) {
  return [&model, points](const std::vector<Tensor>& in) { return energy_of(model, points, in[0]); };
}

inline Tensor forces(Geomformer& model, const Points& points) {
  const Tensor x = points.positions.detach().clone().requires_grad_();
  return -torch::autograd::grad({energy_of(model, points, x)}, {x})[0];
}

inline std::vector<std::pair<std::string, Options>> gradient_models() {
  std::vector<std::pair<std::string, Options>> models{{"geomformer", small_geomformer()},
                                                      {"et", small_preset(Preset::et)},
                                                      {"painn", small_preset(Preset::painn)}};
  Options local = small_geomformer();
  local.cutoff = CutoffOptions{CutoffLaw::cosine, 4.0, 0};
  local.input = VectorInput::local;
  models.emplace_back("local", local);
  return models;
}

/// Seven samples of 6 or 12 atoms are a stride of 2 or 5: some of x, y and z each.
constexpr GradientCheck forces_check{.step = 1e-6, .relative = 1e-6, .absolute = 1e-8, .samples = 7};

/// Energies and forces, as a model whose laws of motion can be checked like any other's.
class Potential : public Model {
 public:
  explicit Potential(const Options& options) : Potential(built(options, molecules_interface())) {}
  Named operator()(const Input& input) override {
    auto points = std::get<Points>(input);
    points.positions = points.positions.detach().clone().requires_grad_();
    const Tensor energies = (*model_)(points).at("energy");
    const Tensor slope = torch::autograd::grad({energies.sum()}, {points.positions})[0];
    return {{"energy", energies.detach()}, {"forces", -slope.unsqueeze(1)}};
  }
  Symmetry symmetry() const override { return model_->symmetry(); }
  Work work(double /*nodes*/) const override { return model_->work_of_token(); }

 private:
  explicit Potential(std::shared_ptr<Geomformer> model)
      : Model(with_forces(model->interface)), model_(child("model", std::move(model))) {}
  static Interface with_forces(Interface interface) {
    interface.outputs.push_back({"forces", Level::node, Kind::vector, 1});
    return interface;
  }

  std::shared_ptr<Geomformer> model_;
};

}  // namespace weyl::geomformer

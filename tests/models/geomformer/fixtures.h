// GeoMFormer, ET and PaiNN small enough for tests, in every form of their options, and molecules of every
// shape.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/models/geomformer/geomformer.h"

namespace weyl::geomformer {

inline Schema declared_schema() {
  Schema schema;
  schema.interface.types = 4;
  schema.interface.typical_nodes = 6;
  return schema;
}

inline Interface molecules_interface() {
  Interface i = declared_schema().interface;
  i.outputs = {{"energy", Level::graph, Kind::scalar, 1, Role::free, /*extensive=*/true}};
  return i;
}

/// Every kind of feature and output that the system has.
inline Schema featured_schema() {
  Schema schema = declared_schema();
  schema.interface.features = {{"charge", Level::node, Kind::scalar, 2},
                               {"velocity", Level::node, Kind::vector, 1},
                               {"temperature", Level::graph, Kind::scalar, 1}};
  return schema;
}
inline Interface featured_interface() {
  Interface i = featured_schema().interface;
  i.outputs = {{"energy", Level::graph, Kind::scalar, 1, Role::free, /*extensive=*/true},
               {"gap", Level::graph, Kind::scalar, 2},
               {"charges", Level::node, Kind::scalar, 1},
               {"forces", Level::node, Kind::vector, 1},
               {"dipole", Level::graph, Kind::vector, 1},
               {"later", Level::node, Kind::vector, 1, Role::point}};
  return i;
}

inline Points points_at(const Tensor& positions, const std::vector<int64_t>& sizes) {
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  p.positions = positions.to(at::kDouble);
  p.types = at::arange(positions.size(0), at::kLong).remainder(4);
  return p;
}

inline Tensor random_positions(int64_t atoms, uint64_t seed = 1, double spread = 1.5) {
  auto generator = at::detail::createCPUGenerator(seed);
  return spread * at::randn({atoms, 3}, generator, at::TensorOptions(at::kDouble));
}

inline Batch featured_batch(const std::vector<int64_t>& sizes) {
  int64_t n = 0;
  for (const int64_t size : sizes) {
    n += size;
  }
  Points p = points_at(random_positions(n), sizes);
  auto generator = at::detail::createCPUGenerator(2);
  const auto real = [&](std::vector<int64_t> shape) {
    return at::randn(shape, generator, at::TensorOptions(at::kDouble));
  };
  p.scalars = real({n, 2});
  p.vectors = real({n, 1, 3});
  p.of_graphs = {{"temperature", real({p.count(), 1})}};
  return {p, {}};
}

/// A ring of six in the plane z = 0, each with a neighbour further out: benzene.
inline Tensor benzene() {
  const Tensor angle = at::arange(6, at::kDouble) * (M_PI / 3);
  const Tensor direction = at::stack({angle.cos(), angle.sin(), at::zeros({6}, at::kDouble)}, 1);
  return at::cat({1.39 * direction, 2.48 * direction}, 0);
}
inline Points benzene_points() {
  Points p = points_at(benzene(), {12});
  p.types = at::cat({at::ones({6}, at::kLong), at::zeros({6}, at::kLong)});
  return p;
}
inline Points carbon_dioxide() {
  Points p = points_at(at::zeros({3, 3}, at::kDouble), {3});
  p.positions.select(1, 2).copy_(at::tensor({0.0, 1.16, -1.16}, at::kDouble));
  p.types = at::tensor({1, 2, 2}, at::kLong);
  return p;
}

/// Linear too, but with no atom where vectors cancel.
inline Points carbonyl_sulphide() {
  Points p = carbon_dioxide();
  p.positions[2][2].fill_(-1.56);
  p.types[2].fill_(3);
  return p;
}

inline Options small_geomformer() {
  Options o;
  o.width = 16;
  o.heads = 4;
  o.blocks = 2;
  o.kernels = 8;
  return o;
}
inline Options small_preset(Preset preset) {
  Options o = preset_options(preset);
  o.width = 16;
  o.heads = 4;
  o.blocks = 2;
  o.kernels = 8;
  return o;
}

/// The default with one thing changed, by name.
inline std::vector<std::pair<std::string, Options>> geomformer_variants() {
  std::vector<std::pair<std::string, Options>> variants;
  const auto add = [&](const std::string& name, const std::function<void(Options&)>& change) {
    Options o = small_geomformer();
    change(o);
    variants.emplace_back(name, o);
  };
  const auto local = [](Options& o) {
    o.cutoff = CutoffOptions{CutoffLaw::cosine, 4.0, 0};
    o.input = VectorInput::local;
  };
  add("default", [](auto&) {});
  add("whiten", [](auto& o) { o.norm = VectorNormLaw::whiten; });
  add("no norm", [](auto& o) { o.norm = VectorNormLaw::none; });
  add("sequential", [](auto& o) { o.order = Order::sequential; });
  add("shared query", [](auto& o) { o.shared_query = true; });
  add("scale of vectors", [](auto& o) { o.equ_scale = EquivariantScale::vectors; });
  add("bias of layers", [](auto& o) { o.bias = BiasScope::layer; });
  add("bias of modules", [](auto& o) { o.bias = BiasScope::module; });
  add("one bias for all heads", [](auto& o) { o.bias_heads = false; });
  add("count", [](auto& o) { o.normaliser = Normaliser::count; });
  add("silu", [](auto& o) { o.normaliser = Normaliser::silu; });
  add("local", local);
  const auto add_local = [&](const std::string& name, const auto& change) {
    add(name, [&](auto& o) {
      local(o);
      change(o);
    });
  };
  add("local, all pairs", [](auto& o) { o.input = VectorInput::local; });
  add("both", [](auto& o) { o.input = VectorInput::both; });
  add_local("local, count", [](auto& o) { o.normaliser = Normaliser::count; });
  add_local("local, constant", [](auto& o) { o.normaliser = Normaliser::constant; });
  add_local("local, silu", [](auto& o) { o.normaliser = Normaliser::silu; });
  add_local("local, polynomial", [](auto& o) { o.cutoff->name = CutoffLaw::polynomial; });
  add_local("local, smooth", [](auto& o) { o.cutoff->name = CutoffLaw::smooth; });
  add_local("local, sequential", [](auto& o) { o.order = Order::sequential; });
  add_local("local, sums of pairs", [](auto& o) { o.pair_embedding = true; });
  add_local("local, gated head", [](auto& o) { o.head = Head::gated; });
  add_local("cut-off, centroid", [](auto& o) { o.input = VectorInput::centroid; });
  add_local("cut-off, both", [](auto& o) { o.input = VectorInput::both; });
  add_local("zero start", [](auto& o) {
    o.input = VectorInput::zero;
    o.interaction = Interaction::messages;
    o.normaliser = Normaliser::silu;
    o.basis = Basis::gaussian;
    o.bias = BiasScope::none;
  });
  add_local("attention and messages", [](auto& o) { o.interaction = Interaction::both; });
  add_local("attention and messages of bonds", [](auto& o) {
    o.interaction = Interaction::both;
    o.basis = Basis::exp_normal;
    o.parts.equ_self = false;
    o.order = Order::sequential;
  });
  add("sums of pairs", [](auto& o) { o.pair_embedding = true; });
  add("gated head", [](auto& o) { o.head = Head::gated; });
  variants.emplace_back("et", small_preset(Preset::et));
  variants.emplace_back("painn", small_preset(Preset::painn));
  return variants;
}

/// Those of two towers, by name.
inline std::vector<std::pair<std::string, Options>> tower_variants() {
  Options separate = small_geomformer();
  separate.towers = Towers::separate;
  Options joined = separate;
  joined.towers = Towers::joined;
  Options whitened = joined;
  whitened.norm = VectorNormLaw::whiten;
  whitened.bias = BiasScope::module;
  whitened.shared_query = true;
  return {{"separate towers", separate}, {"joined towers", joined}, {"joined towers, whitened", whitened}};
}

inline std::shared_ptr<Geomformer> built(const Options& options, const Interface& interface) {
  at::manual_seed(11);
  const BuildOn build(at::kCPU, at::kDouble);
  auto model = std::make_shared<Geomformer>(options, interface);
  model->train(false);
  return model;
}

}  // namespace weyl::geomformer

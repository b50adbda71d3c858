// What models say they need, against every product of a real forward and backward pass.
#include "weyl/study/cost/operation_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "weyl/core/check.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/geomformer.h"
#include "weyl/models/grids/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/models/work.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/study/cost/training_steps.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/train/loop/accumulate.h"

namespace weyl {
namespace operation_counts_test {

/// Three node types; objects, which random tokens have where a feature is of them.
Interface interface_of_nodes(double nodes) {
  Interface i;
  i.typical_nodes = nodes;
  i.types = 3;
  i.features = {{.name = "s", .channels = 5},
                {.name = "v", .kind = Kind::vector, .channels = 2},
                {.name = "o", .level = Level::object}};
  i.outputs = {{.name = "y", .channels = 2},
               {.name = "w", .kind = Kind::vector},
               {.name = "z", .level = Level::graph, .channels = 3}};
  return i;
}

Interface interface_of_cells(int64_t dimension, Level level, int64_t side) {
  Interface i;
  i.grid = true;
  i.dimension = dimension;
  i.typical_nodes = std::pow(static_cast<double>(side), static_cast<double>(dimension));
  i.features = {{.name = "image", .channels = 2}};
  i.outputs = {{.name = "y", .level = level, .channels = 3}};
  return i;
}

Interface interface_of_poses(LieGroup group, double nodes) {
  Interface i;
  i.group = group;
  i.dimension = dimension_of(group);
  i.typical_nodes = nodes;
  i.features = {{.name = "s", .channels = 3}};
  i.outputs = {{.name = "y", .channels = 2},
               {.name = "c", .channels = degrees_of_freedom(group), .role = Role::offset}};
  return i;
}

/// Of one token, as what a third graph of a batch adds: what is made of the weights alone is not there.
Work counted(Model& model, const std::function<Batch(int64_t)>& batch_of) {
  const auto count = [&](int64_t graphs, bool backward) {
    const Batch batch = to(batch_of(graphs), at::kCPU, at::kFloat);
    return operations_of([&] {
      const at::Tensor loss = loss_of(model, nullptr, batch);
      if (backward) {
        add_gradients(loss, model);
      }
    });
  };
  const auto tokens = static_cast<double>(batch_of(3).tokens() - batch_of(2).tokens());
  const double forward = (count(3, false) - count(2, false)) / tokens;
  return {forward, (count(3, true) - count(2, true)) / tokens - forward};
}

void expect_exact(const std::string& name, const SystemOptions& options, const Interface& interface) {
  ModelOptions choice;
  choice.system = options;
  const auto model = build(choice, interface);
  const auto nodes = static_cast<int64_t>(std::llround(interface.typical_nodes));
  const int64_t side = std::llround(std::pow(interface.typical_nodes, 1.0 / interface.dimension));
  const auto batch_of = [&](int64_t graphs) {
    const std::array shape{side};
    return interface.grid ? random_grids(schema_of(interface), graphs, shape, 3)
                          : random_tokens(schema_of(interface), graphs, nodes, 3);
  };
  note_objects(*model, batch_of(1).input);
  model->train(true);
  const Work said = model->work_of_token(), found = counted(*model, batch_of);
  EXPECT_NEAR(found.forward, said.forward, 1e-9 * said.forward) << name;
  EXPECT_NEAR(found.training(), said.training(), 1e-9 * said.training()) << name;
}

TEST(Operations, OfTorchArePlainAndBatchedProductsAndConvolutions) {
  const at::Tensor a = at::randn({3, 4}), b = at::randn({5, 4}).set_requires_grad(true);
  EXPECT_EQ(operations_of([&] { at::mm(a, b.t()); }), 2 * 3 * 4 * 5);
  EXPECT_EQ(operations_of([&] { at::linear(a, b, at::randn({5})); }), 2 * 3 * 4 * 5);
  EXPECT_EQ(operations_of([&] { at::matmul(a, at::randn({4})); }), 2 * 3 * 4);
  EXPECT_EQ(operations_of([&] { at::bmm(at::randn({2, 3, 4}), at::randn({2, 4, 5})); }), 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(operations_of([&] { at::linear(a, b).sum().backward(); }), 2 * 2 * 3 * 4 * 5);  // of `a` none
  const at::Tensor complex = at::randn({3, 4}, at::kComplexFloat);
  EXPECT_EQ(operations_of([&] { at::mm(complex, complex.t()); }), 8 * 3 * 4 * 3);
  const at::Tensor x = at::randn({2, 3, 9, 7}), w = at::randn({5, 3, 3, 3}).set_requires_grad(true);
  const double one = 2.0 * 2 * 5 * 3 * 9 * (4 * 3);
  EXPECT_EQ(operations_of([&] { at::conv2d(x, w, {}, 2).sum(); }), one);
  EXPECT_EQ(operations_of([&] { at::conv2d(x, w, {}, 2).sum().backward(); }), 2 * one);
  const at::Tensor up = at::randn({3, 5, 2, 2}).set_requires_grad(true);  // each cell becomes a block of four
  const double blocks = 2.0 * 2 * 5 * 3 * 4 * (9 * 7);
  EXPECT_EQ(operations_of([&] { at::conv_transpose2d(x, up, {}, 2).sum().backward(); }), 2 * blocks);
  EXPECT_EQ(operations_of([] {}), 0);
}

TEST(Operations, OfKernelsAreToldToTheInnermostCounter) {
  count_operations(1);  // nobody listens
  const CountOperations outer;
  count_operations(2);
  {
    const CountOperations inner;
    count_operations(3);
    EXPECT_EQ(inner.flops(), 3);
  }
  count_operations(4);
  EXPECT_EQ(outer.flops(), 6);
}

TEST(WorkOfModels, OfATransformerIsExact) {
  transformer::Options o;
  o.width = 28;
  o.heads = 4;
  o.blocks = 2;
  expect_exact("transformer", o, interface_of_nodes(11));
  o.attention = AttentionScope::hierarchical;
  expect_exact("transformer, hierarchical", o, interface_of_nodes(11));
  o.multi_query = true;
  o.fourier = transformer::FourierOptions{};
  expect_exact("transformer, multi-query", o, interface_of_nodes(13));
  o.dropout = 0.1;
  expect_exact("transformer, unfused", o, interface_of_nodes(13));
}

TEST(WorkOfModels, OfPlatonicIsExact) {
  for (const auto form : {platonic::LinearForm::dense, platonic::LinearForm::spectral}) {
    const std::string name = form == platonic::LinearForm::spectral ? "platonic, spectral" : "platonic";
    platonic::Options o;
    o.width = 72;
    o.heads = 12;
    o.blocks = 2;
    o.linear = form;
    expect_exact(name, o, interface_of_nodes(11));
    o.rope->learned = false;
    o.rope_on_values = true;
    expect_exact(name + ", fixed angles", o, interface_of_nodes(11));
    o.use_key = true;
    o.ape.emplace();
    o.ffn_readout = false;
    o.dropout = 0.1;
    expect_exact(name + ", keys, unfused", o, interface_of_nodes(13));
    o.attention = platonic::AttentionLaw::linear;
    o.use_key = false;
    expect_exact(name + ", linear attention", o, interface_of_nodes(13));
    Interface odd = interface_of_nodes(11);
    odd.features.push_back({.name = "p", .kind = Kind::pseudoscalar});
    odd.features.push_back({.name = "a", .kind = Kind::axial_vector});
    o = {};
    o.group = "octahedron_reflections";
    o.width = 48;
    o.heads = 8;
    o.blocks = 1;
    o.linear = form;
    o.position_vector = platonic::PositionVector::on;
    expect_exact(name + ", odd features", o, odd);
  }
}

TEST(WorkOfModels, WhatPlatonicWorksOutAgainIsNotCounted) {
  const Interface interface = interface_of_nodes(11);
  platonic::Options o;
  o.width = 72;
  o.heads = 12;
  o.blocks = 2;
  o.linear = platonic::LinearForm::dense;
  const auto made = [&] {
    auto model = build({o}, interface);
    model->train(true);
    return model;
  };
  const Work kept = made()->work_of_token();
  o.recompute = true;
  const auto model = made();
  const Work said = model->work_of_token();
  EXPECT_EQ(said.training(), kept.training());
  const auto batch_of = [&](int64_t graphs) { return random_tokens(schema_of(interface), graphs, 11, 3); };
  const Work found = counted(*model, batch_of);
  EXPECT_NEAR(found.forward, said.forward, 1e-9 * said.forward);
  o.recompute = false;
  o.blocks = 0;
  const double again = said.forward - made()->work_of_token().forward;
  EXPECT_NEAR(found.training(), said.training() + again, 1e-9 * said.training());
}

TEST(WorkOfModels, SpectralIsLessThanTheDenseMatrixThatItReplaces) {
  platonic::Options o;
  o.group = "octahedron";
  o.width = 1152;
  o.heads = 72;
  const auto work = [&](platonic::LinearForm form, bool dense) {
    o.linear = form;
    const BuildOn shapes_alone(at::kMeta, at::kFloat);
    const auto model = build({o}, interface_of_nodes(18));
    return (dense ? model->dense_work_of_token() : model->work_of_token()).training();
  };
  const double dense = work(platonic::LinearForm::dense, false);
  EXPECT_EQ(work(platonic::LinearForm::dense, true), dense);
  EXPECT_EQ(work(platonic::LinearForm::spectral, true), dense);
  EXPECT_GT(dense,
            6 * work(platonic::LinearForm::spectral, false));  // of linear maps alone, without transforms: 9
}

// Its maps of scalars pad rows to sixteen and columns to eight, with zeros that do not count: here nothing is padded.
TEST(WorkOfModels, OfGatrIsExact) {
  Interface i = interface_of_nodes(16 * 3);
  i.features = {{.name = "s", .channels = 4},
                {.name = "v", .kind = Kind::vector, .channels = 7},
                {.name = "o", .level = Level::object}};
  gatr::Options o;
  o.width = 24;
  o.scalars = 16;
  o.heads = 4;
  o.blocks = 2;
  expect_exact("gatr", o, i);
  o.attention = AttentionScope::hierarchical;
  expect_exact("gatr, hierarchical", o, i);
  o.multi_query = false;
  o.attention = AttentionScope::global;
  o.axial = true;
  expect_exact("gatr, axial", o, i);
}

TEST(WorkOfModels, OfGeomformerIsExact) {
  geomformer::Options o;
  o.width = 24;
  o.heads = 3;
  o.blocks = 2;
  o.kernels = 7;
  expect_exact("geomformer", o, interface_of_nodes(11));
  // The budget of training leaves the network of the bias out.
  const Work flops = geomformer::Geomformer(o, interface_of_nodes(11)).work_of_token();
  EXPECT_EQ(flops.nominal, 3 * (flops.forward - 11 * 2 * (7 * 7 + 7 * 3)));
  EXPECT_EQ(flops.nominal, 3 * 145440);
  o.order = geomformer::Order::sequential;
  o.bias = geomformer::BiasScope::module;
  o.cutoff = geomformer::CutoffOptions{.radius = 100};
  o.input = geomformer::VectorInput::both;
  o.pair_embedding = true;
  expect_exact("geomformer, cut-off", o, interface_of_nodes(11));
  o = {};
  o.width = 24;
  o.blocks = 2;
  o.normaliser = geomformer::Normaliser::count;
  o.towers = geomformer::Towers::separate;
  o.bias = geomformer::BiasScope::layer;
  expect_exact("geomformer, two towers", o, interface_of_nodes(5));
  o.towers = geomformer::Towers::joined;
  expect_exact("geomformer, joined towers", o, interface_of_nodes(5));
}

TEST(WorkOfModels, OfFilteredMessagesIsExact) {
  for (const auto preset : {geomformer::Preset::et, geomformer::Preset::painn}) {
    for (const bool learned : {false, true}) {
      geomformer::Options o = geomformer::preset_options(preset);
      o.width = 24;
      o.heads = 3;
      o.blocks = 2;
      o.kernels = 7;
      o.cutoff->radius = 100;
      o.preset = learned ? geomformer::Preset::geomformer : preset;  // whose basis learns
      Interface i = interface_of_nodes(11);
      i.features.erase(i.features.begin() + 1);  // vectors start at zero
      expect_exact(preset == geomformer::Preset::et ? "et" : "painn", o, i);
    }
  }
}

TEST(WorkOfModels, OfSteerableNetsIsExact) {
  steerable::Options o;
  o.orders = 3;
  o.degree = 1;
  o.stages = {{4, 6, 5}, {4, 6, 3}};
  o.encoder.depth = 2;
  o.encoder.heads = 2;
  for (const int64_t dimension : {2, 3}) {
    for (const Level level : {Level::graph, Level::node}) {
      expect_exact(text("steerable, ", dimension, "-D ", level == Level::node ? "U-Net" : "classes"), o,
                   interface_of_cells(dimension, level, 12));
    }
  }
  o.encoder.positions.radial = steerable::RadialLaw::table;
  o.encoder.positions.reach = 3;
  o.stages[0].activation = steerable::Activation::gated;
  o.stages[0].middle = 0;
  o.stages[1].activation = steerable::Activation::cg;
  o.head.kernel = 3;
  expect_exact("steerable, gates and products", o, interface_of_cells(3, Level::graph, 12));
}

TEST(WorkOfModels, OfPlainNetsOnGridsIsExact) {
  for (const int64_t dimension : {2, 3}) {
    grids::CnnOptions cnn{.base = 4};
    cnn.stages[1].blocks = 2;
    expect_exact(text("cnn, ", dimension, "-D"), cnn, interface_of_cells(dimension, Level::graph, 11));
    grids::UnetOptions unet{.base = 4};
    unet.stages.back().stride = {1};
    expect_exact(text("unet, ", dimension, "-D"), unet, interface_of_cells(dimension, Level::node, 11));
    unet.residual = unet.deep_supervision = true;
    expect_exact(text("unet, residual, ", dimension, "-D"), unet,
                 interface_of_cells(dimension, Level::node, 10));
  }
}

TEST(WorkOfModels, OfLieAlgebraAttentionIsExact) {
  for (const auto variant : {lie::Variant::G, lie::Variant::C, lie::Variant::A}) {
    lie::Options o;
    o.variant = variant;
    o.width = 12;
    o.heads = 3;
    o.blocks = 2;
    const std::string name = std::string("lie ") + "GCA"[static_cast<int>(variant)];
    expect_exact(name, o, interface_of_poses(LieGroup::se3, 11));
    if (variant != lie::Variant::A) {
      o.move_tokens = true;
      expect_exact(name + ", moved", o, interface_of_poses(LieGroup::se2, 11));
    }
  }
  lie::Options o;
  o.blocks = 1;
  expect_exact("lie G, streamed", o, interface_of_poses(LieGroup::se3, 131));
}

}  // namespace operation_counts_test
}  // namespace weyl

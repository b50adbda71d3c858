// Layers and small nets of the public GATr, float64, to 1e-11: their weights by name, their numbers.
#include "tests/models/gatr/goldens.h"
#include "weyl/core/check.h"
#include "weyl/models/gatr/layers.h"
#include "weyl/nn/pooling.h"

namespace weyl::gatr {
namespace golden_test {

TEST(GatrGolden, LinearMapsWithAndWithoutScalars) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const auto& [name, scalars, out_scalars] : {std::tuple{"linear", true, true},
                                                   {"linear_alone", false, false},
                                                   {"linear_to_scalars", false, true},
                                                   {"linear_from_scalars", true, false}}) {
    const Golden golden(name);
    EquiChannels channels{3, 2, {}, {}};
    if (scalars) {
      channels.in_scalars = 3;
    }
    if (out_scalars) {
      channels.out_scalars = 2;
    }
    EquiLinear layer(channels);
    assign_parameters(layer, golden.weights, name);
    expect_golden(golden, layer(golden.input()));
  }
}

TEST(GatrGolden, NormAlsoBelowTheLeast) {
  const Golden golden("norm");
  expect_golden(golden, normalised(golden.input()));
}

TEST(GatrGolden, GatedNonlinearities) {
  for (const auto& [name, law] : {std::pair{"gate_gelu", MultivectorGate::gelu},
                                  {"gate_relu", MultivectorGate::relu},
                                  {"gate_sigmoid", MultivectorGate::sigmoid}}) {
    const Golden golden(name);
    expect_golden(golden, gated(golden.input(), law));
  }
}

TEST(GatrGolden, Bilinear) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const Golden golden("bilinear");
  Bilinear layer({4, 8, 6, 2});
  assign_parameters(layer, golden.weights, golden.name);
  expect_golden(golden, layer(golden.input(), golden.numbers.at("reference").select(1, 14)));
}

void expect_attention(const std::string& name, const Options& options) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const Golden golden(name);
  SelfAttention layer(options);
  assign_parameters(layer, golden.weights, name);
  const Points points = nodes_of({5, 5}, {2, 3, 2, 3});
  const Scene scene = scene_of(points, golden.input(), options);
  expect_golden(golden, layer(golden.input(), scene));
}

TEST(GatrGolden, Attention) {
  Options o = golden_options();
  expect_attention("attention", o);
  o.attention = AttentionScope::hierarchical;
  expect_attention("attention_hierarchical", o);
  o.attention = AttentionScope::global;
  o.rotary = 4096;
  expect_attention("attention_rotary", o);
  o.rotary.reset();
  o.multi_query = false;
  expect_attention("attention_heads", o);
}

TEST(GatrGolden, Block) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const Golden golden("block");
  const Options options = golden_options();
  Block block(options);
  assign_parameters(block, golden.weights, golden.name);
  const Points points = nodes_of({5, 5});
  Scene scene = scene_of(points, golden.input(), options);
  scene.reference = spread(golden.numbers.at("reference").select(1, 14), points.graphs);
  expect_golden(golden, block(golden.input(), scene));
}

void expect_net(const std::string& name, const Options& options, Points points,
                const Interface& interface = golden_interface()) {
  SCOPED_TRACE(name);
  const BuildOn float64(at::kCPU, at::kDouble);
  const Golden golden(name);
  Gatr net(options, interface);
  import_weights(net, golden.weights, name);
  net.train(false);
  points.multivectors = points.multivectors.defined()
                            ? at::cat({golden.multivectors(), points.multivectors}, 1)
                            : golden.multivectors();
  points.scalars = golden.scalars();
  const Named out = net(points);
  expect_close("multivectors", out.at("moved"), golden.multivectors("out_multivectors"));
  expect_close("scalars", out.contains("counted") ? out.at("counted") : Tensor(),
               golden.scalars("out_scalars"));
  if (golden.gradients.empty()) {
    return;
  }
  (out.at("moved").square().sum() + out.at("counted").square().sum()).backward();
  ASSERT_EQ(golden.gradients.size(), net.parameters().size());
  double largest = 0;
  for (const auto& [weight, g] : golden.gradients) {
    largest = std::max(largest, g.abs().max().item<double>());
  }
  for (const Parameter& p : net.parameters()) {  // some are zero: a bias of keys changes no softmax
    const Tensor& theirs = golden.gradients.at(p.name);
    ASSERT_TRUE(p.tensor.grad().defined() && p.tensor.grad().sizes() == theirs.sizes()) << p.name;
    EXPECT_LT((p.tensor.grad() - theirs).abs().max().item<double>(), 1e-11 * largest) << p.name;
  }
}

TEST(GatrGolden, NetAndItsGradients) {
  expect_net("net", golden_options(), nodes_of({5, 5}));
}

TEST(GatrGolden, NetsOfEveryOption) {
  Options o = golden_options();
  o.multi_query = false;
  expect_net("net_heads", o, nodes_of({5, 5}));
  o.reinsert_multivectors = {0};
  o.reinsert_scalars = {2, 0};
  expect_net("net_again_heads", o, nodes_of({5, 5}));
  o = golden_options();
  o.reinsert_multivectors = {2, 0};
  o.reinsert_scalars = {1};
  expect_net("net_again", o, nodes_of({5, 5}));
  o = golden_options();
  o.rotary = 4096;
  expect_net("net_rotary", o, nodes_of({5, 5}));
  o = golden_options();
  o.reference = Reference::canonical;
  expect_net("net_canonical", o, nodes_of({5, 5}));
  o = golden_options();
  o.dropout = 0.1;  // the file's layers are numbered otherwise; in evaluation nothing is dropped
  expect_net("net_dropout", o, nodes_of({5, 5}));
}

TEST(GatrGolden, AxialNet) {
  Options o = golden_options();
  o.blocks = 3;
  o.axial = true;
  o.rotary = 4096;
  const Points rows = nodes_of({12, 12}, {4, 4, 4, 4, 4, 4});
  expect_net("net_axial", o, rows);
  o.blocks = 2;
  o.rotary_axes = RotaryAxes::across;
  expect_net("net_axial_first", o, rows);
  o.rotary_axes = RotaryAxes::within;
  expect_net("net_axial_second", o, rows);
}

// `in_s_channels=None`, as in the example of their README: the first map has a bias of its own.
TEST(GatrGolden, NetsWithoutScalarsIn) {
  Options o = golden_options();
  o.blocks = 1;
  Interface alone = golden_interface();
  alone.features.pop_back();
  o.multi_query = false;
  expect_net("net_to_scalars", o, nodes_of({5, 5}), alone);
  o.multi_query = true;
  alone.outputs.pop_back();
  expect_net("net_alone", o, nodes_of({5, 5}), alone);
  // A model that reads scalars has weights that such a file lacks.
  const BuildOn float64(at::kCPU, at::kDouble);
  Interface other = golden_interface();
  other.outputs.pop_back();
  Gatr net(o, other);
  EXPECT_THROW(import_weights(net, Golden("net_alone").weights, "w"), DataError);
}

TEST(GatrGolden, ReferencesOfScenesAndOfNodes) {
  Options o = golden_options();
  o.blocks = 1;
  o.reference = Reference::given;
  Interface interface = golden_interface();
  interface.features.push_back({.name = "reference", .level = Level::graph, .kind = Kind::multivector});
  Points points = nodes_of({5, 5});
  points.of_graphs["reference"] = Golden("net_reference").numbers.at("reference").reshape({2, 1, 16});
  expect_net("net_reference", o, points, interface);
  interface.features.back().level = Level::node;
  points = nodes_of({5, 5});
  points.multivectors = Golden("net_references").numbers.at("reference").reshape({10, 1, 16});
  expect_net("net_references", o, points, interface);
  const BuildOn float64(at::kCPU, at::kDouble);
  EXPECT_THROW(Gatr(o, golden_interface()), ConfigError);  // no feature of that name
}

TEST(GatrGolden, WeightsOfAnotherAttentionAreRefusedByTheOption) {
  const BuildOn float64(at::kCPU, at::kDouble);
  Options heads = golden_options();
  heads.multi_query = false;
  for (const auto& [name, options] : {std::pair{"net", heads}, {"net_heads", golden_options()}}) {
    Gatr net(options, golden_interface());
    try {
      import_weights(net, Golden(name).weights, "w");
      FAIL() << name;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("model.gatr.multi_query"), std::string::npos) << error.what();
    }
  }
}

}  // namespace golden_test
}  // namespace weyl::gatr

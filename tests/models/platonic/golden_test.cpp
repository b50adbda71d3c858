// The numbers of the Platonic fact sheet, section 8, items 2 to 7 and 9, and section 3's pooling table.
#include <torch/csrc/autograd/autograd.h>

#include "tests/golden.h"
#include "tests/models/rules.h"
#include "weyl/models/platonic/embedding.h"
#include "weyl/models/platonic/platonic.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/rotary_attention.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/frames/group_linear.h"

namespace weyl::platonic {
namespace golden_test {

using golden::expect_digest;
using golden::expect_first;
using golden::expect_numbers;

GroupTablesPtr tables(const char* group) {
  return std::make_shared<GroupTables>(named_group(group));
}

std::vector<bool> none(int64_t n) {
  return std::vector<bool>(n, false);
}

constexpr LinearForm forms[] = {LinearForm::dense, LinearForm::spectral};

struct LinearCase {
  const char* group;
  int64_t in, out;
  double sum, absolute;
  std::vector<double> first;
};

TEST(PlatonicGolden, GroupLinear) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const auto& c : std::vector<LinearCase>{
           {"tetrahedron", 2, 3, 21.4940426736, 89.0085577736, {.4420548951, -.5952810869, -1.2065934331}},
           {"octahedron", 2, 1, 14.3661275333, 58.9889363385, {2.7189811859}},
           {"icosahedron", 1, 1, 39.4239756436, 124.3697333676, {1.1894117982}}}) {
    const auto group = tables(c.group);
    const int64_t order = group->group().order();
    for (const LinearForm form : forms) {
      GroupLinear linear(group, order * c.in, order * c.out, form);
      apply_weight_rule(linear, 0.3);
      for (const bool training : {true, false}) {
        linear.train(training);
        expect_digest(c.group, linear(sine({2, order * c.in})), c.sum, c.absolute, c.first, 1e-9);
      }
    }
  }
}

TEST(PlatonicGolden, DenseMatrixIsIndexedByInInverseOut) {
  const BuildOn float64(at::kCPU, at::kDouble);
  GroupLinear tetra(tables("tetrahedron"), 24, 36);
  apply_weight_rule(tetra, 0.3);
  const Tensor dense =
      expand_group_kernel(tetra.parameters()[0].tensor, GroupTables(named_group("tetrahedron")));
  expect_first("tetrahedron W[0, :6]", dense,
               {.1084846296, .2022863735, .1572133025, .0541788804, -.2985719477, -.2677943038}, 1e-9);
  GroupLinear cyclic(tables("cyclic_4"), 4, 4);
  apply_weight_rule(cyclic, 0.3);
  expect_first("cyclic_4 W row 0",
               expand_group_kernel(cyclic.parameters()[0].tensor, GroupTables(named_group("cyclic_4"))),
               {.1084846296, .2987642534, .2687096057, .2022863735}, 1e-9);
  expect_first("cyclic_4 y", cyclic(sine({2, 4})), {.957993475, .8791056627, .8601503842, .9621980009}, 1e-9);
}

TEST(PlatonicGolden, Lift) {
  const Tensor lifted = lift(sine({2, 1}), sine({2, 2, 3}, 0.5), none(1), none(2), *tables("tetrahedron"));
  ASSERT_EQ(lifted.sizes(), at::IntArrayRef({2, 84}));
  expect_digest("lifted", lifted, 19.5560090067, 117.2012537112, {}, 1e-9);
  expect_numbers(
      "node 0, frame 4", lifted[0].view({12, 7})[4],
      {.6442176872, .9463000877, .5155013718, .932039086, -.7568024953, -.9999232576, -.1577456941}, 1e-9);
}

TEST(PlatonicGolden, Readout) {
  const Tensor x = sine({2, 96}, 0.2).view({2, 12, 8});
  const auto group = tables("tetrahedron");
  expect_numbers("scalars", frame_scalars(x.narrow(2, 0, 2).reshape({2, 24}), none(2), *group),
                 {.0570154127, .1694096256, -.2030635108, -.1631921325}, 1e-9);
  const Tensor vectors = frame_vectors(x.narrow(2, 2, 6).reshape({2, 72}), none(2), *group);
  expect_first("first vector", vectors, {.2067321498, -.2424280252, -.0833123607}, 1e-9);
}

TEST(PlatonicGolden, SpiralFrequencies) {
  expect_first("space", spiral_frequencies(2, 4, 3, 1.5),
               {-.08988317, .28125, .23118055, .65122968, .1875, -.32131568, -1.04586291, -.28125, -.30445725,
                .51510590, -1.125, .84796274},
               1e-5);
  expect_first("plane", spiral_frequencies(2, 4, 2, 16),
               {8, 0, -8.34237576, 7.64230108, 1.21140385, -13.80335045, 9.73502827, 12.69760704}, 1e-4);
}

TEST(PlatonicGolden, Rope) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const auto group = tables("tetrahedron");
  const FrameRope rope({.sigma = 1.5}, 2, 4, 3);
  const RotaryTable table = rotary_table(rope.angles(sine({2, 3}, 0.9, 1.3), *group));
  const Tensor x = sine({2, 12, 2, 8}).view({2, 24, 8});
  const Tensor rotated = rotate_pairs(x, table);
  expect_digest("rotated", rotated, 4.5766251061, 234.3443297158, {}, 1e-5);
  expect_first("node 1, frame 5, head 1", rotated[1].view({12, 2, 8})[5][1],
               {1.019087968, .3012732381, -.3116735814, -.7269798717}, 1e-6);
  EXPECT_LT((rotate_pairs(rotated, table, true) - x).abs().max().item<double>(), 1e-15);
}

TEST(PlatonicGolden, Ape) {
  const BuildOn float64(at::kCPU, at::kDouble);
  FrameApe ape(ApeOptions{}, 4, 3);
  {
    const at::NoGradGuard quiet;
    ape.parameters()[0].tensor.copy_(sine({3, 2}, 0.1));
  }
  const Tensor e = ape(sine({2, 3}, 0.9, 1.3), *tables("tetrahedron"));
  expect_digest("ape", e, 31.5768165368, 60.1039583756, {}, 1e-9);
  expect_numbers("node 1, frame 4", e[1].view({12, 4})[4],
                 {.3045669344, .3418017791, .9524909356, .9397720701}, 1e-9);
}

/// The spiral in space as the authors compute it, in float32, promoted to float64.
Tensor spiral_in_float32(int64_t heads, int64_t pairs, double sigma) {
  const auto f32 = at::TensorOptions(at::kFloat);
  const double pi = std::acos(-1.0), golden = (1 + std::sqrt(5.0)) / 2;
  const Tensor index = at::arange(0, pairs, f32) + 0.5;
  const Tensor magnitude = at::linspace(sigma / static_cast<double>(pairs), sigma, pairs, f32);
  const Tensor phase = at::linspace(0, 2 * pi, heads + 1, f32).narrow(0, 0, heads).unsqueeze(1);
  const Tensor y = (1 - 2 * index / pairs).unsqueeze(0), radius = at::sqrt(1 - y * y);
  const Tensor theta = (2 * pi * index / golden).unsqueeze(0) + phase;
  const Tensor direction =
      at::stack({radius * at::cos(theta), y.expand({heads, pairs}), radius * at::sin(theta)}, -1);
  return (direction * magnitude.view({1, -1, 1})).to(at::kDouble);
}

void use_float32_spiral(const Module& module, double sigma) {
  const at::NoGradGuard quiet;
  for (const auto& p : module.parameters()) {
    if (p.name.ends_with("freqs")) {
      p.tensor.copy_(spiral_in_float32(p.tensor.size(0), p.tensor.size(1), sigma));
    }
  }
}

struct AttentionCase {
  const char* name;
  AttentionLaw law;
  LinearNorm norm;
  bool rope_on_values, use_key;
  double sum, absolute;
  std::vector<double> first;
};

TEST(PlatonicGolden, Attention) {
  const BuildOn float64(at::kCPU, at::kDouble);
  using enum AttentionLaw;
  using enum LinearNorm;
  for (const auto& c : std::vector<AttentionCase>{{"softmax",
                                                   softmax,
                                                   typical,
                                                   false,
                                                   false,
                                                   35.8279274567,
                                                   202.3524922244,
                                                   {.7836691486, .2275235581}},
                                                  {"rope on values",
                                                   softmax,
                                                   typical,
                                                   true,
                                                   false,
                                                   39.0493553171,
                                                   329.3562955883,
                                                   {-1.0283541723, 2.3979586673}},
                                                  {"use key",
                                                   softmax,
                                                   typical,
                                                   false,
                                                   true,
                                                   19.7612867178,
                                                   273.2292610962,
                                                   {1.0493312736, -1.5901183111}},
                                                  {"linear",
                                                   linear,
                                                   typical,
                                                   false,
                                                   false,
                                                   32.8116107127,
                                                   626.6014706956,
                                                   {1.4101929664, -.9582390014}},
                                                  {"linear mean",
                                                   linear,
                                                   mean,
                                                   false,
                                                   false,
                                                   33.8490748261,
                                                   620.2873632719,
                                                   {1.1794960895, -.7764779183}},
                                                  {"linear, rope on values",
                                                   linear,
                                                   typical,
                                                   true,
                                                   false,
                                                   51.2641955876,
                                                   1240.1105309053,
                                                   {-7.4690017027, 4.093549605}}}) {
    Options o;
    o.width = 48;
    o.heads = 12;
    o.rope = RopeOptions{.sigma = 1.5};
    o.attention = c.law;
    o.linear_norm = c.norm;
    o.rope_on_values = c.rope_on_values;
    o.use_key = c.use_key;
    for (const LinearForm form : forms) {
      o.linear = form;
      FrameAttention attention(o, tables("tetrahedron"));
      apply_weight_rule(attention, 0.3);
      use_float32_spiral(attention, 1.5);
      const auto graphs = three_and_two();
      const auto run = [&] { return attention(sine({5, 48}), {five_positions(), graphs, 2.5}); };
      const Tensor y = run();
      expect_digest(c.name, y, c.sum, c.absolute, c.first, 1e-6);
      // The authors' ragged layout: all ordered pairs, scattered. (The padded one: ops/attention_test.)
      const UseReferences by_pairs;
      EXPECT_LT((run() - y).abs().max().item<double>(), 1e-13 * c.absolute) << c.name << ", by pairs";
    }
  }
}

/// The model of item 7: 3 scalars and a vector in, 2 graph scalars and a node vector out.
Interface interface_of_item_7() {
  Interface i;
  i.typical_nodes = 2.5;
  i.features = {{"s", Level::node, Kind::scalar, 3}, {"v", Level::node, Kind::vector, 1}};
  i.outputs = {{"scalars", Level::graph, Kind::scalar, 2}, {"vector", Level::node, Kind::vector, 1}};
  return i;
}

Options options_of_item_7(const char* group) {
  Options o;
  o.group = group;
  const int64_t order = named_group(group)->order();
  o.width = 4 * order;
  o.heads = order;
  o.blocks = 2;
  o.rope = RopeOptions{.sigma = 1.5};
  o.pooling = FramePooling::authors_sum;
  o.centre = false;
  return o;
}

Points points_of_item_7() {
  Points p;
  p.positions = five_positions();
  p.scalars = sine({5, 3});
  p.vectors = sine({5, 1, 3}, 0.4);
  p.graphs = three_and_two();
  return p;
}

struct ModelCase {
  std::string name;
  Options options;
  std::vector<double> scalars, vector;
};

std::vector<ModelCase> model_cases() {
  std::vector<ModelCase> cases;
  const auto add = [&](std::string name, Options options, std::vector<double> s, std::vector<double> v) {
    cases.push_back({std::move(name), std::move(options), std::move(s), std::move(v)});
  };
  const Options plain = options_of_item_7("tetrahedron");
  Options o = plain;
  add("tetrahedron", o, {-.0046311805, -.1242358752, .0102258914, -.1139062326},
      {.0298484114, .0406198314, .0232584491});
  o.pooling = FramePooling::sum;
  add("sum divided once", o, {-.0707330528, -.2159945929, -.035075216, -.1590814062},
      {.0298484114, .0406198314, .0232584491});
  o = plain;
  o.pooling = FramePooling::authors_mean;
  add("mean divided twice", o, {.0029262582, -.1183553594, .0026118145, -.1189746441},
      {.0298484114, .0406198314, .0232584491});
  o = plain;
  o.ffn_readout = false;
  add("no hidden layer", o, {.1642312226, .2681766991, .1643600946, .2438184053},
      {.0529135403, .0529713838, .0146020972});
  o = plain;
  o.attention = AttentionLaw::linear;
  add("linear", o, {.0071570071, -.1223138868, .020440699, -.1159326438},
      {.0341617853, .0459237994, .019795784});
  o = plain;
  o.layer_scale = 0.1;
  o.norm = FrameNorm::rms;
  o.activation = Activation::silu;
  add("layer scale, rms, silu", o, {.0340237302, -.1046869371, .0359999313, -.1048126405},
      {.0210865434, .0237630369, .0104896542});
  o = options_of_item_7("octahedron");
  o.rope_on_values = true;
  add("octahedron, rope on values", o, {.1708383827, -.0939144576, .1360683731, -.0760157376},
      {.0298110604, .0386441301, .0249938196});
  add("octahedron_reflections", options_of_item_7("octahedron_reflections"),
      {-.0001922891, -.0841996412, .0056963674, -.0845500092}, {.0033718748, .002823639, -.0040627929});
  o = options_of_item_7("icosahedron");
  add("icosahedron", o, {.1103313756, -.0784321217, .0909295408, -.0639006946},
      {-.00537747, -.0465517617, -.0028406103});
  o.authors_tables = true;
  add("icosahedron, rounded tables", o, {.1103313756, -.0784321217, .0909295408, -.0639006946},
      {-.00537747, -.0465517617, -.0028406103});
  return cases;
}

TEST(PlatonicGolden, WholeModels) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const auto& c : model_cases()) {
    for (const LinearForm form : forms) {
      Options options = c.options;
      options.linear = form;
      Platonic model(options, interface_of_item_7());
      apply_weight_rule(model, 0.2);
      for (const bool training : {true, false}) {
        model.train(training);
        const Named out = model(points_of_item_7());
        expect_numbers(c.name + ", scalars", out.at("scalars"), c.scalars, 1e-6);
        expect_first(c.name + ", vector", out.at("vector"), c.vector, 1e-6);
      }
    }
  }
}

TEST(PlatonicGolden, Pooling) {
  const auto graphs = three_and_two();
  const Tensor x = sine({5, 2});
  expect_numbers("sum", pool_nodes(x, graphs, Pooling::sum, 2.5),
                 {.4626575305, .1795448431, -.3862554849, .0102879843}, 1e-9);
  expect_numbers("sum twice", pool_nodes(x, graphs, Pooling::sum, 2.5) / 2.5,
                 {.1850630122, .0718179372, -.1545021939, .0041151937}, 1e-9);
  expect_numbers("mean", pool_nodes(x, graphs, Pooling::mean, 2.5),
                 {.3855479421, .1496207026, -.4828193561, .0128599804}, 1e-9);
  expect_numbers("mean twice", pool_nodes(x, graphs, Pooling::mean, 2.5) / 2.5,
                 {.1542191768, .059848281, -.1931277424, .0051439922}, 1e-9);
}

TEST(PlatonicGolden, ForceOfItem9) {
  const BuildOn float64(at::kCPU, at::kDouble);
  Interface interface = interface_of_item_7();
  interface.typical_nodes = 1;
  Platonic model(options_of_item_7("tetrahedron"), interface);
  apply_weight_rule(model, 0.2);
  for (const bool training : {true, false}) {
    model.train(training);
    Points points = points_of_item_7();
    points.positions.requires_grad_(true);
    const Tensor energy = model(points).at("scalars").sum();
    const Tensor force = -torch::autograd::grad({energy}, {points.positions})[0];
    expect_first("force on node 0", force, {-.000939495, .0021629976, .0030741193}, 1e-6);
    EXPECT_LT(force.narrow(0, 0, 3).sum(0).abs().max().item<double>(), 1e-12);
    EXPECT_LT(force.narrow(0, 3, 2).sum(0).abs().max().item<double>(), 1e-12);
    // Finite differences as the sheet asks: h = 1e-5, relative 1e-6.
    const at::NoGradGuard quiet;
    const double h = 1e-5, size = force.abs().max().item<double>();
    for (int64_t k = 0; k < force.numel(); ++k) {
      const auto energy_at = [&](double shift) {
        points.positions = five_positions();
        points.positions.view({-1})[k] += shift;
        return model(points).at("scalars").sum().item<double>();
      };
      EXPECT_NEAR(force.reshape({-1})[k].item<double>(), -(energy_at(h) - energy_at(-h)) / (2 * h),
                  1e-6 * size)
          << k;
    }
  }
}

}  // namespace golden_test
}  // namespace weyl::platonic

// Every weight of every system and preset has a gradient that is not zero: nothing is there that no output reads, and
// nothing is read in vain (added where a softmax or a norm takes it away again, multiplied by what is always zero).
// Exceptions are written down, each with its reason, and must be exact.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/gradients.h"
#include "tests/models/geomformer/fixtures.h"
#include "tests/models/lie/models.h"
#include "tests/models/points_fixtures.h"
#include "tests/models/steerable/nets.h"
#include "weyl/models/gatr/gatr.h"
#include "weyl/models/grids/cnn.h"
#include "weyl/models/grids/unet.h"
#include "weyl/models/platonic/platonic.h"
#include "weyl/models/transformer/transformer.h"

namespace weyl {
namespace every_weight_test {

/// The ends of names of weights with which no output can change, or whole names, and why.
struct Exception {
  const char* ends;
  const char* why;
  bool whole = false;
  bool names(const std::string& weight) const { return whole ? weight == ends : weight.ends_with(ends); }
};
using Exceptions = std::vector<Exception>;

/// Relative to the largest gradient. Two guards against division by zero leave more than rounding: that of softmax
/// within a cut-off (1e-12 added to the sum of weights) and that of the steerable norms (1e-5 beside lengths).
constexpr double zero = 1e-10, not_zero = 1e-8;

constexpr const char* shift = "it adds the same to all scores of a node, which no softmax sees";

/// Weights far from where training starts, none of them zero.
void draw(Model& model) {
  at::manual_seed(11);
  const at::NoGradGuard quiet;
  for (const Parameter& p : model.parameters()) {
    if (p.trainable) {
      p.tensor.add_(at::randn_like(p.tensor) * 0.2);
    }
  }
  model.train(true);  // in evaluation mode weights are constants
}

/// d(sum of all numbers that the model gives, each by a factor of its own) by every weight, relative to the largest.
void expect_all_read(Model& model, const Input& input, const Exceptions& exceptions = {}) {
  draw(model);
  Tensor sum = at::zeros({}, at::kDouble);
  for (const auto& [name, y] : model(input)) {
    sum = sum + (y * gradients_detail::weights_like(y)).sum();
  }
  std::vector<Tensor> weights;
  std::vector<std::string> names;
  for (const Parameter& p : model.parameters()) {
    if (p.trainable) {
      weights.push_back(p.tensor);
      names.push_back(p.name);
    }
  }
  const auto gradients = torch::autograd::grad({sum}, weights, {}, {}, false, /*allow_unused=*/true);
  std::vector<double> sizes;
  for (const Tensor& g : gradients) {
    sizes.push_back(g.defined() && g.numel() > 0 ? g.abs().max().item<double>() : 0);
  }
  const double largest = *std::ranges::max_element(sizes);
  std::vector<bool> met(exceptions.size(), false);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto exception =
        std::ranges::find_if(exceptions, [&](const Exception& e) { return e.names(names[i]); });
    if (exception == exceptions.end()) {
      EXPECT_GT(sizes[i], not_zero * largest) << names[i];
    } else {
      EXPECT_LT(sizes[i], zero * largest) << names[i] << ", though " << exception->why;
      met[static_cast<size_t>(exception - exceptions.begin())] = true;
    }
  }
  for (size_t e = 0; e < met.size(); ++e) {
    EXPECT_TRUE(met[e]) << exceptions[e].ends << ": no weight has this name any more";
  }
}

TEST(EveryWeightIsRead, Platonic) {
  using namespace platonic;
  const BuildOn float64(at::kCPU, at::kDouble);
  const Input input = random_points({4, 5}, 3).input;
  const auto expect = [&](const char* name, auto change, Exceptions exceptions = {}) {
    SCOPED_TRACE(name);
    platonic::Options o;
    o.width = 48;
    o.heads = 12;
    o.blocks = 2;
    o.ffn_factor = 2;
    change(o);
    // A bias is the same in all frames, so it gives the mean of R_g b: a vector that the group leaves as it is, and the
    // tetrahedral group leaves none.
    const char* turned = "the mean of a vector over all frames is zero";
    exceptions.push_back({o.ffn_readout ? "vector_readout.2.bias" : "vector_readout.bias", turned});
    exceptions.push_back({o.ffn_readout ? "vector_readout_node.2.bias" : "vector_readout_node.bias", turned});
    Platonic model(o, interface_of_all_kinds(3));
    expect_all_read(model, input, exceptions);
  };
  expect("default", [](auto&) {});
  expect("position", [](auto& o) { o.position_vector = PositionVector::on; });
  expect("keys",
         [](auto& o) { o.use_key = true; });  // rotated after their bias, which is not the same for all then
  expect("values rotated", [](auto& o) { o.rope_on_values = true; });
  expect("linear", [](auto& o) { o.attention = AttentionLaw::linear; });
  expect("linear, mean",
         [](auto& o) { o.attention = AttentionLaw::linear, o.linear_norm = LinearNorm::mean; });
  expect("invariant scores", [](auto& o) { o.scores = Scores::invariant; });
  expect("ape", [](auto& o) { o.ape = ApeOptions{}; });
  expect("no rope", [](auto& o) { o.rope.reset(), o.ape = ApeOptions{}; },
         {{"interaction.k_proj.bias", shift}});
  expect("rms, layer scale", [](auto& o) { o.norm = FrameNorm::rms, o.layer_scale = 0.5; });
  expect("linear readouts", [](auto& o) { o.ffn_readout = false; });
  // With one frame a bias is a vector like any other.
  SCOPED_TRACE("trivial");
  platonic::Options o;
  o.group = "trivial";
  o.width = 16;
  o.heads = 4;
  o.blocks = 2;
  Platonic model(o, interface_of_all_kinds(3));
  expect_all_read(model, input);
}

TEST(EveryWeightIsRead, Transformer) {
  using namespace transformer;
  const BuildOn float64(at::kCPU, at::kDouble);
  const Input input = random_points({4, 5}, 3).input;
  const auto expect = [&](const char* name, auto change, const Exceptions& exceptions = {}) {
    SCOPED_TRACE(name);
    transformer::Options o;
    o.width = 16;
    o.heads = 2;
    o.blocks = 2;
    change(o);
    Transformer model(o, interface_of_all_kinds(3));
    expect_all_read(model, input, exceptions);
  };
  expect("default", [](auto&) {});  // whose keys share one tensor with queries and values
  expect("fourier", [](auto& o) { o.fourier = FourierOptions{}; });
  expect("multi-query", [](auto& o) { o.multi_query = true; }, {{"qkv_linear.k_linear.bias", shift}});
}

TEST(EveryWeightIsRead, Gatr) {
  using namespace gatr;
  const BuildOn float64(at::kCPU, at::kDouble);
  Points points = std::get<Points>(random_points({4, 5}, 3).input);
  points.objects = Segments::of_sizes(std::vector<int64_t>{2, 2, 3, 2});
  const auto expect = [&](const char* name, auto change, const Exceptions& exceptions) {
    SCOPED_TRACE(name);
    gatr::Options o;
    o.width = 4;
    o.scalars = 6;
    o.heads = 2;
    o.blocks = 2;
    change(o);
    Gatr model(o, interface_of_all_kinds(3));
    expect_all_read(model, points, exceptions);
  };
  // Scalar parts of keys, and scalars that are not rotated, meet the same number of a query whatever the node.
  // Scalar outputs are auxiliary scalars: nothing reads the scalar parts of the multivectors beside them.
  const char* unread = "no output is the scalar part of a multivector";
  const Exceptions outputs{{"linear_out.s2mvs.weight", unread, true},
                           {"linear_out.s2mvs.bias", unread, true},
                           {"linear_in.mvs2s.weight", "no multivector that comes in has a scalar part"}};
  Exceptions shared = outputs;
  shared.push_back({"k_linear.s2mvs.bias", shift});
  Exceptions rotated = shared;
  shared.push_back({"k_linear.mvs2s.bias", shift});
  expect("default", [](auto&) {}, shared);
  expect("hierarchical", [](auto& o) { o.attention = AttentionScope::hierarchical; }, shared);
  expect("axial", [](auto& o) { o.axial = true; }, shared);
  expect("rotary", [](auto& o) { o.rotary = 100; }, rotated);
  expect(
      "inserted again", [](auto& o) { o.reinsert_multivectors = {0, 2}, o.reinsert_scalars = {1}; }, shared);
  expect("canonical", [](auto& o) { o.reference = gatr::Reference::canonical; }, shared);
  expect(
      "multi-head", [](auto& o) { o.multi_query = false; },
      outputs);  // keys share one tensor with the others
  const char* nought = "the one scalar that comes in is zero";
  const Exceptions without_scalars{{"k_linear.s2mvs.bias", shift},
                                   {"k_linear.mvs2s.bias", shift},
                                   {"linear_in.s2mvs.weight", nought},
                                   {"linear_in.s2s.weight", nought}};
  expect("scalars in multivectors", [](auto& o) { o.scalars_as = ScalarsAs::multivector; }, without_scalars);
}

/// `energies`: of the model with energies alone and no vector features.
Exceptions exceptions_of(const geomformer::Options& o, bool energies) {
  using namespace geomformer;
  Exceptions found;
  if (o.interaction == Interaction::attention && o.normaliser == Normaliser::constant) {
    // Queries and keys stand in one tensor with values; what scores alone read does nothing.
    const char* unweighed = "the weights of attention are constant, whatever the scores";
    for (const char* name :
         {"geometry.gaussian.means.weight", "geometry.gaussian.stds.weight", "geometry.gaussian.mul.weight",
          "geometry.gaussian.bias.weight", "bias.mlp.0.weight", "bias.mlp.0.bias", "bias.mlp.2.weight",
          "bias.mlp.2.bias"}) {
      found.push_back({name, unweighed});
    }
  } else if (o.normaliser == Normaliser::softmax || o.normaliser == Normaliser::count) {
    if (o.bias == BiasScope::module) {
      for (const char* name : {"bias_inv_self.mlp.2.bias", "bias_inv_cross.mlp.2.bias",
                               "bias_equ_self.mlp.2.bias", "bias_equ_cross.mlp.2.bias"}) {
        found.push_back({name, shift});
      }
    } else if (o.bias != BiasScope::none) {
      found.push_back({"bias.mlp.2.bias", shift});
    }
  }
  if (o.head == Head::gated) {
    const char* published =
        "the last block of a gated head has a map of vectors for numbers too, as published";
    found.push_back({"head.energy.1.vec2_proj.weight", published});
    if (!energies) {
      found.push_back({"head.gap.1.vec2_proj.weight", published});
      found.push_back({"head.charges.1.vec2_proj.weight", published});
    }
  }
  if (o.input == VectorInput::zero && energies) {
    const char* nought = "the vectors of the first layer are zero, and it is linear in them";
    if (messages_of(o).own_products) {
      found.push_back({"layers.0.messages.vec_proj.weight", nought});
    }
    if (o.norm != VectorNormLaw::none) {
      found.push_back({"layers.0.equ_norm.weight", nought});
    }
  }
  return found;
}

TEST(EveryWeightIsRead, Geomformer) {
  using namespace geomformer;
  const Batch featured = featured_batch({5, 4});
  const Points bare = points_at(random_positions(10), {6, 4});
  for (const auto& [name, options] : geomformer_variants()) {
    SCOPED_TRACE(name);
    expect_all_read(*built(options, featured_interface()), featured.input, exceptions_of(options, false));
    SCOPED_TRACE("energies alone");
    expect_all_read(*built(options, molecules_interface()), bare, exceptions_of(options, true));
  }
  for (const auto& [name, options] : tower_variants()) {
    SCOPED_TRACE(name);
    expect_all_read(*built(options, featured_interface()), featured.input, exceptions_of(options, false));
  }
}

TEST(EveryWeightIsRead, Lie) {
  for (const LieGroup group :
       {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3, LieGroup::aff2, LieGroup::aff3}) {
    for (const auto variant : {lie::Variant::G, lie::Variant::C, lie::Variant::A}) {
      for (const bool moves : {false, true}) {
        if (moves && variant == lie::Variant::A) {
          continue;
        }
        SCOPED_TRACE(std::string(name_of(group)) + " " + "GCA"[static_cast<int>(variant)] +
                     (moves ? " moves" : ""));
        lie::Options options = lie::small(variant);
        options.move_tokens = moves;
        Interface interface = lie::interface_of(group);
        interface.features = {{"weight"}};
        const Exceptions exceptions = variant == lie::Variant::C   ? Exceptions{{"score.second.bias", shift}}
                                      : variant == lie::Variant::A ? Exceptions{{"key.bias", shift}}
                                                                   : Exceptions{};
        const Input input = random_tokens(schema_of(interface), 2, 5, 3).input;
        expect_all_read(*lie::make(options, interface), input, exceptions);
      }
    }
  }
}

TEST(EveryWeightIsRead, PlainNetsOnGrids) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const int64_t dimension : {2, 3}) {
    std::vector<int64_t> shape{2, dimension == 2 ? 3 : 2};
    shape.insert(shape.end(), static_cast<size_t>(dimension), 8);
    const Grid grid = steerable::random_grid(shape, at::kDouble);
    for (const auto norm : {grids::NormLaw::instance, grids::NormLaw::batch}) {
      grids::Cnn cnn({.base = 2, .norm = norm}, steerable::images(dimension, Level::graph));
      expect_all_read(cnn, grid);
    }
    for (const bool residual : {false, true}) {
      grids::UnetOptions options{.base = 2, .residual = residual, .deep_supervision = true};
      options.stages.back().stride = {1};
      grids::Unet unet(options, steerable::images(dimension, Level::node));
      expect_all_read(unet, grid);
    }
  }
}

TEST(EveryWeightIsRead, Steerable) {
  for (const steerable::Case& c : steerable::cases()) {
    SCOPED_TRACE(c.name);
    Exceptions exceptions;
    if (std::string(c.name) == "paper volume masks") {
      exceptions = {
          {"decoder.1.activation.bias",
           "the norm after it (irrep) divides each vector by its length, which is all that the activation "
           "changes, but where it is zero"}};
    }
    const BuildOn float64(at::kCPU, at::kDouble);
    at::manual_seed(3);
    steerable::Net net(c.options, steerable::images(c.dimension, c.level));
    expect_all_read(net, steerable::random_grid(c.shape, at::kDouble), exceptions);
  }
}

}  // namespace every_weight_test
}  // namespace weyl

// State dicts of the authors, with their prefixes and buffers, into models of ours.
#include "weyl/train/import.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/models/points_fixtures.h"
#include "weyl/core/check.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"

namespace weyl {
namespace import_test {

Interface scalars_only() {
  Interface i;
  i.features = {{"s", Level::node, Kind::scalar, 3}};
  i.outputs = {{"energy", Level::graph, Kind::scalar, 1}};
  return i;
}

ModelOptions small_platonic() {
  platonic::Options o;
  o.width = 48;
  o.blocks = 1;
  o.ape = platonic::ApeOptions{};
  return {o};
}

/// A state dict as a compiled Lightning module of the authors would write it.
NamedTensors state_dict_of(const Model& model) {
  NamedTensors dict;
  for (const auto& p : model.parameters()) {
    dict["net._orig_mod." + p.name] = p.tensor.detach().clone();
  }
  for (const std::string layer : {"x_embedder.", "layers.0.interaction.q_proj.", "layers.0.linear1."}) {
    dict["net._orig_mod." + layer + "cayley_table"] = at::zeros({12, 12}, at::kLong);
    dict["net._orig_mod." + layer + "inverse_indices"] = at::zeros({12}, at::kLong);
  }
  dict["net._orig_mod.layers.0.interaction.rope_emb.group_elements"] = at::zeros({12, 3, 3});
  dict["net._orig_mod.ape.group_elements"] = at::zeros({12, 3, 3});
  return dict;
}

Points four_points() {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  p.positions = at::randn({4, 3});
  p.scalars = at::randn({4, 3});
  return p;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const DataError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Import, TheAuthorsStateDictGivesTheSameFunction) {
  at::manual_seed(1);
  const auto options = small_platonic();
  const auto source = build(options, scalars_only());
  const auto target = build(options, scalars_only());
  const Points points = four_points();
  target->train(false);
  const Tensor wanted = (*source)(points).at("energy");
  EXPECT_FALSE(at::allclose((*target)(points).at("energy"), wanted));
  import_weights(*target, state_dict_of(*source), "weights.pt");
  EXPECT_TRUE(at::allclose((*target)(points).at("energy"), wanted, 1e-5, 1e-6));
}

TEST(Import, ADeadReadoutIsIgnoredAndALiveOneIsNot) {
  at::manual_seed(2);
  const auto options = small_platonic();
  auto both = *options.system.get_if<platonic::Options>();
  both.both_readouts = true;
  const auto source = build({both}, scalars_only());
  const auto target = build(options, scalars_only());
  auto dict = state_dict_of(*source);
  ASSERT_TRUE(dict.contains("net._orig_mod.vector_readout.2.kernel"));
  import_weights(*target, dict, "weights.pt");
  dict["net._orig_mod.vector_readout.2.kernel"] = at::zeros({12, 3, 4});
  EXPECT_EQ(error_of([&] { import_weights(*target, dict, "weights.pt"); }),
            "weights.pt: tensor 'vector_readout.0.bias' is unexpected: the model has none of that name");
}

TEST(Import, NamesTheTensorThatIsWrongAndChangesNothing) {
  at::manual_seed(3);
  const auto options = small_platonic();
  const auto source = build(options, scalars_only());
  const auto target = build(options, scalars_only());
  const auto before = state_dict_of(*target);
  const std::string q = "layers.0.interaction.q_proj.bias", prefixed = "net._orig_mod." + q;
  const auto with = [&](auto change) {
    auto dict = state_dict_of(*source);
    change(dict);
    return error_of([&] { import_weights(*target, dict, "w"); });
  };
  EXPECT_EQ(with([&](auto& d) { d.erase(prefixed); }), "w: tensor '" + q + "' is missing");
  EXPECT_EQ(with([&](auto& d) { d["extra"] = at::zeros({1}); }),
            "w: tensor 'extra' is unexpected: the model has none of that name");
  EXPECT_EQ(with([&](auto& d) { d[prefixed] = at::zeros({5}); }),
            "w: tensor '" + q + "' must have shape [4], got [5]");
  EXPECT_EQ(with([&](auto& d) { d[prefixed] = at::zeros({4}, at::kLong); }),
            "w: tensor '" + q + "' must be of floating point, got Long");
  EXPECT_EQ(with([&](auto& d) { d[prefixed] = at::full({4}, NAN); }),
            "w: tensor '" + q + "' must be finite, and holds infinities or NaN");
  EXPECT_EQ(with([&](auto& d) { d[q] = at::zeros({4}); }),
            "w: tensor '" + prefixed + "' has the same name as another, once prefixes are dropped");
  for (const auto& [name, tensor] : state_dict_of(*target)) {
    EXPECT_TRUE(at::equal(tensor, before.at(name))) << name;
  }
}

TEST(Import, TheBaselinesStateDictHasItsNames) {
  Interface i = scalars_only();
  transformer::Options o{.width = 16, .heads = 4, .blocks = 1, .multi_query = true};
  const auto names = [&](const transformer::Options& options) {
    std::vector<std::string> all;
    for (const auto& p : build({options}, i)->parameters()) {
      if (p.name.ends_with("weight")) {
        all.push_back(p.name.substr(0, p.name.size() - 7));
      }
    }
    return all;
  };
  EXPECT_EQ(names(o),
            (std::vector<std::string>{
                "linear_in", "blocks.0.attention.qkv_linear.q_linear",
                "blocks.0.attention.qkv_linear.k_linear", "blocks.0.attention.qkv_linear.v_linear",
                "blocks.0.attention.out_linear", "blocks.0.mlp.0", "blocks.0.mlp.2", "linear_out"}));
  o.multi_query = false;
  EXPECT_EQ(names(o)[1], "blocks.0.attention.qkv_linear.linear");
}

TEST(Import, PlatonicParametersHaveTheAuthorsNamesAndOrder) {
  auto o = *small_platonic().system.get_if<platonic::Options>();
  o.layer_scale = 0.1;
  o.use_key = true;
  o.both_readouts = true;
  std::vector<std::string> names;
  for (const auto& p : build({o}, scalars_only())->parameters()) {
    names.push_back(p.name);
  }
  const std::string a = "layers.0.", b = a + "interaction.";
  EXPECT_EQ(names, (std::vector<std::string>{"ape.freqs",
                                             "x_embedder.kernel",
                                             a + "gamma_1",
                                             a + "gamma_2",
                                             b + "q_proj.kernel",
                                             b + "q_proj.bias",
                                             b + "v_proj.kernel",
                                             b + "v_proj.bias",
                                             b + "k_proj.kernel",
                                             b + "k_proj.bias",
                                             b + "rope_emb.freqs",
                                             b + "out_proj.kernel",
                                             b + "out_proj.bias",
                                             a + "linear1.kernel",
                                             a + "linear1.bias",
                                             a + "linear2.kernel",
                                             a + "linear2.bias",
                                             a + "norm1.weight",
                                             a + "norm1.bias",
                                             a + "norm2.weight",
                                             a + "norm2.bias",
                                             "scalar_readout.0.kernel",
                                             "scalar_readout.0.bias",
                                             "scalar_readout.2.kernel",
                                             "scalar_readout.2.bias",
                                             "vector_readout.0.kernel",
                                             "vector_readout.0.bias",
                                             "vector_readout.2.kernel",
                                             "vector_readout.2.bias"}));
}

}  // namespace import_test
}  // namespace weyl

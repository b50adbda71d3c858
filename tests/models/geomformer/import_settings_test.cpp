// What files of TorchMD-Net and SchNetPack say beside their weights must be true of the model.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/models/geomformer/fixtures.h"
#include "weyl/core/check.h"
#include "weyl/models/geomformer/import_names.h"

namespace weyl::geomformer {
namespace import_settings_test {

Setting number(double x) {
  return {Setting::Kind::number, x, {}};
}
Setting truth(bool x) {
  return {Setting::Kind::boolean, x ? 1. : 0., {}};
}
Setting word(const std::string& x) {
  return {Setting::Kind::word, 0, x};
}

Interface energies() {
  Interface interface;
  interface.types = 10;
  interface.outputs = {{.name = "energy", .level = Level::graph, .extensive = true}};
  return interface;
}

/// What TorchMD-Net writes of the preset's model.
Settings settings() {
  return {{"model", word("equivariant-transformer")},
          {"embedding_dimension", number(128)},
          {"num_layers", number(6)},
          {"num_heads", number(8)},
          {"num_rbf", number(32)},
          {"rbf_type", word("expnorm")},
          {"activation", word("silu")},
          {"attn_activation", word("silu")},
          {"distance_influence", word("both")},
          {"neighbor_embedding", truth(true)},
          {"vector_cutoff", truth(true)},
          {"cutoff_lower", number(0)},
          {"cutoff_upper", number(5)},
          {"max_z", number(10)},
          {"prior_model", {}},
          {"output_model", word("Scalar")},
          {"reduce_op", word("add")},
          {"dataset", word("MD17")}};
}

std::string refusal(const Options& options, const Interface& interface, const Settings& settings) {
  try {
    require_torchmd_settings(options, interface, settings);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(ForeignSettings, TheFilesOwnModelIsTaken) {
  EXPECT_EQ(refusal(preset_options(Preset::et), energies(), settings()), "");
  EXPECT_EQ(refusal(preset_options(Preset::et), energies(), {}), "");
  Settings other = settings();
  other["activation"] = word("swish");  // another name of SiLU
  other["cutoff_upper"] = number(static_cast<double>(4.9999995f));
  other["prior_model"] = word("None");
  EXPECT_EQ(refusal(preset_options(Preset::et), energies(), other), "");
}

TEST(ForeignSettings, EveryContradictionIsNamedWithBothValues) {
  const std::string config = ", the config's model.geomformer.", preset = ", that of preset et is ";
  const std::tuple<const char*, Setting, std::string> cases[] = {
      {"model", word("tensornet"), "tensornet, that of the config's preset et is equivariant-transformer"},
      {"embedding_dimension", number(256), "256" + config + "width is 128"},
      {"num_layers", number(8), "8" + config + "blocks is 6"},
      {"num_heads", number(4), "4" + config + "heads is 8"},
      {"num_heads", word("8"), "8" + config + "heads is 8"},  // a word is no number
      {"num_rbf", number(64), "64" + config + "kernels is 32"},
      {"rbf_type", word("gauss"),
       "gauss, that of the config's model.geomformer.basis (exp_normal) is expnorm"},
      {"cutoff_lower", number(1), "1" + config + "cutoff.lower is 0"},
      {"cutoff_upper", number(4.5), "4.5" + config + "cutoff.radius is 5"},
      {"vector_cutoff", truth(false), "false" + config + "vector_cutoff is true"},
      {"neighbor_embedding", truth(false), "false" + config + "neighbour_embedding is true"},
      {"max_z", number(100), "100, the number of types of the config's data is 10"},
      {"activation", word("tanh"), "tanh" + preset + "silu"},
      {"attn_activation", word("tanh"), "tanh" + preset + "silu"},
      {"distance_influence", word("keys"), "keys" + preset + "both"},
      {"prior_model", word("ZBL"), "ZBL, what can be imported is none"},
      {"output_model", word("DipoleMoment"), "DipoleMoment, that of the config's output is Scalar"},
      {"reduce_op", word("mean"), "mean, that of the config's output (a sum over atoms) is add"}};
  for (const auto& [key, value, said] : cases) {
    Settings other = settings();
    other[key] = value;
    EXPECT_EQ(refusal(preset_options(Preset::et), energies(), other),
              "hyper_parameters: '" + std::string(key) + "' is " + said);
  }
}

TEST(ForeignSettings, WithoutVectorCutoffTheirOldFilesHaveNone) {
  Settings old = settings();
  old.erase("vector_cutoff");
  Options options = preset_options(Preset::et);
  EXPECT_EQ(refusal(options, energies(), old),
            "hyper_parameters: 'vector_cutoff' is absent, which TorchMD-Net takes for false, the config's "
            "model.geomformer.vector_cutoff is true");
  options.vector_cutoff = false;
  EXPECT_EQ(refusal(options, energies(), old), "");
}

TEST(ForeignSettings, OutputsThatDoNotGrowAreMeans) {
  Interface interface = energies();
  interface.outputs[0].extensive = false;
  Options options = preset_options(Preset::et);
  Settings mean = settings();
  mean["reduce_op"] = word("mean");
  options.pooling = Pooling::mean;
  EXPECT_EQ(refusal(options, interface, mean), "");
  EXPECT_NE(refusal(options, interface, settings()), "");
  options.pooling = Pooling::sum;
  EXPECT_NE(refusal(options, interface, settings()).find("divided by typical_nodes"), std::string::npos);
}

TEST(ForeignSettings, SchNetPacksStoredCutoffMustBeTheConfigs) {
  Options options = preset_options(Preset::painn);
  const auto cutoff = [&](double stored) -> std::string {
    try {
      translated_names(options, energies(),
                       {{"representation.cutoff_fn.cutoff", at::full({1}, stored, at::kFloat)}});
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(cutoff(5), "");
  EXPECT_EQ(
      cutoff(10),
      "tensor 'representation.cutoff_fn.cutoff' is 10, the config's model.geomformer.cutoff.radius is 5");
  options.cutoff->radius = 10;
  EXPECT_EQ(cutoff(10), "");
}

TEST(ForeignSettings, TypesThatNothingTrainedAreKnown) {
  using Types = std::vector<bool>;
  const Interface plain = energies();
  const Tensor table = at::ones({4, 3}, at::kDouble);
  EXPECT_EQ(trained_types(table, plain, {}), Types{});  // nobody knows
  Tensor padded = table.clone();
  padded[0].zero_();
  EXPECT_EQ(trained_types(padded, plain, {}), (Types{false, true, true, true}));
  EXPECT_EQ(trained_types(table, plain, {{}, {false, true, false, true}}), (Types{false, true, false, true}));
  EXPECT_EQ(trained_types(table, plain, {{}, {true, false}}), Types{});  // of another table
  Interface atoms = energies();
  atoms.elements = {"Ne", "H", "He", "Li"};
  EXPECT_EQ(trained_types(table, atoms, {settings(), {}}), (Types{false, true, true, true}));
  EXPECT_EQ(trained_types(table, plain, {settings(), {}}), Types{});  // types that are no elements
  EXPECT_EQ(trained_types(at::zeros({4, 3}), plain, {}), Types{});
}

}  // namespace import_settings_test
}  // namespace weyl::geomformer

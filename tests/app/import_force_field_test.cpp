// Potentials from elsewhere, through the built program: TorchMD-Net's and SchNetPack's state dicts of
// tests/goldens become model files that predict energies and forces, can be measured and audited.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/app/program.h"
#include "weyl/core/json.h"
#include "weyl/core/tensor_file.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/extended_xyz.h"

namespace weyl {
namespace import_force_field_test {

/// A golden as files: its state dict in w.safetensors, its molecules with their labels in frames.xyz, a
/// config for them in c.toml. Types are atomic numbers, so that the one before hydrogen is any other.
struct Golden {
  Golden(const std::string& name, const std::string& model) : folder(scratch(name)) {
    const NamedTensors all =
        load_tensors(std::string(WEYL_SOURCE_DIR) + "/tests/goldens/" + name + ".safetensors");
    for (const auto& [key, tensor] : all) {
      if (key.starts_with("weights.")) {
        weights[key.substr(8)] = tensor;
      }
    }
    energy = all.at("energy").reshape({-1});
    forces = all.at("forces");
    write_weights();
    std::ofstream(folder + "/c.toml") << R"([data]
set = "molecules"
[data.molecules]
path = "frames.xyz"
elements = ["Ne", "H", "He", "Li", "Be", "B", "C", "N", "O", "F"]
[task]
name = "force_field"
[model]
system = "geomformer"
[model.geomformer]
width = 12
blocks = 2
kernels = 6
)" << model;
    const Tensor offsets = all.at("offsets");
    ExtendedXyzWriter out(folder + "/frames.xyz");
    for (int64_t g = 0; g + 1 < offsets.numel(); ++g) {
      const auto begin = offsets[g].item<int64_t>(), end = offsets[g + 1].item<int64_t>();
      const auto rows = [&](const char* key) {
        const Tensor x = all.at(key).slice(0, begin, end).contiguous();
        return std::vector<double>(x.const_data_ptr<double>(), x.const_data_ptr<double>() + x.numel());
      };
      AtomsFrame frame;
      for (int64_t i = begin; i < end; ++i) {
        frame.numbers.push_back(static_cast<int>(all.at("types")[i].item<int64_t>()));
      }
      frame.positions = rows("positions");
      frame.set(AtomColumn{"forces", 3, rows("forces")});
      frame.set("energy", energy[g].item<double>());
      out.write(frame);
    }
    out.commit();
  }

  void write_weights() const { save_tensors(folder + "/w.safetensors", weights); }

  Outcome import(const std::string& options = {}, const std::string& file = "w.safetensors") const {
    return weyl_program("import '" + file + "' --config c.toml --out m.safetensors --force " + options,
                        folder);
  }

  struct Predicted {
    Tensor energy, forces;
  };
  Predicted predict(const std::string& options = {}) const {
    const Outcome outcome =
        weyl_program("predict m.safetensors frames.xyz --out p.xyz --force " + options, folder);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<double> energies, components;
    ExtendedXyzReader reader(folder + "/p.xyz");
    for (AtomsFrame frame; reader.next(frame);) {
      const FrameValue* e = frame.value("weyl_energy");
      const AtomColumn* f = frame.column("weyl_forces");
      if (e == nullptr || f == nullptr) {
        ADD_FAILURE() << "weyl_energy and weyl_forces must be there";
        break;
      }
      energies.push_back(reals_of(e->values)->front());
      const auto& x = std::get<std::vector<double>>(f->values);
      components.insert(components.end(), x.begin(), x.end());
    }
    return {at::tensor(energies, at::kDouble), at::tensor(components, at::kDouble).view({-1, 3})};
  }

  std::string folder;
  NamedTensors weights;
  Tensor energy, forces;
};

double error(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() ? ((a - b).abs().max() / b.abs().max()).item<double>() : INFINITY;
}

const char* const et = "preset = \"et\"\nheads = 3\n";
const char* const painn = "preset = \"painn\"\nhead_hidden = 6\n";

void expect_a_working_potential(const std::string& name, const std::string& model) {
  const Golden golden(name, model);
  const Outcome imported = golden.import();
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_NE(imported.err.find("taken to be in eV; --energy-unit"), std::string::npos) << imported.err;
  const auto wide = golden.predict(), narrow = golden.predict("--dtype float32");
  EXPECT_LT(error(wide.energy, golden.energy), 1e-10);
  EXPECT_LT(error(wide.forces, golden.forces), 1e-10);
  EXPECT_LT(error(narrow.energy, golden.energy), 1e-5);
  EXPECT_LT(error(narrow.forces, golden.forces), 1e-4);

  const Outcome measured = weyl_program("eval m.safetensors --data frames.xyz --json", golden.folder);
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Json json = Json::parse(measured.out, "eval");
  for (const char* metric : {"energy_mae", "force_mae"}) {  // meV
    EXPECT_LT(json.find("metrics")->find(metric)->find("value")->number_or(1), 1e-6) << metric;
  }
  const Outcome audited = weyl_program("audit m.safetensors --data frames.xyz", golden.folder);
  EXPECT_EQ(audited.code, 0) << audited.out << audited.err;
}

TEST(ImportForceField, MakesAWorkingPotentialOfTorchMdNets) {
  expect_a_working_potential("torchmd_et", et);
}

TEST(ImportForceField, MakesAWorkingPotentialOfSchNetPacks) {
  expect_a_working_potential("schnetpack_painn", painn);
}

/// A Lightning checkpoint as TorchMD-Net's training writes it (tools/goldens/torchmd_checkpoint.py): the same
/// weights under other names, mean and std among them, and much beside them.
TEST(ImportForceField, TakesTheCheckpointsOfTorchMdNetsTraining) {
  const Golden golden("torchmd_et", et);
  const std::string checkpoint = WEYL_SOURCE_DIR "/tests/fixtures/pytorch/torchmd_et.ckpt";
  const Outcome imported = golden.import("", checkpoint);
  ASSERT_EQ(imported.code, 0) << imported.err;
  const auto predicted = golden.predict();
  EXPECT_LT(error(predicted.energy, golden.energy), 1e-10);
  EXPECT_LT(error(predicted.forces, golden.forces), 1e-10);
  ASSERT_EQ(golden.import().code, 0);
  const auto plain = golden.predict();
  EXPECT_TRUE(at::equal(plain.energy, predicted.energy));
  EXPECT_TRUE(at::equal(plain.forces, predicted.forces));
}

/// What the checkpoint says of its model is compared with the config, key by key; of a bare state dict a tensor is named.
TEST(ImportForceField, RefusesAConfigThatTheCheckpointContradicts) {
  const Golden golden("torchmd_et", et);
  const std::string checkpoint = WEYL_SOURCE_DIR "/tests/fixtures/pytorch/torchmd_et.ckpt";
  const auto refuses = [&](const std::string& file, const std::string& options, const std::string& said) {
    const Outcome other = golden.import(options, file);
    EXPECT_EQ(other.code, 3) << options;
    EXPECT_NE(other.err.find(said), std::string::npos) << options << "\n" << other.err;
    EXPECT_EQ(std::ranges::count(other.err, '\n'), 1) << other.err;
    EXPECT_FALSE(std::filesystem::exists(golden.folder + "/m.safetensors"));
  };
  const std::string is = "torchmd_et.ckpt: hyper_parameters: '", ours = ", the config's model.geomformer.";
  refuses(checkpoint, "model.geomformer.blocks=1", is + "num_layers' is 2" + ours + "blocks is 1");
  refuses("w.safetensors", "model.geomformer.blocks=1", "layers.1.");
  // Nothing of these shows in a tensor's shape.
  refuses(checkpoint, "model.geomformer.heads=4", is + "num_heads' is 3" + ours + "heads is 4");
  refuses(checkpoint, "model.geomformer.cutoff.radius=6",
          is + "cutoff_upper' is 5" + ours + "cutoff.radius is 6");
  refuses(checkpoint, "model.geomformer.cutoff.lower=1",
          is + "cutoff_lower' is 0" + ours + "cutoff.lower is 1");
  refuses(checkpoint, "model.geomformer.vector_cutoff=false",
          is + "vector_cutoff' is true" + ours + "vector_cutoff is false");
  refuses(checkpoint,
          "'data.molecules.elements=[\"Ne\",\"H\",\"He\",\"Li\",\"Be\",\"B\",\"N\",\"C\",\"O\",\"F\"]'",
          "type 6 of the config's elements is N");
  const Golden painned("schnetpack_painn", painn);
  const Outcome other = painned.import("model.geomformer.cutoff.radius=4");
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("'representation.cutoff_fn.cutoff' is 5" + ours + "cutoff.radius is 4"),
            std::string::npos)
      << other.err;
}

/// The optimiser of the checkpoint has moved the rows of H, C, N and O alone: fluorine is refused, as by a force field
/// that was trained here.
TEST(ImportForceField, ElementsThatTheWeightsWereNotTrainedOnAreUnseen) {
  const Golden golden("torchmd_et", et);
  const std::string hydrogen = "1\nProperties=species:S:1:pos:R:3\nH 0 0 0\n",
                    fluorine = "2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nF 0 0 1\n";
  std::ofstream(golden.folder + "/f.xyz") << fluorine;
  std::ofstream(golden.folder + "/h.xyz") << hydrogen;
  const auto predicts = [&](const std::string& frames) {
    return weyl_program("predict m.safetensors " + frames + " --out q.xyz --force", golden.folder);
  };
  const Outcome imported = golden.import("", WEYL_SOURCE_DIR "/tests/fixtures/pytorch/torchmd_et.ckpt");
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_NE(imported.err.find("trained on H, C, N, O; other types count as unseen"), std::string::npos)
      << imported.err;
  EXPECT_EQ(predicts("h.xyz").code, 0);
  const Outcome refused = predicts("f.xyz");
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("a node is of type 9 (F), of which the training data had none"),
            std::string::npos)
      << refused.err;
  // A bare state dict does not say: every element counts as seen, as before.
  ASSERT_EQ(golden.import().code, 0);
  EXPECT_EQ(predicts("f.xyz").code, 0);
}

TEST(ImportForceField, ALargeMeanTakesNothingFromFloat32Energies) {
  Golden golden("torchmd_et", et);
  ASSERT_EQ(golden.import("--dtype float32").code, 0);
  const auto small = golden.predict();
  const double mean = -407219.58203125;
  golden.weights["mean"] = at::full({}, mean, at::kFloat);  // as a checkpoint of theirs has it
  golden.write_weights();
  ASSERT_EQ(golden.import("--dtype float32").code, 0);
  const auto large = golden.predict();
  const double shift = golden.weights.at("mean").item<double>() + 2.5;  // the golden's own is -2.5
  EXPECT_LT((large.energy - small.energy - shift).abs().max().item<double>(), 1e-9);
  EXPECT_LT((large.energy - golden.energy - shift).abs().max().item<double>(), 1e-4);
  EXPECT_GT((large.energy - large.energy.to(at::kFloat).to(at::kDouble)).abs().max().item<double>(), 1e-4);
  EXPECT_TRUE(at::equal(large.forces, small.forces));
}

TEST(ImportForceField, ConvertsFromTheUnitOfTheWeights) {
  const Golden golden("torchmd_et", et);
  const Outcome imported = golden.import("--energy-unit kcal/mol");
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(imported.err.find("taken to be"), std::string::npos) << imported.err;
  const auto predicted = golden.predict();
  const double factor = unit_factor("kcal/mol", "eV");
  EXPECT_NEAR(1 / factor, 23.0605, 1e-4);
  EXPECT_LT(error(predicted.energy, golden.energy * factor), 1e-10);
  EXPECT_LT(error(predicted.forces, golden.forces * factor), 1e-10);
}

TEST(ImportForceField, RefusesWhatItCannotPlaceAndWritesNothing) {
  Golden golden("torchmd_et", et);
  const auto refuses = [&](const std::string& options, int code, const std::string& said) {
    const Outcome outcome = golden.import(options);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(golden.folder + "/m.safetensors"));
  };
  refuses("--energy-unit Angstrom", 2, "--energy-unit: must be an energy");
  refuses("--energy-unit furlong", 2, "--energy-unit: must be an energy");
  refuses("--energy-unit kcal/mol task.name=property task.property.targets='[\"charge\"]'", 2,
          "--energy-unit: needs a config with a task whose output is an energy");

  // Without a task the mean has no place.
  std::string config = contents(golden.folder + "/c.toml");
  std::ofstream(golden.folder + "/c.toml")
      << "[interface]\ntypes = 10\noutputs = [{ name = \"energy\", level = "
         "\"graph\", extensive = true, unit = \"eV\" }]\n"
      << config.substr(config.find("[model]"));
  refuses("", 3, "w.safetensors: energies are to be scaled by 1 and shifted by -2.5");
  refuses("--energy-unit kcal/mol", 2, "--energy-unit: needs a config with a task");
  golden.weights["mean"] = at::ones({2}, at::kDouble);
  golden.write_weights();
  refuses("", 3, "tensor 'mean' must be one number");
  golden.weights["mean"] = at::full({}, NAN, at::kDouble);
  golden.write_weights();
  refuses("", 3, "tensor 'mean' must be finite");
  golden.weights["mean"] = at::zeros({}, at::kDouble);
  golden.write_weights();
  const Outcome plain = golden.import();
  EXPECT_EQ(plain.code, 0) << plain.err;
}

}  // namespace import_force_field_test
}  // namespace weyl

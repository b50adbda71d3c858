// `eval --data`: the run's own training samples, splits, and files that name things otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <vector>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace eval_data_test {

const std::string curves = WEYL_SOURCE_DIR "/tests/fixtures/reports/02a_dimer_curves_0.5A.xyz";

/// A run of one step on 27 frames, of which 21 are for training.
const std::string& trained() {
  static const std::string folder = [] {
    std::string made = scratch("eval-data");
    std::filesystem::copy_file(curves, made + "/curves.xyz");
    const Outcome drafted = weyl_program("config new --data curves.xyz --out c.toml --quiet", made);
    EXPECT_EQ(drafted.code, exit_done) << drafted.err;
    const Outcome run = weyl_program("train c.toml train.steps=1 --threads 1 --no-pictures --out run", made);
    EXPECT_EQ(run.code, exit_done) << run.err;
    EXPECT_EQ(run.err.find("one system of units"), std::string::npos) << run.err;  // exact curves in eV
    return made;
  }();
  return folder;
}

double error_in(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, exit_done) << outcome.err;
  const Json said = Json::parse(outcome.out, "stdout");
  return said.find("metrics")->find("energy_mae")->find("value")->number_or(-1);
}

TEST(EvalData, OfTheRunItselfSaysHowManyItHasLearnedFrom) {
  const Outcome own = weyl_program("eval run --data curves.xyz --threads 1", trained());
  EXPECT_EQ(own.code, exit_done);
  EXPECT_NE(own.err.find("curves.xyz: 21 of the 27 samples are of the training split of run"),
            std::string::npos)
      << own.err;
  // So does a copy under another name, and a folder that holds it.
  std::filesystem::create_directories(trained() + "/one");
  std::filesystem::copy_file(curves, trained() + "/one/all.xyz");
  for (const std::string data : {"one/all.xyz", "one"}) {
    const Outcome copied = weyl_program("eval run --data " + data, trained());
    EXPECT_NE(copied.err.find(data + ": 21 of the 27 samples are of the training split of run"),
              std::string::npos)
        << copied.err;
  }
  const Outcome model = weyl_program("eval run/best/model.safetensors --data ./curves.xyz", trained());
  EXPECT_NE(model.err.find("21 of the 27 samples"), std::string::npos) << model.err;
  // What it has not learned from is measured without a word: its own test split, and the frames of others.
  EXPECT_EQ(weyl_program("eval run", trained()).err, "");
  const std::string frames = contents(curves);
  std::string other = frames.substr(0, frames.find("\n2\n") + 1);
  other.replace(other.find(" 1.0000"), 7, " 1.0123");
  std::ofstream(trained() + "/others.xyz") << other;
  const Outcome others = weyl_program("eval run --data others.xyz", trained());
  EXPECT_EQ(others.code, exit_done) << others.err;
  EXPECT_EQ(others.err.find("training split"), std::string::npos) << others.err;
}

TEST(EvalData, SplitsAreOfFoldersThatHaveThem) {
  const Outcome refused = weyl_program("eval run --data curves.xyz --split test", trained());
  EXPECT_EQ(refused.code, exit_usage);
  EXPECT_NE(refused.err.find("curves.xyz: must have splits of its own for --split"), std::string::npos)
      << refused.err;
  const std::string split = trained() + "/split";
  std::filesystem::create_directories(split);
  for (const char* name : {"/train.xyz", "/test.xyz"}) {
    std::filesystem::copy_file(curves, split + name, std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_EQ(weyl_program("eval run --data split --split train", trained()).code, exit_done);
}

TEST(EvalData, TakesTheKeysOfItsFiles) {
  std::string frames = contents(curves);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{" energy=", " REF_energy="}, {":forces:", ":REF_forces:"}}) {
    for (size_t at = 0; (at = frames.find(from, at)) != std::string::npos; at += to.size()) {
      frames.replace(at, from.size(), to);
    }
  }
  std::ofstream(trained() + "/named.xyz") << frames;
  const Outcome unnamed = weyl_program("eval run --data named.xyz", trained());
  EXPECT_EQ(unnamed.code, exit_data);
  EXPECT_NE(unnamed.err.find("no frame has 'energy' (data.molecules.energy); values: of 27 frames 27 have"),
            std::string::npos)
      << unnamed.err;
  const std::string keys = " data.molecules.energy=REF_energy data.molecules.forces=REF_forces";
  const double plain = error_in(weyl_program("eval run --data curves.xyz --threads 1 --json", trained())),
               named =
                   error_in(weyl_program("eval run --data named.xyz --threads 1 --json" + keys, trained()));
  EXPECT_EQ(named, plain);
  for (const char* call :
       {"eval run --data named.xyz train.batch=3", "eval run --data named.xyz data.set=md17",
        "eval run --data named.xyz data.molecules.path=curves.xyz",
        "eval run --data named.xyz 'data.molecules.elements=[\"C\"]'",
        "eval run --data named.xyz data.molecules.enrgy=REF_energy",
        "eval run data.molecules.energy=REF_energy"}) {
    const Outcome refused = weyl_program(call, trained());
    EXPECT_EQ(refused.code, exit_usage) << call << "\n" << refused.err;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
}

TEST(EvalData, AVirialStandsForAStress) {
  const std::string folder = scratch("eval-virial");
  std::string stresses, virials, both;
  for (int i = 0; i < 12; ++i) {
    const std::string
        begin = "2\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:forces:R:3 energy=-1." +
                std::to_string(i) + " ",
        rows = "\nCu 0 0 0 0.1 0 0\nCu 1." + std::to_string(800 + i) + " 0 0 -0.1 0 0\n";
    // Minus the stress times 64 cubic Angstrom.
    stresses += begin + "stress=\"0.01 0 0 0 0.02 0 0 0 0.03\"" + rows;
    virials += begin + "virial=\"-0.64 0 0 0 -1.28 0 0 0 -1.92\"" + rows;
    both += begin + "stress=\"0.01 0 0 0 0.02 0 0 0 0.03\" virial=\"-1 0 0 0 -1 0 0 0 -1\"" + rows;
  }
  std::ofstream(folder + "/st.xyz") << stresses;
  std::ofstream(folder + "/vi.xyz") << virials;
  std::ofstream(folder + "/both.xyz") << both;
  ASSERT_EQ(weyl_program("config new --data st.xyz --out c.toml", folder).code, exit_done);
  EXPECT_NE(contents(folder + "/c.toml").find("stress_unit = \"eV/Angstrom^3\""), std::string::npos);
  ASSERT_EQ(weyl_program("train c.toml train.steps=1 --threads 1 --no-pictures --out run", folder).code,
            exit_done);
  const auto error = [&](const std::string& call) {
    const Outcome outcome = weyl_program("eval run --threads 1 --json --data " + call, folder);
    EXPECT_EQ(outcome.code, exit_done) << call << "\n" << outcome.err;
    const Json report = Json::parse(outcome.out, "stdout");
    const Json* metric = report.find("metrics")->find("stress_mae");
    EXPECT_NE(metric, nullptr) << outcome.out;
    return metric == nullptr ? -1 : metric->find("value")->number_or(-1);
  };
  const double plain = error("st.xyz");
  EXPECT_GT(plain, 0);
  EXPECT_NEAR(error("vi.xyz") / plain, 1, 1e-9);
  EXPECT_NEAR(error("vi.xyz data.molecules.stress=virial") / plain, 1, 1e-9);
  EXPECT_NEAR(error("vi.xyz data.molecules.stress=virial data.molecules.stress_unit=eV") / plain, 1, 1e-9);
  EXPECT_EQ(error("both.xyz"), plain);  // a stress under its own name goes before a virial
  // A key that is given is the key, and no other is looked for.
  const Outcome named = weyl_program("eval run --data vi.xyz data.molecules.stress=REF_stress", folder);
  EXPECT_EQ(named.code, exit_data);
  EXPECT_NE(named.err.find("no frame has 'REF_stress'"), std::string::npos) << named.err;
}

/// Frames without a period have no stress, whatever virial they say.
TEST(EvalData, AVirialWithoutAVolumeIsNone) {
  std::string frames = contents(curves);
  const std::string virial = " virial=\"1 0 0 0 1 0 0 0 1\" energy=";
  for (size_t at = 0; (at = frames.find(" energy=", at)) != std::string::npos; at += virial.size()) {
    frames.replace(at, 8, virial);
  }
  std::ofstream(trained() + "/virial.xyz") << frames;
  const double plain = error_in(weyl_program("eval run --data curves.xyz --threads 1 --json", trained()));
  EXPECT_EQ(error_in(weyl_program("eval run --data virial.xyz --threads 1 --json", trained())), plain);
}

TEST(EvalData, PredictTakesTheKeysOfItsFileToo) {
  const auto predict = [](const std::string& more) {
    return weyl_program("predict run curves.xyz --out p.xyz --force --threads 1 " + more, trained());
  };
  ASSERT_EQ(predict("").code, exit_done);
  EXPECT_EQ(contents(trained() + "/p.xyz").find("Bohr"), std::string::npos);
  const Outcome in_bohr = predict("data.molecules.length_unit=Bohr");
  ASSERT_EQ(in_bohr.code, exit_done) << in_bohr.err;
  EXPECT_NE(contents(trained() + "/p.xyz").find("Bohr"), std::string::npos);
  EXPECT_EQ(predict("train.batch=3").code, exit_usage);
}

TEST(EvalData, KeysWithoutEffectAreRefused) {
  const std::vector<double> places{0, 0, 0, 0, 0, 1.5};
  const std::vector<int64_t> offsets{0, 2}, types{0, 1};
  write_safetensors(
      trained() + "/t.safetensors",
      std::vector<TensorBytes>{{"positions", ElementType::f64, {2, 3}, std::as_bytes(std::span(places))},
                               {"offsets", ElementType::i64, {2}, std::as_bytes(std::span(offsets))},
                               {"types", ElementType::i64, {2}, std::as_bytes(std::span(types))}});
  const std::string predict = "predict run t.safetensors --out t_out.safetensors --threads 1 ";
  EXPECT_EQ(weyl_program(predict, trained()).code, exit_done);
  std::filesystem::remove(trained() + "/t_out.safetensors");
  const auto refusal = [](const std::string& call) {
    const Outcome refused = weyl_program(call, trained());
    EXPECT_EQ(refused.code, exit_usage) << call;
    return refused.err;
  };
  const std::string key = "data.molecules.length_unit=Bohr";
  const std::string line = "weyl: override '" + key +
                           "': has no effect, because t.safetensors is not read by the data set molecules\n";
  EXPECT_EQ(refusal(predict + key), line);
  EXPECT_FALSE(std::filesystem::exists(trained() + "/t_out.safetensors"));
  EXPECT_EQ(refusal("eval run --data t.safetensors " + key), line);
  EXPECT_EQ(
      refusal("eval run --data curves.xyz data.molecules.train=3"),
      "weyl: override 'data.molecules.train=3': has no effect on data that a path gives, which are used "
      "whole\n");
  // What the model's config says already changes nothing, and is no fault.
  EXPECT_EQ(weyl_program("eval run --data curves.xyz data.molecules.energy=energy", trained()).code,
            exit_done);
}

}  // namespace eval_data_test
}  // namespace weyl

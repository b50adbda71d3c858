// Atoms through the built program: train on extended xyz, eval by element and kind, predict into extended
// xyz.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/app/atoms.h"
#include "weyl/core/json.h"

namespace weyl {
namespace atoms_test {

using namespace atoms;

TEST(Atoms, TrainEvaluateAndPredictIntoTheirOwnFormat) {
  const std::string folder = prepared("atoms");
  const Outcome trained = weyl_program("train c.toml --out run --json", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("labels: energy 60/60 frames (eV), forces 210/210 atoms (eV/\u00c5)"),
            std::string::npos)
      << trained.err;
  const Json best = Json::parse(trained.out, "train");
  EXPECT_EQ(best.find("best")->find("unit")->string_or(""), "meV/\u00c5");

  const Outcome text = weyl_program("eval run", folder);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("\nelement"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\nconfig_type"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\nlarge"), std::string::npos) << text.out;
  const Json found = Json::parse(weyl_program("eval run --json", folder).out, "eval");
  const Json& elements = *found.find("breakdowns")->find("element");
  ASSERT_EQ(elements.items().size(), 2u);
  EXPECT_EQ(elements.items()[0].find("name")->string_or(""), "H");
  const double mae = found.find("metrics")->find("force_mae")->find("value")->number_or(0);
  const double trivial =
      found.find("baselines")->find("references, no forces")->find("force_mae")->find("value")->number_or(0);
  EXPECT_LT(mae, trivial);  // it has learned something

  const Outcome predicted =
      weyl_program("predict run data/test.extxyz.gz --out out.xyz --json --batch 7", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(Json::parse(predicted.out, "predict").find("samples")->number_or(0), 20);
  const auto before = read(folder + "/data/test.extxyz.gz"), after = read(folder + "/out.xyz");
  ASSERT_EQ(after.size(), before.size());
  double error = 0, components = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    AtomsFrame rest = after[i];
    const AtomColumn* forces = rest.column("weyl_forces");
    ASSERT_TRUE(forces != nullptr && rest.value("weyl_energy") != nullptr);
    ASSERT_EQ(forces->width, 3);
    const auto said = *reals_of(forces->values), truth = *reals_of(before[i].column("forces")->values);
    for (size_t k = 0; k < said.size(); ++k) {
      error += 1000 * std::abs(said[k] - truth[k]);
      ++components;
    }
    const double energy = reals_of(rest.value("weyl_energy")->values)->front();
    EXPECT_NEAR(energy, reals_of(before[i].value("energy")->values)->front(), 20);  // of 2,000
    EXPECT_TRUE(rest.value("weyl_energy")->shape.empty());
    std::erase_if(rest.columns, [](const AtomColumn& c) { return c.name == "weyl_forces"; });
    std::erase_if(rest.values, [](const FrameValue& v) { return v.name == "weyl_energy"; });
    EXPECT_EQ(rest, before[i]);  // everything else as it was
  }
  EXPECT_NEAR(error / components, mae, 1e-3 * mae);  // what eval says of it
}

TEST(Atoms, WithoutLabelsAreRefusedWithWhatThereIs) {
  const std::string folder = prepared("atoms-labels");
  auto all = frames(10, 1);
  for (auto& f : all) {
    f.set("Etot", reals_of(f.value("energy")->values)->front());
    std::erase_if(f.values, [](const FrameValue& v) { return v.name == "energy"; });
  }
  write(folder + "/data/train.xyz", all);
  const Outcome refused = weyl_program("train c.toml --out run", folder);
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find(
                "needs the label 'energy', the data set has 'forces', 'config_type'; its files also have "
                "'Etot', 'tag'"),
            std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/run"));
  all = frames(10, 1);
  all[3].set("energy", NAN);
  write(folder + "/data/train.xyz", all);
  const Outcome nan = weyl_program("train c.toml --out run", folder);
  EXPECT_EQ(nan.code, 3);
  EXPECT_NE(nan.err.find("train.xyz: frame 4"), std::string::npos) << nan.err;
  const Outcome named = weyl_program("train c.toml data.molecules.energy=Etot --out run", folder);
  EXPECT_EQ(named.code, 3);
  EXPECT_NE(named.err.find("no frame has 'Etot'"), std::string::npos) << named.err;
}

/// What a task does not need may be missing; what it needs must be in every split.
TEST(Atoms, NeedTheLabelsOfTheTaskInEverySplit) {
  const std::string folder = prepared("atoms-splits");
  auto all = frames(10, 1);
  for (size_t i = 1; i < all.size(); ++i) {
    all[i].columns.clear();
  }
  write(folder + "/data/train.xyz", all);
  write(folder + "/some.xyz", all);
  const Outcome partial = weyl_program("train c.toml --out run", folder);
  EXPECT_EQ(partial.code, 3);
  EXPECT_NE(partial.err.find("needs the label 'forces'"), std::string::npos) << partial.err;
  EXPECT_NE(partial.err.find("forces in 1 of 10 frames (not in data/train.xyz: frame 2"), std::string::npos)
      << partial.err;
  const std::string energies = "train c.toml task.force_field.forces=none train.steps=1 --out run";
  const Outcome trained = weyl_program(energies, folder);
  EXPECT_EQ(trained.code, 0) << trained.err;
  for (auto& f : all) {
    f.values.clear();
  }
  write(folder + "/some.xyz", all);
  EXPECT_EQ(weyl_program("audit run --data some.xyz --samples 4", folder).code, 0);
  write(folder + "/data/valid.xyz", all);
  std::filesystem::remove_all(folder + "/run");
  const Outcome refused = weyl_program(energies, folder);
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("valid split: task force_field: needs the label 'energy'"), std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/run"));
}

TEST(Atoms, CellsThatTheModelDoesNotSeeAreRefusedBeforeARunIsMade) {
  const std::string folder = prepared("atoms-cells");
  auto all = read(folder + "/data/train.xyz");
  for (auto& f : all) {
    f.cell = {8, 0, 0, 0, 8, 0, 0, 0, 8};
    f.pbc = {true, true, true};
  }
  write(folder + "/data/train.xyz", all);
  const std::string train = "train c.toml train.steps=1 --out run ";
  const Outcome refused = weyl_program(train, folder);
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("training data: must have no cell"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("see `cutoff` among its system's options"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder + "/run"));
  std::string geomformer = config;
  const auto from = geomformer.find("system = "), to = geomformer.find("[train]");
  geomformer.replace(from, to - from,
                     "system = \"geomformer\"\n[model.geomformer]\nwidth = 16\nheads = 2\nblocks = 1\n"
                     "input = \"local\"\ncutoff = { radius = 3.0 }\n");
  std::ofstream(folder + "/c.toml") << geomformer;
  const Outcome trained = weyl_program(train, folder);
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST(Atoms, OverlappingAtomsAreNamedBeforeTheirUse) {
  const std::string folder = prepared("atoms-overlap");
  const std::string short_run = "train c.toml train.steps=1 --out ";
  const Outcome sound = weyl_program(short_run + "sound", folder);
  EXPECT_EQ(sound.err.find("apart"), std::string::npos) << sound.err;
  auto all = read(folder + "/data/train.xyz");
  all[3].positions[3] = all[3].positions[0] + 0.1;
  all[3].positions[4] = all[3].positions[1];
  all[3].positions[5] = all[3].positions[2];
  write(folder + "/data/train.xyz", all);
  const std::string said = "train.xyz: frame 4, line 17: atoms 1 (O) and 2 (H) are 0.1 apart";
  const Outcome trained = weyl_program(short_run + "run", folder);
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find(said), std::string::npos) << trained.err;
  const Outcome measured = weyl_program("eval run --data data/train.xyz", folder);
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_NE(measured.err.find(said), std::string::npos) << measured.err;
}

TEST(Atoms, DirectForcesAreLabelledEverywhere) {
  const std::string folder = prepared("atoms-direct");
  const Outcome trained =
      weyl_program("train c.toml task.force_field.forces=direct train.steps=2 --out run", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("not conservative"), std::string::npos) << trained.err;
  EXPECT_NE(trained.out.find("direct_force_mae"), std::string::npos) << trained.out;
  EXPECT_NE(contents(folder + "/run/README.md").find("not conservative"), std::string::npos);
  for (const std::string verb :
       {"predict run data/valid.xyz --out out.xyz", "eval run --quiet --json", "eval run",
        "audit run --samples 4", "audit c.toml --samples 4 task.force_field.forces=direct"}) {
    const Outcome done = weyl_program(verb, folder);
    ASSERT_EQ(done.code, 0) << verb << "\n" << done.out << done.err;
    const bool quiet = verb.find("--quiet") != std::string::npos;
    EXPECT_EQ(done.err.find("not conservative") == std::string::npos, quiet) << verb << "\n" << done.err;
  }
  EXPECT_NE(weyl_program("eval run --json", folder).out.find("direct_force_mae"), std::string::npos);
  EXPECT_NE(contents(folder + "/out.xyz").find("weyl_forces_kind=\"direct, not conservative\""),
            std::string::npos);
  for (const std::string subject : {"run", "c.toml task.force_field.forces=direct"}) {
    const Outcome told = weyl_program("info " + subject, folder);
    ASSERT_EQ(told.code, 0) << told.err;
    EXPECT_NE(told.out.find("not conservative"), std::string::npos) << told.out;
    const Json json = Json::parse(weyl_program("info --json " + subject, folder).out, "info");
    ASSERT_NE(json.find("notes"), nullptr);
    EXPECT_EQ(json.find("notes")->items().size(), 1u);
  }
  const Json plain = Json::parse(weyl_program("info --json c.toml", folder).out, "info");
  EXPECT_EQ(plain.find("notes"), nullptr);  // gradients need no note
}

/// The same run reported twice: its numbers are those in meV times 0.0230605 kcal/mol.
TEST(Atoms, ReportsAreInTheUnitAskedFor) {
  const std::string folder = prepared("atoms-reports");
  const std::string train = "train c.toml train.steps=2 --out ";
  ASSERT_EQ(weyl_program(train + "plain", folder).code, 0);
  const Outcome asked = weyl_program(train + "kcal task.force_field.units=kcal/mol", folder);
  ASSERT_EQ(asked.code, 0) << asked.err;
  EXPECT_NE(asked.out.find("kcal/mol/\u00c5"), std::string::npos) << asked.out;
  const auto measured = [&](const std::string& run) {
    return Json::parse(weyl_program("eval " + run + " --json", folder).out, "eval");
  };
  const Json plain = measured("plain"), kcal = measured("kcal");
  constexpr double factor = 23.060547830619e-3;  // CODATA 2022: 1 meV in kcal/mol
  const auto compare = [&](const Json& a, const Json& b) {
    size_t energies = 0;
    for (const auto& [name, metric] : a.members()) {
      const Json& other = *b.find(name);
      const std::string unit = metric.find("unit")->string_or("");
      const double value = metric.find("value")->number_or(NAN), said = other.find("value")->number_or(NAN);
      if (unit.starts_with("meV")) {
        EXPECT_EQ(other.find("unit")->string_or(""), "kcal/mol" + unit.substr(3)) << name;
        EXPECT_NEAR(said / value, factor, 1e-9 * factor) << name;
        ++energies;
      } else {
        EXPECT_EQ(other.find("unit")->string_or(""), unit) << name;
        EXPECT_NEAR(said, value, 1e-9) << name;
      }
    }
    return energies;
  };
  EXPECT_EQ(compare(*plain.find("metrics"), *kcal.find("metrics")),
            7u);  // MAE and RMSE of E, E/atom, F; norm of F
  const auto& rows = plain.find("breakdowns")->find("element")->items();
  ASSERT_EQ(rows.size(), 2u);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Json& row = kcal.find("breakdowns")->find("element")->items()[i];
    EXPECT_EQ(compare(*rows[i].find("metrics"), *row.find("metrics")), 3u);
  }
  const Outcome wrong = weyl_program(train + "none task.force_field.units=furlong", folder);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("task.force_field.units: must be an energy"), std::string::npos) << wrong.err;
}

TEST(Atoms, PredictionsSayTheirUnits) {
  const std::string folder = prepared("atoms-units");
  ASSERT_EQ(weyl_program("train c.toml train.steps=2 --out run", folder).code, 0);
  const auto energy = [](const AtomsFrame& f) { return reals_of(f.value("weyl_energy")->values)->front(); };
  const auto predict = [&](const std::string& in, const std::string& out) {
    const Outcome done = weyl_program("predict run " + in + " --out " + out, folder);
    EXPECT_EQ(done.code, 0) << done.err;
    return read(folder + "/" + out);
  };
  auto one = frames(1, 5);
  write(folder + "/one.xyz", one);
  const auto plain = predict("one.xyz", "plain.xyz");
  EXPECT_EQ(plain[0].value("energy_unit"), nullptr);
  // The same molecule in other units.
  ASSERT_EQ(weyl_program("data convert one.xyz one.npz from=eV to=kcal/mol", folder).code, 0);
  const auto kcal = predict("one.npz", "kcal.xyz");
  EXPECT_NEAR(energy(kcal[0]), energy(plain[0]) * 23.060547830619, 1e-3);
  EXPECT_EQ(std::get<std::vector<std::string>>(kcal[0].value("energy_unit")->values)[0], "kcal/mol");
  const auto again = predict("kcal.xyz", "again.xyz");  // what is written is read as what it is
  EXPECT_NEAR(energy(again[0]), energy(kcal[0]), 1e-3);
  // One file, one unit.
  std::filesystem::create_directories(folder + "/both");
  std::filesystem::copy(folder + "/one.xyz", folder + "/both/a.xyz");
  std::filesystem::copy(folder + "/kcal.xyz", folder + "/both/b.xyz");
  const Outcome mixed = weyl_program("predict run both --out mixed.xyz", folder);
  EXPECT_EQ(mixed.code, 3);
  EXPECT_NE(mixed.err.find("b.xyz: frame 1, line 1: must be in the units of the frames before it"),
            std::string::npos)
      << mixed.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/mixed.xyz"));
  // A folder with splits means the test split, as in every other output.
  EXPECT_EQ(predict("data", "split.xyz").size(), 20u);
  one[0].positions = {0, 0, 0, 0.1, 0, 0, 1, 1, 1};
  write(folder + "/on.xyz", one);
  const Outcome on = weyl_program("predict run on.xyz --out on-out.xyz", folder);
  EXPECT_NE(on.err.find("on.xyz: frame 1, line 1: atoms 1 (O) and 2 (H) are 0.1 apart"), std::string::npos)
      << on.err;
  EXPECT_NE(weyl_program("info run", folder).out.find("H, O"), std::string::npos);
  // Bonds have no place of their own there.
  std::ofstream(folder + "/water.sdf") << "water\n\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n"
                                          "    0.0000    0.0000    0.1000 O   0  0\n"
                                          "    0.9500    0.0000    0.0000 H   0  0\n"
                                          "   -0.2400    0.9200    0.0000 H   0  0\n"
                                          "  1  2  1  0\n  1  3  1  0\nM  END\n$$$$\n";
  const auto bonds = predict("water.sdf", "bonds.xyz");
  ASSERT_NE(bonds[0].value("bonds"), nullptr);
  EXPECT_EQ(bonds[0].value("bonds")->shape, (std::vector<int64_t>{2, 3}));
}

/// Forces by gradient were trained without stress; it is there all the same, in a form that ASE reads.
TEST(Atoms, PeriodicFramesGetTheirStress) {
  const std::string folder = prepared("atoms-periodic");
  ASSERT_EQ(
      weyl_program("train c.toml model.system=geomformer model.geomformer.width=16 model.geomformer.heads=2 "
                   "model.geomformer.blocks=1 model.geomformer.cutoff.radius=5 model.geomformer.input=local "
                   "train.steps=1 --out run",
                   folder)
          .code,
      0);
  auto two = frames(2, 5);
  two[1].cell = {9, 0, 0, 0, 9, 0, 0, 0, 9};
  two[1].pbc = {true, true, true};
  write(folder + "/two.xyz", two);
  const Outcome done = weyl_program("predict run two.xyz --out out.xyz", folder);
  ASSERT_EQ(done.code, 0) << done.err;
  const auto out = read(folder + "/out.xyz");
  EXPECT_EQ(out[0].value("weyl_stress"), nullptr);
  ASSERT_NE(out[1].value("weyl_stress"), nullptr);
  EXPECT_EQ(out[1].value("weyl_stress")->shape, std::vector<int64_t>{9});
  EXPECT_EQ(contents(folder + "/out.xyz").find("[["), std::string::npos);
}

TEST(Atoms, GradientsThroughWhiteningAreWarnedOf) {
  const std::string folder = prepared("atoms-whiten");
  const std::string train =
      "train c.toml model.system=geomformer model.geomformer.width=16 model.geomformer.heads=2 "
      "model.geomformer.blocks=1 train.steps=1 ";
  const Outcome whitened = weyl_program(train + "model.geomformer.norm=whiten --out whitened", folder);
  ASSERT_EQ(whitened.code, 0) << whitened.err;
  EXPECT_NE(whitened.err.find("norm = \"whiten\" with task.force_field.forces = \"gradient\""),
            std::string::npos)
      << whitened.err;
  const Outcome plain = weyl_program(train + "--out plain", folder);
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.err.find("whiten"), std::string::npos) << plain.err;
}

TEST(Atoms, AStressThatNoFrameHasIsNotAudited) {
  const std::string folder = prepared("atoms-stress");
  const std::string stress = "task.force_field.stress=true task.force_field.stress_weight=0 ";
  ASSERT_EQ(weyl_program("train c.toml " + stress + "train.steps=1 --out run", folder).code, 0);
  const Outcome found = weyl_program("audit run --samples 4", folder);
  EXPECT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_NE(found.out.find("note: prediction.stress is not audited: no sample has a volume"),
            std::string::npos)
      << found.out;
  EXPECT_EQ(found.out.find("nan"), std::string::npos) << found.out;
  EXPECT_EQ(found.out.find("inf"), std::string::npos) << found.out;
}

TEST(Atoms, OfAnUnknownElementAreNamed) {
  const std::string folder = prepared("atoms-element");
  ASSERT_EQ(weyl_program("train c.toml train.steps=2 --out run", folder).code, 0);
  auto some = frames(5, 4);
  some[3].numbers[1] = 17;
  write(folder + "/odd.xyz", some);
  const Outcome refused = weyl_program("predict run odd.xyz --out out.xyz", folder);
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("odd.xyz: frame 4"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("got Cl"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/out.xyz"));
}

}  // namespace atoms_test
}  // namespace weyl

// Sets of molecules with lists of splits through the program: test splits without labels, means over conformers, bonds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/app/program.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/atoms/frame_reader.h"

namespace weyl {
namespace molecule_sets_test {

namespace fs = std::filesystem;

const std::string published = WEYL_SOURCE_DIR "/tests/fixtures/molecules/pcqm4mv2";

const std::string small_model =
    "[model]\nsystem = \"geomformer\"\n[model.geomformer]\nwidth = 16\nheads = 2\nblocks = 1\nkernels = 8\n[train]\nsteps = "
    "2\n";

void write(const std::string& path, const std::string& contents) {
  std::ofstream(path) << contents;
}

/// A run of two steps on the gaps of PCQM4Mv2's fixture, whose test split has none, as published.
const std::string& trained() {
  static const std::string folder = [] {
    std::string made = scratch("molecule-sets");
    write(made + "/c.toml",
          "[data]\nset = \"pcqm4mv2\"\n[data.pcqm4mv2]\npath = \"" + published +
              "\"\nconformers = 3\n[task]\nname = \"property\"\n[task.property]\ntargets = [\"gap\"]\n"
              "reference = \"mean\"\n" +
              small_model);
    const Outcome run = weyl_program("train c.toml --threads 1 --no-pictures --out run", made);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.err.find("warning: test split: has no known label 'gap', and is not measured"),
              std::string::npos)
        << run.err;
    return made;
  }();
  return folder;
}

/// Some conformers of the fixture: three of CO, three of pyridone, one of HCN, ...
std::string conformers(int first, int count) {
  const std::string all = contents(published + "/conformers.sdf");
  const auto behind = [&](size_t begin, int molecules) {
    for (; molecules > 0; --molecules) {
      begin = all.find("$$$$\n", begin) + 5;
    }
    return begin;
  };
  const size_t begin = behind(0, first);
  return all.substr(begin, behind(begin, count) - begin);
}

TEST(MoleculeSets, ATestSplitWithoutLabelsIsNotMeasured) {
  // That the set keeps them back is no fault; that it is small is one.
  const Outcome strict = weyl_program("train c.toml --strict --threads 1 --out strict", trained());
  EXPECT_NE(strict.code, 0);
  EXPECT_EQ(strict.err.find("no known label"), std::string::npos) << strict.err;
  const Outcome eval = weyl_program("eval run --threads 1", trained());
  EXPECT_EQ(eval.code, 3) << eval.err;
  EXPECT_NE(eval.err.find("needs the label 'gap'"), std::string::npos) << eval.err;
  EXPECT_NE(eval.err.find("its labels are in --split train, --split valid"), std::string::npos) << eval.err;
  EXPECT_EQ(weyl_program("eval run --split valid --threads 1", trained()).code, 0);
}

/// The predictions of a .safetensors file, which are float64, or what stands beside them.
template <class T = double>
std::vector<T> numbers(const std::string& path, const std::string& name) {
  const std::vector<std::byte> bytes = SafetensorsFile(path).bytes(name);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(MoleculeSets, PredictionsAreMeansOverConformers) {
  // Pyridone, whose conformers are the second to the fourth of the file, is what is asked for.
  const std::string set = trained() + "/set";
  fs::create_directories(set);
  for (const char* name : {"data.csv.gz", "conformers.sdf"}) {
    fs::copy_file(published + "/" + name, set + "/" + name);
  }
  write(set + "/split_dict.json", R"({"train": [0, 2], "valid": [3], "test-dev": [1]})");
  write(trained() + "/alone.sdf", conformers(3, 3));
  const Outcome mean =
      weyl_program("predict run set --as-is --dtype float64 --out mean.safetensors --threads 1", trained());
  ASSERT_EQ(mean.code, 0) << mean.err;
  const Outcome alone = weyl_program(
      "predict run alone.sdf --as-is --dtype float64 --out alone.safetensors --threads 1", trained());
  ASSERT_EQ(alone.code, 0) << alone.err;
  const auto each = numbers(trained() + "/alone.safetensors", "gap"),
             one = numbers(trained() + "/mean.safetensors", "gap");
  ASSERT_EQ(each.size(), 3);
  ASSERT_EQ(one.size(), 1);
  EXPECT_GT(std::abs(each[0] - each[1]) + std::abs(each[1] - each[2]), 1e-6);  // else a mean says nothing
  EXPECT_NEAR(one[0], (each[0] + each[1] + each[2]) / 3, 1e-9);
  // Which molecule of the table it is, and which rows are its atoms; a file alone is no part of a set.
  EXPECT_EQ(numbers<int64_t>(trained() + "/mean.safetensors", "samples"), std::vector<int64_t>{1});
  EXPECT_EQ(numbers<int64_t>(trained() + "/mean.safetensors", "offsets"), (std::vector<int64_t>{0, 7}));
  EXPECT_FALSE(SafetensorsFile(trained() + "/alone.safetensors").contains("samples"));
  const Outcome frames = weyl_program("predict run set --out mean.extxyz --threads 1", trained());
  EXPECT_EQ(frames.code, 2) << frames.err;
  EXPECT_NE(frames.err.find("predictions go into a .safetensors file"), std::string::npos) << frames.err;
}

TEST(MoleculeSets, AreInspectedAsTheSet) {
  const Outcome found = weyl_program("data inspect " + published, trained());
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_NE(found.out.find("5 frames of 2 to 7 atoms"), std::string::npos) << found.out;  // not 13 conformers
  EXPECT_NE(found.out.find("label  gap  4/5 frames  4.90625 to 5 eV"), std::string::npos) << found.out;
  fs::create_directories(trained() + "/bare");
  fs::copy_file(published + "/data.csv.gz", trained() + "/bare/data.csv.gz");
  fs::copy_file(published + "/split_dict.pt", trained() + "/bare/split_dict.pt");
  const Outcome bare = weyl_program("data inspect bare", trained());
  EXPECT_EQ(bare.code, 3) << bare.out;
  EXPECT_NE(bare.err.find("weyl data make conformers"), std::string::npos) << bare.err;
}

TEST(MoleculeSets, FramesWithBondsAreTakenByAModelThatIsToldOfThem) {
  write(trained() + "/graph.toml", contents(trained() + "/c.toml"));
  const Outcome run = weyl_program(
      "train graph.toml data.pcqm4mv2.graph=true --threads 1 --no-pictures --out graph", trained());
  ASSERT_EQ(run.code, 0) << run.err;
  write(trained() + "/frames.sdf", conformers(0, 6));
  const Outcome told = weyl_program("predict graph frames.sdf --out told.extxyz --threads 1", trained());
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_NE(contents(trained() + "/told.extxyz").find("weyl_gap="), std::string::npos);
  write(trained() + "/bare.xyz", "2\n\nC 0 0 0\nO 1.4 0 0\n");
  const Outcome bare = weyl_program("predict graph bare.xyz --out bare.extxyz --threads 1", trained());
  EXPECT_EQ(bare.code, 3) << bare.err;
  EXPECT_NE(bare.err.find("must have bonds"), std::string::npos) << bare.err;
  // What the option is that no set but `molecules` has is not advised.
  const Outcome eval = weyl_program("eval run --data frames.sdf --threads 1", trained());
  EXPECT_EQ(eval.code, 3) << eval.err;
  EXPECT_EQ(eval.err.find("data.pcqm4mv2.properties"), std::string::npos) << eval.err;
}

/// Charges of the atoms of ions whose own charge says another sum, or the same.
TEST(HeldSums, ThatLabelsContradictAreWarnedOf) {
  const std::string folder = scratch("held-sums");
  const auto frames = [](double charge) {
    std::string all;
    for (int i = 0; i < 12; ++i) {
      const double q = 0.1 + 0.01 * i;
      all += text("3\nProperties=species:S:1:pos:R:3:charges:R:1 charge=", charge, "\nO 0 0 0 ", 1 - 2 * q,
                  "\nH 0.9 0.", i, " 0 ", q, "\nH -0.3 0.9 0 ", q, "\n");
    }
    return all;
  };
  write(folder + "/ions.xyz", frames(1));
  write(folder + "/wrong.xyz", frames(0));
  write(
      folder + "/c.toml",
      "[data]\nset = \"molecules\"\n[data.molecules]\npath = \"ions.xyz\"\nfeatures = [\"charge\"]\n"
      "properties = [{ key = \"charges\", unit = \"e\", level = \"node\" }]\ntrain = 8\nvalid = 2\n[task]\nname = "
      "\"property\"\n[task.property]\ntargets = [\"charges\"]\nheld = [{ target = \"charges\", to = \"charge\" }]\n" +
          small_model);
  const auto said = [&](const std::string& more) {
    const Outcome run = weyl_program("train c.toml --threads 1 --no-pictures " + more, folder);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.err;
  };
  const std::string wrong = said("data.molecules.path=wrong.xyz --out wrong");
  EXPECT_NE(
      wrong.find(
          "task.property.held: the labels 'charges' must have the sum 'charge', but have not in 8 of 8 training "
          "samples"),
      std::string::npos)
      << wrong;
  EXPECT_EQ(said("--out right").find("task.property.held"), std::string::npos);
  const Outcome unknown = weyl_program("train c.toml data.molecules.features=[] --out none", folder);
  EXPECT_EQ(unknown.code, 2) << unknown.err;
  EXPECT_NE(unknown.err.find("a feature of the data (data.molecules.features)"), std::string::npos)
      << unknown.err;
}

TEST(Slabs, FixedAtomsStayWhereTheyAreToTheLastDigit) {
  const std::string folder = scratch("slabs-predicted"),
                    made = WEYL_SOURCE_DIR "/tests/fixtures/molecules/oc20/slabs.extxyz";
  fs::create_directories(folder + "/data");
  for (const char* split : {"train", "valid"}) {
    fs::copy_file(made, folder + "/data/" + split + ".extxyz");
  }
  write(
      folder + "/c.toml",
      "[data]\nset = \"oc20\"\n[data.oc20]\npath = \"data\"\nimage_radius = 3\n[task]\nname = \"relaxation\"\n"
      "[task.relaxation]\ntarget = \"energy\"\n" +
          small_model);
  const Outcome run = weyl_program("train c.toml --threads 1 --no-pictures --out run", folder);
  ASSERT_EQ(run.code, 0) << run.err;
  const Outcome predicted = weyl_program("predict run data/valid.extxyz --out p.extxyz --threads 1", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  AtomsFrame frame;
  ASSERT_TRUE(open_frames(folder + "/p.extxyz")->next(frame));
  const auto& relaxed = std::get<std::vector<double>>(frame.column("weyl_relaxed")->values);
  const auto& displacement = std::get<std::vector<double>>(frame.column("weyl_displacement")->values);
  const auto& fixed = std::get<std::vector<uint8_t>>(frame.column("fixed")->values);
  int stay = 0, move = 0;
  for (size_t atom = 0; atom < fixed.size(); ++atom) {
    double way = 0;
    for (size_t d = 0; d < 3; ++d) {
      way = std::max(way, std::abs(relaxed[3 * atom + d] - frame.positions[3 * atom + d]));
    }
    EXPECT_TRUE(fixed[atom] == 0 || way < 1e-12) << atom << " moves by " << way;
    for (size_t d = 0; d < 3 && fixed[atom] != 0; ++d) {
      EXPECT_FALSE(std::signbit(displacement[3 * atom + d])) << "-0";
    }
    stay += fixed[atom] != 0 ? 1 : 0;
    move += way > 1e-6 ? 1 : 0;
  }
  EXPECT_GT(stay, 0);
  EXPECT_GT(move, 0);
  // In a file of tensors the rows of a structure are its atoms, then its images.
  const Outcome tensors =
      weyl_program("predict run data/valid.extxyz --out p.safetensors --threads 1", folder);
  ASSERT_EQ(tensors.code, 0) << tensors.err;
  const auto offsets = numbers<int64_t>(folder + "/p.safetensors", "offsets"),
             real = numbers<int64_t>(folder + "/p.safetensors", "real");
  const auto rows = numbers(folder + "/p.safetensors", "relaxed");
  ASSERT_EQ(3 * real.size(), rows.size());
  EXPECT_EQ(offsets.front(), 0);
  EXPECT_EQ(offsets.back(), static_cast<int64_t>(real.size()));
  for (int64_t row = 0; row < offsets[1]; ++row) {
    EXPECT_EQ(real[static_cast<size_t>(row)], row < frame.size() ? 1 : 0);
  }
  EXPECT_GT(offsets[1], frame.size());
  for (size_t k = 0; k < relaxed.size(); ++k) {
    EXPECT_NEAR(rows[k], relaxed[k], 1e-6);
  }
  // A file that lacks a label is named.
  std::string unlabelled = contents(made);
  for (size_t at = 0; (at = unlabelled.find(" energy=", at)) != std::string::npos;) {
    unlabelled.replace(at, 8, " height=");
  }
  write(folder + "/unlabelled.extxyz", unlabelled);
  const Outcome eval = weyl_program("eval run --data unlabelled.extxyz --threads 1", folder);
  EXPECT_EQ(eval.code, 3) << eval.err;
  EXPECT_NE(eval.err.find("unlabelled.extxyz: task relaxation: needs the label 'energy'"), std::string::npos)
      << eval.err;
  // Rounds would move what does not move.
  const Outcome rounds =
      weyl_program("train c.toml model.geomformer.rounds=2 --threads 1 --out rounds", folder);
  EXPECT_EQ(rounds.code, 2) << rounds.err;
  EXPECT_NE(
      rounds.err.find("model.geomformer.rounds: must be 1, because the data have nodes that do not move"),
      std::string::npos)
      << rounds.err;
  // A cell without vacuum is told of once; of these there was nothing to say.
  EXPECT_EQ(predicted.err.find("vacuum"), std::string::npos) << predicted.err;
  std::string bulk = contents(made);
  for (size_t at = 0; (at = bulk.find("Lattice=\"", at)) != std::string::npos; ++at) {
    const size_t end = bulk.find('"', at + 9), last = bulk.rfind(' ', end);
    bulk.replace(last + 1, end - last - 1, "9.5");
  }
  write(folder + "/bulk.extxyz", bulk);
  const Outcome odd = weyl_program("predict run bulk.extxyz --out b.extxyz --threads 1", folder);
  ASSERT_EQ(odd.code, 0) << odd.err;
  const size_t told = odd.err.find("bulk.extxyz: frame 1, line 1: its cell has no vacuum");
  EXPECT_NE(told, std::string::npos) << odd.err;
  EXPECT_EQ(odd.err.find("vacuum", told + 60), std::string::npos) << odd.err;
  // An element that the model does not know is named with its frame.
  std::string strange = contents(made);
  strange.replace(strange.find("\nNi "), 4, "\nU ");
  write(folder + "/strange.extxyz", strange);
  write(folder + "/few.toml", contents(folder + "/c.toml"));
  const Outcome few = weyl_program(
      "train few.toml 'data.oc20.elements=[\"H\",\"C\",\"N\",\"O\",\"Al\",\"Ni\",\"Cu\",\"Pd\",\"Ag\",\"Pt\",\"Au\"]' "
      "--threads 1 --no-pictures --out few",
      folder);
  ASSERT_EQ(few.code, 0) << few.err;
  const Outcome refused = weyl_program("predict few strange.extxyz --out s.extxyz --threads 1", folder);
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_NE(refused.err.find("strange.extxyz: frame 1, line 1: U is none of the elements"), std::string::npos)
      << refused.err;
  EXPECT_FALSE(fs::exists(folder + "/s.extxyz"));
}

}  // namespace molecule_sets_test
}  // namespace weyl

// Frames of atoms through `weyl predict`: nothing of the input is lost, and the stress is what it is said to
// be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "tests/app/atoms.h"
#include "weyl/core/units.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace predict_frames_test {

using namespace atoms;

const std::string periodic_model =
    "model.system=geomformer model.geomformer.width=16 model.geomformer.heads=2 model.geomformer.blocks=1 "
    "model.geomformer.cutoff.radius=5 model.geomformer.input=local ";

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 8 * a.size()) == 0;
}

bool same_bits(const FrameValues& a, const FrameValues& b) {
  const auto *x = std::get_if<std::vector<double>>(&a), *y = std::get_if<std::vector<double>>(&b);
  return x != nullptr && y != nullptr ? same_bits(*x, *y) : a == b;
}

std::vector<std::vector<std::string>> words_of_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    auto& words = lines.emplace_back();
    size_t begin = 0;
    while ((begin = line.find_first_not_of(' ', begin)) != std::string::npos) {
      const size_t end = std::min(line.find(' ', begin), line.size());
      words.push_back(line.substr(begin, end - begin));
      begin = end;
    }
  }
  return lines;
}

/// The same words, or numbers of the same bits.
void expect_same_word(const std::string& a, const std::string& b) {
  char *end_a = nullptr, *end_b = nullptr;
  const std::vector<double> x{std::strtod(a.c_str(), &end_a)}, y{std::strtod(b.c_str(), &end_b)};
  const bool numbers = *end_a == '\0' && *end_b == '\0';
  EXPECT_TRUE(a == b || (numbers && same_bits(x, y))) << a << " became " << b;
}

TEST(PredictFrames, KeepsEveryColumnAndValueToTheBit) {
  const std::string folder = scratch("predict-keeps");
  std::filesystem::create_directories(folder + "/data");
  const std::string ase = contents(WEYL_SOURCE_DIR "/tests/fixtures/molecules/ase.xyz");
  std::ofstream(folder + "/data/train.xyz") << ase;
  std::ofstream(folder + "/data/valid.xyz") << ase;
  std::ofstream(folder + "/c.toml") << config;
  const Outcome trained = weyl_program(
      "train c.toml data.molecules.elements='[\"H\",\"O\",\"Na\",\"Cl\"]' task.force_field.reference=none "
      "train.steps=1 --out run " +
          periodic_model,
      folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  // ASE's frames, a molecule and a slab, and one of all that is awkward.
  std::ofstream(folder + "/in.extxyz")
      << ase
      << "2\nProperties=species:S:1:pos:R:3:tag:S:2:big:I:1:w:R:4:ok:L:2:Z:I:1 a=-0.0 b=\"5e-324 0.1 1e22\" "
         "ids=\"9223372036854775807 -9223372036854775808\" name=\"5 6 x\" m=[[1.5, 2], [3, 4]] "
         "words={a \"b c\"} flag energy=1e-300 unlabelled=nan\n"
         "O 0.1 -0.0 1e-17 \"two words\" b -9223372036854775808 nan 1e22 -0.0 5e-324 T F 8\n"
         "H 0 0.30000000000000004 1 c \"\" 7 inf -1.5 2 3 F F 1\n";
  const Outcome done = weyl_program("predict run in.extxyz --out out.extxyz", folder);
  ASSERT_EQ(done.code, 0) << done.err;
  const auto before = read(folder + "/in.extxyz"), after = read(folder + "/out.extxyz");
  ASSERT_EQ(before.size(), 3u);
  ASSERT_EQ(after.size(), 3u);
  for (size_t i = 0; i < before.size(); ++i) {
    const AtomsFrame &a = before[i], &b = after[i];
    EXPECT_EQ(a.numbers, b.numbers);
    EXPECT_TRUE(same_bits(a.positions, b.positions));
    EXPECT_EQ(a.cell.has_value(), b.cell.has_value());
    EXPECT_TRUE(!a.cell || std::memcmp(a.cell->data(), b.cell->data(), sizeof *a.cell) == 0);
    EXPECT_EQ(a.pbc, b.pbc);
    ASSERT_EQ(b.columns.size(), a.columns.size() + 1);
    for (size_t c = 0; c < a.columns.size(); ++c) {
      EXPECT_EQ(a.columns[c].name, b.columns[c].name);
      EXPECT_EQ(a.columns[c].width, b.columns[c].width);
      EXPECT_TRUE(same_bits(a.columns[c].values, b.columns[c].values)) << i << ": " << a.columns[c].name;
    }
    EXPECT_EQ(b.columns.back().name, "weyl_forces");
    ASSERT_EQ(b.values.size(), a.values.size() + 1);  // a slab has no volume, and no stress
    for (size_t v = 0; v < a.values.size(); ++v) {
      EXPECT_EQ(a.values[v].name, b.values[v].name);
      EXPECT_EQ(a.values[v].shape, b.values[v].shape) << a.values[v].name;
      EXPECT_TRUE(same_bits(a.values[v].values, b.values[v].values)) << i << ": " << a.values[v].name;
    }
    EXPECT_EQ(b.values.back().name, "weyl_energy");
  }
  // Said again without our reader: the words of the rows of ASE's frames, before the forces.
  const auto rows = words_of_lines(folder + "/in.extxyz"), again = words_of_lines(folder + "/out.extxyz");
  ASSERT_EQ(rows.size(), again.size());
  for (const size_t line : {2, 3, 4, 7, 8}) {
    ASSERT_EQ(again[line].size(), rows[line].size() + 3);
    for (size_t w = 0; w < rows[line].size(); ++w) {
      expect_same_word(rows[line][w], again[line][w]);
    }
  }
  // Predictions that are there already are written anew, not beside.
  const Outcome packed = weyl_program("predict run out.extxyz --out again.extxyz.gz", folder);
  ASSERT_EQ(packed.code, 0) << packed.err;
  const auto twice = read(folder + "/again.extxyz.gz");
  ASSERT_EQ(twice.size(), 3u);
  EXPECT_EQ(twice[0], after[0]);
}

double value_of(const AtomsFrame& frame, const std::string& name) {
  for (const FrameValue& value : frame.values) {
    if (value.name == name) {
      return std::get<std::vector<double>>(value.values).at(0);
    }
  }
  ADD_FAILURE() << "no value " << name;
  return 0;
}

TEST(PredictFrames, SeveralModelsGiveMeanAndDeviationInTheFilesUnits) {
  const std::string folder = prepared("predict-several");
  for (const std::string seed : {"1", "2"}) {
    const Outcome trained = weyl_program(
        "train c.toml --seed " + seed + " train.steps=2 --out run" + seed + " " + periodic_model, folder);
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  std::ofstream(folder + "/eV.xyz") << "3\nProperties=species:S:1:pos:R:3\nO 0 0 0\nH 1 0 0\nH 0 1.1 0\n";
  std::ofstream(folder + "/kcal.xyz")
      << "3\nProperties=species:S:1:pos:R:3 energy_unit=kcal/mol\nO 0 0 0\nH 1 0 0\nH 0 1.1 0\n";
  const auto predicted = [&](const std::string& models, const std::string& data) {
    const Outcome done =
        weyl_program("predict " + models + " " + data + ".xyz --out out.xyz --force", folder);
    EXPECT_EQ(done.code, 0) << done.err;
    return read(folder + "/out.xyz").at(0);
  };
  const double a = value_of(predicted("run1", "eV"), "weyl_energy"),
               b = value_of(predicted("run2", "eV"), "weyl_energy");
  const AtomsFrame both = predicted("run1 run2", "eV");
  EXPECT_NEAR(value_of(both, "weyl_energy"), (a + b) / 2, 1e-9);
  EXPECT_NEAR(value_of(both, "weyl_energy_std"), std::abs(a - b) / 2, 1e-9);
  EXPECT_GT(std::abs(a - b), 1e-6);
  EXPECT_TRUE(std::any_of(both.columns.begin(), both.columns.end(),
                          [](const AtomColumn& c) { return c.name == "weyl_forces_std" && c.width == 3; }));
  const AtomsFrame other = predicted("run1 run2", "kcal");
  const double factor = unit_factor("eV", "kcal/mol");
  EXPECT_NEAR(value_of(other, "weyl_energy_std"), factor * value_of(both, "weyl_energy_std"), 1e-6);
}

TEST(PredictFrames, UnitsThatNobodyReadsAreWarnedOfUntilTheKeysSayThem) {
  const std::string folder = prepared("predict-unread-units");
  const Outcome trained = weyl_program("train c.toml train.steps=1 --out run " + periodic_model, folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  std::ofstream(folder + "/metal.xyz")
      << "3\nProperties=species:S:1:pos:R:3 units=metal\nO 0 0 0\nH 1 0 0\nH 0 1.1 0\n";
  const auto warned = [&](const std::string& keys) {
    const Outcome done = weyl_program("predict run metal.xyz --out out.xyz --force " + keys, folder);
    EXPECT_EQ(done.code, 0) << done.err;
    return done.err;
  };
  const std::string energy = "data.molecules.energy_unit=eV ", length = "data.molecules.length_unit=Angstrom";
  EXPECT_NE(warned("").find("say what is meant by data.molecules.energy_unit, .length_unit"),
            std::string::npos);
  EXPECT_NE(warned(energy).find("'units' = 'metal', which is not read: lengths are taken"),
            std::string::npos);
  EXPECT_EQ(warned(energy + length).find("is not read"), std::string::npos);
}

using Matrix = std::array<double, 9>;

/// x -> (1 + e) x of places and lattice vectors.
AtomsFrame strained(AtomsFrame frame, const Matrix& e) {
  const auto move = [&](double* x) {
    const std::array<double, 3> old{x[0], x[1], x[2]};
    for (size_t i = 0; i < 3; ++i) {
      x[i] += e[3 * i] * old[0] + e[3 * i + 1] * old[1] + e[3 * i + 2] * old[2];
    }
  };
  for (size_t i = 0; i < 3; ++i) {
    move(frame.cell->data() + 3 * i);
  }
  for (size_t i = 0; i < frame.numbers.size(); ++i) {
    move(frame.positions.data() + 3 * i);
  }
  return frame;
}

double volume(const Matrix& c) {
  return std::abs(c[0] * (c[4] * c[8] - c[5] * c[7]) - c[1] * (c[3] * c[8] - c[5] * c[6]) +
                  c[2] * (c[3] * c[7] - c[4] * c[6]));
}

/// (1 / V) dE/de by central differences, E and V those of files.
TEST(PredictFrames, StressIsTheDerivativeOfTheEnergyByStrain) {
  const std::string folder = prepared("predict-stress");
  const Outcome trained = weyl_program("train c.toml train.steps=1 --out run " + periodic_model, folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  AtomsFrame plain = frames(2, 5)[1];
  plain.cell = Matrix{5.1, 0, 0, 0.7, 5.6, 0, -0.4, 0.3, 6.2};
  plain.pbc = {true, true, true};
  plain.columns.clear();
  plain.values.clear();
  AtomsFrame other = plain;  // the same atoms in other units
  const double bohr = unit_factor("Angstrom", "Bohr");
  std::ranges::for_each(other.positions, [&](double& x) { x *= bohr; });
  std::ranges::for_each(*other.cell, [&](double& x) { x *= bohr; });
  other.set(FrameValue{"energy_unit", {}, std::vector<std::string>{"kcal/mol"}});
  other.set(FrameValue{"length_unit", {}, std::vector<std::string>{"Bohr"}});
  std::vector<std::vector<double>> stresses;
  for (const AtomsFrame& frame : {plain, other}) {
    constexpr double h = 2e-5;
    std::vector<AtomsFrame> all{frame};
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = i; j < 3; ++j) {
        for (const double step : {h, -h}) {
          Matrix e{};
          e[3 * i + j] = e[3 * j + i] = step;
          all.push_back(strained(frame, e));
        }
      }
    }
    write(folder + "/in.xyz", all);
    const Outcome done = weyl_program("predict run in.xyz --out out.xyz --force --dtype float64", folder);
    ASSERT_EQ(done.code, 0) << done.err;
    const auto out = read(folder + "/out.xyz");
    ASSERT_EQ(out.size(), all.size());
    const auto energy = [&](size_t k) { return reals_of(out[k].value("weyl_energy")->values)->front(); };
    ASSERT_NE(out[0].value("weyl_stress"), nullptr);
    const auto stress = *reals_of(out[0].value("weyl_stress")->values);
    ASSERT_EQ(stress.size(), 9u);
    double largest = 0;
    for (const double s : stress) {
      largest = worst_of(largest, std::abs(s));
    }
    size_t k = 1;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = i; j < 3; ++j, k += 2) {
        const double pairs = i == j ? 1 : 2;  // e_ij and e_ji
        const double expected = (energy(k) - energy(k + 1)) / (2 * h * volume(*frame.cell) * pairs);
        EXPECT_GT(std::abs(expected), 1e-4 * largest);
        EXPECT_NEAR(stress[3 * i + j], expected, 1e-6 * largest) << i << j;
        EXPECT_NEAR(stress[3 * j + i], expected, 1e-6 * largest) << j << i;
      }
    }
    stresses.push_back(stress);
  }
  const double factor = 23.060547830619 / std::pow(bohr, 3);  // eV/A^3 in kcal/mol/Bohr^3
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(stresses[1][i] / stresses[0][i], factor, 1e-7 * factor);
  }
}

}  // namespace predict_frames_test
}  // namespace weyl

// Numbers of molecules (task property) through the built program: every system of points learns them,
// extensive and intensive, in their own units; test-time rotations; QM9's files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/app/atoms.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace property_test {

using atoms::read, atoms::write;

/// Molecules of three to five atoms with an extensive number `alpha`, in Bohr^3, and an intensive one `mu`,
/// in Debye.
std::vector<AtomsFrame> molecules(int count, uint64_t seed) {
  constexpr std::array<int, 4> elements{1, 6, 7, 8};
  Stream stream(seed, "test molecules");
  std::vector<AtomsFrame> result;
  for (int i = 0; i < count; ++i) {
    AtomsFrame f;
    double alpha = 0, mu = 0;
    const size_t n = 3 + static_cast<size_t>(i) % 3;
    for (size_t a = 0; a < n; ++a) {
      f.numbers.push_back(elements[(static_cast<size_t>(i) + 3 * a) % elements.size()]);
      for (size_t d = 0; d < 3; ++d) {
        f.positions.push_back(1.2 * static_cast<double>(d == 0 ? a : 0) + 0.2 * stream.normal());
      }
      alpha += 2.5 * f.numbers.back() + f.positions[3 * a + 1] * f.positions[3 * a + 2];
      mu += std::abs(f.positions[3 * a + 1]) / static_cast<double>(n);
    }
    f.set("alpha", alpha);
    f.set("mu", mu);
    result.push_back(f);
  }
  return result;
}

std::vector<double> numbers(const std::vector<AtomsFrame>& all, const std::string& name) {
  std::vector<double> result;
  for (const auto& f : all) {
    const FrameValue* value = f.value(name);
    result.push_back(value != nullptr ? reals_of(value->values)->front() : NAN);
    EXPECT_TRUE(std::isfinite(result.back())) << name;
  }
  return result;
}

double mean_error(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(a[i] - b[i]);
  }
  return sum / static_cast<double>(a.size());
}

double largest_error(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = worst_of(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

const char* const config = R"(
[data]
set = "molecules"
[data.molecules]
path = "data"
elements = ["H", "C", "N", "O"]
properties = [{ key = "alpha", unit = "Bohr^3", extensive = true }, { key = "mu", unit = "Debye" }]
[task]
name = "property"
[task.property]
targets = ["alpha", "mu"]
reference = "elements"
[model]
system = "geomformer"
[model.transformer]
width = 16
heads = 2
blocks = 1
[model.platonic]
width = 48
heads = 12
blocks = 1
[model.geomformer]
width = 12
heads = 3
blocks = 1
kernels = 6
[train]
steps = 2
batch = 12
[train.optimiser]
rate = 1e-2
)";

const std::map<std::string, std::string> systems{
    {"geomformer", ""},
    {"et", "model.geomformer.preset=et"},
    {"painn", "model.geomformer.preset=painn model.geomformer.heads=8"},
    {"platonic", "model.system=platonic"},
    {"transformer", "model.system=transformer"}};

/// One folder, in which every system was trained under its name, for all tests.
class PropertyProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = scratch("property");
    std::filesystem::create_directories(folder + "/data");
    write(folder + "/data/train.xyz", molecules(24, 1));
    write(folder + "/data/valid.xyz", molecules(6, 2));
    write(folder + "/new.xyz", molecules(12, 3));
    std::ofstream(folder + "/c.toml") << config;
    for (const auto& [name, options] : systems) {
      const Outcome done = weyl_program("train c.toml --out " + name + " --json " + options, folder);
      ASSERT_EQ(done.code, 0) << name << ": " << done.err;
      trained[name] = done.out;
    }
  }
  static std::vector<AtomsFrame> predicted(const std::string& run, const std::string& file) {
    std::filesystem::remove(folder + "/out.xyz");
    const Outcome done =
        weyl_program("predict " + run + " " + file + " --out out.xyz --dtype float64", folder);
    EXPECT_EQ(done.code, 0) << run << ": " << done.err;
    return done.code == 0 ? read(folder + "/out.xyz") : std::vector<AtomsFrame>{};
  }
  static inline std::string folder;
  static inline std::map<std::string, std::string> trained;  // what `train` said
};

TEST_F(PropertyProgram, EverySystemLearnsNumbersInTheirUnits) {
  const auto truth = read(folder + "/new.xyz");
  std::set<double> errors;
  for (const auto& [name, options] : systems) {
    const Json best = *Json::parse(trained.at(name), "train").find("best");
    EXPECT_EQ(best.find("metric")->string_or(""), "standardised_mae") << name;
    EXPECT_EQ(best.find("unit")->string_or("?"), "") << name;
    const Outcome measured = weyl_program("eval " + name + " --data new.xyz --dtype float64 --json", folder);
    ASSERT_EQ(measured.code, 0) << name << ": " << measured.err;
    const Json json = Json::parse(measured.out, "eval");
    EXPECT_EQ(json.find("samples")->number_or(0), 12);
    const auto out = predicted(name, "new.xyz");
    ASSERT_EQ(out.size(), truth.size()) << name;
    for (const auto& [target, unit] : {std::pair{"alpha", "Bohr^3"}, {"mu", "Debye"}}) {
      const auto said = numbers(out, std::string("weyl_") + target);
      for (const char* kind : {"mae_", "rmse_"}) {
        const Json* metric = json.find("metrics")->find(std::string(kind) + target);
        ASSERT_NE(metric, nullptr) << name << ": " << kind << target;
        EXPECT_EQ(metric->find("unit")->string_or(""), unit) << name << ": " << kind << target;
      }
      const double mae =
          json.find("metrics")->find(std::string("mae_") + target)->find("value")->number_or(NAN);
      EXPECT_NEAR(mean_error(said, numbers(truth, target)), mae, 1e-9 * mae) << name << ": " << target;
      EXPECT_EQ(std::set<double>(said.begin(), said.end()).size(), said.size()) << name << ": " << target;
      errors.insert(mae);
    }
    EXPECT_EQ(out[0].column("weyl_forces"), nullptr);
  }
  EXPECT_EQ(errors.size(), 2 * systems.size());  // these are different models
}

/// The error of any one property is called `mae`: runs that learn different ones of the same molecules are not compared.
TEST_F(PropertyProgram, RunsOfOtherTargetsAreNotCompared) {
  for (const std::string target : {"alpha", "mu"}) {
    const Outcome done = weyl_program("train c.toml --out of-" + target + " model.system=transformer " +
                                          "'task.property.targets=[\"" + target + "\"]'",
                                      folder);
    ASSERT_EQ(done.code, 0) << done.err;
  }
  const Outcome compared = weyl_program("compare of-alpha of-mu --json", folder);
  EXPECT_EQ(compared.code, 1) << compared.err;
  EXPECT_EQ(Json::parse(compared.out, "compare").find("same_test_data")->dump(), "false");
  EXPECT_NE(compared.err.find("of-alpha: alpha"), std::string::npos) << compared.err;
  EXPECT_NE(compared.err.find("of-mu: mu"), std::string::npos) << compared.err;
  EXPECT_EQ(weyl_program("compare transformer et", folder).code, 0);
}

/// Two molecules far from each other in one frame: an extensive number is the sum, an intensive one the mean.
TEST_F(PropertyProgram, ExtensiveNumbersAddAndOthersDoNot) {
  const auto one = molecules(6, 3);
  auto two = one;
  for (auto& f : two) {
    const size_t n = f.numbers.size();
    for (size_t a = 0; a < n; ++a) {
      f.numbers.push_back(f.numbers[a]);
      for (size_t d = 0; d < 3; ++d) {
        f.positions.push_back(f.positions[3 * a + d] + 40);
      }
    }
  }
  write(folder + "/one.xyz", one);
  write(folder + "/two.xyz", two);
  for (const std::string model : {"et", "painn"}) {  // the transformer attends to everything, however far
    const auto single = predicted(model, "one.xyz"), both = predicted(model, "two.xyz");
    const auto alpha = numbers(single, "weyl_alpha"), mu = numbers(single, "weyl_mu");
    const auto alphas = numbers(both, "weyl_alpha"), mus = numbers(both, "weyl_mu");
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_NEAR(alphas[i], 2 * alpha[i], 1e-9 * std::abs(alpha[i])) << model;
      EXPECT_NEAR(mus[i], mu[i], 1e-9) << model;
    }
  }
}

/// The bytes of the tensors of a run's best model.
std::map<std::string, std::string> weights(const std::string& run) {
  std::map<std::string, std::string> result;
  const SafetensorsFile file(run + "/best/model.safetensors");
  for (const auto& [name, entry] : file.header().tensors) {
    const auto bytes = file.bytes(name);
    result[name] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  return result;
}

/// Averaged over the 24 rotations of the cube, a transformer's answer turns by a quarter as it should; an
/// equivariant model's answer is what it was.
TEST_F(PropertyProgram, TestTimeRotationsMakeATransformerInvariant) {
  auto turned = molecules(12, 3);
  for (auto& f : turned) {
    for (size_t a = 0; a < f.numbers.size(); ++a) {
      double* x = f.positions.data() + 3 * a;
      std::swap(x[1], x[2]);
      x[1] = -x[1];
    }
  }
  write(folder + "/turned.xyz", turned);
  for (const std::string name : {"transformer", "geomformer"}) {
    const Outcome done = weyl_program(
        "train c.toml task.property.test_time_rotations.count=24 --out " + name + "-24 " + systems.at(name),
        folder);
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(weights(folder + "/" + name), weights(folder + "/" + name + "-24"));  // they differ in the rest
    for (const std::string target : {"weyl_alpha", "weyl_mu"}) {
      const auto plain = numbers(predicted(name, "new.xyz"), target),
                 averaged = numbers(predicted(name + "-24", "new.xyz"), target),
                 of_turned = numbers(predicted(name + "-24", "turned.xyz"), target);
      EXPECT_LT(largest_error(averaged, of_turned), 1e-9) << name << target;
      if (name == "geomformer") {
        EXPECT_LT(largest_error(averaged, plain), 1e-9) << target;
      } else {
        EXPECT_GT(largest_error(averaged, plain), 1e-5) << target;
        EXPECT_GT(largest_error(plain, numbers(predicted(name, "turned.xyz"), target)), 1e-5) << target;
      }
    }
  }
}

/// QM9's own two files and six made here, in which energies are in Hartree: labels and metrics are in eV,
/// predictions beside the input in the input's unit.
TEST_F(PropertyProgram, LearnsFromQm9sFiles) {
  const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/qm9";
  std::filesystem::create_directories(folder + "/qm9");
  for (const auto& file : std::filesystem::directory_iterator(fixtures)) {
    std::filesystem::copy(file.path(), folder + "/qm9/" + file.path().filename().string());
  }
  const auto made = molecules(6, 4);
  constexpr std::array<const char*, 9> symbols{"", "H", "", "", "", "", "C", "N", "O"};
  for (size_t i = 0; i < made.size(); ++i) {
    std::ofstream file(folder + "/qm9/dsgdb9nsd_00010" + std::to_string(i) + ".xyz");
    const double x = static_cast<double>(i * i);
    file << made[i].numbers.size() << "\ngdb 10" << i << "\t157.7\t157.7\t157.7\t1.5\t13." << i
         << "\t-0.4\t0.1\t" << 0.3 + 0.01 * x << "\t35.3\t4." << i << "*^-2\t" << -40.5 - 3.7 * x
         << "\t-40.4\t-40.3\t-40.6\t" << 6 + 0.3 * x << "\t\n";
    for (size_t a = 0; a < made[i].numbers.size(); ++a) {
      file << symbols[static_cast<size_t>(made[i].numbers[a])];
      for (size_t d = 0; d < 3; ++d) {
        file << "\t" << made[i].positions[3 * a + d];
      }
      file << "\t0.1\n";
    }
    file << "1341.3\t1562.6\nC\tC\nInChI=1S/CH4/h1H\tInChI=1S/CH4/h1H\n";
  }
  const std::string qm9 =
      "data.set=qm9 data.qm9.path=qm9 data.qm9.elements='[\"H\",\"C\",\"N\",\"O\"]' data.qm9.train=6 "
      "data.qm9.valid=2 task.property.targets=";
  const Outcome done =
      weyl_program("train c.toml --out of-qm9 --json " + qm9 + "'[\"gap\",\"U0\",\"Cv\"]'", folder);
  ASSERT_EQ(done.code, 0) << done.err;
  const Outcome measured = weyl_program("eval of-qm9 --data qm9 --dtype float64 --json", folder);
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Json json = Json::parse(measured.out, "eval");
  EXPECT_EQ(json.find("samples")->number_or(0), 8);
  const auto truth = read(folder + "/qm9"), out = predicted("of-qm9", "qm9");
  ASSERT_EQ(out.size(), 8u);
  EXPECT_NE(out[0].column("mulliken"), nullptr);
  EXPECT_NE(out[0].value("inchi_relaxed"), nullptr);
  constexpr double hartree = 27.211386245981;  // eV, CODATA 2022
  for (const auto& [target, unit, factor] :
       {std::tuple{"gap", "eV", hartree}, {"U0", "eV", hartree}, {"Cv", "cal/mol/K", 1.0}}) {
    const Json* mae = json.find("metrics")->find(std::string("mae_") + target);
    ASSERT_NE(mae, nullptr) << target;
    EXPECT_EQ(mae->find("unit")->string_or(""), unit) << target;
    const double error = mean_error(numbers(out, std::string("weyl_") + target), numbers(truth, target));
    EXPECT_GT(error, 1e-6);
    EXPECT_NEAR(mae->find("value")->number_or(NAN), error * factor, 1e-8 * error * factor) << target;
  }
  // One target: the headline has its unit.
  const Outcome one = weyl_program("train c.toml --out gap --json " + qm9 + "'[\"gap\"]'", folder);
  ASSERT_EQ(one.code, 0) << one.err;
  const Json best = *Json::parse(one.out, "train").find("best");
  EXPECT_EQ(best.find("metric")->string_or(""), "mae");
  EXPECT_EQ(best.find("unit")->string_or(""), "eV");
  const Outcome absent = weyl_program("train c.toml --out none " + qm9 + "'[\"gpa\"]'", folder);
  EXPECT_EQ(absent.code, 3);
  EXPECT_NE(absent.err.find("gpa"), std::string::npos) << absent.err;
  EXPECT_EQ(std::ranges::count(absent.err, '\n'), 1) << absent.err;
}

}  // namespace property_test
}  // namespace weyl

#include "weyl/data/base/outliers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace outliers_test {

std::string lines_of(const Outliers& outliers) {
  std::string all;
  for (const auto& line : outliers.lines([](int64_t i) { return text("sample ", i); },
                                         [](int64_t t) { return text("type ", t); })) {
    all += line + "\n";
  }
  return all;
}

/// What is said of n numbers of samples without types, of which `odd` replace the first ones.
template <class F>
std::string of_numbers(int64_t n, F draw, const std::vector<double>& odd = {}) {
  Outliers outliers;
  for (int64_t i = 0; i < n; ++i) {
    outliers.begin_sample({});
    outliers.add_number("y", "eV", false,
                        i < static_cast<int64_t>(odd.size()) ? odd[static_cast<size_t>(i)] : draw());
  }
  return lines_of(outliers);
}

TEST(Outliers, NameANumberThatIsFarFromTheOthers) {
  for (const int64_t n : {30, 100, 2000}) {
    Stream stream(1, "outliers", {static_cast<uint64_t>(n)});
    const auto fours = [&] { return 4 + 0.3 * stream.normal(); };
    EXPECT_EQ(of_numbers(n, fours), "") << n;
    const std::string said = of_numbers(n, fours, {4, -1234});
    EXPECT_EQ(
        said.find(text("y: 1 of ", n,
                       " samples is beyond 20 median absolute deviations: sample 1 has -1234 eV where ")),
        0U)
        << said;
    const std::string many = of_numbers(n, fours, {1e5, -1234, 7e4, 4e4});
    EXPECT_EQ(many.find(text("y: 4 of ", n)), 0U) << many;
    EXPECT_LT(many.find("sample 0 has 100000 eV"), many.find("sample 2 has 70000 eV"));
    EXPECT_NE(many.find(" and 1 more\n"), std::string::npos) << many;
  }
}

TEST(Outliers, ASampleOfTwentyDeviationsIsNoneAndOneOfFortyIsOne) {
  Stream stream(2, "outliers");
  constexpr double deviation = 0.6744897502;  // median absolute, of a standard normal variable
  const auto draw = [&] { return stream.normal(); };
  EXPECT_EQ(of_numbers(4000, draw, {15 * deviation, -15 * deviation}), "");
  EXPECT_NE(of_numbers(4000, draw, {40 * deviation}), "");
  EXPECT_NE(of_numbers(4000, draw, {-40 * deviation}), "");
}

TEST(Outliers, SayNothingOfHeavyTailsOfFewSamplesAndOfWhatIsMissing) {
  Stream stream(3, "outliers");
  for (const int64_t n : {100, 1000, 20000}) {
    EXPECT_EQ(of_numbers(n, [&] { return std::exp(stream.normal()); }), "") << n;
    EXPECT_EQ(of_numbers(n, [&] { return std::exp(2 * stream.normal()); }), "") << n;
    EXPECT_EQ(of_numbers(n, [&] { return -std::log(1 - stream.uniform()); }), "") << n;
    EXPECT_EQ(of_numbers(
                  n, [&] { return stream.uniform() < 0.6 ? 1e-3 * stream.normal() : 100 + stream.normal(); }),
              "")
        << n;
  }
  EXPECT_NE(of_numbers(1000, [&] { return std::exp(stream.normal()); }, {-1234}), "");
  EXPECT_EQ(of_numbers(9, [] { return 4.; }, {-1234}), "");
  EXPECT_NE(of_numbers(10, [] { return 4.; }, {-1234}), "");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(of_numbers(50, [&] { return stream.uniform() < 0.5 ? NAN : stream.normal(); }, {inf, NAN}), "");
}

TEST(Outliers, SayNothingWhereMostNumbersAreEqual) {
  Stream stream(4, "outliers");
  EXPECT_EQ(of_numbers(500, [&] { return stream.uniform() < 0.95 ? 0. : stream.normal(); }), "");  // inflated
  EXPECT_EQ(of_numbers(500, [&] { return stream.uniform() < 0.95 ? 1. : stream.below(10); }), "");  // classes
  EXPECT_EQ(of_numbers(500, [&] { return 3.; }, {7, 2, 5}), "");                                    // counts
  EXPECT_EQ(of_numbers(500, [&] { return 0.; }, {0.25, -0.5}), "");
  EXPECT_EQ(of_numbers(500, [&] { return 4. * (1 + 1e-9 * stream.normal()); }), "");  // beneath the floor
  EXPECT_NE(of_numbers(500, [&] { return 4.; }, {-1234}), "");
  EXPECT_NE(of_numbers(500, [&] { return 4.25; }, {4.26}), "");  // 2e-5 of the median are 8.5e-5
  EXPECT_EQ(of_numbers(500, [&] { return 4.25; }, {4.25008}), "");
}

/// Energies of hydrocarbons, some with an oxygen: the atoms' own and `spread`.
std::string of_energies(int64_t n, int64_t most, double spread, const std::vector<double>& odd = {}) {
  Stream stream(5, "energies");
  Outliers outliers;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t hydrogens = 1 + stream.below(2 * most), carbons = stream.below(most) + 1,
                  oxygens = i % 400 == 399;
    std::vector<int64_t> types(static_cast<size_t>(hydrogens), 1);
    types.insert(types.end(), static_cast<size_t>(carbons), 6);
    types.insert(types.end(), static_cast<size_t>(oxygens), 8);
    const double energy = -13.6 * static_cast<double>(hydrogens) - 1030 * static_cast<double>(carbons) -
                          2041.5 * static_cast<double>(oxygens) + spread * stream.normal();
    outliers.begin_sample(types);
    outliers.add_number("energy", "eV", true,
                        i < static_cast<int64_t>(odd.size()) ? odd[static_cast<size_t>(i)] : energy);
  }
  return lines_of(outliers);
}

TEST(Outliers, CompareEnergiesAfterTheComposition) {
  for (const int64_t most : {1, 3, 12}) {  // a few compositions with many samples each; many with few
    EXPECT_EQ(of_energies(900, most, 0.5), "") << most;
    const std::string said =
        of_energies(900, most, 0.5, {-50});  // less than any of them, by the elements' energies
    EXPECT_EQ(
        said.find("energy: 1 of 900 samples is beyond 20 median absolute deviations: sample 0 has -50 eV"),
        0U)
        << most << said;
    EXPECT_NE(of_energies(900, most, 0.5, {1e30}).find("sample 0 has 1e+30 eV"), std::string::npos) << most;
    // Within what the sizes of molecules alone would explain.
    if (most > 1) {
      EXPECT_NE(of_energies(900, most, 0.5, {-4000}).find("sample 0 has -4000 eV"), std::string::npos)
          << most;
    }
  }
}

TEST(Outliers, ASampleThatAloneHasAnElementIsNone) {
  Stream stream(6, "lone");
  Outliers outliers;
  for (int i = 0; i < 200; ++i) {
    const std::vector<int64_t> types = i == 7 ? std::vector<int64_t>{92, 8} : std::vector<int64_t>{8, 1, 1};
    outliers.begin_sample(types);
    outliers.add_number("energy", "eV", true, i == 7 ? -760000 : -2079 + 0.1 * stream.normal());
  }
  EXPECT_EQ(lines_of(outliers), "");
}

/// Forces on ten atoms of two types in each of n samples, in proportion to what `size` draws; one of sample 3 replaced.
template <class F>
std::string of_forces(int64_t n, F size, double odd = 0) {
  Stream stream(7, "forces");
  Outliers outliers;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> types;
    std::vector<double> forces;
    for (int atom = 0; atom < 10; ++atom) {
      types.push_back(atom % 2);
      const double factor = size() * (atom % 2 == 0 ? 1 : 1000);  // light and heavy ones differ
      for (int d = 0; d < 3; ++d) {
        forces.push_back(factor * stream.normal());
      }
    }
    if (i == 3 && odd != 0) {
      forces[0] = odd;
    }
    outliers.begin_sample(types);
    outliers.add_rows("forces", "eV/A", 3, forces, types);
  }
  return lines_of(outliers);
}

TEST(Outliers, CompareForcesOfEachElementByTheirNorm) {
  Stream stream(8, "sizes");
  const auto thermal = [] { return 1.; };
  const auto heavy = [&] { return std::exp(stream.normal()); };
  const auto held = [&] { return stream.uniform() < 0.8 ? 0. : 1.; };
  for (const int64_t n : {10, 100, 3000}) {
    EXPECT_EQ(of_forces(n, thermal), "") << n;
    EXPECT_EQ(of_forces(n, heavy), "") << n;
    EXPECT_EQ(of_forces(n, held), "") << n;
    for (const double odd : {1e30, 1e300, -1e30}) {
      const std::string said = of_forces(n, thermal, odd);
      EXPECT_EQ(
          said.find(text("forces of type 0: 1 of ", n, " samples has a norm beyond 20 times the median ")),
          0U)
          << said;
      EXPECT_NE(said.find(text("sample 3 has ", std::abs(odd))), std::string::npos) << said;
      EXPECT_NE(of_forces(n, heavy, odd), "") << n;
    }
    // What is usual of the other element.
    EXPECT_NE(of_forces(n, thermal, 3000).find("forces of type 0: 1 of"), std::string::npos) << n;
  }
  EXPECT_EQ(of_forces(9, thermal, 1e30), "");
}

TEST(CompositionFit, IsNotMovedByOneNumber) {
  const std::vector<std::vector<std::pair<int64_t, int64_t>>> compositions{
      {{1, 2}, {8, 1}}, {{1, 4}, {6, 1}}, {{1, 6}, {6, 2}}, {{6, 1}, {8, 2}},
      {{1, 2}},         {{8, 2}},         {{1, 2}, {6, 2}}};
  const std::vector<double> weights(compositions.size(), 1);
  std::vector<double> y;
  for (const auto& composition : compositions) {
    double sum = 0;
    for (const auto& [type, count] : composition) {
      sum += static_cast<double>(count) * (type == 1 ? -13.6 : type == 6 ? -1030 : -2041.5);
    }
    y.push_back(sum);
  }
  const std::vector<double> exact = y;
  y[2] = 1e30;
  const auto estimates = composition_estimates(compositions, y, weights);
  for (size_t k = 0; k < y.size(); ++k) {
    EXPECT_NEAR(estimates[k], exact[k], 0.05) << k;
  }
  EXPECT_TRUE(composition_estimates({}, {}, {}).empty());
}

}  // namespace outliers_test
}  // namespace weyl

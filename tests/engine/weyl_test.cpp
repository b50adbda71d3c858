// Energies and forces by the C interface: the bits of the library, whatever asks for them, and a line for what is wrong.
#include "weyl/engine/weyl.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/engine/saved_models.h"
#include "weyl/core/elements.h"
#include "weyl/core/json.h"
#include "weyl/engine/loaded_torch.h"
#include "weyl/saved/atoms.h"

namespace weyl {
namespace weyl_test {

using Model = std::unique_ptr<weyl_model, void (*)(weyl_model*)>;

/// A potential on disk.
std::string potential_in(const Folder& folder, const char* system, const ForceFieldOptions& options = {},
                         double times = 1) {
  return saved_in(folder, system + std::to_string(times), potential(system, *set(), options), times);
}

Model loaded(const std::vector<std::string>& paths, const char* dtype = nullptr) {
  std::vector<const char*> names;
  for (const std::string& path : paths) {
    names.push_back(path.c_str());
  }
  weyl_model* model = nullptr;
  EXPECT_EQ(weyl_load(names.data(), names.size(), dtype, 1, &model), WEYL_OK) << weyl_last_error();
  return {model, weyl_free};
}

/// Methanol without two of its atoms, or moved a little; in a cell or not.
struct Atoms {
  std::vector<int32_t> numbers{6, 8, 1, 1};
  std::vector<double> positions{0, 0, 0, 1.4, 0.1, 0, -0.4, 1.0, 0.1, 1.8, -0.8, 0.2};
  std::array<double, 9> cell{5, 0, 0, 0.5, 5, 0, 0, -1, 6};
  bool periodic = false;

  weyl_atoms view() const {
    return {
        numbers.size(), numbers.data(), positions.data(), periodic ? cell.data() : nullptr, nullptr, 0, 0};
  }
  AtomsFrame frame() const {
    AtomsFrame frame;
    frame.numbers.assign(numbers.begin(), numbers.end());
    frame.positions = positions;
    if (periodic) {
      frame.cell = cell;
      frame.pbc = {true, true, true};
    }
    return frame;
  }
};

/// Room for all results of so many atoms.
struct Results {
  explicit Results(size_t count)
      : forces(3 * count), stress(9), energies(count), virials(9 * count), forces_std(3 * count) {}
  weyl_results view() {
    return {&energy,        forces.data(), stress.data(),    energies.data(),
            virials.data(), &energy_std,   forces_std.data()};
  }
  double energy = 0, energy_std = 0;
  std::vector<double> forces, stress, energies, virials, forces_std;
};

TEST(Weyl, GivesTheBitsOfTheLibrary) {
  const Folder folder;
  for (const char* system : {"painn", "et"}) {
    const std::string path = potential_in(folder, system);
    const Model model = loaded({path});
    const Predictor predictor(path);
    for (const bool periodic : {false, true}) {
      Atoms atoms;
      atoms.periodic = periodic;
      const weyl_atoms given = atoms.view();
      Results results(4);
      const weyl_results all = results.view();
      ASSERT_EQ(weyl_compute(model.get(), &given, &all), WEYL_OK) << weyl_last_error();
      const EnergyAndForces expected =
          energy_and_forces(predictor, atoms.frame(), {.stress = true, .energies = true, .virials = true});
      EXPECT_EQ(results.energy, expected.energy);
      EXPECT_EQ(results.forces, expected.forces);
      EXPECT_EQ(results.energies, expected.energies);
      EXPECT_EQ(results.virials, expected.virials);
      EXPECT_TRUE(std::isnan(results.energy_std));
      EXPECT_TRUE(std::isnan(results.forces_std[5]));
      if (periodic) {
        EXPECT_TRUE(std::ranges::equal(results.stress, *expected.stress));
      } else {
        EXPECT_TRUE(std::isnan(results.stress[0]));
      }
      // Energy and forces alone are the same.
      Results few(4);
      const weyl_results two{&few.energy, few.forces.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
      ASSERT_EQ(weyl_compute(model.get(), &given, &two), WEYL_OK);
      EXPECT_EQ(few.energy, energy_and_forces(predictor, atoms.frame()).energy);
      EXPECT_EQ(few.forces, energy_and_forces(predictor, atoms.frame()).forces);
    }
  }
}

TEST(Weyl, SaysWhatTheModelIs) {
  const Folder folder;
  const Model painn = loaded({potential_in(folder, "painn")}),
              far = loaded({potential_in(folder, "transformer")}),
              direct = loaded({potential_in(folder, "et", {.forces = ForceSource::direct})}, "float32");
  EXPECT_EQ(weyl_api_version(), WEYL_API_VERSION);
  EXPECT_NE(std::string(weyl_version()), "");
  std::array<int32_t, 2> numbers{};
  EXPECT_EQ(weyl_elements(painn.get(), numbers.data(), 2), 3u);
  EXPECT_EQ(numbers, (std::array<int32_t, 2>{1, 6}));
  EXPECT_EQ(weyl_elements(painn.get(), nullptr, 0), 3u);
  EXPECT_EQ(weyl_reach(painn.get()), *Predictor(potential_in(folder, "painn", {}, 2)).model().reach());
  EXPECT_EQ(weyl_reach(far.get()), -1);
  EXPECT_EQ(weyl_gradient_forces(painn.get()), 1);
  EXPECT_EQ(weyl_gradient_forces(direct.get()), 0);
  EXPECT_EQ(weyl_members(painn.get()), 1u);
  const Json info = Json::parse(weyl_info(direct.get()), "info");
  EXPECT_EQ(info.find("dtype")->string_or(""), "float32");
  EXPECT_EQ(info.find("system")->string_or(""), "geomformer");
  EXPECT_EQ(info.find("elements")->items().size(), 3u);
}

TEST(Weyl, ACommitteeGivesMeansAndDeviations) {
  const Folder folder;
  const std::string a = potential_in(folder, "painn"), b = potential_in(folder, "painn", {}, 1.1);
  const Model both = loaded({a, b});
  EXPECT_EQ(weyl_members(both.get()), 2u);
  const Atoms atoms;
  const weyl_atoms view = atoms.view();
  std::array<Results, 3> results{Results(4), Results(4), Results(4)};
  size_t k = 0;
  for (const Model& model : {loaded({a}), loaded({b})}) {
    const weyl_results to = results[k++].view();
    ASSERT_EQ(weyl_compute(model.get(), &view, &to), WEYL_OK);
  }
  const weyl_results to = results[2].view();
  ASSERT_EQ(weyl_compute(both.get(), &view, &to), WEYL_OK) << weyl_last_error();
  EXPECT_NEAR(results[2].energy, (results[0].energy + results[1].energy) / 2, 1e-9);
  EXPECT_NEAR(results[2].energy_std, std::abs(results[0].energy - results[1].energy) / 2, 1e-9);
  EXPECT_NEAR(results[2].forces_std[4], std::abs(results[0].forces[4] - results[1].forces[4]) / 2, 1e-9);
}

// Ghosts that are within the reach of one model are too few for another that sees farther.
TEST(Weyl, ACommitteeReachesAsFarAsItsFarthestMember) {
  const Folder folder;
  const std::string painn = potential_in(folder, "painn"), et = potential_in(folder, "et"),
                    far = potential_in(folder, "transformer");
  const double shorter = weyl_reach(loaded({painn}).get()), longer = weyl_reach(loaded({et}).get());
  ASSERT_LT(shorter, longer);
  EXPECT_EQ(weyl_reach(loaded({painn, et}).get()), longer);
  EXPECT_EQ(weyl_reach(loaded({et, painn}).get()), longer);
  EXPECT_EQ(weyl_reach(loaded({painn, far}).get()), -1);
}

TEST(Weyl, AnEnergyAloneNeedsNoForces) {
  const Folder folder;
  const Model without = loaded({potential_in(folder, "painn", {.forces = ForceSource::none}, 2)}),
              model = loaded({potential_in(folder, "painn")});
  const Atoms atoms;
  const weyl_atoms view = atoms.view();
  Results results(4), all(4);
  const weyl_results energy{&results.energy, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr},
      everything = all.view(),
      forces{&results.energy, results.forces.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
  ASSERT_EQ(weyl_compute(model.get(), &view, &energy), WEYL_OK) << weyl_last_error();
  ASSERT_EQ(weyl_compute(model.get(), &view, &everything), WEYL_OK);
  EXPECT_NEAR(results.energy, all.energy, 1e-10);
  EXPECT_EQ(weyl_compute(without.get(), &view, &energy), WEYL_OK) << weyl_last_error();
  EXPECT_EQ(weyl_compute(without.get(), &view, &forces), WEYL_USAGE);
}

TEST(Weyl, BatchesAndClustersAreTheirParts) {
  const Folder folder;
  const Model model = loaded({potential_in(folder, "painn")});
  std::array<Atoms, 3> samples;
  samples[1].periodic = true;
  samples[2].numbers.pop_back();
  samples[2].positions.resize(9);
  std::vector<Results> found, alone;
  std::vector<weyl_atoms> atoms;
  std::vector<weyl_results> to;
  for (const Atoms& sample : samples) {
    atoms.push_back(sample.view());
    found.emplace_back(sample.numbers.size());
    alone.emplace_back(sample.numbers.size());
  }
  for (Results& results : found) {
    to.push_back(results.view());
  }
  ASSERT_EQ(weyl_compute_batch(model.get(), 3, atoms.data(), to.data()), WEYL_OK) << weyl_last_error();
  for (size_t i = 0; i < 3; ++i) {
    const weyl_results one = alone[i].view();
    ASSERT_EQ(weyl_compute(model.get(), &atoms[i], &one), WEYL_OK);
    EXPECT_NEAR(found[i].energy, alone[i].energy, 1e-9);
    for (size_t f = 0; f < alone[i].forces.size(); ++f) {
      EXPECT_NEAR(found[i].forces[f], alone[i].forces[f], 1e-10);
    }
  }
  EXPECT_EQ(weyl_compute_batch(model.get(), 0, nullptr, nullptr), WEYL_OK);
  const std::array<uint8_t, 4> first{1, 1, 0, 0}, second{0, 0, 1, 1};
  Results one(4), two(4);
  const weyl_results a{&one.energy, one.forces.data(), nullptr, nullptr, nullptr, nullptr, nullptr},
      b{&two.energy, two.forces.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
  ASSERT_EQ(weyl_compute_cluster(model.get(), &atoms[0], first.data(), &a), WEYL_OK) << weyl_last_error();
  ASSERT_EQ(weyl_compute_cluster(model.get(), &atoms[0], second.data(), &b), WEYL_OK);
  EXPECT_NEAR(one.energy + two.energy, alone[0].energy, 1e-9);
  EXPECT_NEAR(one.forces[7] + two.forces[7], alone[0].forces[7], 1e-10);
}

TEST(Weyl, ThreadsShareAModelAndItsBits) {
  const Folder folder;
  const Model model = loaded({potential_in(folder, "et")});
  const Atoms atoms;
  std::array<std::vector<double>, 4> forces;
  std::vector<std::thread> threads;
  for (auto& mine : forces) {
    threads.emplace_back([&] {
      const weyl_atoms given = atoms.view();
      for (int call = 0; call < 20; ++call) {
        Results results(4);
        const weyl_results to = results.view();
        if (weyl_compute(model.get(), &given, &to) == WEYL_OK) {
          mine.insert(mine.end(), results.forces.begin(), results.forces.end());
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(forces[0].size(), 20u * 12u);
  for (const auto& mine : forces) {
    EXPECT_EQ(mine, forces[0]);
  }
}

/// Resident memory in kB.
int64_t resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes;
    }
  }
  return 0;
}

TEST(Weyl, ManyCallsOfChangingSizesTakeNoMemory) {
  const Folder folder;
  const Model model = loaded({potential_in(folder, "painn")}, "float32");
  const auto call = [&](int64_t size) {
    Atoms atoms;
    atoms.numbers.assign(static_cast<size_t>(size), 6);
    atoms.positions.clear();
    for (int64_t i = 0; i < size; ++i) {
      atoms.positions.insert(atoms.positions.end(),
                             {1.3 * static_cast<double>(i % 3), 1.3 * static_cast<double>(i / 3 % 3),
                              1.3 * static_cast<double>(i / 9)});
    }
    const weyl_atoms given = atoms.view();
    Results results(static_cast<size_t>(size));
    const weyl_results to{&results.energy, results.forces.data(), nullptr, nullptr, nullptr, nullptr,
                          nullptr};
    ASSERT_EQ(weyl_compute(model.get(), &given, &to), WEYL_OK) << weyl_last_error();
  };
  int64_t before = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    before = i == 100 ? resident() : before;
    call(15 + i % 13);
  }
  EXPECT_LT(resident() - before, 1024) << "kB";
}

TEST(Weyl, WhatIsWrongIsALineAndAStatus) {
  const Folder folder;
  const std::string path = potential_in(folder, "painn");
  const Model model = loaded({path}), far = loaded({potential_in(folder, "transformer")}),
              direct = loaded({potential_in(folder, "et", {.forces = ForceSource::direct})});
  weyl_model* none = nullptr;
  const auto refused = [](weyl_status status, weyl_status expected, const std::string& line) {
    EXPECT_EQ(status, expected) << weyl_last_error();
    EXPECT_TRUE(std::string(weyl_last_error()).starts_with(line)) << weyl_last_error();
    EXPECT_EQ(std::string(weyl_last_error()).find('\n'), std::string::npos);
  };
  const char* missing = "no/such/run";
  refused(weyl_load(&missing, 1, nullptr, 0, &none), WEYL_DATA, "no/such/run");
  EXPECT_EQ(none, nullptr);
  const char* there = path.c_str();
  refused(weyl_load(&there, 1, "float16", 0, &none), WEYL_USAGE, "weyl_load: dtype must be");
  refused(weyl_load(&there, 0, nullptr, 0, &none), WEYL_USAGE, "weyl_load: a path must be given");
  refused(weyl_load(&there, 1, nullptr, 0, nullptr), WEYL_USAGE, "weyl_load: model must be given, got NULL");
  Results results(4);
  weyl_results to{&results.energy, results.forces.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
  Atoms atoms;
  const auto compute = [&](const Model& with) {
    const weyl_atoms given = atoms.view();
    return weyl_compute(with.get(), &given, &to);
  };
  atoms.numbers[1] = 92;
  refused(compute(model), WEYL_DATA, "energy_and_forces: the model knows no element U");
  atoms.numbers[1] = 700;
  refused(compute(model), WEYL_DATA, "weyl_compute: there is no element of number 700");
  atoms = {};
  atoms.positions[7] = NAN;
  refused(compute(model), WEYL_DATA, "energy_and_forces: positions[2][1] must be finite, got nan");
  atoms = {};
  atoms.periodic = true;
  atoms.cell = {5, 0, 0, 10, 0, 0, 0, 0, 5};
  refused(compute(model), WEYL_DATA, "energy_and_forces: the cell's periodic vectors must be independent");
  atoms.cell[3] = INFINITY;
  refused(compute(model), WEYL_DATA, "weyl_compute: the cell must be finite, got inf");
  atoms = {};
  atoms.numbers.clear();
  refused(compute(model), WEYL_DATA, "energy_and_forces: there must be atoms, got none");
  atoms = {};
  refused(weyl_compute(nullptr, nullptr, nullptr), WEYL_USAGE, "weyl_compute: model must be given, got NULL");
  to.stress = results.stress.data();
  refused(compute(direct), WEYL_USAGE, "weyl_compute: the model gives no stress");
  const std::string own_forces = potential_in(folder, "et", {.forces = ForceSource::direct}, 2);
  const std::array<const char*, 2> mixed{there, own_forces.c_str()};
  refused(weyl_load(mixed.data(), 2, nullptr, 0, &none), WEYL_USAGE,
          "several models must have the same kind of forces");
  to.stress = nullptr;
  to.virials = results.virials.data();
  refused(compute(far), WEYL_USAGE, "weyl_compute: the model gives no virials of atoms");
  to.virials = nullptr;
  const std::array<uint8_t, 4> owned{1, 1, 1, 0};
  const weyl_atoms given = atoms.view();
  refused(weyl_compute_cluster(far.get(), &given, owned.data(), &to), WEYL_USAGE,
          "weyl_compute_cluster: needs a model whose atoms see no farther than a cut-off");
  EXPECT_EQ(compute(model), WEYL_OK);
  weyl_free(nullptr);
}

TEST(LoadedTorch, IsThatOfTheBuild) {
  EXPECT_EQ(loaded_torch(), built_with_torch());
  EXPECT_NO_THROW(require_own_torch());
}

}  // namespace weyl_test
}  // namespace weyl

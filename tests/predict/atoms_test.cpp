#include "weyl/saved/atoms.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/predict/potentials.h"
#include "weyl/carriers/coincident_atoms.h"
#include "weyl/core/units.h"

namespace weyl {
namespace atoms_test {

AtomsFrame methanol() {
  AtomsFrame frame;
  frame.numbers = {6, 8, 1, 1};
  frame.positions = {0, 0, 0, 1.4, 0.1, 0, -0.4, 1.0, 0.1, 1.8, -0.8, 0.2};
  return frame;
}

/// A potential whose data have energies and lengths in these units.
SavedModel potential_in(const std::string& energy, const std::string& length) {
  const auto plain = set();
  Schema schema = plain->schema();
  schema.interface.length_unit = length;
  schema.labels[0].unit = energy;
  schema.labels[1].unit = energy.empty() || length.empty() ? "" : energy + "/" + length;
  return potential("painn", InMemory(plain->all(), schema), {.units = energy.empty() ? "eV" : energy});
}

std::string refusal(const Predictor& predictor, const AtomsFrame& atoms) {
  try {
    energy_and_forces(predictor, atoms);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(EnergyAndForces, ForcesAreMinusTheSlopeOfTheEnergyInElectronvoltAndAngstrom) {
  for (const auto& [energy, length] : {std::pair{"eV", "\u00c5"}, {"kcal/mol", "nm"}, {"Hartree", "Bohr"}}) {
    const Predictor predictor(potential_in(energy, length));
    const AtomsFrame atoms = methanol();
    const EnergyAndForces found = energy_and_forces(predictor, atoms);
    ASSERT_EQ(found.forces.size(), 12u);
    EXPECT_FALSE(found.stress);
    constexpr double h = 1e-5;
    for (size_t i = 0; i < 12; ++i) {
      AtomsFrame up = atoms, down = atoms;
      up.positions[i] += h;
      down.positions[i] -= h;
      const double slope =
          (energy_and_forces(predictor, up).energy - energy_and_forces(predictor, down).energy) / (2 * h);
      EXPECT_NEAR(found.forces[i], -slope, 1e-5 * (1 + std::abs(slope))) << energy << " " << i;
    }
  }
}

TEST(EnergyAndForces, AreThePredictionsInOtherUnits) {
  const Predictor in_kcal(potential_in("kcal/mol", "\u00c5"));
  const AtomsFrame atoms = methanol();
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  points.positions = at::tensor(atoms.positions, at::kDouble).view({4, 3});
  points.types = at::tensor(std::vector<int64_t>{1, 2, 0, 0}, at::kLong);
  const Named said = in_kcal(points);
  const double factor = unit_factor("kcal/mol", "eV");
  const EnergyAndForces found = energy_and_forces(in_kcal, atoms);
  EXPECT_NEAR(found.energy, said.at("energy").item<double>() * factor, 1e-9 * std::abs(found.energy));
  EXPECT_NEAR(found.forces[5], said.at("forces")[1][0][2].item<double>() * factor, 1e-9);
}

TEST(EnergyAndForces, HoldTheStressOfPeriodicAtoms) {
  const Predictor predictor(potential_in("eV", "\u00c5"));
  const Asked stress{.stress = true};
  AtomsFrame atoms = methanol();
  EXPECT_FALSE(energy_and_forces(predictor, atoms, stress).stress);
  atoms.cell = {5, 0, 0, 0, 5, 0, 0, 0, 5};
  const EnergyAndForces cluster = energy_and_forces(predictor, atoms, stress);  // no axis is periodic
  EXPECT_FALSE(cluster.stress);
  EXPECT_EQ(cluster.energy, energy_and_forces(predictor, methanol()).energy);
  atoms.pbc = {true, true, true};
  EXPECT_FALSE(energy_and_forces(predictor, atoms).stress);
  const auto found = energy_and_forces(predictor, atoms, stress).stress;
  ASSERT_TRUE(found);
  EXPECT_NEAR((*found)[1], (*found)[3], 1e-9);
}

TEST(EnergyAndForces, OfSeveralSamplesAreThoseOfEach) {
  const Predictor predictor(potential_in("eV", "\u00c5"));
  std::vector<AtomsFrame> samples(3, methanol());
  samples[1].positions[4] += 0.2;
  samples[1].cell = {5, 0, 0, 0, 5, 0, 0, 0, 5};
  samples[1].pbc = {true, true, true};
  samples[2].numbers.pop_back();
  samples[2].positions.resize(9);
  const Asked all{.stress = true, .energies = true, .virials = true};
  const auto found = energies_and_forces(predictor, samples, all);
  ASSERT_EQ(found.size(), 3u);
  for (size_t g = 0; g < 3; ++g) {
    const EnergyAndForces alone = energy_and_forces(predictor, samples[g], all);
    EXPECT_NEAR(found[g].energy, alone.energy, 1e-11 * std::abs(alone.energy));
    ASSERT_EQ(found[g].forces.size(), alone.forces.size());
    ASSERT_EQ(found[g].virials.size(), 3 * alone.forces.size());
    for (size_t k = 0; k < alone.forces.size(); ++k) {
      EXPECT_NEAR(found[g].forces[k], alone.forces[k], 1e-10);
    }
    EXPECT_EQ(found[g].stress.has_value(), g == 1);
  }
  samples[2].numbers[0] = 92;
  try {
    energies_and_forces(predictor, samples);
    ADD_FAILURE() << "not refused";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "energy_and_forces: sample 3 of 3: the model knows no element U");
  }
}

TEST(EnergyAndForces, OfACommitteeHaveDeviations) {
  Predictor predictor(potential_in("eV", "\u00c5"));
  EXPECT_FALSE(energy_and_forces(predictor, methanol()).deviations);
  SavedModel other = potential_in("eV", "\u00c5");
  {
    const at::NoGradGuard no_grad;
    for (const Parameter& p : other.model->parameters()) {
      p.tensor.detach().mul_(1.1);
    }
  }
  const Predictor second(potential_in("eV", "\u00c5"));
  predictor.join(Predictor(std::move(other)), "a", "b");
  const EnergyAndForces mean = energy_and_forces(predictor, methanol(), {.energies = true}),
                        first = energy_and_forces(second, methanol(), {.energies = true});
  ASSERT_TRUE(mean.deviations);
  EXPECT_NEAR(mean.deviations->energy, std::abs(mean.energy - first.energy), 1e-9);  // of two models
  EXPECT_NEAR(mean.deviations->forces[4], std::abs(mean.forces[4] - first.forces[4]), 1e-9);
  EXPECT_EQ(mean.energies.size(), 4u);
}

TEST(EnergyAndForces, RefuseWhatTheModelCannotTellOrBeTold) {
  const Predictor predictor(potential_in("eV", "\u00c5"));
  AtomsFrame atoms = methanol();
  atoms.numbers[0] = 92;
  EXPECT_EQ(refusal(predictor, atoms), "energy_and_forces: the model knows no element U");
  atoms = methanol();
  atoms.positions.pop_back();
  EXPECT_EQ(refusal(predictor, atoms), "energy_and_forces: positions must be (4, 3), got 11 numbers");
  atoms = methanol();
  atoms.pbc = {true, false, false};
  EXPECT_EQ(refusal(predictor, atoms), "energy_and_forces: pbc needs a cell");
  atoms.cell = {0, 0, 0, 0, 5, 0, 0, 0, 5};
  EXPECT_EQ(refusal(predictor, atoms), "energy_and_forces: the cell's periodic vectors must be independent");
  EXPECT_EQ(refusal(predictor, {}), "energy_and_forces: there must be atoms, got none");
  const auto plain = set();
  EXPECT_EQ(refusal(Predictor(potential("painn", *plain, {.forces = ForceSource::none, .force_weight = 0})),
                    methanol()),
            "energy_and_forces: the model must give 'forces', but does not");
  EXPECT_EQ(refusal(Predictor(potential_in("", "\u00c5")), methanol()),
            "energy_and_forces: the unit of 'energy' must be known, the model does not say");
}

// Systems with a cut-off look for neighbours and see it there; others would predict what is no number.
TEST(EnergyAndForces, NameThePositionThatIsNotFiniteWhateverTheSystem) {
  const auto plain = set();
  for (const char* system : {"painn", "et", "geomformer", "platonic", "transformer", "gatr"}) {
    const Predictor predictor(potential(system, *plain));
    AtomsFrame atoms = methanol();
    atoms.positions[7] = NAN;
    EXPECT_EQ(refusal(predictor, atoms), "energy_and_forces: positions[2][1] must be finite, got nan")
        << system;
    Points points;
    points.graphs = Segments::of_sizes(std::vector<int64_t>{4});
    points.positions = at::tensor(methanol().positions, at::kDouble).view({4, 3});
    points.positions[3][0].fill_(INFINITY);
    points.types = at::tensor(std::vector<int64_t>{1, 2, 0, 0}, at::kLong);
    for (const bool gradient : {false, true}) {
      try {
        gradient ? (void)predictor.gradient(points) : (void)predictor(points);
        ADD_FAILURE() << system;
      } catch (const ShapeError& error) {
        EXPECT_STREQ(error.what(), "model input: positions[3][0] must be finite, got inf") << system;
      }
    }
  }
}

// PaiNN gave 1e16 eV/A for atoms 1e-12 A apart.
TEST(EnergyAndForces, RefuseAtomsAtOnePlaceWhateverTheSystem) {
  const auto plain = set();
  for (const char* system : {"painn", "et", "geomformer", "platonic", "transformer", "gatr"}) {
    SCOPED_TRACE(system);
    const Predictor predictor(potential(system, *plain));
    AtomsFrame atoms = methanol();
    for (size_t k = 0; k < 3; ++k) {
      atoms.positions[6 + k] = atoms.positions[k] + (k == 0 ? 1e-12 : 0);
    }
    const std::string refused = refusal(predictor, atoms);
    EXPECT_TRUE(refused.starts_with("energy_and_forces: atoms 1 (")) << refused;
    EXPECT_NE(refused.find(") and 3 ("), std::string::npos) << refused;
    EXPECT_NE(refused.find(" Angstrom apart, which must be at least 0.001"), std::string::npos) << refused;
    atoms.positions[6] = atoms.positions[0] + 2e-3;  // close, and yet two places
    EXPECT_TRUE(std::isfinite(energy_and_forces(predictor, atoms).energy));
    Points points;  // of two samples, the second of which has the fault
    points.graphs = Segments::of_sizes(std::vector<int64_t>{4, 4});
    points.positions = at::tensor(methanol().positions, at::kDouble).view({4, 3}).repeat({2, 1});
    points.positions[7].copy_(points.positions[5]);
    points.types = at::tensor(std::vector<int64_t>{1, 2, 0, 0, 1, 2, 0, 0}, at::kLong);
    for (const bool gradient : {false, true}) {
      try {
        gradient ? (void)predictor.gradient(points) : (void)predictor(points);
        ADD_FAILURE() << "not refused";
      } catch (const ShapeError& error) {
        const std::string said = error.what();
        EXPECT_TRUE(said.starts_with("model input: atoms 2 (")) << said;
        EXPECT_NE(said.find(") of sample 2 of 2 are 0 Angstrom apart"), std::string::npos) << said;
      }
    }
  }
}

// An atom and the image of another, across a period.
TEST(EnergyAndForces, RefuseAtomsAtOnePlaceAcrossAPeriod) {
  Interface interface;
  interface.elements = {"H", "C"};
  interface.types = 2;
  interface.length_unit = "Bohr";
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{2});
  points.types = at::tensor({0, 1}, at::kLong);
  points.positions = at::tensor({0.0, 0.0, 0.0, 4.0, 0.0, 1e-4}, at::kDouble).view({2, 3});
  EXPECT_EQ(coincident_atoms(points, interface), "");
  points.cell = 4 * at::eye(3, at::kDouble).unsqueeze(0);
  points.pbc = at::ones({1, 3}, at::kBool);
  EXPECT_NE(coincident_atoms(points, interface).find("atoms 1 (H) and 2 (C) are 5.29"), std::string::npos)
      << coincident_atoms(points, interface);
  points.pbc[0][0].fill_(false);
  EXPECT_EQ(coincident_atoms(points, interface), "");
  interface.elements.clear();  // particles that are no atoms may lie where they like
  points.pbc.fill_(true);
  EXPECT_EQ(coincident_atoms(points, interface), "");
}

TEST(EnergyAndForces, TellTheModelNumbersOfTheWhole) {
  const auto plain = set();
  Batch all = plain->all();
  std::get<Points>(all.input).of_graphs["charge"] = at::zeros({4, 1}, at::kDouble);
  Schema schema = plain->schema();
  schema.interface.features = {{.name = "charge", .level = Level::graph}};
  const Predictor predictor(potential("platonic", InMemory(all, schema)));
  AtomsFrame atoms = methanol();
  EXPECT_EQ(
      refusal(predictor, atoms),
      "energy_and_forces: the model must be told 'charge', one finite number, which the atoms do not have");
  atoms.set("charge", 0);
  const double neutral = energy_and_forces(predictor, atoms).energy;
  atoms.set("charge", 1);
  EXPECT_NE(energy_and_forces(predictor, atoms).energy, neutral);
}

TEST(EnergyAndForces, TellTheModelStatesOfTheWhole) {
  const auto plain = set();
  Batch all = plain->all();
  std::get<Points>(all.input).of_graphs["charge"] = at::eye(4, 3, at::kDouble);
  Schema schema = plain->schema();
  schema.interface.features = {{.name = "charge", .level = Level::graph, .channels = 3}};
  const auto told = [&](const std::vector<FrameState>& states) {
    SavedModel saved = potential("platonic", InMemory(all, schema));
    saved.recipe.states = states;
    return Predictor(std::move(saved));
  };
  AtomsFrame atoms = methanol();
  atoms.set("charge", -1);
  EXPECT_EQ(refusal(told({}), atoms), "energy_and_forces: atoms cannot tell the model its feature 'charge'");
  EXPECT_EQ(refusal(told({{.key = "charge", .least = -2, .most = 1}}), atoms),
            "energy_and_forces: atoms cannot tell the model its feature 'charge'");
  const Predictor predictor = told({{.key = "charge", .least = -1, .most = 1, .known = {-1, 0}}});
  const double anion = energy_and_forces(predictor, atoms).energy;
  atoms.set("charge", 0);
  EXPECT_NE(energy_and_forces(predictor, atoms).energy, anion);
  atoms.set("charge", 1);
  EXPECT_EQ(refusal(predictor, atoms),
            "energy_and_forces: 'charge' must be one that the model's training data had, -1, 0, got 1");
  atoms.set("charge", 2);
  EXPECT_EQ(refusal(predictor, atoms),
            "energy_and_forces: 'charge' must be one whole number of -1 .. 1 (the model), got 2");
  EXPECT_EQ(refusal(predictor, methanol()), "energy_and_forces: must have 'charge' (the model), has nothing");
}

}  // namespace atoms_test
}  // namespace weyl

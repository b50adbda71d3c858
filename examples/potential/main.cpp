// Energies and forces of an array of positions by a trained potential: potential RUN|MODEL
// (run.cmake trains one for it)
#include <weyl/saved/atoms.h>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  const weyl::Predictor predictor(argc > 1 ? argv[1] : "runs/potential");
  weyl::AtomsFrame water;
  water.numbers = {8, 1, 1};
  water.positions = {0, 0, 0, 0.96, 0, 0, -0.24, 0.93, 0};  // (N, 3), Angstrom
  const weyl::EnergyAndForces found = weyl::energy_and_forces(predictor, water);
  std::printf("energy %.6f eV\n", found.energy);
  for (size_t i = 0; i < found.forces.size(); i += 3) {
    std::printf("force %9.6f %9.6f %9.6f eV/A\n", found.forces[i], found.forces[i + 1], found.forces[i + 2]);
  }
} catch (const std::exception& error) {
  return std::fprintf(stderr, "potential: %s\n", error.what()), 1;
}

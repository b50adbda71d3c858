/* Energy and forces of water by a model, checked against differences of the energy. Exit code: the status of the call that
 * failed, 9 where the numbers do not agree. */
#include <math.h>
#include <stdio.h>
#include <weyl.h>

static weyl_model *model;

static double energy_of(const double *positions, double *forces) {
  const int32_t numbers[] = {8, 1, 1};
  double energy = NAN;
  const weyl_atoms atoms = {.count = 3, .numbers = numbers, .positions = positions};
  const weyl_results results = {.energy = &energy, .forces = forces};
  return weyl_compute(model, &atoms, &results) == WEYL_OK ? energy : NAN;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "no/such/model.safetensors";
  const weyl_status status = weyl_load(&path, 1, "float64", 1, &model);
  if (status != WEYL_OK) {
    printf("%s\n", weyl_last_error());
    return (int)status;
  }
  double positions[] = {0, 0, 0, 0.96, 0, 0, -0.24, 0.93, 0}, forces[9], worst = 0;
  const double energy = energy_of(positions, forces), step = 1e-4;
  for (int i = 0; i < 9; ++i) {
    const double at = positions[i];
    positions[i] = at + step;
    const double above = energy_of(positions, NULL);
    positions[i] = at - step;
    const double below = energy_of(positions, NULL);
    positions[i] = at;
    worst = fmax(worst, fabs(forces[i] + (above - below) / (2 * step)));
  }
  weyl_free(model);
  printf("weyl.h %d, weyl %s: %.6f eV, forces to %.1e eV/Angstrom\n", WEYL_API_VERSION, weyl_version(), energy, worst);
  return weyl_api_version() == WEYL_API_VERSION && isfinite(energy) && worst < 1e-5 ? 0 : 9;
}

// The C interface in C++: a committee, and several samples in one call, which are what each is alone.
#include <weyl.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  weyl_model* model = nullptr;
  if (weyl_load(argv + 1, 2, "float64", 1, &model) != WEYL_OK) {
    std::puts(weyl_last_error());
    return 1;
  }
  const std::vector<int32_t> numbers{8, 1, 1};
  const std::vector<double> one{0, 0, 0, 0.96, 0, 0, -0.24, 0.93, 0},
      other{0, 0, 0, 0.99, 0, 0, -0.2, 0.9, 0.1};
  double energies[3], deviations[3];
  const auto atoms = [&](const std::vector<double>& positions) {
    weyl_atoms made{};
    made.count = numbers.size();
    made.numbers = numbers.data();
    made.positions = positions.data();
    return made;
  };
  weyl_results results[3] = {};
  for (int i = 0; i < 3; ++i) {
    results[i].energy = energies + i;
    results[i].energy_std = deviations + i;
  }
  const weyl_atoms both[] = {atoms(one), atoms(other)};
  const bool done = weyl_compute_batch(model, 2, both, results) == WEYL_OK &&
                    weyl_compute(model, both + 1, results + 2) == WEYL_OK;
  std::printf("%zu models: %.6f and %.6f eV\n", weyl_members(model), energies[0], energies[1]);
  weyl_free(model);
  return done && deviations[0] > 0 && std::abs(energies[1] - energies[2]) < 1e-9 && energies[0] != energies[1]
             ? 0
             : 1;
}

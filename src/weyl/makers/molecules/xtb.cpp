#include "weyl/makers/molecules/xtb.h"

#include <dlfcn.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/module.h"
#include "weyl/core/quote.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

constexpr double kNearest = 0.3;  // A
constexpr int kIterations = 250, kMoreIterations = 1000;

/// The functions of xtb.h, API 1.0: handles are pointers; lengths Bohr, energies Hartree.
struct XtbLibrary {
  void* handle = nullptr;
  std::string fault = "install the package libxtb6, on Debian: apt-get install libxtb6";
  int (*api_version)() = nullptr;
  void* (*new_environment)() = nullptr;
  void (*del_environment)(void**) = nullptr;
  int (*check_environment)(void*) = nullptr;
  void (*get_error)(void*, char*, const int*) = nullptr;
  void (*set_verbosity)(void*, int) = nullptr;
  void* (*new_molecule)(void*, const int*, const int*, const double*, const double*, const int*,
                        const double*, const bool*) = nullptr;
  void (*del_molecule)(void**) = nullptr;
  void (*update_molecule)(void*, void*, const double*, const double*) = nullptr;
  void* (*new_calculator)() = nullptr;
  void (*del_calculator)(void**) = nullptr;
  void (*load_gfn2)(void*, void*, void*, char*) = nullptr;
  void (*set_accuracy)(void*, void*, double) = nullptr;
  void (*set_iterations)(void*, void*, int) = nullptr;
  void (*single_point)(void*, void*, void*, void*) = nullptr;
  void* (*new_results)() = nullptr;
  void (*del_results)(void**) = nullptr;
  void (*get_energy)(void*, void*, double*) = nullptr;
  void (*get_gradient)(void*, void*, double*) = nullptr;
  void (*get_dipole)(void*, void*, double*) = nullptr;
  void (*get_charges)(void*, void*, double*) = nullptr;
  void (*get_orbital_count)(void*, void*, int*) = nullptr;
  void (*get_orbital_energies)(void*, void*, double*) = nullptr;
  void (*get_orbital_occupations)(void*, void*, double*) = nullptr;
  void (*set_omp_threads)(int) = nullptr;  // of its OpenMP, for the calling thread

  XtbLibrary();

 private:
  template <class F>
  bool find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(handle, name));
    return function != nullptr;
  }
};

XtbLibrary::XtbLibrary() {
  // They are read when the libraries are loaded. Molecules are so small that threads inside of a calculation
  // only spin.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  int flags = RTLD_NOW | RTLD_LOCAL;
#ifndef WEYL_SANITIZED
  flags |= RTLD_DEEPBIND;  // LibTorch exports a BLAS of its own; the sanitizer refuses the flag
#endif
  // A name without a folder: the loader looks in the library's RUNPATH, which has no empty or relative entry
  // (tools/check_elf.py), in the user's LD_LIBRARY_PATH and in the system's folders.
  try {
    require_absolute_library_path();
  } catch (const ConfigError& error) {
    fault = error.what();
    return;
  }
  handle = dlopen("libxtb.so.6", flags);
  if (handle == nullptr) {
    return;
  }
  const bool whole = find(api_version, "xtb_getAPIVersion") && find(new_environment, "xtb_newEnvironment") &&
                     find(del_environment, "xtb_delEnvironment") &&
                     find(check_environment, "xtb_checkEnvironment") && find(get_error, "xtb_getError") &&
                     find(set_verbosity, "xtb_setVerbosity") && find(new_molecule, "xtb_newMolecule") &&
                     find(del_molecule, "xtb_delMolecule") && find(update_molecule, "xtb_updateMolecule") &&
                     find(new_calculator, "xtb_newCalculator") && find(del_calculator, "xtb_delCalculator") &&
                     find(load_gfn2, "xtb_loadGFN2xTB") && find(set_accuracy, "xtb_setAccuracy") &&
                     find(set_iterations, "xtb_setMaxIter") && find(single_point, "xtb_singlepoint") &&
                     find(new_results, "xtb_newResults") && find(del_results, "xtb_delResults") &&
                     find(get_energy, "xtb_getEnergy") && find(get_gradient, "xtb_getGradient") &&
                     find(get_dipole, "xtb_getDipole") && find(get_charges, "xtb_getCharges") &&
                     find(get_orbital_count, "xtb_getNao") &&
                     find(get_orbital_energies, "xtb_getOrbitalEigenvalues") &&
                     find(get_orbital_occupations, "xtb_getOrbitalOccupations") &&
                     find(set_omp_threads, "omp_set_num_threads");
  if (!whole || api_version() / 10000 != 1) {
    dlclose(handle);
    handle = nullptr;
  }
}

const XtbLibrary& library() {
  static const XtbLibrary loaded;
  return loaded;
}

/// What xtb says of its last fault, on one line.
std::string fault_of(void* environment) {
  std::array<char, 512> buffer{};
  const int size = buffer.size() - 1;
  library().get_error(environment, buffer.data(), &size);
  std::string said;
  for (const char c : std::string_view(buffer.data())) {
    const bool blank = c == '\n' || c == ' ' || c == '\t';
    if (!blank || (!said.empty() && said.back() != ' ')) {
      said += blank ? ' ' : c;
    }
  }
  return printable(said, 300);
}

void check_distances(std::span<const double> x) {
  for (size_t i = 0; i < x.size(); i += 3) {
    for (size_t j = 0; j < i; j += 3) {
      const double r = std::hypot(x[i] - x[j], x[i + 1] - x[j + 1], x[i + 2] - x[j + 2]);
      require<DataError>(r >= kNearest, "atoms ", j / 3 + 1, " and ", i / 3 + 1, " must be at least ",
                         kNearest, " A apart, are ", r);
    }
  }
}

/// The orbitals at the gap, of a calculation's results. They ascend; electrons are smeared at 300 K, so that one counts as occupied that
/// is by more than half.
void take_frontier(void* environment, void* results, double hartree, SinglePoint& point) {
  const XtbLibrary& xtb = library();
  int orbitals = 0;
  xtb.get_orbital_count(environment, results, &orbitals);
  std::vector<double> energies(static_cast<size_t>(std::max(orbitals, 0))), occupations(energies.size());
  xtb.get_orbital_energies(environment, results, energies.data());
  xtb.get_orbital_occupations(environment, results, occupations.data());
  point.homo = point.lumo = NAN;
  for (size_t i = 0; i < energies.size(); ++i) {
    double& to = occupations[i] > 1 ? point.homo : point.lumo;
    if (&to == &point.homo || std::isnan(point.lumo)) {
      to = energies[i] * hartree;
    }
  }
}

}  // namespace

std::string xtb_version() {
  if (library().handle == nullptr) {
    return "";
  }
  const int version = library().api_version();
  return text("API ", version / 10000, ".", version / 100 % 100, ".", version % 100);
}

void require_xtb() {
  require<ConfigError>(library().handle != nullptr,
                       "molecules: the xtb library (libxtb.so.6) is needed to label geometries; ",
                       library().fault);
}

/// The library's environment, molecule and calculator of one molecule.
struct Xtb::Handles {
  void* environment = nullptr;
  void* molecule = nullptr;
  void* calculator = nullptr;
  int iterations = 0;

  ~Handles() {
    const XtbLibrary& xtb = library();
    if (calculator != nullptr) {
      xtb.del_calculator(&calculator);
    }
    if (molecule != nullptr) {
      xtb.del_molecule(&molecule);
    }
    if (environment != nullptr) {
      xtb.del_environment(&environment);
    }
  }
};

Xtb::Xtb(std::vector<int> numbers, const Options& options) : numbers_(std::move(numbers)), options_(options) {
  require_xtb();
  require<ConfigError>(!numbers_.empty(), "molecules: there must be an atom");
  int electrons = -options_.charge;
  for (const int z : numbers_) {
    require<ConfigError>(z >= 1 && z <= kHeaviestOfXtb,
                         "molecules: GFN2-xTB knows the elements H to Rn, not ",
                         z >= 0 && z <= most_elements ? element_symbol(z) : "X");
    electrons += z;
  }
  require<ConfigError>(electrons >= options_.unpaired && (electrons - options_.unpaired) % 2 == 0,
                       "molecules: with charge ", options_.charge, " there are ", electrons,
                       " electrons, of which ", options_.unpaired,
                       " cannot be unpaired; set charge or unpaired");
}

Xtb::~Xtb() = default;
Xtb::Xtb(Xtb&&) noexcept = default;
Xtb& Xtb::operator=(Xtb&&) noexcept = default;

SinglePoint Xtb::operator()(std::span<const double> positions) {
  static const double bohr = unit_factor("Bohr", "Angstrom"), hartree = unit_factor("Hartree", "eV");
  const size_t atoms = numbers_.size();
  require(positions.size() == 3 * atoms, "xtb: there must be 3 x ", atoms, " positions, got ",
          positions.size());
  check_distances(positions);
  const XtbLibrary& xtb = library();
  xtb.set_omp_threads(1);
  std::vector<double> scaled(positions.begin(), positions.end());
  for (double& x : scaled) {
    x /= bohr;
  }
  const auto check = [&](const char* what) {
    if (xtb.check_environment(handles_->environment) != 0) {
      const std::string fault = fault_of(handles_->environment);
      handles_.reset();  // what a fault leaves behind is not known
      throw DataError(text(what, ": ", fault));
    }
  };
  if (!handles_) {
    handles_ = std::make_unique<Handles>();
    Handles& h = *handles_;
    h.environment = xtb.new_environment();
    xtb.set_verbosity(h.environment, 0);
    const int count = static_cast<int>(atoms);
    const double charge = options_.charge;
    h.molecule = xtb.new_molecule(h.environment, &count, numbers_.data(), scaled.data(), &charge,
                                  &options_.unpaired, nullptr, nullptr);
    check("xtb refuses the molecule");
    h.calculator = xtb.new_calculator();
    xtb.load_gfn2(h.environment, h.molecule, h.calculator, nullptr);
    check("xtb cannot load GFN2-xTB");
    xtb.set_accuracy(h.environment, h.calculator, options_.accuracy);
  } else {
    xtb.update_molecule(handles_->environment, handles_->molecule, scaled.data(), nullptr);
    check("xtb refuses the geometry");
  }
  void* results = nullptr;
  const auto calculate = [&](int iterations) {
    xtb.set_iterations(handles_->environment, handles_->calculator, iterations);
    results = xtb.new_results();
    xtb.single_point(handles_->environment, handles_->molecule, handles_->calculator, results);
    return xtb.check_environment(handles_->environment) == 0;
  };
  // The same surface, only longer.
  if (!calculate(kIterations)) {
    fault_of(handles_->environment);  // reading it clears it
    xtb.del_results(&results);
    if (!calculate(kMoreIterations)) {
      xtb.del_results(&results);
      check("GFN2-xTB finds no self-consistent charges");
    }
  }
  SinglePoint point;
  point.forces.resize(3 * atoms);
  point.charges.resize(atoms);
  void* environment = handles_->environment;
  xtb.get_energy(environment, results, &point.energy);
  xtb.get_gradient(environment, results, point.forces.data());
  xtb.get_dipole(environment, results, point.dipole.data());
  xtb.get_charges(environment, results, point.charges.data());
  take_frontier(environment, results, hartree, point);
  xtb.del_results(&results);
  check("xtb gives no results");
  point.energy *= hartree;
  bool finite = std::isfinite(point.energy);
  for (double& x : point.forces) {
    x *= -hartree / bohr;
    finite = finite && std::isfinite(x);
  }
  for (double& x : point.dipole) {
    x *= bohr;
    finite = finite && std::isfinite(x);
  }
  require<DataError>(finite, "GFN2-xTB gives a number that is not finite");
  return point;
}

}  // namespace weyl

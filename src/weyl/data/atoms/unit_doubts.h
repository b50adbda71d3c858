#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/data/atoms/trajectory_work.h"

namespace weyl {

/// A likely mistake of units.
struct UnitDoubt {
  std::string key;   // the option that says the unit, "energy_unit"; empty: the line has all that is known
  std::string unit;  // the likely one, in the words of units.h
  std::string line;  // for the user, without the name of the file
};

/// Doubts the units of energies, forces and stresses, which it takes to be in eV, eV/Angstrom and eV/Angstrom^3 on places
/// in Angstrom. A doubt is a guess from numbers alone. It is a warning, never an error.
///
/// * Energies that are sums over all electrons are near the sum of the energies of the free atoms: between 0.985 and 1.05
///   times it. Four frames of five must be so in another unit. A total energy of valence electrons alone may by chance be
///   what all electrons have in a larger unit, which heavy elements make likely; there the lightest ten elements must give
///   half of the sum.
/// * Stress times volume is a sum over pairs of distance times force. What varies of it, without the pressure, is 0.07 to 5
///   times sqrt(atoms) times distance times the forces that stay on the atoms, where these do not vanish, and in GPa 160
///   times that. Frames of one cell are compared with their mean, because a strain of the cell adds a stress without a force.
///   Frames of many cells must differ by more, and by what no bond could bear.
/// * Energies of a trajectory change with the work of its forces (trajectory_work.h).
class UnitDoubts {
 public:
  /// The units that the files are taken to have, from which the numbers that are added were converted.
  explicit UnitDoubts(std::string energy_unit = "eV", std::string stress_unit = "eV/Angstrom^3")
      : energy_unit_(std::move(energy_unit)), stress_unit_(std::move(stress_unit)) {}

  /// The units in which the files turn out to be; empty: as before.
  void take_units(const std::string& energy, const std::string& stress) {
    energy_unit_ = energy.empty() ? energy_unit_ : energy;
    stress_unit_ = stress.empty() ? stress_unit_ : stress;
  }

  /// `kinds` are atomic numbers; 0 where nobody knows. NaN of energies, forces and stress means that there are none.
  void add(WorkFrame frame);
  /// Whether more frames would change nothing: the first are enough.
  bool enough() const;
  /// `option`: the table whose keys say the units, for the lines; empty: there is none.
  std::vector<UnitDoubt> doubts(const std::string& option) const;

 private:
  /// Frames of the same atoms in the same cell, but for strains of 0.2 %.
  struct Cell {
    std::vector<int64_t> kinds;
    std::array<double, 9> cell{};
    struct Stress {
      std::array<double, 9> deviatoric{};  // times the volume, without the pressure
      double bound = 0;                    // sqrt(atoms) times distance times force
    };
    std::vector<Stress> frames;
  };
  /// The energy of a frame beside that of its atoms, set free.
  struct Total {
    double ratio = 0;
    bool light = false;  // whether light elements give half of the sum, and no atom too little
  };
  void add_total(const WorkFrame& frame);
  void add_stress(const WorkFrame& frame);
  std::string unit_of_energies(double& ratio) const;
  std::string units_of_stresses(double& ratio) const;

  std::string energy_unit_, stress_unit_;
  TrajectoryWork work_;
  std::vector<Total> totals_;
  std::vector<Cell> cells_;
  int64_t frames_ = 0, with_energy_ = 0, with_stress_ = 0;
};

}  // namespace weyl

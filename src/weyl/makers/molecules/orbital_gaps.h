#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Whose files are written: those of the data set pcqm4mv2 (data/atoms/pcqm4mv2.h) or of molecule3d (data/atoms/molecule3d.h).
enum class GapFiles { pcqm4mv2, molecule3d };
constexpr auto names_of(GapFiles) {
  return std::array<std::string_view, 2>{"pcqm4mv2", "molecule3d"};
}

/// Small molecules (molecules/small_molecules.h) with relaxed geometries and the gap between HOMO and LUMO by GFN2-xTB, as
/// the files of PCQM4Mv2 or Molecule3D: what these sets say of millions of molecules by density-functional theory, of a
/// thousand by tight binding.
struct OrbitalGapsMakerOptions {
  static constexpr const char* name_in_config = "orbital_gaps";
  static constexpr const char* makes =
      "small molecules with gaps of their orbitals by GFN2-xTB, as PCQM4Mv2's or Molecule3D's files";
  GapFiles files = GapFiles::pcqm4mv2;
  int64_t molecules = 1200;
  int64_t conformers = 8;                // for pcqm4mv2
  double valid = 0.125, test = 0.125;  // of the molecules
  int64_t seed = 0;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, OrbitalGapsMakerOptions& o);
MakerPlan plan_of(const OrbitalGapsMakerOptions& o);

/// Draws the molecules, embeds them by RDKit, relaxes the first conformer of each to forces of at most 0.03 eV/A, and writes
///
///   pcqm4mv2    data.csv.gz, split_dict.json, pcqm4m-v2-train.sdf (relaxed, with hydrogens), conformers.sdf
///   molecule3d  combined_mols_0_to_<molecules>.sdf (relaxed, with hydrogens), properties.csv (dipole in Debye, energies in eV),
///               random_split_inds.json, scaffold_split_inds.json
///
/// and the options as orbital_gaps.toml. Molecules of one composition are all in one split; only random_split_inds.json
/// is drawn without regard to it. Molecules at which the method fails are left out for others. False when stopped; then
/// nothing is left. ConfigError: more molecules than there are, fractions that leave none for training, no RDKit, no xtb,
/// files that are there already.
bool make_orbital_gaps(const OrbitalGapsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl

#pragma once

#include <cstdint>
#include <string>

#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Small molecules (molecules/small_molecules.h) with relaxed geometries and the gap between HOMO and LUMO by GFN2-xTB, as
/// the files of PCQM4Mv2 (data/atoms/pcqm4mv2.h) and of Molecule3D (data/atoms/molecule3d.h): what these sets say of millions
/// of molecules by density-functional theory, of a thousand by tight binding.
struct OrbitalGapsMakerOptions {
  static constexpr const char* name_in_config = "orbital_gaps";
  static constexpr const char* makes =
      "small molecules with gaps of their orbitals by GFN2-xTB, as PCQM4Mv2's and Molecule3D's files";
  int64_t molecules = 1200;
  int64_t conformers = 8;              // of each
  double valid = 0.125, test = 0.125;  // of the molecules
  int64_t seed = 0;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, OrbitalGapsMakerOptions& o);
MakerPlan plan_of(const OrbitalGapsMakerOptions& o);

/// Draws the molecules, embeds them by RDKit, relaxes the first conformer of each to forces of at most 0.05 eV/A, and writes
/// into the folder
///
///   data.csv.gz, split_dict.json, pcqm4m-v2-train.sdf, conformers.sdf     for the set pcqm4mv2
///   combined_mols_0_to_<molecules>.sdf, properties.csv (dipole in Debye, energies in eV), random_split_inds.json,
///   scaffold_split_inds.json                                              for the set molecule3d
///
/// and the options as orbital_gaps.toml. Geometries have hydrogens, conformers have none. Molecules of one composition are
/// all in one split; random_split_inds.json alone is drawn without regard to it. Molecules at which the method fails are left out
/// for others. False when stopped; then nothing is left. ConfigError: more molecules than there are, fractions that leave
/// none for training, no RDKit, no xtb, files that are there already.
bool make_orbital_gaps(const OrbitalGapsMakerOptions& options, const std::string& folder,
                       const JobHooks& hooks = {});

}  // namespace weyl

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/options.h"

namespace weyl {

/// How frames of atoms are converted (`weyl data convert in.xyz out.npz from=eV to=kcal/mol`).
struct FrameConvertOptions {
  std::string energy = "energy",
              forces = "forces";                  // of IN: what an .npz holds, and what `from` is the unit of
  std::string from;                               // unit of energies in IN, where its format does not say
  std::string force_unit, stress_unit;            // the same of forces and stress; empty: `from` by length
  StressOrder stress_order = StressOrder::voigt;  // of stresses of six numbers in IN
  std::string to;                                 // unit of energies in OUT; empty: as they are
};
void fields(Fields& f, FrameConvertOptions& o);

/// The frames of a reader one by one, as `convert_frames` writes them to extended xyz.
void each_frame_for_xyz(FrameReader& reader, const FrameConvertOptions& options,
                        const std::function<void(const AtomsFrame&)>& use);

/// Whether `convert_frames` goes from one to the other.
bool converts_frames(const std::string& in, const std::string& out);

/// Frames of any format (atoms/frame_reader.h) to extended xyz (.xyz, .extxyz, .gz of them; bonds become
/// the value `bonds`, rows of two atoms from 0 and the order) or to rMD17's .npz (one molecule, its energies
/// and forces, if its first frame has them; the names of all that it leaves out are returned). With `to`,
/// whatever is known to be an energy, a force, a stress or a virial changes its unit: by the format, as
/// `energy` and `forces`, or under a usual name (atoms/potential_keys.h). Places are in Angstrom, and
/// forces and stresses per Angstrom, but for those whose unit the file (`force_unit`, `stress_unit` of extended
/// xyz) or the options say by itself: they keep it in xyz, which says so, unless `to` is given. The unit stays with
/// the frames: `energy_unit` in xyz, e_unit in .npz, which must be known. DataError: see the readers and writers; what
/// has no unit and must have one. ConfigError: a file that is there already, what is no unit of its thing, a unit that
/// contradicts what the format says.
std::vector<std::string> convert_frames(const std::string& in, const std::string& out,
                                        const FrameConvertOptions& options);

}  // namespace weyl

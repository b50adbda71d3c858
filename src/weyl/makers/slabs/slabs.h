#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Slabs of metal with an atom on them, and what they relax to by effective-medium theory (effective_medium.h): data of the shape of
/// OC20's IS2RE and IS2RS.
///
/// A slab is of one of seven metals, its host (Al, Ni, Cu, Pd, Ag, Pt, Au), some of whose atoms another one replaces in every
/// second slab; its surface is (111) or (100) of the fcc crystal, 2 or 3 cells along either side and 3 or 4 layers deep, strained
/// by up to 3 %; the lower two layers are fixed. Above a site (top, bridge or hollow, off by 0.2 A) is an atom of H, C, N or O.
/// The free atoms, off their places by 0.05 A, then relax to 0.01 eV/A.
///
/// Splits are by composition: of the 28 pairs of host and adsorbate four are for validation and four for testing, drawn by seed
/// so that each adsorbate is held out once in either and no metal twice; no slab for training has any atom, host or guest, of a
/// metal that is held out with its adsorbate. Each slab is a pure function of seed, split and index.
struct SlabsMakerOptions {
  static constexpr const char* name_in_config = "slabs";
  static constexpr const char* makes =
      "slabs of metals with an adsorbate and their relaxed structures, by effective-medium theory";
  int64_t train = 1200;
  int64_t valid = 200;
  int64_t test = 200;
  int64_t seed = 0;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, SlabsMakerOptions& o);
MakerPlan plan_of(const SlabsMakerOptions& o);

/// Slab `index` of a split ("train", "valid", "test"): positions and cell in A; the columns tags (0 fixed, 1 free metal, 2
/// adsorbate), fixed and relaxed (N, 3); the values energy, host and adsorbate. The energy (eV) is that of adsorption,
///
///   E(slab with adsorbate, relaxed) - E(slab alone, relaxed) - E(adsorbate alone)
///
/// DataError: no slab of 100 draws relaxed with its adsorbate on the surface.
AtomsFrame make_slab(const SlabsMakerOptions& options, std::string_view split, int64_t index);

/// Makes the slabs and writes `<folder>/{train,valid,test}.extxyz`, those of nonzero size, which data.set = "oc20" reads. Files
/// that are there already are never replaced (ConfigError). False when stopped: then nothing was written.
bool make_slabs(const SlabsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl

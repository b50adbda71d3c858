#pragma once

#include <cstdint>
#include <string>

#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Conformers of the molecules of a table of SMILES, by RDKit (molecules/smiles.h), without hydrogens, as the data set
/// pcqm4mv2 reads them (data/atoms/pcqm4mv2.h).
struct ConformersMakerOptions {
  static constexpr const char* name_in_config = "conformers";
  static constexpr const char* makes = "conformers by RDKit of a table of SMILES, such as PCQM4Mv2's, as SDF";
  std::string file;  // .csv or .csv.gz with a column `smiles`
  int64_t conformers = 8;
  int64_t first = 0, count = 0;  // rows; count 0: all from `first` on
  int64_t seed = 0;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, ConformersMakerOptions& o);
MakerPlan plan_of(const ConformersMakerOptions& o);

/// Writes `<folder>/conformers.sdf`, or, of a part of the rows, `<folder>/conformers-<first, in nine digits>.sdf`, so that several processes
/// make one set. Each molecule of the file has the field `idx`, its row from 0, and `dimensions` 2 where
/// RDKit found no geometry and drew it in the plane. A function of the options but threads, to the bit with one build of
/// RDKit. One molecule is in memory. False when stopped; then nothing is left. ConfigError: no file; files that are
/// there already. DataError: a table without such a column, a SMILES that RDKit cannot read, with its line.
bool make_conformers(const ConformersMakerOptions& options, const std::string& folder,
                     const JobHooks& hooks = {});

}  // namespace weyl

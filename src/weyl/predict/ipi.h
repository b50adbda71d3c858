#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "weyl/predict/connection.h"

namespace weyl {

/// Where the atoms are that i-PI, or ASE's SocketIOCalculator, asks about. In Angstrom.
struct IpiStructure {
  std::array<double, 9> cell;     // (3, 3), rows are lattice vectors
  std::vector<double> positions;  // (N, 3)
};

/// What a model says of one. In eV and Angstrom.
struct IpiForces {
  double energy = 0;
  std::vector<double> forces;    // (N, 3)
  std::array<double, 9> virial;  // (3, 3) eV, -volume times the stress
};

/// The forces of each structure by each model of a committee, [structure][model].
using IpiEvaluate = std::function<std::vector<std::vector<IpiForces>>(std::span<const IpiStructure>)>;

/// Answers as a driver of i-PI does until the other side ends it (EXIT, or closes where it may ask something new). All
/// structures have `atoms` atoms. Where INIT says `batch_size:B` (i-PI 3.3), B structures come at once. Returns how many
/// structures were asked about. DataError: another number of atoms; what is no message of the protocol, or not in its
/// turn; the other side closes within a message.
///
/// Of several models it is told the means, and in the text beside them (`extra`, JSON, in Hartree and Bohr) what each says:
/// committee_pot (M), committee_force (M, 3 N), committee_virial (M, 3, 3), as i-PI's ffcommittee reads them.
int64_t answer_ipi(Connection& connection, int64_t atoms, const IpiEvaluate& evaluate);

}  // namespace weyl

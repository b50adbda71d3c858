#include "weyl/makers/molecules/rdkit_module.h"

#include <GraphMol/Depictor/RDDepictor.h>
#include <GraphMol/DistGeomHelpers/Embedder.h>
#include <GraphMol/ForceFieldHelpers/MMFF/AtomTyper.h>
#include <GraphMol/ForceFieldHelpers/MMFF/MMFF.h>
#include <GraphMol/ForceFieldHelpers/UFF/AtomTyper.h>
#include <GraphMol/ForceFieldHelpers/UFF/UFF.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/PeriodicTable.h>
#include <GraphMol/ROMol.h>
#include <GraphMol/RWMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>
#include <RDGeneral/RDLog.h>
#include <RDGeneral/versions.h>
#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <sstream>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/atoms/pcqm4mv2.h"

namespace weyl {
namespace {

constexpr size_t kLongestSmiles = 4000;
constexpr int kTries = 30;  // to embed, first as ETKDG does, then from random places
constexpr int kForceFieldSteps = 10000;

/// What RDKit says of errors while this lives; nothing reaches the terminal.
class CaughtLog {
 public:
  CaughtLog() : errors_(rdErrorLog), warnings_(rdWarningLog) {
    rdErrorLog = std::make_shared<boost::logging::rdLogger>(&said_);
    rdWarningLog = std::make_shared<boost::logging::rdLogger>(&warned_);
  }
  ~CaughtLog() {
    rdErrorLog = errors_;
    rdWarningLog = warnings_;
  }
  CaughtLog(const CaughtLog&) = delete;
  CaughtLog& operator=(const CaughtLog&) = delete;

  /// "unclosed ring", of "[12:00:00] SMILES Parse Error: unclosed ring for input: 'C1C'" and more lines.
  std::string reason() const {
    const std::string all = said_.str();
    std::string_view line(all);
    const std::string_view begin = "Parse Error: ";
    const size_t at = line.find(begin);
    if (at == line.npos) {
      return "syntax error";
    }
    line = line.substr(at + begin.size());
    line = line.substr(0, line.find('\n'));
    for (const std::string_view end : {" for input", " while parsing"}) {
      line = line.substr(0, line.find(end));
    }
    return printable(line, 200);
  }

 private:
  std::shared_ptr<boost::logging::rdLogger> errors_, warnings_;
  std::ostringstream said_, warned_;
};

/// What a SMILES may be: one molecule without isotopes, or any.
enum class Taken { one_molecule, any };

/// Calls `use(molecule)` with the molecule of a SMILES, hydrogens and all.
template <class F>
void with_molecule(const std::string& smiles, F use, Taken taken = Taken::one_molecule) {
  const auto check = [&](bool holds, const auto&... parts) {
    require<ConfigError>(holds, "molecules: smiles ", quote(smiles), ": ", parts...);
  };
  check(!smiles.empty() && smiles.size() <= kLongestSmiles, "must have 1 to ", kLongestSmiles,
        " characters, has ", smiles.size());
  check(std::ranges::all_of(smiles, [](char c) { return c > ' ' && c < 0x7f; }),
        "must be one SMILES of ASCII characters without blanks");
  const CaughtLog log;
  try {
    RDKit::SmilesParserParams how;
    how.allowCXSMILES = false;
    how.parseName = false;
    const std::unique_ptr<RDKit::RWMol> molecule(RDKit::SmilesToMol(smiles, how));
    check(molecule != nullptr, "is no SMILES: ", molecule ? "" : log.reason());
    for (const auto* atom : molecule->atoms()) {
      check(atom->getAtomicNum() > 0 && !atom->hasQuery(), "atom ", atom->getIdx() + 1,
            " must be an element");
      check(taken == Taken::any || atom->getIsotope() == 0, "atom ", atom->getIdx() + 1,
            " is an isotope; masses are those of the elements, so leave the number out");
    }
    std::vector<int> part_of_atom;
    const unsigned parts = RDKit::MolOps::getMolFrags(*molecule, part_of_atom);
    check(taken == Taken::any || parts <= 1, "must be one molecule, has ", parts,
          " that no bond joins; give file=PATH, which says where they stand");
    RDKit::MolOps::addHs(*molecule);
    const int64_t most = taken == Taken::any ? 999 : kMostAtomsOfSmiles;  // that an SDF file can hold
    check(molecule->getNumAtoms() >= 1 && molecule->getNumAtoms() <= most, "must have 1 to ", most,
          " atoms, has ", molecule->getNumAtoms());
    use(*molecule, check);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    check(false, "RDKit says: ", printable(error.what(), 200));
  }
}

SmilesMolecule read(const RDKit::ROMol& molecule) {
  SmilesMolecule read;
  int radicals = 0;
  bool open = false;
  for (const auto* atom : molecule.atoms()) {
    read.numbers.push_back(atom->getAtomicNum());
    radicals += static_cast<int>(atom->getNumRadicalElectrons());
    open = open || RDKit::PeriodicTable::getTable()->getDefaultValence(atom->getAtomicNum()) < 0;
  }
  read.charge = RDKit::MolOps::getFormalCharge(molecule);
  if (!open) {
    read.unpaired = radicals;
  }
  return read;
}

int bond_order(const RDKit::Bond& bond) {
  switch (bond.getBondType()) {
    case RDKit::Bond::SINGLE:
      return 1;
    case RDKit::Bond::DOUBLE:
      return 2;
    case RDKit::Bond::TRIPLE:
      return 3;
    default:
      return 0;
  }
}

/// Atoms, bonds, charges and isotopes of a molecule, without places. Bonds are those of a Kekule structure; which of them are aromatic,
/// the value `aromatic_bonds` says.
AtomsFrame frame_of(const RDKit::ROMol& molecule) {
  AtomsFrame frame;
  RDKit::RWMol kekule(molecule, /*quickCopy=*/true);
  RDKit::MolOps::Kekulize(kekule);
  std::string aromatic;
  std::vector<int64_t> charges, isotopes;
  for (const auto* atom : molecule.atoms()) {
    frame.numbers.push_back(atom->getAtomicNum());
    charges.push_back(atom->getFormalCharge());
    isotopes.push_back(atom->getIsotope());
  }
  frame.columns.push_back({"formal_charges", 1, std::move(charges)});
  if (std::ranges::any_of(isotopes, [](int64_t mass) { return mass != 0; })) {
    frame.columns.push_back({std::string(isotopes_column), 1, std::move(isotopes)});
  }
  for (const auto* bond : molecule.bonds()) {
    frame.bonds.push_back({static_cast<int64_t>(bond->getBeginAtomIdx()),
                           static_cast<int64_t>(bond->getEndAtomIdx()),
                           bond_order(*kekule.getBondWithIdx(bond->getIdx()))});
    if (bond->getIsAromatic()) {
      aromatic += text(aromatic.empty() ? "" : " ", frame.bonds.size());
    }
  }
  if (!aromatic.empty()) {
    frame.set(FrameValue{aromatic_bonds_value, {}, std::vector{aromatic}});
  }
  return frame;
}

RDKit::DGeomHelpers::EmbedParameters embedding(uint64_t seed) {
  auto how = RDKit::DGeomHelpers::ETKDGv3;
  how.randomSeed = 1 + static_cast<int>(seed % 0x7ffffffe);  // RDKit's -1 is no seed, its 0 a constant
  how.numThreads = 1;
  how.maxIterations = kTries;
  return how;
}

/// Draws conformers and moves them downhill; false: there are none.
bool embed_all(RDKit::ROMol& molecule, int64_t count, uint64_t seed, int threads) {
  auto how = embedding(seed);
  how.numThreads = threads;
  RDKit::DGeomHelpers::EmbedMultipleConfs(molecule, static_cast<unsigned>(count), how);
  if (molecule.getNumConformers() == 0) {
    how.useRandomCoords = true;
    RDKit::DGeomHelpers::EmbedMultipleConfs(molecule, static_cast<unsigned>(count), how);
  }
  if (molecule.getNumConformers() == 0) {
    return false;
  }
  std::vector<std::pair<int, double>> results;
  if (RDKit::MMFF::MMFFMolProperties(molecule).isValid()) {
    RDKit::MMFF::MMFFOptimizeMoleculeConfs(molecule, results, threads, kForceFieldSteps);
  } else if (RDKit::UFF::getAtomTypes(molecule).second) {
    RDKit::UFF::UFFOptimizeMoleculeConfs(molecule, results, threads, kForceFieldSteps);
  }
  return true;
}

/// Puts the molecules of one SMILES, as those of a salt, side by side along x: RDKit embeds each about the origin, where their
/// atoms may coincide.
void lay_apart(std::vector<double>& positions, const std::vector<int>& molecule_of, int molecules) {
  constexpr double gap = 3;  // Angstrom
  double end = 0;
  for (int m = 0; m < molecules; ++m) {
    double low = INFINITY, high = -INFINITY;
    for (size_t atom = 0; atom < molecule_of.size(); ++atom) {
      if (molecule_of[atom] == m) {
        low = std::min(low, positions[3 * atom]);
        high = std::max(high, positions[3 * atom]);
      }
    }
    const double shift = m == 0 ? 0 : end + gap - low;
    for (size_t atom = 0; m > 0 && atom < molecule_of.size(); ++atom) {
      positions[3 * atom] += molecule_of[atom] == m ? shift : 0;
    }
    end = high + shift;
  }
}

/// The places of all conformers that are finite.
std::vector<AtomsFrame> conformers_of(const RDKit::ROMol& molecule, int64_t dimensions) {
  std::vector<AtomsFrame> conformers;
  std::vector<int> molecule_of;
  const auto molecules = static_cast<int>(RDKit::MolOps::getMolFrags(molecule, molecule_of));
  AtomsFrame bonded = frame_of(molecule);
  bonded.values.push_back({"dimensions", {}, std::vector{dimensions}});
  for (auto conformer = molecule.beginConformers(); conformer != molecule.endConformers(); ++conformer) {
    AtomsFrame frame = bonded;
    for (const auto& place : (*conformer)->getPositions()) {
      frame.positions.insert(frame.positions.end(), {place.x, place.y, place.z});
    }
    if (std::ranges::all_of(frame.positions, [](double x) { return std::isfinite(x); })) {
      lay_apart(frame.positions, molecule_of, molecules);
      conformers.push_back(std::move(frame));
    }
  }
  return conformers;
}

}  // namespace
}  // namespace weyl

void weyl_rdkit_version(std::string& version) {
  version = RDKit::rdkitVersion;
}

void weyl_rdkit_read(const std::string& smiles, weyl::SmilesMolecule& molecule) {
  weyl::with_molecule(smiles,
                      [&](const RDKit::ROMol& parsed, const auto&) { molecule = weyl::read(parsed); });
}

void weyl_rdkit_embed(const std::string& smiles, uint64_t seed, std::vector<double>& positions) {
  weyl::with_molecule(smiles, [&](RDKit::ROMol& molecule, const auto& check) {
    const bool mmff = RDKit::MMFF::MMFFMolProperties(molecule).isValid();
    check(mmff || RDKit::UFF::getAtomTypes(molecule).second,
          "neither MMFF94 nor UFF has parameters of it; give file=PATH");
    auto how = weyl::embedding(seed);
    bool embedded = RDKit::DGeomHelpers::EmbedMolecule(molecule, how) >= 0;
    if (!embedded) {
      how.useRandomCoords = true;
      embedded = RDKit::DGeomHelpers::EmbedMolecule(molecule, how) >= 0;
    }
    check(embedded, "RDKit finds no geometry of it in ", weyl::kTries,
          " tries; are its stereocentres possible?");
    // A start geometry need not be at rest: whether the steps do is not asked.
    if (mmff) {
      RDKit::MMFF::MMFFOptimizeMolecule(molecule, weyl::kForceFieldSteps);
    } else {
      RDKit::UFF::UFFOptimizeMolecule(molecule, weyl::kForceFieldSteps);
    }
    positions.clear();
    for (const auto& place : molecule.getConformer().getPositions()) {
      positions.insert(positions.end(), {place.x, place.y, place.z});
    }
    check(std::ranges::all_of(positions, [](double x) { return std::isfinite(x); }),
          "RDKit's geometry of it has a number that is not finite");
  });
}

void weyl_rdkit_conformers(const std::string& smiles, int64_t count, uint64_t seed, int64_t threads,
                           std::vector<weyl::AtomsFrame>& conformers) {
  weyl::with_molecule(
      smiles,
      [&](RDKit::ROMol& molecule, const auto& check) {
        bool embedded = false;
        try {
          embedded = weyl::embed_all(molecule, count, seed, static_cast<int>(threads));
        } catch (const std::exception&) {  // what RDKit's tables do not know
        }
        conformers = weyl::conformers_of(molecule, 3);
        if (!embedded || conformers.empty()) {
          RDDepict::compute2DCoords(molecule);
          conformers = weyl::conformers_of(molecule, 2);
        }
        check(!conformers.empty(), "RDKit has no geometry of it, not even a drawing");
      },
      weyl::Taken::any);
}

void weyl_rdkit_canonical(const std::string& smiles, std::string& canonical) {
  weyl::with_molecule(
      smiles, [&](const RDKit::ROMol& molecule, const auto&) { canonical = RDKit::MolToSmiles(molecule); });
}

#include "weyl/data/makers/molecule_start.h"

#include <filesystem>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/core/units.h"
#include "weyl/data/formats/frame_reader.h"
#include "weyl/data/makers/molecule_table.h"
#include "weyl/data/makers/smiles.h"
#include "weyl/dynamics/molecular_dynamics.h"
#include "weyl/dynamics/relaxation.h"

namespace weyl {
namespace {

constexpr double kRelaxed = 0.005;  // eV/A
constexpr int64_t kRelaxationSteps = 5000;

MoleculeStart start_of(const AtomsFrame& frame, std::string name, const std::string& where,
                       const MoleculesMakerOptions& o) {
  require<ConfigError>(frame.size() >= 2, where, ": there must be at least 2 atoms, got ", frame.size());
  const Xtb checks(frame.numbers, xtb_options(o));  // elements and electrons
  MoleculeStart start{std::move(name), frame.numbers, {}, frame.positions};
  for (const int z : frame.numbers) {
    start.masses.push_back(standard_mass(z));
  }
  centre_masses(start.masses, start.positions);
  return start;
}

std::vector<MoleculeStart> starts_of_smiles(const MoleculesMakerOptions& o,
                                            const std::function<bool()>& stop) {
  AtomsFrame frame;
  frame.numbers = read_smiles(o.smiles).numbers;
  std::vector<MoleculeStart> starts;
  for (int64_t i = 0; i < o.walkers && !(stop && stop()); ++i) {
    Stream seeds(static_cast<uint64_t>(o.seed), "molecules conformer", {static_cast<uint64_t>(i)});
    frame.positions = conformer_of_smiles(o.smiles, seeds.bits());
    starts.push_back(start_of(frame, o.smiles, "molecules", o));
  }
  return starts;
}

std::vector<MoleculeStart> starts_of_file(const MoleculesMakerOptions& o) {
  std::vector<MoleculeStart> starts;
  const auto reader = open_frames(o.file);
  AtomsFrame frame;
  while (reader->next(frame)) {
    require<DataError>(frame.pbc == std::array<bool, 3>{}, reader->where(),
                       ": GFN2-xTB is for molecules, but the frame is periodic");
    const auto unit = reader->unit_of("pos");
    const double scale = unit.empty() ? 1 : unit_factor(unit, "Angstrom");
    for (double& x : frame.positions) {
      x *= scale;
    }
    std::string name = std::filesystem::path(o.file).stem().string();
    if (const auto* value = frame.value("config_type")) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(&value->values);
          texts && texts->size() == 1) {
        name = texts->front();
      }
    }
    starts.push_back(start_of(frame, std::move(name), reader->where(), o));
  }
  require<DataError>(!starts.empty(), o.file, ": must have a frame, has none");
  return starts;
}

}  // namespace

Xtb::Options xtb_options(const MoleculesMakerOptions& o) {
  return {static_cast<int>(o.charge.value_or(0)), static_cast<int>(o.unpaired.value_or(0)), o.accuracy};
}

MoleculesMakerOptions with_electrons(MoleculesMakerOptions o) {
  require<ConfigError>(!o.molecule.empty() + !o.smiles.empty() + !o.file.empty() == 1,
                       "molecules: give one of molecule=NAME (ethanol, aspirin, ...), smiles=TEXT and "
                       "file=PATH of an xyz file");
  std::optional<int64_t> charge, unpaired;  // said otherwise
  if (!o.smiles.empty()) {
    const auto said = read_smiles(o.smiles);
    charge = said.charge;
    unpaired = said.unpaired;
  }
  const auto settle = [&](std::optional<int64_t>& given, const std::optional<int64_t>& said, const char* key,
                          const char* what) {
    require<ConfigError>(!given || !said || *given == *said, "molecules: ", key, " must be ",
                         said.value_or(0), ", the ", what, " in smiles ", quote(o.smiles),
                         ", or left out, got ", given.value_or(0));
    given = given ? given : said.value_or(0);
  };
  settle(o.charge, charge, "charge", "sum of the charges");
  settle(o.unpaired, unpaired, "unpaired", "number of the radical electrons");
  return o;
}

std::vector<MoleculeStart> molecule_starts(const MoleculesMakerOptions& o,
                                           const std::function<bool()>& stop) {
  if (!o.file.empty()) {
    return starts_of_file(o);
  }
  if (!o.smiles.empty()) {
    return starts_of_smiles(o, stop);
  }
  return {start_of(molecule_by_name(o.molecule), o.molecule, "molecules", o)};
}

void relax_start(MoleculeStart& start, const MoleculesMakerOptions& o, const std::atomic<bool>& stopped) {
  try {
    Xtb xtb(start.numbers, xtb_options(o));
    auto relaxed = relax([&](std::span<const double> x) { return xtb(x); }, start.positions, kRelaxed,
                         kRelaxationSteps, [&] { return stopped.load(); });
    start.positions = std::move(relaxed.positions);
    centre_masses(start.masses, start.positions);
  } catch (const DataError& error) {
    throw DataError(text("molecules: the start geometry of ", start.name, ": ", error.what()));
  }
}

}  // namespace weyl

#include "weyl/makers/molecules/orbital_gaps.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/random.h"
#include "weyl/core/text_number.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/sdf.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/dynamics/relaxation.h"
#include "weyl/makers/molecules/small_molecules.h"
#include "weyl/makers/molecules/smiles.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {

void fields(Fields& f, OrbitalGapsMakerOptions& o) {
  f("molecules", o.molecules, "in all splits", {8, 1e5});
  f("conformers", o.conformers, "of each molecule", {1, 1000});
  f("valid", o.valid, "fraction of the molecules for validation", {0, 1});
  f("test", o.test, "fraction of the molecules for testing", {0, 1});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("threads", o.threads, "threads that relax; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const OrbitalGapsMakerOptions& o) {
  return {.what = "small molecules with gaps of their orbitals by GFN2-xTB",
          .counts = {{"count", o.molecules}},
          .make = std::bind_front(make_orbital_gaps, o)};
}

namespace {

constexpr double kLargestForce = 0.05;  // eV/A
constexpr int64_t kMostSteps = 2000;

struct GapMolecule {
  std::string smiles;
  std::vector<AtomsFrame> conformers;  // with hydrogens
  AtomsFrame relaxed;
  SinglePoint point;  // there
};

/// Nothing where GFN2-xTB finds no minimum or no gap.
std::optional<GapMolecule> gap_molecule(const std::string& smiles, int64_t conformers, uint64_t seed,
                                        const std::atomic<bool>& stopped) {
  GapMolecule molecule{smiles, conformers_of_smiles(smiles, conformers, seed, 1), {}, {}};
  molecule.relaxed = molecule.conformers.front();
  std::erase_if(molecule.relaxed.values, [](const FrameValue& v) { return v.name == aromatic_bonds_value; });
  try {
    Xtb xtb(molecule.relaxed.numbers, {.accuracy = 1});
    auto relaxed = relax([&](std::span<const double> x) { return xtb(x); }, molecule.relaxed.positions,
                         kLargestForce, kMostSteps, [&] { return stopped.load(); });
    molecule.relaxed.positions = std::move(relaxed.positions);
    molecule.point = std::move(relaxed.point);
  } catch (const DataError&) {
    return std::nullopt;
  }
  return molecule.point.lumo > molecule.point.homo ? std::optional(std::move(molecule)) : std::nullopt;
}

/// The molecules in an order in which those of one composition follow one another, compositions at random, and cut into
/// training, validation and test between compositions.
SplitIndices split_by_composition(const std::vector<GapMolecule>& molecules,
                                  const OrbitalGapsMakerOptions& o) {
  std::map<std::vector<int>, std::vector<int64_t>> groups;
  for (size_t i = 0; i < molecules.size(); ++i) {
    std::vector<int> composition = molecules[i].relaxed.numbers;
    std::ranges::sort(composition);
    groups[composition].push_back(static_cast<int64_t>(i));
  }
  std::vector<const std::vector<int64_t>*> all;
  for (const auto& [composition, group] : groups) {
    all.push_back(&group);
  }
  SplitIndices parts;
  const auto size = static_cast<double>(molecules.size());
  for (const int64_t g :
       Stream(static_cast<uint64_t>(o.seed), "gaps split").permutation(static_cast<int64_t>(all.size()))) {
    const auto& group = *all[static_cast<size_t>(g)];
    const auto short_of = [&](const std::vector<int64_t>& part, double fraction) {
      return static_cast<double>(part.size()) + 0.5 * static_cast<double>(group.size()) <= fraction * size;
    };
    auto& part = short_of(parts.valid, o.valid) ? parts.valid
                 : short_of(parts.test, o.test) ? parts.test
                                                : parts.train;
    part.insert(part.end(), group.begin(), group.end());
  }
  return parts;
}

std::string lists_text(const SplitIndices& parts, const char* test) {
  std::string json = "{";
  for (const auto& [name, list] :
       {std::pair{"train", &parts.train}, {"valid", &parts.valid}, {test, &parts.test}}) {
    const std::vector<int64_t>& samples = *list;
    json += text(json.size() > 1 ? ", \"" : "\"", name, "\": [");
    for (size_t i = 0; i < samples.size(); ++i) {
      json += text(i > 0 ? ", " : "", samples[i]);
    }
    json += "]";
  }
  return json + "}\n";
}

std::string number(double x) {
  std::string said;
  append_number(said, x);
  return said;
}

/// The numbers 0 .. n - 1, cut into three of these sizes.
SplitIndices cut(const SplitIndices& sizes) {
  SplitIndices parts;
  int64_t next = 0;
  for (const auto& [to, like] :
       {std::pair{&parts.train, &sizes.train}, {&parts.valid, &sizes.valid}, {&parts.test, &sizes.test}}) {
    to->resize(like->size());
    std::iota(to->begin(), to->end(), next);
    next += static_cast<int64_t>(like->size());
  }
  return parts;
}

using Texts = std::vector<std::pair<std::string, std::string>>;  // names of files, and what is in them

Texts as_pcqm4mv2(const std::vector<const GapMolecule*>& molecules, const SplitIndices& parts) {
  std::string table = "idx,smiles,homolumogap\n", relaxed, conformers;
  for (size_t i = 0; i < molecules.size(); ++i) {
    const GapMolecule& molecule = *molecules[i];
    table += text(i, ",", molecule.smiles, ",", number(molecule.point.lumo - molecule.point.homo), "\n");
    if (i < parts.train.size()) {
      append_sdf(relaxed, molecule.relaxed);
    }
    for (AtomsFrame conformer : molecule.conformers) {
      remove_hydrogens(conformer);
      conformer.set(FrameValue{"idx", {}, std::vector{static_cast<int64_t>(i)}});
      append_sdf(conformers, conformer);
    }
  }
  const auto packed = gzip(std::as_bytes(std::span(table)), "data.csv.gz");
  return {{"data.csv.gz", std::string(reinterpret_cast<const char*>(packed.data()), packed.size())},
          {"split_dict.json", lists_text(parts, "test-dev")},
          {"pcqm4m-v2-train.sdf", relaxed},
          {"conformers.sdf", conformers}};
}

Texts as_molecule3d(const std::vector<const GapMolecule*>& molecules, const SplitIndices& parts,
                    const OrbitalGapsMakerOptions& o) {
  static const double debye = unit_factor("e*Angstrom", "Debye");
  std::string table = "index,dipole x,dipole y,dipole z,homo,lumo,homolumogap,scf energy\n", relaxed;
  for (size_t i = 0; i < molecules.size(); ++i) {
    const SinglePoint& point = molecules[i]->point;
    table += std::to_string(i);
    for (const double x : {point.dipole[0] * debye, point.dipole[1] * debye, point.dipole[2] * debye,
                           point.homo, point.lumo, point.lumo - point.homo, point.energy}) {
      table += "," + number(x);
    }
    table += "\n";
    append_sdf(relaxed, molecules[i]->relaxed);
  }
  const SplitIndices random = random_split(static_cast<int64_t>(molecules.size()),
                                           {.train = 1 - o.valid - o.test, .valid = o.valid, .seed = o.seed});
  return {{text("combined_mols_0_to_", molecules.size(), ".sdf"), relaxed},
          {"properties.csv", table},
          {"random_split_inds.json", lists_text(random, "test")},
          {"scaffold_split_inds.json", lists_text(parts, "test")}};
}

}  // namespace

bool make_orbital_gaps(const OrbitalGapsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  require_xtb();
  require<ConfigError>(o.valid + o.test < 1,
                       "orbital_gaps: valid and test must leave molecules for training, got ", o.valid,
                       " and ", o.test);
  NewFiles files;
  for (const std::string& name :
       {std::string("data.csv.gz"), std::string("split_dict.json"), std::string("pcqm4m-v2-train.sdf"),
        std::string("conformers.sdf"), text("combined_mols_0_to_", o.molecules, ".sdf"),
        std::string("properties.csv"), std::string("random_split_inds.json"),
        std::string("scaffold_split_inds.json"), std::string("orbital_gaps.toml")}) {
    files.add((std::filesystem::path(folder) / name).string());
  }
  const auto smiles = small_molecules();
  const auto there = static_cast<int64_t>(smiles.size());
  require<ConfigError>(o.molecules <= there, "orbital_gaps: molecules must be at most ", there, ", got ",
                       o.molecules);
  const auto order = Stream(static_cast<uint64_t>(o.seed), "gaps molecules").permutation(there);
  std::vector<GapMolecule> molecules;
  for (int64_t next = 0; static_cast<int64_t>(molecules.size()) < o.molecules;) {
    const int64_t wanted = std::min(o.molecules - static_cast<int64_t>(molecules.size()), there - next);
    require<ConfigError>(wanted > 0, "orbital_gaps: GFN2-xTB gives the gaps of only ", molecules.size(),
                         " molecules");
    std::vector<std::optional<GapMolecule>> made(static_cast<size_t>(wanted));
    const bool whole =
        run_samples(wanted, o.threads, hooks, [&](int64_t i, const std::atomic<bool>& stopped) {
          const int64_t which = order[static_cast<size_t>(next + i)];
          const uint64_t seed =
              Stream(static_cast<uint64_t>(o.seed), "gaps conformers", {static_cast<uint64_t>(which)}).bits();
          made[static_cast<size_t>(i)] =
              gap_molecule(smiles[static_cast<size_t>(which)], o.conformers, seed, stopped);
        });
    if (!whole) {
      return false;
    }
    next += wanted;
    for (auto& molecule : made) {
      if (molecule) {
        molecules.push_back(*std::move(molecule));
      }
    }
  }
  const SplitIndices parts = split_by_composition(molecules, o);
  std::vector<const GapMolecule*> sorted;
  for (const auto* part : {&parts.train, &parts.valid, &parts.test}) {
    for (const int64_t i : *part) {
      sorted.push_back(&molecules[static_cast<size_t>(i)]);
    }
  }
  Texts texts = as_pcqm4mv2(sorted, cut(parts));
  std::ranges::move(as_molecule3d(sorted, cut(parts), o), std::back_inserter(texts));
  OrbitalGapsMakerOptions said = o;
  said.threads = 0;
  texts.emplace_back("orbital_gaps.toml", write_toml([&](Fields& f) { fields(f, said); }) + "\n");
  files.write_each([&](size_t i) { write_file_atomically(files.path(i), texts[i].second, Existing::keep); });
  return true;
}

}  // namespace weyl

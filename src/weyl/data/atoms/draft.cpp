// Frames of atoms, as `weyl config new` sees them: keys, units, elements, what is missing, how dense they are.
#include <ATen/ops/isnan.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "weyl/algebra/lattice/neighbours.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/data/atoms/files.h"
#include "weyl/data/atoms/frame_keys.h"
#include "weyl/data/atoms/molecule3d.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/slab.h"
#include "weyl/data/base/draft.h"

namespace weyl {
namespace {

using frame_keys::Frames, frame_keys::Key, frame_keys::Labels, frame_keys::labels_of;

std::string key_names(const std::vector<const Key*>& keys) {
  std::string line;
  for (const Key* key : keys) {
    line += (line.empty() ? "" : ", ") + key->name;
  }
  return line;
}

void write_elements(ConfigDraft& draft, const Frames& all) {
  std::vector<std::string> symbols;
  for (const auto& [z, count] : all.elements) {
    symbols.emplace_back(element_symbol(z));
  }
  draft.set("elements", symbols, "those of the frames; what is not listed is refused");
}

/// Frames for training and validation of one file that has too few for fractions, which would leave a split without any;
/// nothing of a file that has enough or one alone, and of folders with splits, which divide themselves.
struct CountedParts {
  int64_t train = 0, valid = 0;
};
std::optional<CountedParts> parts_of_few(const Frames& all) {
  if (all.in_files || all.frames < 2 || all.frames >= 20) {
    return std::nullopt;
  }
  const int64_t valid = std::max<int64_t>(1, all.frames / 10);
  return CountedParts{std::max<int64_t>(1, all.frames - 2 * valid), valid};
}

/// Parts of one file that has enough. A validation is of some thousand atoms at most, so that ten fit into minutes.
std::vector<double> fractions_of(const Frames& all) {
  constexpr double enough_atoms = 8000, least_frames = 20, usual = 0.1;
  const auto frames = static_cast<double>(all.frames);
  const double wanted =
      std::max(enough_atoms / static_cast<double>(std::max<int64_t>(all.atoms, 1)), least_frames / frames);
  const double valid = std::ceil(1e4 * std::min(usual, wanted)) / 1e4;
  return {0.8, valid, std::round(1e4 * (0.2 - valid)) / 1e4};
}

/// How one file is divided; folders with splits divide themselves.
void write_frame_parts(ConfigDraft& draft, const Frames& all, bool counts_by_default) {
  if (all.in_files) {
    std::string line;
    for (const auto& [split, frames] : all.splits) {
      line += text(line.empty() ? "" : ", ", split.empty() ? "in all" : split, " ", frames);
    }
    draft.remark("The splits are the folder's files: " + line + " frames.");
    return;
  }
  if (all.frames == 1) {
    draft.remark("One frame alone: it is learned by heart, and nothing says how well.");
    return;
  }
  if (const auto few = parts_of_few(all)) {
    draft.set("train", few->train, text("of the ", all.frames, " frames, drawn by seed; few for a model"));
    draft.set("valid", few->valid, "frames for validation; the rest is the test split");
    return;
  }
  if (counts_by_default) {
    draft.set("train", 0, "0 and 0: the fractions below");
    draft.set("valid", 0);
  }
  draft.set("fractions", fractions_of(all),
            "of the frames: training, validation, test, drawn by seed; better: a test.extxyz of its own");
}

/// Why the unit of such things is set here.
std::string what_files_say(const Frames& all, const Labels& labels, const char* things, UnitOf of) {
  const auto doubted = [of](const UnitDoubt& doubt) {
    return (of == UnitOf::energy && doubt.key == "energy_unit") ||
           (of == UnitOf::stress && doubt.key == "stress_unit");
  };
  if (const std::string unread = unread_of(all.unread_units, of); !unread.empty()) {
    return text("the files say ", unread, ", which is not read");
  }
  if (const auto doubt = std::ranges::find_if(all.unit_doubts, doubted); doubt != all.unit_doubts.end()) {
    return text("likely ", doubt->unit, ", by a guess from the numbers alone");
  }
  bool some = !all.length_unit.empty() || !all.unread_units.empty();
  for (const Key* key : {labels.energy, labels.forces, labels.stress}) {
    some = some || (key != nullptr && !key->unit.empty());
  }
  return some ? text("the files say no unit of ", things) : "the files say none";
}

void write_units(ConfigDraft& draft, const Frames& all, const Labels& labels) {
  const std::string energy = labels.energy != nullptr ? labels.energy->unit : "";
  std::string said = energy.empty() ? "" : "energies in " + energy;
  if (!all.length_unit.empty()) {
    said += (said.empty() ? "" : ", ") + std::string("lengths in ") + all.length_unit;
  }
  if (!said.empty()) {
    draft.remark("As the files say, " + said + ". Models work in eV and \u00c5.");
  }
  if (labels.energy != nullptr && energy.empty()) {
    draft.set(
        "energy_unit", "eV",
        what_files_say(all, labels, "energies", UnitOf::energy) + "; put theirs: Hartree, kcal/mol, ...");
  }
  if (all.length_unit.empty()) {
    draft.set("length_unit", "Angstrom", what_files_say(all, labels, "lengths", UnitOf::length));
  }
}

void write_labels(ConfigDraft& draft, const Frames& all, const Labels& labels) {
  const auto named = [&](const Key* key) {
    return text("the files' name", key->frames < all.frames ? text("; ", all.frames - key->frames, " of ",
                                                                   all.frames, " frames lack it")
                                                            : "");
  };
  if (labels.energy != nullptr) {
    draft.set("energy", labels.energy->name, named(labels.energy));
  }
  if (labels.forces != nullptr) {
    draft.set("forces", labels.forces->name, named(labels.forces));
    if (in_small_letters(labels.forces->name).find("grad") != std::string::npos) {
      draft.set("force_sign", "gradient", "by its name");
    }
    const bool alone =
        labels.energy == nullptr && labels.forces->unit.empty();  // else their unit follows from energies
    if (alone || is_unread(all.unread_units, UnitOf::force)) {
      draft.set("force_unit", "eV/Angstrom",
                what_files_say(all, labels, "forces", UnitOf::force) +
                    "; put theirs: Hartree/Bohr, kcal/mol/Angstrom, ...");
    }
  }
  if (labels.stress != nullptr) {
    draft.set("stress", labels.stress->name, named(labels.stress));
    if (labels.stress->unit.empty() && !is_virial_key(labels.stress->name)) {
      draft.set("stress_unit", "eV/Angstrom^3",
                text(what_files_say(all, labels, "stresses", UnitOf::stress),
                     "; GPa or kbar where they are so, with stress_sign where theirs is VASP's"));
    }
    if (labels.stress->six) {
      draft.set("stress_order", "voigt", "xx yy zz yz xz xy; \"vasp\" where the six are xx yy zz xy yz zx");
    }
  }
  const auto lacking = [&](const Key* key) { return key != nullptr && key->frames < all.frames; };
  const bool partly = labels.stress != nullptr && all.filling < all.frames;
  if (lacking(labels.energy) || lacking(labels.forces) || lacking(labels.stress) || partly) {
    draft.set("missing", "mask", "frames that lack a label are left out of that part of the loss");
  }
}

void write_force_field(ConfigDraft& draft, const FoundData& found, const Labels& labels) {
  draft.table("task.force_field");
  draft.set("forces", labels.forces != nullptr ? "gradient" : "none",
            labels.forces != nullptr
                ? "of the energy, so that they conserve it; \"direct\" is faster and does not"
                : "the frames have none");
  if (labels.energy != nullptr) {
    draft.set(
        "reference", found.one_composition ? "mean" : "elements",
        found.one_composition
            ? "taken off energies first: one number an atom, as all frames are of one composition"
            : "taken off energies first: the energy of each element's isolated atom, else by least squares");
    draft.set("energy_weight", 1.0, "of the errors of energies in the loss");
  } else {
    draft.set("reference", "none", "the frames have no energies");
    draft.set("energy_weight", 0.0,
              "the frames have none: forces alone say what energies are but for a constant");
  }
  if (labels.forces != nullptr) {
    draft.set("force_weight", 10.0, "of those of forces");
  }
  if (labels.stress != nullptr) {
    draft.set("stress", true, "the frames have it");
  }
  if (found.one_composition && labels.energy != nullptr) {
    draft.set("energy_per_atom", false, "all frames have the same number of atoms");
  }
  draft.set("units", "meV", "of errors, in reports");
}

/// Neighbours of a few points of one graph, on average.
double neighbours_of(const Points& points, double radius) {
  const Tensor places = points.positions.to(at::kDouble).contiguous();
  const int64_t n = places.size(0), asked = std::min<int64_t>(n, 8);
  NeighbourSearch search{.positions = places.const_data_ptr<double>(), .atoms = n, .radius = radius};
  Tensor cell, periodic;
  if (points.cell.defined() && points.pbc.defined()) {
    cell = points.cell.to(at::kDouble).contiguous();
    periodic = points.pbc.contiguous();
    search.cell = cell.const_data_ptr<double>();
    std::copy_n(periodic.const_data_ptr<bool>(), 3, search.periodic.begin());
  }
  std::vector<int64_t> some, counts;
  for (int64_t s = 0; s < asked; ++s) {
    some.push_back(s * n / asked);
  }
  // A model takes no more of an atom: ops/edges/neighbours.cpp.
  search.most_edges = 10'000 * static_cast<double>(n);
  if (count_neighbours(search, some, counts) != NeighbourFault::none) {
    return n == 0 ? 0 : expected_edges(search) / static_cast<double>(n);
  }
  const auto near = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  return asked == 0 ? 0 : near / static_cast<double>(asked);
}

/// Mean number of other points within `radius` of a point, periodic images included, over at most 16 graphs.
double mean_neighbours(const Dataset& data, double radius) {
  const int64_t graphs = std::min<int64_t>(data.size(), 16);
  double sum = 0;
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t index = g * data.size() / graphs;
    sum += neighbours_of(std::get<Points>(data.batch({&index, 1}).input), radius);
  }
  return graphs == 0 ? 0 : sum / static_cast<double>(graphs);
}

/// Training frames as the data set gives them: in Angstrom, with their cells. Gives all splits.
template <class Options>
Splits measure(FoundData& found, const Options& options) {
  Splits splits = open_set(options);
  count_samples(found, splits, options.path);
  found.radius = 5;
  found.neighbours = mean_neighbours(*splits.train, found.radius);
  while (found.neighbours > 60 && found.radius > 3.5) {
    found.radius -= 0.5;
    found.neighbours = mean_neighbours(*splits.train, found.radius);
  }
  while (found.periodic && found.neighbours < 12 && found.radius < 7) {
    found.radius += 0.5;
    found.neighbours = mean_neighbours(*splits.train, found.radius);
  }
  return splits;
}

/// Whether some frame of a split has a stress; true where there is no such split.
bool has_stress(const std::shared_ptr<const Dataset>& split) {
  if (split == nullptr || find_quantity(split->schema().labels, "stress") == nullptr) {
    return split == nullptr;
  }
  for (int64_t i = 0; i < split->size(); ++i) {
    if (!at::isnan(split->batch({&i, 1}).labels.at("stress")).all().item<bool>()) {
      return true;
    }
  }
  return false;
}

/// Why a stress that the frames have cannot be learned, by what is known of them and, once it is, of the splits; empty: it can.
std::string stress_fault(const Key& stress, const Splits& splits) {
  if (stress.filling == 0) {
    return "no frame that has it is periodic along all three lattice vectors, without which there is no volume";
  }
  for (const auto& [name, split] : {std::pair{"training", splits.train}, {"validation", splits.valid}}) {
    if (!has_stress(split)) {
      return text("none of the frames that have one (", stress.filling, ") is in the ", name, " split");
    }
  }
  return "";
}

/// The parts of one file, as write_frame_parts writes them.
template <class Options>
void take_parts(Options& options, const Frames& all) {
  options.train = options.valid = options.test = 0;
  if (const auto few = parts_of_few(all)) {
    options.train = few->train;
    options.valid = few->valid;
  } else if (!all.in_files && all.frames > 1) {
    options.fractions = fractions_of(all);
  }
}

/// The frames with the labels of a potential, where they have them.
MoleculesDataOptions potential_of(const std::string& path, const Frames& all, const Labels& labels) {
  MoleculesDataOptions options{.path = path};
  take_parts(options, all);
  options.missing = MissingLabels::mask;
  const auto name = [](const Key* key) { return key == nullptr ? "" : key->name; };
  options.energy = name(labels.energy);
  options.forces = name(labels.forces);
  options.stress = name(labels.stress);
  return options;
}

FoundData qm9(const std::string& path, const Frames& all, FoundData found) {
  found.tasks = {{"property", "QM9's fifteen properties"}};
  Qm9DataOptions options{.path = path};
  take_parts(options, all);
  measure(found, options);
  found.write_data = [path, all](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, "qm9", path, "molecules in QM9's own files");
    write_elements(draft, all);
    write_frame_parts(draft, all, true);
  };
  found.write_task = [](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("task.property");
    draft.set("targets", std::vector<std::string>{"U0"},
              "or others: mu, alpha, homo, lumo, gap, r2, zpve, U, H, G, Cv");
    draft.set("reference", "elements", "taken off first, by least squares; \"mean\" for what is no energy");
  };
  return found;
}

/// A folder of molecules with splits that are lists.
template <class Options>
FoundData listed_set(const std::string& path, const Frames& all, FoundData found, const std::string& target) {
  found.tasks = {{"property", "the gap between HOMO and LUMO"}};
  measure(found, Options{.path = path});
  found.write_data = [path, all](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, Options::name_in_config, path, "molecules in the set's own files, with their splits");
    write_elements(draft, all);
  };
  found.write_task = [target](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("task.property");
    draft.set("targets", std::vector<std::string>{target}, "in eV");
    draft.set("reference", "mean", "taken off first");
  };
  return found;
}

/// Whether the first frame, of a folder with splits that for training, is a slab with an adsorbate whose relaxed places are known.
bool are_slabs(const std::string& path, const Frames& all) {
  try {
    const auto reader = open_frames(all.in_files ? frames_of_split(path, "train") : frames_path(path));
    AtomsFrame frame;
    return reader->next(frame) && !slab_of(frame, *reader).relaxed.empty();
  } catch (const DataError&) {  // of frames that are no slabs
    return false;
  }
}

FoundData slabs(const std::string& path, const Frames& all, FoundData found) {
  require<ConfigError>(
      all.in_files, path,
      ": holds slabs and what they relax to, which data set oc20 reads from a folder with files train.*, "
      "valid.* and test.*: put it there under such a name, or divide it, `weyl data split ",
      shell_word(path), " --out DIR`, and give the folder");
  found.tasks = {{"relaxation", "relaxed places, and energies where there are some"}};
  found.periodic = false;  // models see images, not periods
  const Splits splits = measure(found, Oc20DataOptions{.path = path});
  const bool energies = find_quantity(splits.train->schema().labels, "energy") != nullptr;
  found.write_data = [path, all](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, "oc20", path, "slabs with an adsorbate and where they relax to");
    write_elements(draft, all);
  };
  found.write_task = [energies](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("task.relaxation");
    draft.set("target", energies ? "energy" : "",
              energies ? "learned beside the places" : "the frames have no energies");
  };
  return found;
}

/// What is found in a path whose frames are those of a data set with a name; false: they are no such.
bool published_set(FoundData& found, const std::string& path, const Frames& all) {
  const bool folder = std::filesystem::is_directory(path);
  if (frame_keys::is_qm9_set(all)) {
    found = qm9(path, all, std::move(found));
  } else if (folder && is_pcqm4mv2(path)) {
    found = listed_set<Pcqm4mv2DataOptions>(path, all, std::move(found), "gap");
  } else if (folder && is_molecule3d(path)) {
    found = listed_set<Molecule3dDataOptions>(path, all, std::move(found), "homolumogap");
  } else if (are_slabs(path, all)) {
    found = slabs(path, all, std::move(found));
  } else {
    return false;
  }
  return true;
}

/// Forces alone are learned on request where there are other numbers: one of these may be an energy of an unknown name.
std::vector<FittingTask> tasks_of(const Labels& labels) {
  std::vector<FittingTask> tasks;
  const bool energy = labels.energy != nullptr, forces = labels.forces != nullptr,
             others = !labels.others.empty();
  if (energy || forces) {
    tasks.push_back({"force_field",
                     !energy  ? "forces"
                     : forces ? "energies and forces"
                              : "energies",
                     !energy && others});
  }
  if (others) {  // on request of a potential's frames
    tasks.push_back({"property", "the numbers " + key_names(labels.others), energy && forces});
  }
  return tasks;
}

}  // namespace

FoundData FrameFiles::draft(const std::string& path) {
  Frames all = frame_keys::frames_of(path);
  require<DataError>(!all.splits.empty() && all.frames > 0, path, ": must have frames, got none");
  Labels labels = labels_of(all);
  std::string no_stress;
  const auto leave_out_stress = [&](const Splits& splits) {
    const std::string why = labels.stress == nullptr ? "" : stress_fault(*labels.stress, splits);
    if (!why.empty()) {
      no_stress = text("The stress, ", labels.stress->name, ", is left out: ", why, ".");
      std::erase_if(all.tensors, [name = labels.stress->name](const Key& key) { return key.name == name; });
      labels = labels_of(all);
    }
  };
  leave_out_stress({});
  FoundData found;
  found.family = FoundData::Family::atoms;
  found.periodic = all.periodic > 0;
  found.forces = labels.forces != nullptr;
  found.one_composition =
      all.least_atoms == all.most_atoms &&
      std::ranges::all_of(all.elements, [&](const auto& e) { return e.second % all.frames == 0; });
  found.what = text(all.frames, " frames of ", all.least_atoms,
                    all.most_atoms > all.least_atoms ? text(" to ", all.most_atoms) : "", " atoms",
                    found.periodic ? text(", ", all.periodic, " of them periodic") : "");
  if (published_set(found, path, all)) {
    return found;
  }
  for (const UnitDoubt& doubt : all.unit_doubts) {
    found.warnings.push_back(text(path, ": ", doubt.line));
  }
  found.tasks = tasks_of(labels);
  require<ConfigError>(
      !found.tasks.empty(), path,
      ": the frames have no energy, no forces, and no other number that all have and that differs: there is "
      "nothing to learn; `weyl data inspect` lists their keys");
  std::vector<Key> others;
  for (const Key* key : labels.others) {
    others.push_back(*key);
  }
  leave_out_stress(measure(found, potential_of(path, all, labels)));
  found.write_data = [path, all, others, no_stress](ConfigDraft& draft, const std::string& task,
                                                    const std::string&) {
    const Labels mine = labels_of(all);
    write_set(draft, "molecules", path);
    write_elements(draft, all);
    if (task == "force_field") {
      write_labels(draft, all, mine);
      if (!no_stress.empty()) {
        draft.remark(no_stress);
      }
    } else {
      std::string items;
      for (const Key& key : others) {
        items += text(items.empty() ? "" : ", ", "{ key = ", TomlText(key.name).text,
                      key.unit.empty() ? "" : text(", unit = ", TomlText(key.unit).text), " }");
      }
      draft.set("properties", TomlText::raw("[" + items + "]"),
                "numbers of frames that become labels; `extensive = true` where one grows with the atoms");
    }
    write_units(draft, all, mine);
    write_frame_parts(draft, all, false);
  };
  found.write_task = [all, others, known = found](ConfigDraft& draft, const std::string& task,
                                                  const std::string&) {
    if (task == "force_field") {
      write_force_field(draft, known, labels_of(all));
      return;
    }
    std::vector<std::string> targets;
    for (const Key& key : others) {
      targets.push_back(key.name);
    }
    draft.table("task.property");
    draft.set("targets", targets, "labels that are learned, all by one model");
    draft.set("reference", "mean", "taken off first; \"elements\" for energies");
  };
  return found;
}

}  // namespace weyl

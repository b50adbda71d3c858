#include "weyl/data/atoms/frame_keys.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "weyl/core/small_letters.h"
#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/atoms/potential_keys.h"

namespace weyl::frame_keys {
namespace {

void add(std::vector<Key>& keys, const FrameFieldSummary& field) {
  const auto known = std::ranges::find(keys, field.name, &Key::name);
  const bool varies = field.min != field.max;
  if (known == keys.end()) {
    keys.push_back({field.name, field.unit, field.frames, field.filling, varies,
                    field.shape == std::vector<int64_t>{6}});
  } else {
    known->frames += field.frames;
    known->filling += field.filling;
    known->varies = known->varies || varies;
    known->six = known->six || field.shape == std::vector<int64_t>{6};
  }
}

bool has_word(const std::string& name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](auto word) { return name.find(word) != std::string::npos; });
}

/// Names such as `energy_gap` and `energy_homo`: a number of its own, though an energy, whose slope is no force.
bool is_level(const std::string& name) {
  return has_word(name, {"gap", "homo", "lumo"});
}

/// Names such as `energy_weight`, `forces_std` and `kinetic_energy`: beside a label, none.
bool is_beside_labels(const std::string& name) {
  return has_word(name,
                  {"weight", "error", "std", "stdev", "variance", "uncert", "kinetic", "fermi", "cutoff"});
}

/// The key of a label: the usual one there is, the preferred ones first, or the only one whose name says it. Null: none.
template <size_t N>
const Key* key_of(const std::vector<Key>& keys, const std::array<std::string_view, N>& usual,
                  std::string_view named, std::initializer_list<std::string_view> others = {}) {
  for (const std::string_view name : usual) {
    if (const auto found = std::ranges::find(keys, name, &Key::name); found != keys.end()) {
      return &*found;
    }
  }
  const Key* only = nullptr;
  for (const Key& key : keys) {
    const std::string name = in_small_letters(key.name);
    const bool other = std::ranges::find(other_energy_keys, key.name) != other_energy_keys.end() ||
                       name.starts_with(prediction_prefix);
    const bool says =
        name.find(named) != std::string::npos || std::ranges::find(others, name) != others.end();
    if (says && !other && !is_level(name) && !is_beside_labels(name)) {
      if (only != nullptr) {
        return nullptr;
      }
      only = &key;
    }
  }
  return only;
}

/// Numbers that count or name frames.
bool is_bookkeeping(const std::string& name) {
  static const std::set<std::string> words{"index", "indices", "old_indices", "id",   "i",     "step",
                                           "time",  "frame",   "md_step",     "seed", "walker"};
  return words.contains(in_small_letters(name)) || name == config_type_label;
}

}  // namespace

Frames frames_of(const std::string& path) {
  Frames all;
  for (const char* split : {"train", "valid", "test"}) {
    all.in_files =
        all.in_files || (std::filesystem::is_directory(path) && !frames_of_split(path, split).empty());
  }
  for (const auto& [split, found] : inspect_all_frames(path)) {
    all.least_atoms = all.frames == 0 ? found.least_atoms : std::min(all.least_atoms, found.least_atoms);
    all.most_atoms = std::max(all.most_atoms, found.most_atoms);
    all.frames += found.frames;
    all.atoms += found.atoms;
    all.periodic += found.periodic;
    all.filling += found.filling;
    all.unread_units = found.unread_units.empty() ? all.unread_units : found.unread_units;
    if (all.unit_doubts.empty()) {
      all.unit_doubts = found.unit_doubts;
    }
    all.splits.emplace_back(split, found.frames);
    for (const auto& [z, count] : found.elements) {
      all.elements[z] += count;
    }
    for (const FrameFieldSummary& field : found.fields) {
      all.length_unit = field.name == "pos" ? field.unit : all.length_unit;
    }
    for (const FrameFieldSummary& field : found.labels) {
      if (!field.texts.empty() || field.mixed) {
        continue;
      }
      if (field.level == Level::node) {
        if (field.shape == std::vector<int64_t>{3}) {
          add(all.vectors, field);
        }
      } else if (field.shape.empty() || field.shape == std::vector<int64_t>{1}) {
        add(all.numbers, field);
      } else if (field.shape == std::vector<int64_t>{9} || field.shape == std::vector<int64_t>{6} ||
                 field.shape == std::vector<int64_t>{3, 3}) {
        add(all.tensors, field);
      }
    }
  }
  return all;
}

bool is_qm9_set(const Frames& all) {
  return std::ranges::all_of(std::initializer_list<std::string_view>{"U0", "homo", "zpve", "Cv", "index"},
                             [&](std::string_view name) {
                               return std::ranges::find(all.numbers, name, &Key::name) != all.numbers.end();
                             });
}

Labels labels_of(const Frames& all) {
  Labels labels;
  labels.energy = key_of(all.numbers, energy_keys, "energy", {"etot", "e_tot", "toten", "e"});
  labels.forces = key_of(all.vectors, forces_keys, "force", {"gradient", "gradients"});
  labels.stress = key_of(all.tensors, stress_keys, "stress");
  for (const Key& key : all.numbers) {
    const std::string name = in_small_letters(key.name);
    const bool an_energy = &key == labels.energy || is_beside_labels(name) ||
                           (name.find("energ") != std::string::npos && !is_level(name));
    if (!an_energy && key.varies && key.frames == all.frames && !is_bookkeeping(key.name)) {
      labels.others.push_back(&key);
    }
  }
  return labels;
}

}  // namespace weyl::frame_keys

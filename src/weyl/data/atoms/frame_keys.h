#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weyl/data/atoms/unit_doubts.h"

/// The keys of frames of atoms, and which of them are labels, as `weyl config new` sees them.
namespace weyl::frame_keys {

/// A key that frames may have, over all splits.
struct Key {
  std::string name, unit;
  int64_t frames = 0;   // that have it
  int64_t filling = 0;  // of these, periodic along all three lattice vectors
  bool varies = false;
  bool six = false;  // of tensors: six numbers, whose order nobody says
};

/// All that the splits of a path say together.
struct Frames {
  int64_t frames = 0, atoms = 0, least_atoms = 0, most_atoms = 0, periodic = 0;
  int64_t filling = 0;  // periodic along all three lattice vectors: there is no stress of others
  std::map<int, int64_t> elements;
  std::vector<Key> numbers;  // of frames, one number each
  std::vector<Key> vectors;  // of atoms, three numbers each
  std::vector<Key> tensors;  // of frames, nine or six numbers each
  std::string length_unit;
  std::vector<UnreadUnit> unread_units;                 // what the files say of units and nobody understands
  std::vector<std::pair<std::string, int64_t>> splits;  // with their frames
  std::vector<UnitDoubt> unit_doubts;                   // of the first split that is doubted
  bool in_files = false;                                // the splits are files, or folders, of these names
};

/// Looks at every frame of a file or folder.
Frames frames_of(const std::string& path);

/// The keys of what a model may learn; null: there is none. They point into the frames.
struct Labels {
  const Key *energy = nullptr, *forces = nullptr, *stress = nullptr;
  std::vector<const Key*> others;  // numbers of all frames that differ
};
Labels labels_of(const Frames& all);

/// QM9's own files, whose labels have a data set of their own.
bool is_qm9_set(const Frames& all);

}  // namespace weyl::frame_keys

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/stated_units.h"
#include "weyl/data/atoms/unit_doubts.h"
#include "weyl/data/base/duplicates.h"

namespace weyl {

/// One column or value over all frames that have it.
struct FrameFieldSummary {
  std::string name, unit;                // the unit is empty where the format does not say
  Level level = Level::graph;            // node: a column
  std::vector<int64_t> shape;            // of an atom or a frame; empty: one number
  int64_t frames = 0;                    // that have it
  int64_t filling = 0;                   // of these, with a period along all three lattice vectors
  double min = 0, max = 0;               // of the finite numbers; 0 when there are none
  int64_t missing = 0;                   // numbers that are not finite
  std::map<std::string, int64_t> texts;  // how many of each; at most `most_texts` of them
  bool more_texts = false;
  bool mixed = false;  // of several types or dimensions
};
constexpr size_t most_texts = 16;

/// What `data inspect` reports of frames of atoms.
struct FrameInspection {
  int64_t frames = 0, atoms = 0, least_atoms = 0, most_atoms = 0;
  std::map<int, int64_t> elements;  // atoms of each atomic number
  int64_t cells = 0, periodic = 0;  // frames with a cell, and with a period
  int64_t filling = 0;  // frames with a period along all three lattice vectors, which may have a stress
  std::vector<UnreadUnit> unread_units;  // what the files say of units and nobody understands
  std::vector<FrameFieldSummary> fields,
      labels;                          // `pos` and what stands beside it: all that could be asked for
  std::optional<double> shortest;      // distance in the file's unit, if below 5 Angstrom
  std::string shortest_where;          // file, frame
  std::vector<std::string> warnings;   // one line each
  std::vector<UnitDoubt> unit_doubts;  // those of them that guess a unit
};

/// Reads all frames, one at a time. Warnings: a label that some frames lack, numbers that are not finite,
/// another shape or type, constant energies, atoms nearer than 0.5 Angstrom (which a file is in that says no
/// unit; not of a unit that is none), forces of exactly zero on single atoms (as of constrained ones), frames
/// without atoms, atoms of no element, flat drawings of molecules, units that are likely others
/// (unit_doubts.h); and what FrameChecks find. `split` is the name of the
/// split that the frames are (empty: none); with `seen` frames are compared with one another and with those of earlier
/// splits.
FrameInspection inspect_frames(FrameReader& reader, const std::string& split = "",
                               Duplicates* seen = nullptr);

/// The frames that a path holds, as ("", path), or the splits of a folder by name: its files or folders train,
/// valid and test.
std::vector<std::pair<std::string, std::string>> frames_for_inspection(const std::string& path);

/// Inspects them all. Of a folder, files that cannot be read are warnings of the first set that can; DataError where
/// none can.
std::vector<std::pair<std::string, FrameInspection>> inspect_all_frames(const std::string& path);

}  // namespace weyl

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/algebra/lattice/closest_pair.h"
#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/base/duplicates.h"
#include "weyl/data/base/outliers.h"

namespace weyl {

/// The shortest distance between two atoms of a frame, or an atom and its image along a period, if it is
/// below `bound` (algebra/lattice/closest_pair.h).
std::optional<ClosestPair> shortest_distance(const AtomsFrame& frame, double bound);

/// Two atoms nearer than this, in Angstrom, lie on one another: no molecule has such.
constexpr double overlap = 0.5;

/// "atoms 3 (O) and 7 (H) are 0.1 apart", counted from 1.
std::string overlap_text(const AtomsFrame& frame, const ClosestPair& found);

/// A warning of two atoms that overlap: `where`, which ones, how far apart they are; empty if none do.
std::string overlap_warning(const AtomsFrame& frame, const std::string& where,
                            const std::string& length_unit);

/// The places of frames, by their index from 0, in the words of their reader but without lines: "water.xyz: frame 13".
/// Memory grows with the number of files, not of frames.
class FramePlaces {
 public:
  /// Where the next frame is (FrameReader::where).
  void add(const std::string& where);
  std::string operator()(int64_t frame) const;

 private:
  std::map<int64_t, std::pair<std::string, int64_t>>
      files_;  // by their first frame: its file, its number there (0: none)
  int64_t frames_ = 0;
};

/// What is odd about frames when they are compared with one another: frames with the same atoms at the same places
/// (hashes of elements, positions, cell and periods; every other value and column counts as a label), labels far from
/// the others (`Outliers`: every value that is one real number, those with "energy" in their name as extensive; stresses,
/// virials and dipoles by their norm; forces by the norm for each element) and usual keys with a number of values that
/// they cannot have.
class FrameChecks {
 public:
  /// `seen` (null: no frames are compared), to which the frames of `split` are added, may outlive this object.
  FrameChecks(std::string split, Duplicates* seen);
  void add(const AtomsFrame& frame, const FrameReader& reader);
  /// A line each.
  std::vector<std::string> lines() const;

 private:
  struct Misshapen {
    int64_t frames = 0;
    std::string first;  // where, how many numbers
  };
  void look_at_shapes(const AtomsFrame& frame, const FrameReader& reader);

  std::string split_;
  Duplicates* seen_;
  std::shared_ptr<FramePlaces> places_;
  Outliers outliers_;
  std::map<std::string, Misshapen> misshapen_;  // by key
  int64_t frames_ = 0;
};

/// Hashes of the atoms and their places, and of everything else that the frame says.
struct FrameHash {
  uint64_t inputs = 0, labels = 0;
};
FrameHash hash_of(const AtomsFrame& frame);

}  // namespace weyl

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

/// The names of values and columns that frames have, and how many have each: of the first 1000, for messages.
class FrameNames {
 public:
  void count(const AtomsFrame& frame);

  /// What to say where no frame has `key` as a value, or a column of the atoms: " as a value of the frame, it is ..." where it
  /// is the other; empty else.
  std::string is_other(const std::string& key, bool of_atoms) const;
  /// The names of the kind, the one nearest to `key` first, then the most frequent: "values: of 9 frames 8 have 'Etot', 1 'x'".
  std::string list(const std::string& key, bool of_atoms, int64_t frames) const;

 private:
  struct Present {
    std::string name;
    bool of_atoms = false;
    int64_t frames = 0;
  };
  std::vector<Present> present_;
};

}  // namespace weyl

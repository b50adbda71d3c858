#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weyl/core/atomic_file.h"

namespace weyl {

/// Which files the outputs of a call may replace: none, or, where the user forces it, all but the call's own inputs.
class Overwrite {
 public:
  Overwrite() = default;  // none
  /// `inputs`: files, and folders with whatever is in them at any depth. What is not there is left out.
  Overwrite(bool forced, const std::vector<std::string>& inputs);

  /// One more input. Files are told apart by what they are, not by their names, so that links do not help.
  void add_input(const std::string& path);

  /// How `path` is to be written. ConfigError: it is there, and is not to be replaced.
  Existing at(const std::string& path) const;

 private:
  bool forced_ = false;
  std::set<std::pair<unsigned long, unsigned long>> inputs_;  // device and number of files and folders
};

}  // namespace weyl

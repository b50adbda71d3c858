#pragma once

#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/files/duplicates.h"
#include "weyl/data/files/outliers.h"

namespace weyl {

/// "sample 12", or what more is known of where a sample of a set comes from: its file, "(brain_3.nii)", or its index
/// before the set was split, "(57 before the split)". Counted from 0.
std::string sample_name(const Dataset& data, int64_t sample);

/// What is odd about the samples of a split when they are compared: those with the same inputs (`Duplicates`), labels
/// far from the others (`Outliers`: graph scalars as numbers, everything else but categories and elements by its norm,
/// that of nodes for each type).
class SampleChecks {
 public:
  /// `data`: the split, which must outlive this object and `seen` (null: no samples are compared). `labels`: those that
  /// are looked at.
  SampleChecks(const Dataset& data, const std::string& split, std::span<const Quantity> labels,
               Duplicates* seen);
  /// The next samples, in their order, with inputs and labels as the data set gives them.
  void add(const Batch& batch);
  std::vector<std::string> lines() const;

 private:
  void compare(const Batch& batch);

  const Dataset& data_;
  std::vector<Quantity> labels_;
  Duplicates* seen_;
  Outliers outliers_;
};

}  // namespace weyl

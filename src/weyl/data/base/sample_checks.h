#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/base/duplicates.h"
#include "weyl/data/base/outliers.h"

namespace weyl {

/// The name of a sample, counted from 0: "sample 12". Where its origin is known it is added: the sample's own file,
/// "(brain_3.nii)", or its index before the set was split, "(57 before the split)".
std::string sample_name(const Dataset& data, int64_t sample);

/// What a sample is called wherever it stands alone, and its prediction after it: as the set names it, else its own file's name
/// without folder and endings (`BRATS_001` of imagesTr/BRATS_001.nii.gz). Empty: it has neither.
std::string case_name(const Dataset& data, int64_t sample);

/// A warning where the cells of grids have several sizes, more than a twentieth apart along an axis, which a model that
/// learns from cells cannot see; empty: they have not, or nobody says their sizes.
std::string warning_about_spacings(const Dataset& data);

/// A warning where samples are files that seem to be masks of others among them, by their names alone: a_seg.png or
/// a_mask.png beside a.png; empty: none is.
std::string warning_about_masks(const Dataset& data);

/// Compares the samples of a split and reports what is odd: samples with the same inputs (`Duplicates`), and labels far
/// from the others (`Outliers`), volumes with a channel that has one value everywhere, what the headers of files say twice
/// and differently (`Dataset::doubt`), several spacings and masks among images (the warnings above). Graph-level scalars are judged as
/// numbers, other labels by their norm (on nodes, for each type by itself). Categories, elements and the labels of grids
/// are not judged.
class SampleChecks {
 public:
  /// `data` is the split; it must outlive this object and `seen` (null: samples are not compared with one another).
  /// `labels` are the labels to be judged.
  SampleChecks(const Dataset& data, const std::string& split, std::span<const Quantity> labels,
               Duplicates* seen);
  /// Adds the next samples, in their order, with inputs and labels as the data set gives them.
  void add(const Batch& batch);
  /// Passes over the next sample, whose values are not read.
  void skip();
  std::vector<std::string> lines() const;

 private:
  /// Samples of one kind, and the first of them.
  struct Some {
    int64_t count = 0, first = 0;
    void add(int64_t sample) { first = count++ == 0 ? sample : first; }
  };

  void compare(const Batch& batch);
  void look_at_grid(const Batch& batch);
  void look_at_doubt(int64_t sample);

  const Dataset& data_;
  std::vector<Quantity> labels_;
  Duplicates* seen_;
  Outliers outliers_;
  int64_t samples_ = 0;           // those that were added
  std::map<int64_t, Some> flat_;  // volumes, by their channel of one value
  std::map<std::string, Some> doubts_;
};

/// What follows the name of a case in the file of its probabilities, which may stand beside its mask.
constexpr std::string_view probabilities_ending = "_probabilities";

}  // namespace weyl

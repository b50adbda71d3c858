#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// The HDF5 files of a folder in ModelNet's layout, by split. A file belongs to a split by the beginning of its name,
/// `train` (or `training`), `val` (`valid`, `validation`) or `test` (`testing`), before which `ply_data_` may stand.
/// What follows names its variant, but for a number at its end that counts the parts of one set:
///
///   ply_data_train0.h5 .. ply_data_train4.h5                parts of one set without a name
///   training_objectdataset.h5                               variant `objectdataset`
///   training_objectdataset_augmentedrot_scale75.h5          variant `objectdataset_augmentedrot_scale75`
///
/// Numbers at the end count parts where they go on from 0 or 1 without a gap.
class ModelnetFiles {
 public:
  /// No folder, or none that can be read, or files of validation alone: no files.
  explicit ModelnetFiles(const std::string& folder);

  bool empty() const { return splits_.empty(); }
  /// The names of the variants, sorted. Files without a name beside named ones of their split are the variant
  /// `plain`; where a split has those alone, they go with every variant.
  const std::vector<std::string>& variants() const { return variants_; }
  /// DataError naming the folder and the variants: there are several and `variant` is empty, or it is none of them.
  void require_variant(const std::string& variant) const;
  /// The paths of a split ("train", "val" or "test"), sorted; of the variant, where there are several.
  std::vector<std::string> of(std::string_view split, const std::string& variant) const;
  /// The variant that a file of the folder is of; "" where there is one alone, or the file goes with several. None: it is
  /// no file of the set.
  std::optional<std::string> variant_of(const std::string& path) const;

 private:
  std::string folder_;
  /// split -> variant ("": without a name) -> paths
  std::map<std::string, std::map<std::string, std::vector<std::string>>, std::less<>> splits_;
  std::vector<std::string> variants_;
};

}  // namespace weyl

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// One volume and its mask; paths as they can be opened. Without a mask `label` is empty.
struct DecathlonCase {
  std::string image, label;
};

/// The dataset.json of the Medical Segmentation Decathlon.
struct DecathlonIndex {
  std::string name;
  std::vector<std::string> modalities;  // of the channels, in their order
  std::vector<std::string> labels;      // of the classes, 0 is the background
  std::vector<DecathlonCase> training, test;
};

/// Reads the text of one; paths in it are relative to `folder`. Labels may be {"0": "background"} or
/// {"background": 0}. DataError naming `where`: no JSON, a part that is missing, numbers of labels or
/// modalities that are not 0, 1, 2 ..., a set of nnU-Net v2 (with what to do about it), a path that leads out of the folder, no case at all.
DecathlonIndex parse_decathlon(std::string_view text, const std::string& folder, std::string_view where);
/// `folder`/dataset.json; the files that it names are not looked at.
DecathlonIndex read_decathlon(const std::string& folder);

/// The text of one, for cases whose paths are relative to its folder.
std::string decathlon_json(const DecathlonIndex& index);

}  // namespace weyl

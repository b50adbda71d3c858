#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// One case: its name, the file of each channel in their order, or one file with all of them, and its mask; paths as they
/// can be opened. Without a mask `mask` is empty.
struct VolumeCase {
  std::string name;
  std::vector<std::string> channels;
  std::string mask;
};

/// Some classes that are scored as one, by their places among the classes.
struct VolumeRegion {
  std::string name;
  std::vector<int64_t> classes;
};

/// What a folder of volumes says of its cases. Names are empty where nobody gives them.
struct VolumeIndex {
  std::string name;
  std::vector<std::string> modalities;  // of the channels, in their order
  std::vector<std::string> labels;      // of the classes; the first is the background
  std::vector<VolumeCase> training, test;
  std::vector<int64_t> numbers;       // of the classes in masks, ascending from 0; empty: nobody says them
  std::vector<VolumeRegion> regions;  // that nnU-Net would learn
  std::optional<int64_t>
      ignored;  // the number in masks of voxels whose class nobody knows (its label `ignore`)
};

/// Reads a folder in one of these layouts, tried in this order; the files of cases are not opened.
///
///   nnU-Net v2        dataset.json with channel_names: imagesTr/CASE_0000.nii.gz and on, a file for each channel,
///                     labelsTr/CASE.nii.gz, imagesTs, labelsTs where there is one. Labels {"background": 0, "tumour": 4}
///                     or regions {"whole tumour": [1, 2, 4]}, whose numbers are then the classes. The label `ignore` is no
///                     class
///   Decathlon         dataset.json with modality, labels and the lists training and test
///   pairs             images/NAME.nii.gz and labels/NAME.nii.gz, or masks/
///   BraTS             a folder for each case with CASE-t1n.nii.gz or CASE_t1.nii.gz and on, the channels in the order of
///                     their names, and the mask CASE-seg.nii.gz
///
/// DataError naming the file or folder: none of these, or two at once; no JSON, a part of it that is missing; labels
/// without a background 0, twice the same number, or an `ignore` label that is not one number above all others; another file_ending than .nii.gz, .nii, .mha or .nrrd; a
/// path that leads out of the folder; a case without one of its channels or, where others have one, its mask; no case at
/// all.
VolumeIndex read_volume_index(const std::string& folder);

/// Whether a folder seems to be in one of these layouts.
bool is_volume_set(const std::string& folder);

/// The dataset.json of the Decathlon or, without cases, of nnU-Net v2; paths in it are relative to `folder`. DataError
/// naming `where`: see read_volume_index.
VolumeIndex parse_volume_index(std::string_view text, const std::string& folder, std::string_view where);

/// The dataset.json in the folder of the files or in the one above it (imagesTr/.., labelsTr/..) that names one of them, an image
/// or a mask: what their channels and classes are called. Nothing where there is none, or none that can be read.
std::optional<VolumeIndex> index_around(const std::vector<std::string>& files);

/// What a dataset.json says of the classes of masks (files of one folder): one beside them, or in the folder above, where it lists them
/// or theirs is called labelsTr or labelsTs. Images need not be there. DataError: such a file is broken.
std::optional<VolumeIndex> index_of_masks(const std::vector<std::string>& masks);

/// Whether the folder has masks beside a dataset.json, as nnU-Net predicts them, and is no set of images with masks.
bool has_masks_and_index(const std::string& folder);

/// The text of the Decathlon's, for cases of one image file each whose paths are relative to its folder.
std::string decathlon_json(const VolumeIndex& index);

/// The file of each channel of each case, by the names CASE_0000.nii.gz, CASE_0001.nii.gz ...; in the order of the names of
/// cases. DataError: a name without a channel number, or a case without one of its `channels`.
std::vector<VolumeCase> cases_by_channel(const std::vector<std::string>& files, int64_t channels);

/// Whether files are a file for each channel by their names: of every case the numbers 0 to `channels` - 1.
bool are_by_channel(const std::vector<std::string>& files, int64_t channels);

/// The case of a folder as BraTS has one for each, named by what stands behind the folder's name in those of its files; nothing: it is no such folder.
std::optional<VolumeIndex> index_of_case(const std::string& folder);

/// How many channels each case has by the names of its files, _0000 on; 0: not all the same, or there is only one case, whose numbers may be
/// those of cases.
int64_t channels_of_cases(const std::vector<std::string>& files);

/// Whether the names of files say channels 0 to `channels` - 1, and all of them of a case at least: others may lack some.
bool have_a_case_by_channel(const std::vector<std::string>& files, int64_t channels);

/// The volumes (is_volume_file) of a folder, in the order of their names, hidden ones left out.
std::vector<std::string> volumes_in(const std::string& folder);

/// Names of the training and validation cases of each fold: nnU-Net's splits_final.json, [{"train": [...], "val": [...]}].
struct VolumeFold {
  std::vector<std::string> train, valid;
};
/// Where a folder has that file.
std::string file_of_volume_folds(const std::string& folder);
/// Those of a folder; none: it has no such file. DataError: it is no such list, or a fold has a case twice.
std::vector<VolumeFold> read_volume_folds(const std::string& folder);
std::vector<VolumeFold> parse_volume_folds(std::string_view text, std::string_view where);

}  // namespace weyl

#pragma once

#include <filesystem>
#include <string>
#include <type_traits>
#include <variant>

#include "weyl/core/alternatives.h"
#include "weyl/data/atoms/files.h"
#include "weyl/data/bodies/files.h"
#include "weyl/data/clouds/files.h"
#include "weyl/data/images/files.h"
#include "weyl/data/particles/files.h"
#include "weyl/data/poses/files.h"
#include "weyl/data/tensors/files.h"
#include "weyl/data/volumes/files.h"

namespace weyl {

/// The file formats that weyl knows (base/file_format.h says what a format is). The order of the list is the order in
/// which every caller tries the formats on a path:
///
///   CloudFiles first       a set that is asked for by name says what its files are; otherwise they leave to frames, tensors
///                          and digits what is theirs
///   FrameFiles             other files beside frames in a folder are of less interest, and an .npz with places
///                          and atomic numbers is frames, not digits or arrays
///   NbodyFiles, RigidBodyFiles, PredictionFiles   before TensorFiles, which take every .safetensors
///   PoseFiles              before images: sequences of TUM and EuRoC have the pictures of a camera beside the trajectory
///   PictureFiles           last of the data sets, because a picture may lie beside anything
///   ArrayArchives          take every .npz that no other format took
using FileFormats = std::variant<CloudFiles, FrameFiles, NbodyFiles, RigidBodyFiles, PredictionFiles,
                                 TensorFiles, VolumeFiles, ShapeFiles, PoseFiles, NbodyOriginals,
                                 CifarBatches, DigitFiles, PictureFiles, ArrayArchives>;

/// Whether a path is of a format: a file or folder that the format takes, or a folder in its layout.
template <class Format>
bool is_of(const std::string& path, AskedSet asked) {
  if constexpr (HasLayout<Format>) {
    if (std::filesystem::is_directory(path) && Format::lays_out(path)) {
      return true;
    }
  }
  if constexpr (CanTake<Format>) {
    return Format::takes(path, asked);
  }
  return false;
}

/// Calls use(std::type_identity<Format>) for the first format of the list that the path is of. False: it is of none.
/// DataError: a file whose content decides the format is broken.
template <class Use>
bool recognise(const std::string& path, AskedSet asked, Use&& use) {
  return any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format> format) {
    if (!is_of<Format>(path, asked)) {
      return false;
    }
    use(format);
    return true;
  });
}

}  // namespace weyl

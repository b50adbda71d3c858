#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/base/file_format.h"

namespace weyl {

/// CIFAR-10's binary batches (images/cifar10.h).
struct CifarBatches {
  static constexpr const char* holds = "CIFAR-10";
  static std::string names() { return ".bin"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static constexpr bool as_tensors = true;
  static constexpr bool set_is_folder_above = true;
  static FoundData draft(const std::string& path);
};

/// Images of digits, many in a file (images/rotated_mnist.h). Takes .npz files only for the set `rotated_mnist`.
struct DigitFiles {
  static constexpr const char* holds = "digits";
  static std::string names() { return ".amat, IDX"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static constexpr bool as_tensors = true;
  static constexpr bool set_is_folder_above = true;
  static FoundData draft(const std::string& path);
};

/// Pictures (images/image.h): one, a folder of them, or a set of the layouts `images` and `ph2`.
struct PictureFiles {
  static constexpr const char* holds = "images";
  static std::string names() { return ".png, .jpg, .bmp"; }
  static bool takes(const std::string& path, AskedSet asked);
  static std::shared_ptr<const Dataset> open(const OpenRequest& request);
  static bool lays_out(const std::string& folder);
  static NamedSets sets(const std::string& folder);
  static constexpr bool as_tensors = true;
  static constexpr const char* set_of_files =
      "a folder of images with a folder for each class, or with folders images and masks";
  static FoundData draft(const std::string& path);
};

}  // namespace weyl

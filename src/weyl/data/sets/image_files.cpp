#include "weyl/data/sets/image_files.h"

#include <filesystem>

#include "weyl/data/sets/rotated_mnist.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// How the options' set, of whatever kind, wants its images.
ImageInput input_of(const DataOptions& options) {
  return std::visit(
      [](const auto& o) -> ImageInput {
        if constexpr (requires { ImageInput(o.input); }) {
          return o.input;
        }
        return {};
      },
      options.set);
}

}  // namespace

std::shared_ptr<const Dataset> open_image_file(const std::string& path, const DataOptions& options) {
  const bool digits = std::holds_alternative<RotatedMnistDataOptions>(options.set);
  return path.ends_with(".npz") && !digits ? nullptr : open_digits_file(path, input_of(options));
}

std::optional<DataOptions> image_folder(const std::string& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".amat") || name.starts_with("train-images") || name.starts_with("t10k-images")) {
      return DataOptions{RotatedMnistDataOptions{.path = path}};
    }
  }
  return std::nullopt;
}

}  // namespace weyl

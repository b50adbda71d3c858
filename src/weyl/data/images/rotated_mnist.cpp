#include "weyl/data/images/rotated_mnist.h"

#include <filesystem>
#include <functional>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/images/digit_files.h"
#include "weyl/data/images/image_set.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDigitClasses = 10;
constexpr int64_t kValid = 6;  // one in so many training images, where there is no file of validation
constexpr const char* kAmat = "mnist_all_rotation_normalized_float_";

Tensor tensor_of(const Array& array, const std::string& where) {
  return copy_tensor(array.type, array.shape, array.bytes, where);
}

void require_images(const std::vector<int64_t>& shape, const std::string& where) {
  const bool rows = shape.size() == 2 && shape[1] == amat_pixels, planes = shape.size() == 3,
             one_channel = shape.size() == 4 && shape[1] == 1;
  const bool pixels = rows || ((planes || one_channel) && shape[shape.size() - 2] > 0 && shape.back() > 0);
  require<DataError>(pixels, where, ": images must be (n, H, W), (n, 1, H, W) or (n, 784), got ",
                     shape_text(shape));
}

void require_label_count(int64_t labels, int64_t images, const std::string& where) {
  require<DataError>(labels == images, where, ": must have a label for each of ", images, " images, got ",
                     labels);
}

/// Images (n, 1, H, W), uint8 or float in [0, 1].
Tensor images_of(const Array& array, const std::string& where) {
  require_images(array.shape, where);
  Tensor x = tensor_of(array, where);
  if (x.dim() == 2) {
    x = x.reshape({-1, 1, amat_side, amat_side});
  } else if (x.dim() == 3) {
    x = x.unsqueeze(1);
  }
  require<DataError>(x.scalar_type() == at::kByte || x.is_floating_point(), where,
                     ": images must be uint8 or of a floating-point type, got ", name_of(array.type));
  if (x.is_floating_point()) {
    x = x.to(at::kFloat);
    require<DataError>(x.numel() == 0 || (x.min().item<float>() >= 0 && x.max().item<float>() <= 1), where,
                       ": pixels must be in [0, 1]");
  }
  return x;
}

Tensor digit_classes(const Array& array, const Tensor& images, const std::string& where) {
  const Tensor given = tensor_of(array, where).flatten();
  require_label_count(given.size(0), images.size(0), where);
  const Tensor labels = given.to(at::kLong);
  require<DataError>(labels.to(at::kDouble).eq(given.to(at::kDouble)).all().item<bool>(), where,
                     ": labels must be whole numbers");
  return labels;
}

ImageSamples samples_of_amat(const std::string& path) {
  const AmatImages found = read_amat(path);
  const int64_t n = found.size();
  return {
      copy_tensor(ElementType::f32, std::vector<int64_t>{n, 1, amat_side, amat_side},
                  std::as_bytes(std::span(found.pixels)), path),
      copy_tensor(ElementType::i64, std::vector<int64_t>{n}, std::as_bytes(std::span(found.labels)), path),
      {}};
}

/// Of two arrays the larger one holds the images.
ImageSamples samples_of_npz(const std::string& path) {
  size_t images = 0;
  const auto arrays = read_npz(path, npz_limit, [&](const std::vector<NpzEntry>& entries) {
    require<DataError>(entries.size() == 2, path, ": must hold two arrays, images and labels, got ",
                       entries.size());
    images = entries[0].header.bytes >= entries[1].header.bytes ? 0 : 1;
    require_images(entries[images].header.shape, path);
    const auto& shape = entries[1 - images].header.shape;
    require_label_count(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()),
                        entries[images].header.shape[0], path);
  });
  ImageSamples result{images_of(arrays[images].array, path), {}, {}, {}};
  result.classes = digit_classes(arrays[1 - images].array, result.values, path);
  return result;
}

/// A file of the folder with its usual or its other name, packed or not; "" when there is none.
std::string idx_path(const std::string& folder, const std::string& stem, const std::string& kind) {
  for (const char* dash : {"-", "."}) {
    for (const char* packed : {"", ".gz"}) {
      const std::string path = (fs::path(folder) / (stem + dash + kind + "-ubyte" + packed)).string();
      if (fs::exists(path)) {
        return path;
      }
    }
  }
  return "";
}

ImageSamples samples_of_idx(const std::string& images, const std::string& labels) {
  require<DataError>(!labels.empty(), images, ": has no file of labels beside it");
  ImageSamples result{images_of(read_idx(images), images), {}, {}, {}};
  result.classes = digit_classes(read_idx(labels), result.values, labels);
  return result;
}

/// The file of a folder that ends so; more than one is an error.
std::string file_ending(const std::string& folder, const std::string& ending) {
  std::string found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending)) {
      require<DataError>(found.empty(), folder, ": must hold one file *", ending, ", holds several");
      found = entry.path().string();
    }
  }
  return found;
}

/// The samples of each split as they were read, with the file that they are from.
struct Part {
  ImageSamples samples;
  std::string where;
};
struct Parts {
  Part train, valid, test;
};

Parts parts_of_amat(const std::string& folder) {
  Parts parts;
  for (const auto& [name, part] : {std::pair{"train_valid", &parts.train}, {"test", &parts.test}}) {
    if (const auto path = fs::path(folder) / (std::string(kAmat) + name + ".amat"); fs::exists(path)) {
      *part = {samples_of_amat(path.string()), path.string()};
    }
  }
  return parts;
}

Parts parts_of_npz(const std::string& folder) {
  Parts parts;
  for (const auto& [name, part] :
       {std::pair{"train.npz", &parts.train}, {"valid.npz", &parts.valid}, {"test.npz", &parts.test}}) {
    if (const std::string path = file_ending(folder, name); !path.empty()) {
      *part = {samples_of_npz(path), path};
    }
  }
  return parts;
}

Parts parts_of_idx(const std::string& folder) {
  Parts parts;
  for (const auto& [name, part] : {std::pair{"train", &parts.train}, {"t10k", &parts.test}}) {
    const std::string stem(name);
    if (const std::string images = idx_path(folder, stem + "-images", "idx3"); !images.empty()) {
      *part = {samples_of_idx(images, idx_path(folder, stem + "-labels", "idx1")), images};
    }
  }
  return parts;
}

bool any(const Parts& parts) {
  return !parts.train.where.empty() || !parts.valid.where.empty() || !parts.test.where.empty();
}

std::shared_ptr<const Dataset> digit_set(const Part& part, const RotatedMnistDataOptions& o,
                                         const char* split, int64_t asked) {
  if (part.where.empty()) {
    return nullptr;
  }
  const int64_t found = part.samples.size();
  require<DataError>(asked <= found, part.where, ": data.rotated_mnist.", split, " must be at most ", found,
                     ", the images there are (0: all), got ", asked);
  return std::make_shared<ImageSet>(part.samples.slice(0, asked > 0 ? asked : found), rotated_mnist_kind(),
                                    o.input, part.where);
}

}  // namespace

ImageKind rotated_mnist_kind() {
  return {.mean = {0.1307}, .deviation = {0.3081}, .classes = kDigitClasses};
}

Schema declared_schema(const RotatedMnistDataOptions& options) {
  return image_schema(rotated_mnist_kind(), options.input, 28 * 28);
}

Splits open_set(const RotatedMnistDataOptions& options) {
  const std::string& folder = options.path;
  require<DataError>(fs::is_directory(folder), folder,
                     ": there is no such folder; make one with `weyl data make glyphs --out ", folder, "`");
  Parts parts;
  for (const auto& read : {parts_of_amat, parts_of_npz, parts_of_idx}) {
    if (!any(parts)) {
      parts = read(folder);
    }
  }
  require<DataError>(
      any(parts), folder, ": holds neither ", kAmat,
      "train_valid.amat, nor *train.npz, nor train-images-idx3-ubyte; make them with `weyl data "
      "make glyphs --out ",
      folder, "`");
  if (!parts.train.where.empty() && parts.valid.where.empty()) {
    const int64_t all = parts.train.samples.size(), train = all - all / kValid;
    if (train < all) {
      parts.valid = {parts.train.samples.slice(train, all), parts.train.where};
    }
    parts.train.samples = parts.train.samples.slice(0, train);
  }
  return {digit_set(parts.train, options, "train", options.train),
          digit_set(parts.valid, options, "valid", options.valid),
          digit_set(parts.test, options, "test", options.test)};
}

bool holds_digits(const std::string& path) {
  constexpr int64_t side = 28;
  try {
    return std::ranges::any_of(read_npz_entries(path), [](const NpzEntry& entry) {
      const std::vector<int64_t>& s = entry.header.shape;
      return (s.size() == 2 && s[1] == side * side) || (s.size() == 3 && s[1] == side && s[2] == side) ||
             (s.size() == 4 && s[1] == 1 && s[2] == side && s[3] == side);
    });
  } catch (const DataError&) {
    return false;
  }
}

bool is_digits_file(std::string_view path) {
  return path.ends_with(".amat") || path.ends_with(".npz") || path.ends_with("-ubyte") ||
         path.ends_with("-ubyte.gz");
}

std::shared_ptr<const Dataset> open_digits_file(const std::string& path, const ImageInput& input) {
  ImageSamples samples;
  if (path.ends_with(".amat")) {
    samples = samples_of_amat(path);
  } else if (path.ends_with(".npz")) {
    samples = samples_of_npz(path);
  } else {
    samples.values = images_of(read_idx(path), path);
  }
  return std::make_shared<ImageSet>(std::move(samples), rotated_mnist_kind(), input, path);
}

}  // namespace weyl

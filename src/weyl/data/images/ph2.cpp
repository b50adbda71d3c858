#include "weyl/data/images/ph2.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <algorithm>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/base/file_format.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/images/image.h"
#include "weyl/data/images/image_tensor.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

struct LesionCase {
  std::string image, lesion;
};

std::string with_ending(const fs::path& stem) {
  for (const char* ending : {".bmp", ".png"}) {
    if (const std::string path = stem.string() + ending; fs::exists(path)) {
      return path;
    }
  }
  throw DataError(text(stem.string(), ".bmp: there is no such image (nor .png)"));
}

/// The cases of a folder by name.
std::vector<LesionCase> cases_of(const std::string& path) {
  const fs::path below = fs::path(path) / "PH2 Dataset images",
                 folder = fs::is_directory(below) ? below : fs::path(path);
  require<DataError>(fs::is_directory(folder), path,
                     ": there is no such folder; make one with `weyl data make lesions --out ", path, "`");
  std::vector<LesionCase> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && fs::is_directory(entry.path() / (name + "_Dermoscopic_Image"))) {
      cases.push_back({with_ending(entry.path() / (name + "_Dermoscopic_Image") / name),
                       with_ending(entry.path() / (name + "_lesion") / (name + "_lesion"))});
    }
  }
  require<DataError>(!cases.empty(), folder.string(), ": holds no IMDxxx/IMDxxx_Dermoscopic_Image");
  std::ranges::sort(cases, {}, &LesionCase::image);
  return cases;
}

Tensor lesion_of(const LesionCase& c, ImageSize size, const std::optional<double>& threshold) {
  const Array image = read_image(c.image), mask = read_image(c.lesion);
  require<DataError>(image.shape[0] == mask.shape[0] && image.shape[1] == mask.shape[1], c.lesion,
                     ": must have ", image.shape[0], " x ", image.shape[1], " pixels as its image, got ",
                     mask.shape[0], " x ", mask.shape[1]);
  return load_mask(c.lesion, 2, size, {threshold, "data.ph2.mask_threshold"});
}

std::shared_ptr<const Dataset> lesion_set(const std::vector<LesionCase>& cases,
                                          std::span<const int64_t> which, const Ph2DataOptions& o) {
  if (which.empty()) {
    return nullptr;
  }
  const ImageSize size = image_size(o.height, o.width, "data.ph2");
  const int64_t n = std::ssize(which);
  ImageSamples samples;
  for (int64_t i = 0; i < n; ++i) {
    Tensor image = load_image(cases[which[i]].image, 3, size);
    if (image.scalar_type() == at::kByte) {
      image = image.to(at::kFloat) / 255;
    }
    const Tensor lesion = lesion_of(cases[which[i]], size, o.mask_threshold);
    if (i == 0) {  // 200 photographs are a gigabyte: each goes to its place at once
      samples.values = at::empty({n, 3, image.size(1), image.size(2)}, at::kFloat);
      samples.masks = at::empty({n, image.size(1), image.size(2)}, at::kByte);
    }
    require<DataError>(image.sizes() == samples.values[i].sizes(), cases[which[i]].image, ": must have ",
                       samples.values.size(2), " x ", samples.values.size(3),
                       " pixels as the first image, got ", image.size(1), " x ", image.size(2),
                       " (height and width resize)");
    samples.values[i].copy_(image);
    samples.files.push_back(cases[which[i]].image);
    samples.masks[i].copy_(lesion);
  }
  return std::make_shared<ImageSet>(std::move(samples), ph2_kind(), o.input, o.path);
}

}  // namespace

bool is_ph2_folder(const std::string& path) {
  return fs::is_directory(fs::path(path) / "PH2 Dataset images") ||
         has_entry(path, [&](const std::string& name) {
           return fs::is_directory(fs::path(path) / name / (name + "_Dermoscopic_Image"));
         });
}

ImageKind ph2_kind() {
  return {.mean = {0.5, 0.5, 0.5}, .deviation = {0.25, 0.25, 0.25}, .mask_classes = 2};
}

Schema declared_schema(const Ph2DataOptions& options) {
  image_size(options.height, options.width, "data.ph2");
  return image_schema(ph2_kind(), options.input, options.height * options.width);
}

Splits open_set(const Ph2DataOptions& options) {
  const std::vector<LesionCase> cases = cases_of(options.path);
  const int64_t n = std::ssize(cases);
  const PartCounts asked{options.train, options.valid, options.test};
  const bool counted = asked.train + asked.valid + asked.test > 0;
  const PartCounts counts = part_counts(n, counted ? std::vector<double>(3) : options.fractions, asked,
                                        options.path + ": data.ph2");
  const auto parts = draw_parts(n, {counts.train, counts.valid, counts.test}, options.seed, "ph2 split");
  return {lesion_set(cases, parts[0], options), lesion_set(cases, parts[1], options),
          lesion_set(cases, parts[2], options)};
}

}  // namespace weyl

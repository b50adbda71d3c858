#include "weyl/data/images/prediction.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_upsample_nearest_exact2d.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/images/image.h"
#include "weyl/data/volumes/text_volumes.h"
#include "weyl/data/volumes/volume_tensor.h"

namespace weyl {
namespace {

/// A volume with the version and the geometry of the source.
void write_volume(const std::string& source, const std::string& path, const Tensor& values,
                  Existing existing) {
  NiftiHeader header = read_volume_header(source);
  const bool classes = !values.is_floating_point();
  const Tensor of_cells = classes ? values.unsqueeze(0) : values;
  require(of_cells.dim() == 4, "write_prediction: volumes must be (X, Y, Z) of classes or (K, X, Y, Z), got ",
          shape_text(values.sizes()));
  const Tensor file_order = from_canonical(of_cells.detach().cpu(), orientation_of(affine_of(header)));
  header.shape.resize(3);
  const auto sizes = file_order.sizes().slice(1);
  require(std::equal(sizes.begin(), sizes.end(), header.shape.begin()), "write_prediction: ", source,
          " has sizes ", shape_text(header.shape), ", the prediction in its axes ", shape_text(sizes));
  const auto most = classes && of_cells.numel() > 0 ? of_cells.max().item<int64_t>() : 0;
  header.type = !classes ? ElementType::f32 : most > 255 ? ElementType::u16 : ElementType::u8;
  header.slope = 1;
  header.intercept = 0;
  if (classes) {
    require(file_order.min().item<int64_t>() >= 0 && most <= 65535,
            "write_prediction: classes must be 0 .. 65535, got ", file_order.min().item<int64_t>(), " .. ",
            most);
  } else {
    header.shape.push_back(file_order.size(0));
    header.geometry.pixdim[4] = 1;
  }
  const auto type = !classes ? at::kFloat : most > 255 ? at::kUInt16 : at::kByte;
  const Tensor stored = file_order.permute({0, 3, 2, 1}).to(type).contiguous();
  write_nifti(path, header,
              {static_cast<const std::byte*>(stored.const_data_ptr()), static_cast<size_t>(stored.nbytes())},
              existing);
}

void write_picture(const std::string& source, const std::string& path, const Tensor& values, int64_t classes,
                   Existing existing) {
  require(!values.is_floating_point() && values.dim() == 2,
          "write_prediction: images take classes (H, W) alone, got ", shape_text(values.sizes()));
  const auto most = values.numel() > 0 ? values.max().item<int64_t>() : 0;
  require(most <= 255 && (values.numel() == 0 || values.min().item<int64_t>() >= 0),
          "write_prediction: classes must be 0 .. 255, got ", most);
  const Array there = read_image(source);
  const Tensor grey = (classes == 2 ? values * 255 : values).to(at::kCPU, at::kByte);
  const Tensor sized =
      at::_upsample_nearest_exact2d(grey.unsqueeze(0).unsqueeze(0), {there.shape[0], there.shape[1]})
          .contiguous();
  const auto* bytes = static_cast<const std::byte*>(sized.const_data_ptr());
  write_image(path, {ElementType::u8, {there.shape[0], there.shape[1], 1}, {bytes, bytes + sized.numel()}},
              existing);
}

}  // namespace

std::string prediction_path(const std::string& source, const std::string& stem) {
  if (is_image_file(source)) {
    return stem + ".png";
  }
  require<DataError>(
      is_volume_file(source), source.empty() ? "the sample" : source,
      ": predictions are written for .nii, .nii.gz, .mha, .nrrd, .png, .jpg and .bmp files alone");
  return stem + (source.ends_with(".nii") ? ".nii" : ".nii.gz");
}

std::string write_prediction(const std::string& source, const std::string& stem, const Tensor& values,
                             int64_t classes, Existing existing) {
  const std::string path = prediction_path(source, stem);
  if (is_image_file(source)) {
    write_picture(source, path, values, classes, existing);
    return path;
  }
  write_volume(source, path, values, existing);
  return path;
}

}  // namespace weyl

#include "weyl/data/volumes/volume_tensor.h"

#include <ATen/ops/empty.h>
#include <cstring>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// (C, k, j, i) with i fastest, as files have it, seen as (C, i, j, k).
Tensor file_order(const NiftiHeader& header, at::ScalarType dtype, const void* values) {
  Tensor t = at::empty({header.volumes(), header.shape[2], header.shape[1], header.shape[0]}, dtype);
  std::memcpy(t.mutable_data_ptr(), values, t.nbytes());
  return t.permute({0, 3, 2, 1});
}

}  // namespace

Tensor to_canonical(const Tensor& t, const NiftiOrientation& orientation) {
  require(t.dim() >= 3, "to_canonical: there must be at least 3 axes, got ", t.dim());
  const int64_t front = t.dim() - 3;
  std::vector<int64_t> order, backwards;
  for (int64_t d = 0; d < front; ++d) {
    order.push_back(d);
  }
  for (size_t d = 0; d < 3; ++d) {
    order.push_back(front + orientation.axis[d]);
    if (orientation.flipped[d]) {
      backwards.push_back(front + static_cast<int64_t>(d));
    }
  }
  const Tensor turned = t.permute(order);
  return backwards.empty() ? turned.contiguous() : turned.flip(backwards).contiguous();
}

Tensor from_canonical(const Tensor& t, const NiftiOrientation& orientation) {
  require(t.dim() >= 3, "from_canonical: there must be at least 3 axes, got ", t.dim());
  const int64_t front = t.dim() - 3;
  std::vector<int64_t> order(t.dim()), backwards;
  for (int64_t d = 0; d < front; ++d) {
    order[d] = d;
  }
  for (size_t d = 0; d < 3; ++d) {
    order[front + orientation.axis[d]] = front + static_cast<int64_t>(d);
    if (orientation.flipped[d]) {
      backwards.push_back(front + static_cast<int64_t>(d));
    }
  }
  const Tensor turned = backwards.empty() ? t : t.flip(backwards);
  return turned.permute(order).contiguous();
}

std::array<double, 3> canonical_spacing(const NiftiHeader& header) {
  const auto spacing = spacing_of(header);
  const auto orientation = orientation_of(affine_of(header));
  return {spacing[orientation.axis[0]], spacing[orientation.axis[1]], spacing[orientation.axis[2]]};
}

Tensor image_tensor(const Nifti& image, const NiftiOrientation& orientation) {
  const auto values = values_of(image);
  return to_canonical(file_order(image.header, at::kFloat, values.data()), orientation);
}

Tensor image_tensor(const Nifti& image) {
  return image_tensor(image, orientation_of(affine_of(image.header)));
}

Tensor mask_tensor(const Nifti& mask, std::span<const int64_t> numbers, const NiftiOrientation& orientation,
                   const std::string& where) {
  require<DataError>(mask.header.volumes() == 1, where, ": a mask must have 3 axes, got ",
                     shape_text(mask.header.shape));
  const auto values = classes_of(mask, numbers, where);
  return to_canonical(file_order(mask.header, at::kByte, values.data()), orientation).squeeze(0);
}

}  // namespace weyl

#include "weyl/data/volumes/volume_tensor.h"

#include <ATen/ops/empty.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/volumes/text_volumes.h"

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

namespace {

/// The header with its axes in canonical order: the same voxels at the same places, by its sform.
NiftiHeader canonical_header(const NiftiHeader& header) {
  const NiftiAffine given = affine_of(header);
  const NiftiOrientation orientation = orientation_of(given);
  NiftiHeader canonical = header;
  canonical.geometry.sform_code = 1;
  NiftiAffine& affine = canonical.geometry.srow = given;
  for (size_t d = 0; d < 3; ++d) {
    const auto axis = static_cast<size_t>(orientation.axis[d]);
    canonical.shape[d] = header.shape[axis];
    for (size_t row = 0; row < 3; ++row) {
      const double step = given[4 * row + axis];
      affine[4 * row + d] = orientation.flipped[d] ? -step : step;
      affine[4 * row + 3] += orientation.flipped[d] ? step * static_cast<double>(header.shape[axis] - 1) : 0;
    }
  }
  return canonical;
}

}  // namespace

double voxels_apart(const NiftiHeader& a, const NiftiHeader& b) {
  NiftiAffine x = affine_of(a), y = affine_of(b);
  std::ranges::for_each(x, [by = millimetres_of(a)](double& v) { v *= by; });
  std::ranges::for_each(y, [by = millimetres_of(b)](double& v) { v *= by; });
  const auto spacing = spacing_of(a);
  double worst = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double square = 0;
    for (size_t d = 0; d < 3; ++d) {
      double apart = x[4 * d + 3] - y[4 * d + 3];
      for (size_t axis = 0; axis < 3; ++axis) {
        const double far = (corner >> axis & 1) != 0 ? static_cast<double>(a.shape[axis] - 1) : 0;
        apart += far * (x[4 * d + axis] - y[4 * d + axis]);
      }
      square += apart * apart;
    }
    worst = std::max(worst, std::sqrt(square));
  }
  return worst / *std::min_element(spacing.begin(), spacing.end());
}

void require_same_grid(const NiftiHeader& first_stored, const std::string& whose,
                       const NiftiHeader& other_stored, const std::string& of, const char* what, bool places,
                       const char* advice) {
  const auto in_order = [&](const NiftiHeader& header) { return places ? canonical_header(header) : header; };
  const NiftiHeader first = in_order(first_stored), other = in_order(other_stored);
  require<DataError>(
      other.volumes() == 1 && std::equal(other.shape.begin(), other.shape.begin() + 3, first.shape.begin()),
      of, ": ", what, " must have the sizes of ", whose, ", ", shape_text(std::span(first.shape).first(3)),
      ", got ", shape_text(other.shape));
  constexpr double most = 0.1;
  const double apart = voxels_apart(first, other);
  require<DataError>(!places || apart <= most, of, ": by its affine ", what, " stands ", apart,
                     " voxels from ", whose, advice);
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

std::vector<int64_t> numbers_in_masks(const std::vector<VolumeCase>& cases) {
  std::set<int64_t> found{0};
  for (const VolumeCase& c : cases) {
    if (c.mask.empty()) {
      continue;
    }
    const std::vector<float> values = values_of(read_volume(c.mask));
    float last = 0;
    for (const float x : values) {
      if (x != last) {
        const float whole = std::round(x);
        require<DataError>(whole >= 0 && whole <= 65535 && std::abs(x - whole) < most_off_a_label, c.mask,
                           ": labels must be whole numbers 0 .. 65535, got ", x);
        found.insert(static_cast<int64_t>(whole));
        require<DataError>(found.size() <= 256, c.mask, ": masks must have at most 256 labels, got more");
        last = x;
      }
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace weyl

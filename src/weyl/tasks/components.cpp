#include "weyl/tasks/components.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// Cells of a mask, row-major; an image has one cell along the first axis.
struct Cells {
  int64_t* classes;
  std::array<int64_t, 3> sizes;

  int64_t count() const { return sizes[0] * sizes[1] * sizes[2]; }
};

/// The part of a class that `first` is in: its cells, which are marked as seen.
std::vector<int64_t> part_at(const Cells& cells, int64_t first, std::vector<bool>& seen) {
  const int64_t k = cells.classes[first];
  std::vector<int64_t> part{first};
  seen[static_cast<size_t>(first)] = true;
  for (size_t next = 0; next < part.size(); ++next) {
    const int64_t cell = part[next];
    int64_t stride = 1;
    for (size_t axis = 3; axis-- > 0; stride *= cells.sizes[axis]) {
      const int64_t place = cell / stride % cells.sizes[axis];
      for (const int64_t step : {-1, 1}) {
        const int64_t beside = cell + step * stride;
        if (place + step >= 0 && place + step < cells.sizes[axis] && cells.classes[beside] == k &&
            !seen[static_cast<size_t>(beside)]) {
          seen[static_cast<size_t>(beside)] = true;
          part.push_back(beside);
        }
      }
    }
  }
  return part;
}

void keep_largest(const Cells& cells, std::span<const int64_t> classes) {
  const int64_t most = *std::ranges::max_element(classes);
  std::vector<bool> wanted(static_cast<size_t>(most) + 1), seen(static_cast<size_t>(cells.count()));
  for (const int64_t k : classes) {
    wanted[static_cast<size_t>(k)] = true;
  }
  std::vector<std::vector<int64_t>> largest(wanted.size());
  const auto clear = [&](const std::vector<int64_t>& part) {
    for (const int64_t cell : part) {
      cells.classes[cell] = 0;
    }
  };
  for (int64_t cell = 0; cell < cells.count(); ++cell) {
    const int64_t k = cells.classes[cell];
    if (k <= 0 || k > most || !wanted[static_cast<size_t>(k)] || seen[static_cast<size_t>(cell)]) {
      continue;
    }
    std::vector<int64_t> part = part_at(cells, cell, seen);
    std::vector<int64_t>& best = largest[static_cast<size_t>(k)];
    if (part.size() > best.size()) {
      best.swap(part);
    }
    clear(part);
  }
}

}  // namespace

void keep_largest_components(Tensor& masks, std::span<const int64_t> classes) {
  const int64_t axes = masks.dim() - 2;
  require((axes == 2 || axes == 3) && masks.size(1) == 1 && masks.scalar_type() == at::kLong,
          "components: masks must be (B, 1, spatial...) int64 of two or three axes, got ", masks.sizes());
  if (classes.empty() || masks.numel() == 0) {
    return;
  }
  const Tensor here = masks.to(at::kCPU).contiguous();
  Cells cells{here.mutable_data_ptr<int64_t>(), {1, 1, 1}};
  for (int64_t a = 0; a < axes; ++a) {
    cells.sizes[static_cast<size_t>(3 - axes + a)] = masks.size(2 + a);
  }
  for (int64_t b = 0; b < masks.size(0); ++b, cells.classes += cells.count()) {
    keep_largest(cells, classes);
  }
  masks = here.to(masks.device());
}

}  // namespace weyl

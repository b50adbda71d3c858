#pragma once

#include <array>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/crop.h"
#include "weyl/carriers/dataset.h"
#include "weyl/carriers/grid_augmentation.h"

namespace weyl {

/// Displacements u(x) of the cells of a grid: cubic B-splines over control points, which begin one point before its first cell.
/// Images have one cell and one point along the first axis.
struct Displacements {
  std::array<double, 3> distance{1, 1, 1};  // of control points, in cells of each axis
  std::array<int64_t, 3> points{0, 0, 0};
  std::vector<double> values;  // (points..., 3), in the data's unit of length
};

/// Where the cells of a part of a grid get their values from: that at x from the part's middle from back x + u, from the middle
/// too, in the data's unit of length. Of images the last two axes count.
struct GridMap {
  std::array<double, 9> back{1, 0, 0, 0, 1, 0, 0, 0, 1};  // row-major
  Displacements displacements;                            // none: u = 0
};

/// A part of one grid and its labels, mapped: values are interpolated linearly between the cells of the whole grid and are 0
/// outside of it. Numbers of node level go like values; of classes each cell gets the one with most of the interpolation's weight,
/// of equal ones that of the nearest cell. Places within 1e-9 of a cell are the cell's, so exact turns have the bits of
/// moved_grid. ShapeError: more than one grid, a spacing
/// of 0, a part of another number of axes.
Batch mapped_grid(const Batch& one, const Crop& part, const GridMap& map, const Schema& schema);

/// ConfigError: data that are not grids of two or three axes; a change of cells (rotation, mirror, ...) of values or labels
/// that are neither numbers nor classes; an axis that is not there.
void require_grid_augmentation(const GridAugmentation& options, const Schema& schema);

/// A part of one grid and its labels as a training sees them in an epoch: changed by each of the options with its probability,
/// in this order. Rotation, scale and displacements are one map (mapped_grid), so that what is turned into the part's
/// corners is what lies beyond it, and 0 (class 0) alone outside of the grid; then come mirror images, noise, blur, brightness,
/// contrast, low resolution and gamma. A pure function of draw, `sample`, grid and part: every change draws from a stream of its own.
/// The bits of `cropped` where nothing is drawn. ShapeError: see mapped_grid.
Batch augmented_grid(const Batch& one, const Crop& part, const GridAugmentation& options,
                     const Schema& schema, const Draw& draw, int64_t sample);

}  // namespace weyl

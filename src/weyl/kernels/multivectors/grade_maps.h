// The nine linear maps of multivectors that commute with Pin(3,0,1). Constants alone.
#pragma once

#include <cstdint>

namespace weyl::kernels {

inline constexpr int grade_maps = 9;

/// Components in .. in + count - 1 times `scale` to components out .. out + count - 1. `scale` is one over the map's
/// Frobenius norm, sqrt(count), as GATr's authors divide.
struct GradeMap {
  int out, in, count;
  double scale;
};

/// Not inline, so that no object has a symbol of it.
/// The projections on grades 0 .. 4, and the products with e0 from the left of grades 0 .. 3 (1 to e0; e1, e2, e3 to
/// e01, e02, e03; e12, e13, e23 to e012, e013, e023; e123 to e0123): in the order of the authors' weights.
constexpr GradeMap grade_map[grade_maps] = {
    {0, 0, 1, 1},   {1, 1, 4, 0.5}, {5, 5, 6, 0.40824829046386301637}, {11, 11, 4, 0.5},
    {15, 15, 1, 1}, {1, 0, 1, 1},   {5, 2, 3, 0.57735026918962576451}, {11, 8, 3, 0.57735026918962576451},
    {15, 14, 1, 1}};

}  // namespace weyl::kernels

#pragma once

#include <optional>
#include <span>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/multivector_motion.h"

namespace weyl {

/// One uniform element of SO(D), with `reflections` of O(D), row-major into r (D, D); D is 1, 2 or 3 (SO(1)
/// is the identity, O(1) the two signs).
void draw_orthogonal(int64_t dimension, bool reflections, Stream& stream, double* r);

/// One motion x -> L x + t per graph, applied to the rows of that graph. L may be any invertible matrix:
/// vectors move by L, normals of planes by L^-T, axial vectors (cross products) by det(L) L^-T, pseudoscalars
/// (volumes) by det(L); for orthogonal L these are R, R, det(R) R and det(R). Multivectors move by translations too, see
/// MultivectorMotions. Everything is computed in float64 and rounded once to the dtype of the tensor moved. `like`
/// supplies the graphs and must outlive this object.
class RowMotions {
 public:
  RowMotions(const Motions& motions, const Input& like);  // ShapeError unless one (D, D) matrix per graph

  /// A tensor whose rows follow the quantity's level, moved by its kind and role: (L, c), (L, c, D), (L, c,
  /// D, D), (L, m, m), (L, c, 16).
  Tensor moved(const Tensor& x, const Quantity& quantity) const;
  /// Feature columns (L, sum c), (L, sum c, D) or (L, sum c, 16) of one level.
  Tensor moved_columns(const Tensor& x, std::span<const Columns> columns, Level level) const;

  Tensor points(const Tensor& p, Level level) const;    // (L, c, D): L p + t
  Tensor elements(const Tensor& g, Level level) const;  // (L, m, m), multiplied from the left

 private:
  Tensor per_row(const Tensor& per_graph, Level level) const;
  Tensor vectors(const Tensor& v, const Tensor& matrix, Level level) const;
  Tensor pseudoscalars(const Tensor& s, Level level) const;
  Tensor multivectors(const Tensor& x, Level level) const;
  const Tensor& determinant() const;
  const Tensor& inverse_transpose() const;

  const Input& like_;
  Tensor linear_, translation_;
  mutable Tensor determinant_, inverse_transpose_;
  mutable std::optional<MultivectorMotions> multivectors_;
};

/// Grids move by signed permutations of their axes alone (quarter turns and reflections about the grid's
/// centre; axis k of space is the k-th coordinate), so that no value is interpolated: ShapeError for any
/// other motion, and when axes of different length or spacing would be exchanged in some of a batch's grids
/// and not in all alike. Values of vector features turn too.
Grid moved_grid(const Grid& grid, const Motions& motions, const Interface& interface);
Named moved_on_grid(const Named& values, std::span<const Quantity> quantities, const Motions& motions,
                    const Grid& like);

/// One uniform element of the rotations of square or cube, with `reflections` of all their symmetries,
/// row-major into r (D, D), D 2 or 3; of a grid whose axes differ in length or spacing, of those elements
/// that leave its shape as it is.
void draw_quarter_turns(const Grid& like, bool reflections, Stream& stream, double* r);

}  // namespace weyl

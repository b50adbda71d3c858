#pragma once

#include <map>
#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/core/tensor_file.h"

namespace weyl {

/// What the metadata `format` of a file of predictions says (saved/tensors.h).
inline constexpr const char* predictions_format = "weyl.predictions";

/// Reads a carrier tensor file: the tensors of a safetensors file by the names of the carrier's fields.
///
///   points  positions (N, D), offsets (B + 1) int64; types (N) or (N, 1) int64, scalars (N, S), vectors
///           (N, V, D), multivectors (N, M, 16), pairs (sum n^2, E), object_offsets int64, cell (B, 3, 3), pbc
///           (B, 3) bool, graph- and object-level inputs by name. Where multivectors are declared, positions may be
///           absent unless vectors or a cell need them: they are then zeros (N, 3), of the multivectors' dtype
///   poses   elements (N, m, m), offsets; scalars; the metadata `group`: so2, se2, so3, se3, aff2 or aff3,
///           and that of `wanted` where it names one
///   grid    values (B, C, spatial axes), spacing (D)
///
/// Every declared feature must be there with its shape; labels stand beside them under their own names
/// (float; int64 for categories) and those absent are left out of `schema`. Tensors that nobody asked for are
/// ignored. DataError names the file and the tensor, what must hold and what was found: absent, misshaped,
/// wrong dtype, offsets that do not begin with 0, decrease or do not end with N, a value that is not finite
/// (labels may hold NaN: missing, but not elements), another group, a matrix more than 1e-4 outside its
/// group, by how much.
struct TensorFile {
  Batch batch;
  Schema schema;  // typical_nodes: the file's mean
};
TensorFile read_tensor_file(const std::string& path, const Schema& wanted);

/// An interface that names neither a group nor a grid, with the carrier that the tensors of a file are of. DataError:
/// a file of no carrier, or of poses without their group.
Interface with_carrier_of(const std::string& path, Interface interface);

/// The same, told by the shapes alone: one quantity per tensor, named after it (`scalars`, `vectors`,
/// `pairs`, `multivectors`); other tensors are labels of graph level when they have B rows, else of node level when they
/// have N, else of object level when they have a row for each object, in a file of poses elements when they are (L, m, m). Values::any, for inspection: they may be NaN,
/// matrices outside their group.
enum class Values { checked, any };
TensorFile read_tensor_file(const std::string& path, Values values = Values::any);

/// Writes a batch as such a file, float tensors in their own dtype. DataError: see write_safetensors.
void write_tensor_file(const std::string& path, const Batch& batch, const Schema& schema,
                       std::map<std::string, std::string> metadata = {},
                       Existing existing = Existing::replace);

}  // namespace weyl

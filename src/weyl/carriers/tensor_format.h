#pragma once

#include <map>
#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/tensor_file.h"

namespace weyl {

std::string shape_text(const Tensor& t);  // "(2, 3)"

/// Reads the tensors of one file, or of a program, and checks each when it is asked for. DataError names the file and the
/// tensor.
class TensorReader {
 public:
  TensorReader(const SafetensorsFile& file, bool finite)
      : where_(file.path()), metadata_(file.header().metadata), file_(&file), finite_(finite) {}
  /// Tensors on the CPU, which must outlive it. `where` stands in messages in place of a file.
  TensorReader(const NamedTensors& tensors, std::map<std::string, std::string> metadata, std::string where)
      : where_(std::move(where)), metadata_(std::move(metadata)), tensors_(&tensors), finite_(true) {}

  bool finite() const { return finite_; }  // values must be finite, matrices in their group
  const std::string& path() const { return where_; }
  bool has(const std::string& name) const {
    return file_ != nullptr ? file_->contains(name) : tensors_->contains(name);
  }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  template <class... Parts>
  void check(bool holds, const std::string& name, const Parts&... parts) const {
    require<DataError>(holds, path(), ": ", name, ": ", parts...);
  }

  Tensor any(const std::string& name) const;

  /// A floating-point tensor with that many axes. Half precision becomes float32: models compute in float32 or float64.
  Tensor real(const std::string& name, int64_t axes, const char* shape) const;

  Tensor whole(const std::string& name) const;

  /// Offsets over `rows` rows.
  Segments segments(const std::string& name, int64_t rows) const;

  /// The tensor of a quantity that has its own name in the file; labels become float64.
  Tensor named(const Quantity& q, const Input& input, bool label) const;

 private:
  std::string where_;
  std::map<std::string, std::string> metadata_;
  const SafetensorsFile* file_ = nullptr;  // one of the two
  const NamedTensors* tensors_ = nullptr;
  bool finite_;
};

/// The schema of a carrier tensor file, as far as names and shapes of its tensors tell it: see read_tensor_file.
Schema implied_schema(const SafetensorsFile& file, Carrier carrier);

/// The entry `format` in the metadata of a file of predictions (saved/tensors.h).
inline constexpr const char* predictions_format = "weyl.predictions";

/// Reads a carrier tensor file: a safetensors file whose tensors have the names of the carrier's fields.
///
///   points  positions (N, D), offsets (B + 1) int64; types (N) or (N, 1) int64, scalars (N, S), vectors
///           (N, V, D), multivectors (N, M, 16), pairs (sum n^2, E), object_offsets int64, cell (B, 3, 3), pbc
///           (B, 3) bool, graph- and object-level inputs by name. Positions may be absent where multivectors are
///           declared, unless vectors or a cell need them: they are then zeros (N, 3), of the multivectors' dtype
///   poses   elements (N, m, m), offsets; scalars; the metadata `group`: so2, se2, so3, se3, aff2 or aff3, and
///           the group of `wanted` where that names one
///   grid    values (B, C, spatial axes), spacing (D)
///
/// Every declared feature must be present with its shape. Labels stand beside the features under their own names
/// (float; int64 for categories); a label that the file lacks is left out of `schema`. Tensors that nobody asked for
/// are ignored.
///
/// DataError names the file, the tensor, what must hold and what was found. It is thrown for
///   * a tensor that is absent, misshaped or of the wrong dtype;
///   * offsets that do not begin with 0, that decrease, or that do not end with N;
///   * a value that is not finite (labels may hold NaN, which means missing, but elements may not);
///   * another carrier or group;
///   * a matrix more than 1e-4 outside its group.
struct TensorFile {
  Batch batch;
  Schema schema;  // typical_nodes: the file's mean
};
TensorFile read_tensor_file(const std::string& path, const Schema& wanted);

/// The same of tensors that a program holds, on the CPU; `where` names them in messages. Poses are of the group of
/// `wanted`.
TensorFile read_tensors(const NamedTensors& tensors, const Schema& wanted, const std::string& where);

/// Adds the carrier of a file's tensors (a group or a grid) to an interface that names neither. An interface that names
/// one is returned as it is. DataError: the file has no carrier, or poses without their group.
Interface with_carrier_of(const std::string& path, Interface interface);

/// Reads a carrier tensor file with the schema that its shapes imply. The tensors `scalars`, `vectors`, `pairs` and
/// `multivectors` each become one feature of that name. Any other tensor is a label, whose level its rows decide: graph
/// with B rows, else node with N, else object with one row for each object. Labels (L, m, m) of poses are elements.
/// Values::any is for inspection: it lets through values that are not finite and matrices outside their group.
enum class Values { checked, any };
TensorFile read_tensor_file(const std::string& path, Values values = Values::any);

/// Writes a batch as a carrier tensor file, each float tensor in its own dtype. DataError: see write_safetensors.
void write_tensor_file(const std::string& path, const Batch& batch, const Schema& schema,
                       std::map<std::string, std::string> metadata = {},
                       Existing existing = Existing::replace);

}  // namespace weyl

#pragma once

#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/core/check.h"
#include "weyl/core/tensor_file.h"

namespace weyl {

std::string shape_text(const Tensor& t);  // "(2, 3)"

/// The tensors of one file, checked as they are asked for.
class TensorReader {
 public:
  TensorReader(const SafetensorsFile& file, bool finite) : file_(file), finite_(finite) {}

  bool finite() const { return finite_; }  // values must be finite, matrices in their group
  const std::string& path() const { return file_.path(); }
  bool has(const std::string& name) const { return file_.contains(name); }
  const auto& metadata() const { return file_.header().metadata; }

  template <class... Parts>
  void check(bool holds, const std::string& name, const Parts&... parts) const {
    require<DataError>(holds, path(), ": ", name, ": ", parts...);
  }

  Tensor any(const std::string& name) const;

  /// Half precision becomes float32: models compute in float32 or float64.
  Tensor real(const std::string& name, int64_t axes, const char* shape) const;

  Tensor whole(const std::string& name) const;

  /// Offsets over `rows` rows.
  Segments segments(const std::string& name, int64_t rows) const;

  /// A quantity that stands under its own name.
  Tensor named(const Quantity& q, const Input& input, bool label) const;

 private:
  const SafetensorsFile& file_;
  bool finite_;
};

}  // namespace weyl

#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "weyl/core/safetensors.h"

namespace weyl {

using at::Tensor;
using NamedTensors = std::map<std::string, Tensor>;

at::ScalarType scalar_type(ElementType);
ElementType element_type(at::ScalarType);  // DataError for types that the format lacks (complex)

/// A CPU tensor from raw row-major bytes. DataError, beginning with `where`, when the bytes do not fit the shape or a
/// boolean is neither 0 nor 1.
Tensor copy_tensor(ElementType type, std::span<const int64_t> shape, std::span<const std::byte> bytes,
                   std::string_view where);

/// Reads one tensor of a file, or all, to the CPU, and compares their checksums.
Tensor load_tensor(const SafetensorsFile& file, const std::string& name);
NamedTensors load_tensors(const SafetensorsFile& file);
NamedTensors load_tensors(const std::string& path);

/// Writes dense tensors of any device and strides, row-major: those with larger elements first, then by name. Atomic
/// like write_safetensors.
void save_tensors(const std::string& path, const NamedTensors& tensors,
                  const std::map<std::string, std::string>& metadata = {},
                  Existing existing = Existing::replace);

}  // namespace weyl

#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "weyl/core/safetensors.h"

namespace weyl {

using at::Tensor;
using NamedTensors = std::map<std::string, Tensor>;

at::ScalarType scalar_type(ElementType);
ElementType element_type(at::ScalarType);  // DataError for types the format lacks (complex)

/// Copies one tensor (or all) of a mapped file to the CPU.
Tensor load_tensor(const SafetensorsFile& file, const std::string& name);
NamedTensors load_tensors(const SafetensorsFile& file);
NamedTensors load_tensors(const std::string& path);

/// Writes tensors of any device and layout; atomic like write_safetensors.
void save_tensors(const std::string& path, const NamedTensors& tensors,
                  const std::map<std::string, std::string>& metadata = {});

}  // namespace weyl

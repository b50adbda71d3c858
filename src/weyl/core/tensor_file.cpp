#include "weyl/core/tensor_file.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// The order of ElementType.
constexpr at::ScalarType scalar_types[] = {at::kBool,     at::kByte,   at::kChar,  at::kShort,  at::kUInt16,
                                           at::kInt,      at::kUInt32, at::kLong,  at::kUInt64, at::kHalf,
                                           at::kBFloat16, at::kFloat,  at::kDouble};
static_assert(std::size(scalar_types) == static_cast<size_t>(ElementType::f64) + 1);

/// A CPU tensor whose bytes `fill(span)` writes.
template <class Fill>
Tensor filled_tensor(ElementType type, std::span<const int64_t> shape, uint64_t size, std::string_view where,
                     const Fill& fill) {
  require<DataError>(byte_count(type, shape) == size && shape.size() <= most_dimensions, where, ": ",
                     name_of(type), " of shape ", shape_text(shape), " does not have ", size, " bytes");
  Tensor tensor = at::empty(at::IntArrayRef(shape.data(), shape.size()), scalar_type(type));
  if (size == 0) {
    return tensor;
  }
  const std::span bytes(static_cast<std::byte*>(tensor.mutable_data_ptr()), size);
  fill(bytes);
  if (type == ElementType::boolean) {
    const auto odd = std::ranges::find_if(bytes, [](std::byte b) { return b > std::byte{1}; });
    require<DataError>(odd == bytes.end(), where, ": a boolean must be 0 or 1, got ",
                       odd == bytes.end() ? 0 : std::to_integer<int>(*odd));
  }
  return tensor;
}

}  // namespace

at::ScalarType scalar_type(ElementType type) {
  return scalar_types[static_cast<size_t>(type)];
}

ElementType element_type(at::ScalarType type) {
  const auto* found = std::find(std::begin(scalar_types), std::end(scalar_types), type);
  require<DataError>(found != std::end(scalar_types), "tensor file: no element type for ",
                     at::toString(type));
  return static_cast<ElementType>(found - std::begin(scalar_types));
}

Tensor copy_tensor(ElementType type, std::span<const int64_t> shape, std::span<const std::byte> bytes,
                   std::string_view where) {
  return filled_tensor(type, shape, bytes.size(), where,
                       [&](std::span<std::byte> out) { std::ranges::copy(bytes, out.begin()); });
}

Tensor load_tensor(const SafetensorsFile& file, const std::string& name) {
  const auto& entry = file.entry(name);
  return filled_tensor(entry.type, entry.shape, entry.end - entry.begin,
                       text(file.path(), ": tensor ", quote(name)),
                       [&](std::span<std::byte> out) { file.read(name, out); });
}

NamedTensors load_tensors(const SafetensorsFile& file) {
  NamedTensors tensors;
  for (const auto& [name, entry] : file.header().tensors) {
    tensors.emplace(name, load_tensor(file, name));
  }
  return tensors;
}

NamedTensors load_tensors(const std::string& path) {
  return load_tensors(SafetensorsFile(path));
}

void save_tensors(const std::string& path, const NamedTensors& tensors,
                  const std::map<std::string, std::string>& metadata, Existing existing) {
  std::vector<TensorBytes> entries;
  std::vector<Tensor> alive;  // what the entries' bytes point into
  for (const auto& [name, tensor] : tensors) {
    require(tensor.defined(), path, ": tensor ", quote(name), " is undefined");
    require<DataError>(tensor.layout() == at::kStrided, path, ": tensor ", quote(name), " must be dense");
    require<DataError>(
        std::count(std::begin(scalar_types), std::end(scalar_types), tensor.scalar_type()) == 1, path,
        ": tensor ", quote(name), ": no element type for ", at::toString(tensor.scalar_type()));
    alive.push_back(tensor.detach().resolve_neg().to(at::kCPU).contiguous());
    const auto& whole = alive.back();
    entries.push_back({name,
                       element_type(whole.scalar_type()),
                       whole.sizes().vec(),
                       {static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes()}});
  }
  // Larger elements first, so that each tensor is aligned to its elements.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return size_of(a.type) > size_of(b.type); });
  write_safetensors(path, entries, metadata, existing);
}

}  // namespace weyl

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weyl {

/// Element types of the safetensors format, with the format's names.
enum class ElementType { boolean, u8, i8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

std::string_view name_of(ElementType);  // "F32", "I64", ...
int64_t size_of(ElementType);           // bytes
std::optional<ElementType> element_type_named(
    std::string_view name);  // by the safetensors name; case matters

/// The most dimensions that a tensor may have: what LibTorch's operators accept.
constexpr size_t most_dimensions = 64;

/// The bytes of a tensor: the product of `shape` times the size of an element. Nothing when a dimension is negative, or
/// when the product of the dimensions that are not zero overflows (LibTorch multiplies those for the strides).
std::optional<uint64_t> byte_count(ElementType type, std::span<const int64_t> shape);

}  // namespace weyl

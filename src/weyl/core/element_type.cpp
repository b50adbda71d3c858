#include "weyl/core/element_type.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace weyl {
namespace {

struct Properties {
  std::string_view name;
  int64_t size;
};

constexpr Properties properties[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"I16", 2}, {"U16", 2},
                                     {"I32", 4},  {"U32", 4}, {"I64", 8}, {"U64", 8}, {"F16", 2},
                                     {"BF16", 2}, {"F32", 4}, {"F64", 8}};
static_assert(std::size(properties) == static_cast<size_t>(ElementType::f64) + 1);

}  // namespace

std::string_view name_of(ElementType type) {
  return properties[static_cast<size_t>(type)].name;
}

int64_t size_of(ElementType type) {
  return properties[static_cast<size_t>(type)].size;
}

std::optional<ElementType> element_type_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(properties), std::end(properties),
                                   [&](const Properties& p) { return p.name == name; });
  if (found == std::end(properties)) {
    return {};
  }
  return static_cast<ElementType>(found - std::begin(properties));
}

std::optional<uint64_t> byte_count(ElementType type, std::span<const int64_t> shape) {
  int64_t bytes = size_of(type);
  bool empty = false;
  for (const int64_t dimension : shape) {
    if (dimension < 0 || (dimension > 0 && __builtin_mul_overflow(bytes, dimension, &bytes))) {
      return {};
    }
    empty = empty || dimension == 0;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

}  // namespace weyl

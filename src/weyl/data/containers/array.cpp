#include "weyl/data/containers/array.h"

#include <cstring>
#include <numeric>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// Calls f with a zero of the type of an array's elements; false when it is none of those read.
template <class F>
bool with_type(ElementType type, F f) {
  switch (type) {
    case ElementType::boolean:
      return f(bool{}), true;
    case ElementType::u8:
      return f(uint8_t{}), true;
    case ElementType::i8:
      return f(int8_t{}), true;
    case ElementType::u16:
      return f(uint16_t{}), true;
    case ElementType::i16:
      return f(int16_t{}), true;
    case ElementType::u32:
      return f(uint32_t{}), true;
    case ElementType::i32:
      return f(int32_t{}), true;
    case ElementType::i64:
      return f(int64_t{}), true;
    case ElementType::f32:
      return f(float{}), true;
    case ElementType::f64:
      return f(double{}), true;
    default:
      return false;
  }
}

template <class T, class To>
std::vector<To> copied(const Array& array, int64_t begin, int64_t count) {
  std::vector<To> result(count);
  const std::byte* at = array.bytes.data() + begin * static_cast<int64_t>(sizeof(T));
  for (auto& x : result) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    x = To{value};
    at += sizeof(T);
  }
  return result;
}

template <class T>
Array made(ElementType type, std::span<const T> values, std::vector<int64_t> shape) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  require(count == static_cast<int64_t>(values.size()), "array_of: ", values.size(),
          " values do not fill the shape");
  const auto bytes = std::as_bytes(values);
  return {type, std::move(shape), {bytes.begin(), bytes.end()}};
}

}  // namespace

bool holds_values(ElementType type) {
  return with_type(type, [](auto) {});
}

FrameValues slice(const Array& array, int64_t begin, int64_t count) {
  require(begin >= 0 && count >= 0 &&
              (begin + count) * size_of(array.type) <= static_cast<int64_t>(array.bytes.size()),
          "slice: elements ", begin, " .. ", begin + count, " are outside of the array");
  FrameValues result;
  const bool known = with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      result = copied<uint8_t, uint8_t>(array, begin, count);
    } else if constexpr (std::is_integral_v<T>) {
      result = copied<T, int64_t>(array, begin, count);
    } else {
      result = copied<T, double>(array, begin, count);
    }
  });
  require(known, "slice: cannot read values of type ", name_of(array.type));
  return result;
}

std::vector<double> reals_of(const Array& array, int64_t begin, int64_t count, std::string_view where) {
  auto reals = holds_values(array.type) ? reals_of(slice(array, begin, count)) : std::nullopt;
  require<DataError>(reals.has_value(), where, ": must be numbers, got type ", name_of(array.type));
  return std::move(*reals);
}

std::vector<int64_t> integers_of(const Array& array, std::string_view where) {
  const auto count = static_cast<int64_t>(array.bytes.size()) / size_of(array.type);
  FrameValues values;
  if (holds_values(array.type)) {
    values = slice(array, 0, count);
  }
  auto* integers = std::get_if<std::vector<int64_t>>(&values);
  require<DataError>(integers != nullptr, where, ": must be integers, got type ", name_of(array.type));
  return std::move(*integers);
}

Array array_of(std::span<const double> values, std::vector<int64_t> shape) {
  return made(ElementType::f64, values, std::move(shape));
}

Array array_of(std::span<const uint8_t> values, std::vector<int64_t> shape) {
  return made(ElementType::u8, values, std::move(shape));
}

}  // namespace weyl

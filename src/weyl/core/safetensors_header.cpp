// The header of a safetensors file: u64 length (little endian), then that many bytes of JSON,
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//   ...}
// read event by event, so that duplicate names are seen and nothing nests deeper than the format does.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/core/json_reader.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/safetensors_checksums.h"

namespace weyl {
namespace {

static_assert(std::endian::native == std::endian::little, "files are mapped as they are");

constexpr std::string_view metadata_key = "__metadata__";

/// A number of a header; nothing when it has a sign, a fraction or an exponent, or more than 64 bits.
std::optional<uint64_t> natural(std::string_view token) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), n);
  return error == std::errc() && end == token.data() + token.size() ? std::optional(n) : std::nullopt;
}

class HeaderReader {
 public:
  HeaderReader(SafetensorsHeader& header, std::string_view where) : header_(header), where_(where) {}

  void read(std::string_view json) {
    JsonReader reader(json, text(where_, ": the header must be JSON: parse error at "));
    for (JsonEvent event = reader.next(); event != JsonEvent::end; event = reader.next()) {
      take(reader, event);
    }
  }

 private:
  enum class Place { outside, file, metadata, tensor, shape, offsets };

  void take(JsonReader& reader, JsonEvent event) {
    switch (event) {
      case JsonEvent::null:
        return unexpected("null");
      case JsonEvent::boolean:
        return unexpected("a boolean");
      case JsonEvent::number:
        return number(reader);
      case JsonEvent::string:
        return string(reader.string());
      case JsonEvent::key:
        return key(reader.string());
      case JsonEvent::begin_object:
        return begin_object();
      case JsonEvent::end_object:
        return end_object();
      case JsonEvent::begin_array:
        return begin_array();
      default:
        return end_array();
    }
  }

  void number(const JsonReader& reader) {
    const std::string_view token = reader.token();
    const auto n = natural(token);
    if (n && place_ == Place::shape) {
      check(*n <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
            "shape must be of 63-bit integers, got ", *n);
      check(tensor_.shape.size() < most_dimensions, "shape must have at most ", most_dimensions,
            " dimensions");
      tensor_.shape.push_back(static_cast<int64_t>(*n));
    } else if (n && place_ == Place::offsets) {
      check(offsets_ < 2, "data_offsets must be two integers, got more");
      (offsets_++ == 0 ? tensor_.begin : tensor_.end) = *n;
    } else {
      const bool negative = reader.integer() && token.starts_with('-');
      unexpected(text(negative ? "the negative number " : "the number ", printable(token, 40)));
    }
  }

  void string(const std::string& value) {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = value;
    } else if (place_ == Place::tensor && key_ == "dtype") {
      const auto type = element_type_named(value);
      check(type.has_value(), "dtype must be one of BOOL, U8, I8, I16, U16, I32, U32, I64, U64, ",
            "F16, BF16, F32, F64, got ", quote(value, 20));
      tensor_.type = *type;
    } else {
      unexpected("a string");
    }
  }

  void key(const std::string& key) {
    key_ = key;
    switch (place_) {
      case Place::file:
        require<DataError>(!header_.tensors.contains(key) && !(key == metadata_key && has_metadata_), where_,
                           ": the header has ", quote(key), " twice");
        name_ = key;
        break;
      case Place::metadata:
        require<DataError>(!header_.metadata.contains(key), where_, ": the metadata have ", quote(key),
                           " twice");
        break;
      default: {
        bool* seen = key == "dtype"          ? &has_type_
                     : key == "shape"        ? &has_shape_
                     : key == "data_offsets" ? &has_offsets_
                                             : nullptr;
        check(seen != nullptr, "must have dtype, shape and data_offsets only, got ", quote(key));
        check(!*seen, "has ", key, " twice");
        *seen = true;
      }
    }
  }

  void begin_object() {
    if (place_ == Place::outside) {
      place_ = Place::file;
    } else if (place_ == Place::file && name_ == metadata_key) {
      place_ = Place::metadata;
      has_metadata_ = true;
    } else if (place_ == Place::file) {
      place_ = Place::tensor;
      tensor_ = {};
      offsets_ = 0;
      has_type_ = has_shape_ = has_offsets_ = false;
    } else {
      unexpected("an object");
    }
  }

  void end_object() {
    if (place_ == Place::tensor) {
      check(has_type_ && has_shape_ && has_offsets_, "must have dtype, shape and data_offsets, no ",
            !has_type_    ? "dtype"
            : !has_shape_ ? "shape"
                          : "data_offsets");
      header_.tensors.emplace(name_, std::move(tensor_));
    }
    place_ = place_ == Place::file ? Place::outside : Place::file;
  }

  void begin_array() {
    if (place_ == Place::tensor && key_ == "shape") {
      place_ = Place::shape;
    } else if (place_ == Place::tensor && key_ == "data_offsets") {
      place_ = Place::offsets;
    } else {
      unexpected("an array");
    }
  }

  void end_array() {
    check(place_ != Place::offsets || offsets_ == 2, "data_offsets must be two integers, got ", offsets_);
    place_ = Place::tensor;
  }

  /// Like require, but says where only when it must: headers have many tensors.
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      throw DataError(text(here(), parts...));
    }
  }

  std::string here() const { return text(where_, ": tensor ", quote(name_), ": "); }

  [[noreturn]] void unexpected(const std::string& what) const {
    switch (place_) {
      case Place::outside:
        throw DataError(text(where_, ": the header must be a JSON object, got ", what));
      case Place::file:
        throw DataError(text(where_, ": header entry ", quote(name_), " must be an object, got ", what));
      case Place::metadata:
        throw DataError(text(where_, ": metadata ", quote(key_), " must be a string, got ", what));
      case Place::tensor:
        throw DataError(text(here(), key_,
                             key_ == "dtype" ? " must be a string, got " : " must be an array, got ", what));
      default:
        throw DataError(text(here(), key_, " must be of integers that are not negative, got ", what));
    }
  }

  SafetensorsHeader& header_;
  const std::string_view where_;
  Place place_ = Place::outside;
  std::string name_, key_;
  TensorEntry tensor_;
  int offsets_ = 0;
  bool has_metadata_ = false, has_type_ = false, has_shape_ = false, has_offsets_ = false;
};

/// Sizes that fit, and data that every byte of the file belongs to exactly once.
void check_layout(const SafetensorsHeader& header, uint64_t data_size, std::string_view where) {
  using Named = std::pair<const std::string, TensorEntry>;
  std::vector<const Named*> order;
  for (const auto& named : header.tensors) {
    const auto& [name, tensor] = named;
    const auto bytes = byte_count(tensor.type, tensor.shape);
    require<DataError>(bytes.has_value(), where, ": tensor ", quote(name), ": shape ",
                       shape_text(tensor.shape), " overflows");
    require<DataError>(tensor.begin <= tensor.end && tensor.end <= data_size, where, ": tensor ", quote(name),
                       ": data_offsets must lie in order within ", data_size, " bytes of data, got [",
                       tensor.begin, ", ", tensor.end, "]");
    require<DataError>(tensor.end - tensor.begin == *bytes, where, ": tensor ", quote(name), ": ",
                       name_of(tensor.type), " of shape ", shape_text(tensor.shape), " must have ", *bytes,
                       " bytes, data_offsets give ", tensor.end - tensor.begin);
    order.push_back(&named);
  }
  std::sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  uint64_t end = 0;
  for (const auto* named : order) {
    const uint64_t begin = named->second.begin;
    require<DataError>(begin == end, where, ": tensor ", quote(named->first), " must begin at ", end,
                       ", where the one before ends, got ", begin,
                       begin < end ? " (they overlap)" : " (a hole)");
    end = named->second.end;
  }
  require<DataError>(end == data_size, where, ": ", data_size - end,
                     " bytes after the last tensor belong to none");
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> head, uint64_t file_size,
                                    std::string_view where) {
  uint64_t length = 0;
  require<DataError>(head.size() >= sizeof length && file_size >= sizeof length, where,
                     ": a safetensors file begins with 8 bytes of header length, got ", file_size,
                     " bytes in all");
  std::memcpy(&length, head.data(), sizeof length);
  require<DataError>(length <= longest_safetensors_header, where, ": header length must be at most ",
                     longest_safetensors_header, ", got ", length, " (not a safetensors file?)");
  require<DataError>(length <= file_size - sizeof length && length <= head.size() - sizeof length, where,
                     ": header length ", length, " exceeds the file of ", file_size, " bytes");
  const auto* begin = reinterpret_cast<const char*>(head.data()) + sizeof length;
  require<DataError>(length > 0 && *begin == '{', where, ": the header must begin with '{'");
  SafetensorsHeader header;
  header.data_begin = sizeof length + length;
  const bool checked = check_header(head.first(header.data_begin), where);
  HeaderReader(header, where).read({begin, length});
  check_layout(header, file_size - header.data_begin, where);
  take_checksums(header, checked, where);
  return header;
}

}  // namespace weyl

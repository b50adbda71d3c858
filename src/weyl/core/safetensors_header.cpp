// The header of a safetensors file: u64 length (little endian), then that many bytes of JSON,
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//   ...}
// read event by event, so that duplicate names are seen and nothing nests deeper than the format does.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/safetensors_checksums.h"

namespace weyl {
namespace {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "files are mapped as they are");

constexpr std::string_view metadata_key = "__metadata__";

class HeaderReader : public json::json_sax_t {
 public:
  HeaderReader(SafetensorsHeader& header, std::string_view where) : header_(header), where_(where) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t n) override { return unexpected(text("the negative number ", n)); }
  bool number_float(number_float_t, const string_t& token) override {
    return unexpected(text("the number ", printable(token, 40)));
  }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t n) override {
    if (place_ == Place::shape) {
      check(n <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
            "shape must be of 63-bit integers, got ", n);
      check(tensor_.shape.size() < most_dimensions, "shape must have at most ", most_dimensions,
            " dimensions");
      tensor_.shape.push_back(static_cast<int64_t>(n));
      return true;
    }
    if (place_ == Place::offsets) {
      check(offsets_ < 2, "data_offsets must be two integers, got more");
      (offsets_++ == 0 ? tensor_.begin : tensor_.end) = n;
      return true;
    }
    return unexpected(text("the number ", n));
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = value;
      return true;
    }
    if (place_ == Place::tensor && key_ == "dtype") {
      const auto type = element_type_named(value);
      check(type.has_value(), "dtype must be one of BOOL, U8, I8, I16, U16, I32, U32, I64, U64, ",
            "F16, BF16, F32, F64, got ", quote(value, 20));
      tensor_.type = *type;
      return true;
    }
    return unexpected("a string");
  }

  bool key(string_t& key) override {
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
    return true;
  }

  bool start_object(std::size_t) override {
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
      return unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      check(has_type_ && has_shape_ && has_offsets_, "must have dtype, shape and data_offsets, no ",
            !has_type_    ? "dtype"
            : !has_shape_ ? "shape"
                          : "data_offsets");
      header_.tensors.emplace(name_, std::move(tensor_));
    }
    place_ = place_ == Place::file ? Place::outside : Place::file;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::tensor && key_ == "shape") {
      place_ = Place::shape;
    } else if (place_ == Place::tensor && key_ == "data_offsets") {
      place_ = Place::offsets;
    } else {
      return unexpected("an array");
    }
    return true;
  }

  bool end_array() override {
    check(place_ != Place::offsets || offsets_ == 2, "data_offsets must be two integers, got ", offsets_);
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    std::string_view message = error.what();  // "[json.exception.parse_error.101] parse error at line ..."
    message.remove_prefix(std::min(message.size(), message.find("] ") + 2));
    throw DataError(text(where_, ": the header must be JSON: ", printable(message, 160)));
  }

 private:
  enum class Place { outside, file, metadata, tensor, shape, offsets };

  /// Like require, but says where only when it must: headers have many tensors.
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      throw DataError(text(here(), parts...));
    }
  }

  std::string here() const { return text(where_, ": tensor ", quote(name_), ": "); }

  bool unexpected(const std::string& what) const {
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
  HeaderReader reader(header, where);
  json::sax_parse(begin, begin + length, &reader);
  check_layout(header, file_size - header.data_begin, where);
  take_checksums(header, checked, where);
  return header;
}

}  // namespace weyl

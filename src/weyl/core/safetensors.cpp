#include "weyl/core/safetensors.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// The length field and the header, or what stands there in another kind of file.
std::vector<std::byte> head_of(const InputFile& file) {
  uint64_t length = 0;
  file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  std::vector<std::byte> head(sizeof length);
  if (length <= longest_safetensors_header) {  // a longer one is refused unread
    head.resize(std::min(file.size(), sizeof length + length));
  }
  head.resize(file.read(0, head));
  return head;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : file_(path), header_(parse_safetensors(head_of(file_), file_.size(), path)) {}

bool SafetensorsFile::contains(const std::string& name) const {
  return header().tensors.contains(name);
}

const TensorEntry& SafetensorsFile::entry(const std::string& name) const {
  const auto found = header().tensors.find(name);
  require<DataError>(found != header().tensors.end(), path(), ": no tensor ", quote(name));
  return found->second;
}

std::vector<std::byte> SafetensorsFile::bytes(const std::string& name) const {
  const auto& tensor = entry(name);
  std::vector<std::byte> bytes(tensor.end - tensor.begin);
  read(name, bytes);
  return bytes;
}

void SafetensorsFile::read(const std::string& name, std::span<std::byte> out) const {
  const auto& tensor = entry(name);
  require(out.size() == tensor.end - tensor.begin, path(), ": tensor ", quote(name), " has ",
          tensor.end - tensor.begin, " bytes, not ", out.size());
  // Block by block, so that a block is still in the processor's cache when its checksum is taken.
  for (size_t begin = 0; begin < out.size(); begin += checksum_block) {
    read_block(name, tensor, begin, out.subspan(begin, std::min(checksum_block, out.size() - begin)));
  }
}

void SafetensorsFile::read_part(const std::string& name, uint64_t begin, std::span<std::byte> out) const {
  const auto& tensor = entry(name);
  const uint64_t size = tensor.end - tensor.begin;
  require(begin <= size && out.size() <= size - begin, path(), ": tensor ", quote(name), " has ", size,
          " bytes, there are none from ", begin, " to ", begin + out.size());
  std::vector<std::byte> block;
  while (!out.empty()) {
    const uint64_t first = begin / checksum_block * checksum_block;
    block.resize(std::min<uint64_t>(checksum_block, size - first));
    read_block(name, tensor, first, block);
    const size_t count = std::min<uint64_t>(out.size(), first + block.size() - begin);
    std::copy_n(block.begin() + static_cast<int64_t>(begin - first), count, out.begin());
    out = out.subspan(count);
    begin += count;
  }
}

void SafetensorsFile::verify(const std::string& name) const {
  const auto& tensor = entry(name);
  const uint64_t size = tensor.end - tensor.begin;
  std::vector<std::byte> block(std::min<uint64_t>(size, checksum_block));
  for (uint64_t begin = 0; begin < size; begin += checksum_block) {
    read_block(name, tensor, begin, std::span(block).first(std::min(checksum_block, size - begin)));
  }
}

void SafetensorsFile::verify() const {
  for (const auto& [name, tensor] : header().tensors) {
    verify(name);
  }
}

/// The bytes of a tensor from `begin`, a multiple of checksum_block, on.
void SafetensorsFile::read_block(const std::string& name, const TensorEntry& tensor, uint64_t begin,
                                 std::span<std::byte> out) const {
  require<DataError>(file_.read(header_.data_begin + tensor.begin + begin, out) == out.size(), path(),
                     ": tensor ", quote(name),
                     ": the file ends within it: it was shortened while it was read");
  if (header_.has_checksums) {
    const auto said =
        std::string_view(tensor.checksums).substr(begin / checksum_block * checksum_digits, checksum_digits);
    const std::string found = checksum(out);
    require<DataError>(said == found, path(), ": tensor ", quote(name), ": the checksum of its bytes ", begin,
                       " to ", begin + out.size(), " must be ", printable(said), ", is ", found,
                       ": the file is damaged");
  }
}

namespace {

/// The length field and the header.
std::string head_text(const std::string& path, std::span<const TensorBytes> tensors,
                      const std::map<std::string, std::string>& metadata) {
  const auto quoted = [&](std::string_view words) {
    require<DataError>(is_utf8(words), path, ": names and metadata of tensors must be UTF-8");
    return json_string(words);
  };
  std::string entries;
  std::set<std::string_view> names{"__metadata__"};
  uint64_t end = 0;
  for (const auto& tensor : tensors) {
    require(names.insert(tensor.name).second, path, ": tensor ", quote(tensor.name),
            " is given twice or is reserved");
    const auto bytes = byte_count(tensor.type, tensor.shape);
    require(bytes == tensor.bytes.size(), path, ": tensor ", quote(tensor.name), ": ", name_of(tensor.type),
            " of shape ", shape_text(tensor.shape), " does not have ", tensor.bytes.size(), " bytes");
    std::string shape;
    for (const int64_t n : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(n);
    }
    entries += text(",", quoted(tensor.name), R"(:{"dtype":")", name_of(tensor.type), R"(","shape":[)", shape,
                    R"(],"data_offsets":[)", end, ",", end + *bytes, "]}");
    end += *bytes;
  }
  // What the file says of itself, the checksums first.
  std::string said = text(quoted(header_checksum_key), ":", quoted(std::string(checksum_digits, '0')), ",",
                          quoted(tensor_checksums_key), ":", quoted(tensor_checksums(tensors)));
  for (const auto& [key, value] : metadata) {
    if (key != header_checksum_key && key != tensor_checksums_key) {  // those of other bytes
      said += "," + quoted(key) + ":" + quoted(value);
    }
  }
  const std::string json = R"({"__metadata__":{)" + said + "}" + entries + "}";
  constexpr size_t alignment = 64, length_field = 8;
  std::string head((length_field + json.size() + alignment - 1) / alignment * alignment, ' ');
  const uint64_t length = head.size() - length_field;
  std::memcpy(head.data(), &length, length_field);
  head.replace(length_field, json.size(), json);
  seal_header(head);
  return head;
}

}  // namespace

void write_safetensors(const std::string& path, std::span<const TensorBytes> tensors,
                       const std::map<std::string, std::string>& metadata, Existing existing) {
  const std::string head = head_text(path, tensors, metadata);
  AtomicFile file(path, existing);
  file.write(head);
  for (const auto& tensor : tensors) {
    file.write(tensor.bytes);
  }
  file.commit();
}

namespace {

constexpr size_t length_field = 8;
constexpr std::string_view header_begin = R"({"__metadata__":{"weyl.xxh3_64.header":")";
constexpr size_t digits_at = length_field + header_begin.size();

Json parsed_or_null(const std::string& json) {
  try {
    return Json::parse(json, "");
  } catch (const DataError&) {
    return {};
  }
}

/// Of a head whose digits are zeros.
std::string digits_for(const std::string& head) {
  return checksum(std::as_bytes(std::span(head)));
}

}  // namespace

std::string tensor_checksums(std::span<const TensorBytes> tensors) {
  std::map<std::string_view, std::string> sums;
  for (const auto& tensor : tensors) {
    std::string& blocks = sums[tensor.name];
    for (auto rest = tensor.bytes; !rest.empty();
         rest = rest.subspan(std::min(rest.size(), checksum_block))) {
      blocks += checksum(rest.first(std::min(rest.size(), checksum_block)));
    }
  }
  std::string json;
  for (const auto& [name, blocks] : sums) {
    json += (json.empty() ? "{" : ",") + json_string(name) + ":\"" + blocks + '"';
  }
  return json.empty() ? "{}" : json + "}";
}

void seal_header(std::string& head) {
  head.replace(digits_at, checksum_digits, checksum_digits, '0');
  head.replace(digits_at, checksum_digits, digits_for(head));
}

bool check_header(std::span<const std::byte> head, std::string_view where) {
  std::string text(reinterpret_cast<const char*>(head.data()), head.size());
  if (!std::string_view(text).substr(length_field).starts_with(header_begin) ||
      text.size() < digits_at + checksum_digits) {
    return false;
  }
  const std::string said = text.substr(digits_at, checksum_digits);
  text.replace(digits_at, checksum_digits, checksum_digits, '0');
  const std::string found = digits_for(text);
  require<DataError>(said == found, where, ": header: the checksum must be ", printable(said), ", is ", found,
                     ": the file is damaged");
  return true;
}

void take_checksums(SafetensorsHeader& header, bool checked, std::string_view where) {
  const auto entry = header.metadata.extract(std::string(tensor_checksums_key));
  const bool sealed = !header.metadata.extract(std::string(header_checksum_key)).empty();
  require<DataError>(checked == !entry.empty() && checked == sealed, where,
                     ": header: the metadata must have ", header_checksum_key, " first and ",
                     tensor_checksums_key,
                     ", or neither: the file is damaged, or another program kept one of them");
  if (!checked) {
    return;
  }
  const Json sums = parsed_or_null(entry.mapped());
  require<DataError>(sums.is_object() && sums.members().size() == header.tensors.size(), where, ": metadata ",
                     tensor_checksums_key, ": must be a JSON object with ", header.tensors.size(),
                     " entries, one for each tensor");
  for (auto& [name, tensor] : header.tensors) {
    const Json* found = sums.find(name);
    const uint64_t blocks = (tensor.end - tensor.begin + checksum_block - 1) / checksum_block;
    tensor.checksums = found != nullptr ? found->string_or("") : "";
    require<DataError>(
        found != nullptr && found->is_string() && tensor.checksums.size() == blocks * checksum_digits, where,
        ": metadata ", tensor_checksums_key, ": tensor ", quote(name), " must have ", blocks,
        " checksums of ", checksum_digits, " digits");
  }
  header.has_checksums = true;
}

// The header of a safetensors file: u64 length (little endian), then that many bytes of JSON,
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//   ...}
// read event by event, so that duplicate names are seen and nothing nests deeper than the format does.

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

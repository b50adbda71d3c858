#include "weyl/core/safetensors.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors_checksums.h"
#include "weyl/core/utf8.h"

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

}  // namespace weyl

#include "weyl/core/safetensors.h"

#include <nlohmann/json.hpp>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"

namespace weyl {

struct SafetensorsFile::Mapping {
  std::string path;
  MappedFile file;
  SafetensorsHeader header;
};

SafetensorsFile::SafetensorsFile(const std::string& path)
    : mapping_(new Mapping{path, MappedFile(path), {}}) {
  const auto bytes = mapping_->file.bytes();
  mapping_->header = parse_safetensors(bytes, bytes.size(), path);
}

SafetensorsFile::~SafetensorsFile() = default;

const SafetensorsHeader& SafetensorsFile::header() const {
  return mapping_->header;
}

const std::string& SafetensorsFile::path() const {
  return mapping_->path;
}

bool SafetensorsFile::contains(const std::string& name) const {
  return header().tensors.contains(name);
}

const TensorEntry& SafetensorsFile::entry(const std::string& name) const {
  const auto found = header().tensors.find(name);
  require<DataError>(found != header().tensors.end(), path(), ": no tensor ", quote(name));
  return found->second;
}

std::span<const std::byte> SafetensorsFile::bytes(const std::string& name) const {
  const auto& tensor = entry(name);
  return mapping_->file.bytes().subspan(header().data_begin + tensor.begin, tensor.end - tensor.begin);
}

namespace {

std::string header_text(const std::string& path, std::span<const TensorBytes> tensors,
                        const std::map<std::string, std::string>& metadata) {
  try {
    std::string out;
    // Text by text: an ordered object of the library looks through all names at each that is added.
    const auto add = [&](std::string_view name, const std::string& entry) {
      out += (out.empty() ? "{" : ",") + nlohmann::json(name).dump() + ":" + entry;
    };
    if (!metadata.empty()) {
      add("__metadata__", nlohmann::json(metadata).dump());
    }
    std::set<std::string_view> names{"__metadata__"};
    uint64_t end = 0;
    for (const auto& tensor : tensors) {
      require(names.insert(tensor.name).second, path, ": tensor ", quote(tensor.name),
              " is given twice or is reserved");
      const auto bytes = byte_count(tensor.type, tensor.shape);
      require(bytes == tensor.bytes.size(), path, ": tensor ", quote(tensor.name), ": ", name_of(tensor.type),
              " of shape ", shape_text(tensor.shape), " does not have ", tensor.bytes.size(), " bytes");
      const nlohmann::ordered_json entry{
          {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {end, end + *bytes}}};
      add(tensor.name, entry.dump());
      end += *bytes;
    }
    out += out.empty() ? "{}" : "}";
    constexpr size_t alignment = 64, length_field = 8;
    out.resize((length_field + out.size() + alignment - 1) / alignment * alignment - length_field, ' ');
    return out;
  } catch (const nlohmann::json::type_error&) {
    throw DataError(text(path, ": names and metadata of tensors must be UTF-8"));
  }
}

}  // namespace

void write_safetensors(const std::string& path, std::span<const TensorBytes> tensors,
                       const std::map<std::string, std::string>& metadata, Existing existing) {
  const std::string header = header_text(path, tensors, metadata);
  const uint64_t length = header.size();
  AtomicFile file(path, existing);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const auto& tensor : tensors) {
    file.write(tensor.bytes);
  }
  file.commit();
}

}  // namespace weyl

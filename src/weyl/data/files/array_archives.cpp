// Arrays by name, from one container to the other: what they mean is nobody's business here.
#include <filesystem>
#include <map>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/files/convert.h"
#include "weyl/data/formats/npz.h"

namespace weyl {
namespace {

// An .npz has no place for metadata, so they travel as one more array: the bytes of a JSON object. No tensor
// can have this name, which safetensors keeps for itself.
constexpr const char* metadata_name = "__metadata__";

std::map<std::string, std::string> metadata_of(const Array& array, const std::string& where) {
  require<DataError>(array.type == ElementType::u8 && array.shape.size() == 1, where,
                     ": __metadata__ must be the bytes of a JSON object");
  const std::string_view source(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  const Json json = Json::parse(source, where + ": __metadata__");
  require<DataError>(json.is_object(), where, ": __metadata__ must be a JSON object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.members()) {
    metadata[key] = value.string_or("");
  }
  return metadata;
}

bool is_file(const std::string& path) {
  return !std::filesystem::is_directory(path);
}

}  // namespace

bool ArrayArchives::converts(const std::string& in, const std::string& out, const OptionTexts&) {
  return in.ends_with(".npz") && is_file(in) && out.ends_with(".safetensors");
}

Converted ArrayArchives::convert(const std::string& in, const std::string& out) {
  require_new(out);
  const std::vector<NamedArray> arrays = read_npz(in);
  std::vector<TensorBytes> tensors;
  std::map<std::string, std::string> metadata;
  for (const auto& [name, array] : arrays) {
    if (name == metadata_name) {
      metadata = metadata_of(array, in);
      continue;
    }
    tensors.push_back({name, array.type, array.shape, array.bytes});
  }
  write_safetensors(out, tensors, metadata, Existing::keep);
  return {{out}, {}};
}

bool TensorFiles::converts(const std::string& in, const std::string& out, const OptionTexts&) {
  return in.ends_with(".safetensors") && is_file(in) && out.ends_with(".npz");
}

Converted TensorFiles::convert(const std::string& in, const std::string& out) {
  require_new(out);
  const SafetensorsFile file(in);
  std::vector<NamedArray> arrays;
  for (const auto& [name, entry] : file.header().tensors) {
    arrays.push_back({name, {entry.type, entry.shape, file.bytes(name)}});
  }
  if (!file.header().metadata.empty()) {
    Json json = Json::object();
    for (const auto& [key, value] : file.header().metadata) {
      json.set(key, value);
    }
    const std::string source = json.dump();
    const auto bytes = std::as_bytes(std::span(source));
    arrays.push_back({metadata_name,
                      {ElementType::u8, {static_cast<int64_t>(bytes.size())}, {bytes.begin(), bytes.end()}}});
  }
  write_npz(out, arrays, false, Existing::keep);
  return {{out}, {}};
}

}  // namespace weyl

#include "weyl/data/formats/weights.h"

#include <map>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/formats/pytorch_zip.h"

namespace weyl {
namespace {

std::vector<NamedArray> safetensors_of(const std::string& path) {
  const SafetensorsFile file(path);
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : file.header().tensors) {
    arrays.push_back({name, {tensor.type, tensor.shape, file.bytes(name)}});
  }
  return arrays;
}

std::vector<NamedArray> tensors_of(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string_view contents(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr size_t length_field = 8;  // the header of a safetensors file begins after it
  const bool zip = contents.starts_with("PK\x03\x04") || contents.starts_with("PK\x05\x06");
  const bool header_first = !zip && contents.size() > length_field && contents[length_field] == '{';
  const auto named = [&](std::string_view suffix) { return path.ends_with(suffix); };
  if (!header_first &&
      (zip || contents.starts_with('\x80') || named(".pt") || named(".pth") || named(".ckpt"))) {
    return parse_pytorch_zip(bytes, path);
  }
  require<DataError>(header_first || named(".safetensors"), path,
                     ": weights must be a safetensors file or a PyTorch zip checkpoint, this is neither");
  return safetensors_of(path);
}

}  // namespace

std::string unwrapped_name(std::string_view name) {
  std::vector<std::string_view> components;
  for (std::string_view rest = name;;) {
    const auto dot = rest.find('.');
    const auto component = rest.substr(0, dot);
    const bool last = dot == std::string_view::npos;
    const bool wrapper =
        component == "_orig_mod" || (components.empty() && (component == "module" || component == "net"));
    if (last || !wrapper) {
      components.push_back(component);
    }
    if (last) {
      break;
    }
    rest.remove_prefix(dot + 1);
  }
  std::string result(components.front());
  for (size_t i = 1; i < components.size(); ++i) {
    result += '.';
    result += components[i];
  }
  return result;
}

std::vector<NamedArray> read_weights(const std::string& path) {
  auto arrays = tensors_of(path);
  std::map<std::string, std::string> origin;  // of each unwrapped name
  for (auto& [name, array] : arrays) {
    const auto [other, is_new] = origin.emplace(unwrapped_name(name), name);
    require<DataError>(is_new, path, ": tensors ", quote(other->second), " and ", quote(name), " are both ",
                       quote(other->first), " without their wrappers' prefixes");
    name = other->first;
  }
  return arrays;
}

}  // namespace weyl

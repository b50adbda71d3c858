#include "weyl/data/containers/weights.h"

#include <algorithm>
#include <map>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/containers/pickled_tensors.h"
#include "weyl/data/containers/pytorch_zip.h"

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

namespace {

bool is_zip(std::span<const std::byte> file) {
  constexpr std::string_view magic = "PK\x03\x04";
  return std::string_view(reinterpret_cast<const char*>(file.data()), file.size()).starts_with(magic);
}

/// The value of a key of a dict; null when there is none.
const PickleValue* find(const Pickle& pickle, const PickleValue& dict, std::string_view key) {
  for (size_t i = 0; dict.kind == PickleKind::dict && i + 1 < dict.items.size(); i += 2) {
    const PickleValue& name = pickle[dict.items[i]];
    if (name.kind == PickleKind::text && name.text == key) {
      return &pickle[dict.items[i + 1]];
    }
  }
  return nullptr;
}

Setting setting_of(const PickleValue& value) {
  switch (value.kind) {
    case PickleKind::none:
      return {};
    case PickleKind::boolean:
      return {Setting::Kind::boolean, value.integer != 0 ? 1. : 0., {}};
    case PickleKind::integer:
      return {Setting::Kind::number, static_cast<double>(value.integer), {}};
    case PickleKind::real:
      return {Setting::Kind::number, value.real, {}};
    case PickleKind::text:
      return {Setting::Kind::word, 0, std::string(value.text)};
    default:
      return {Setting::Kind::other, 0, {}};
  }
}

}  // namespace

Settings hyper_parameters_of(const Pickle& pickle) {
  Settings settings;
  const PickleValue* dict = find(pickle, pickle[pickle.root], "hyper_parameters");
  for (size_t i = 0; dict != nullptr && dict->kind == PickleKind::dict && i + 1 < dict->items.size();
       i += 2) {
    if (const PickleValue& name = pickle[dict->items[i]]; name.kind == PickleKind::text) {
      settings[std::string(name.text)] = setting_of(pickle[dict->items[i + 1]]);
    }
  }
  return settings;
}

Settings parse_hyper_parameters(std::span<const std::byte> file, std::string_view where) {
  if (!is_zip(file)) {
    return {};
  }
  const std::vector<std::byte> program = PytorchArchive(file, where).pickle();
  return hyper_parameters_of(parse_pickle(program, where));
}

Settings read_hyper_parameters(const std::string& path) {
  return parse_hyper_parameters(MappedFile(path).bytes(), path);
}

std::vector<bool> parse_trained_rows(std::span<const std::byte> file, int64_t rows, int64_t columns,
                                     std::string_view where) {
  if (!is_zip(file)) {
    return {};
  }
  PytorchArchive archive(file, where);
  const std::vector<std::byte> program = archive.pickle();
  const Pickle pickle = parse_pickle(program, where);
  std::vector<bool> moved(static_cast<size_t>(rows));
  try {
    std::vector<PickledTensor> moments = pickled_tensors_of(pickle, "optimizer_states", where);
    std::erase_if(moments, [&](const PickledTensor& t) {
      return !t.name.ends_with(".exp_avg_sq") || t.shape != std::vector<int64_t>{rows, columns};
    });
    for (const NamedArray& moment : archive.arrays(moments)) {
      const auto& bytes = moment.array.bytes;  // of zeros all are 0: moments are not negative
      const size_t of_a_row = moved.empty() ? 0 : bytes.size() / moved.size();
      for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != std::byte{0}) {
          moved[i / of_a_row] = true;
        }
      }
    }
  } catch (const UnreadableError&) {
    throw;
  } catch (const DataError&) {
    return {};  // the weights are what is asked for: an optimiser of another kind says nothing
  }
  return std::find(moved.begin(), moved.end(), true) == moved.end() ? std::vector<bool>() : moved;
}

std::vector<bool> read_trained_rows(const std::string& path, int64_t rows, int64_t columns) {
  return parse_trained_rows(MappedFile(path).bytes(), rows, columns, path);
}

}  // namespace weyl

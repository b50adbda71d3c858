#include "weyl/data/formats/checkpoint_record.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/data/formats/pickled_tensors.h"
#include "weyl/data/formats/pytorch_zip.h"

namespace weyl {
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

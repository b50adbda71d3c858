#include "weyl/data/tensors/files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/carriers/dataset_facts.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/base/inspection.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/tensors/options.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// Grids of one file, of which it says how far apart their cells are.
class SpacedGrids : public InMemory {
 public:
  explicit SpacedGrids(TensorFile file) : InMemory(std::move(file.batch), std::move(file.schema)) {
    const Grid& grid = std::get<Grid>(all().input);
    lattice_ = {grid.values.sizes().slice(2).vec(), grid.spacing};
  }
  Lattice lattice(int64_t /*index*/) const override { return lattice_; }

 private:
  Lattice lattice_;
};

std::shared_ptr<const Dataset> in_memory(const std::string& path, TensorFile file) {
  if (std::holds_alternative<Grid>(file.batch.input) && SafetensorsFile(path).contains("spacing")) {
    return std::make_shared<SpacedGrids>(std::move(file));
  }
  return std::make_shared<InMemory>(std::move(file.batch), std::move(file.schema));
}

std::shared_ptr<const Dataset> open_told(const std::string& path, const Interface& interface) {
  return in_memory(path, read_tensor_file(path, schema_of(with_carrier_of(path, interface))));
}

std::string file_of(const std::string& folder, const char* split) {
  return (fs::path(folder) / (std::string(split) + ".safetensors")).string();
}

}  // namespace

Schema declared_schema(const TensorsDataOptions&, const Interface* interface) {
  require<ConfigError>(interface != nullptr,
                       "data set `tensors`: needs an [interface] that says what its tensors are");
  return schema_of(*interface);
}

Splits open_set(const TensorsDataOptions& options, const Interface* interface) {
  declared_schema(options, interface);
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; it must hold train.safetensors and may hold valid and test");
  const auto split = [&](const char* name) -> std::shared_ptr<const Dataset> {
    const std::string path = file_of(options.path, name);
    if (!fs::exists(path)) {
      return nullptr;
    }
    auto data = open_told(path, *interface);
    const std::string apart =
        units_apart(*interface, data->schema().interface, "[interface] says", "the file says");
    require<DataError>(apart.empty(), path, ": ", apart);
    return data;
  };
  Splits splits{split("train"), split("valid"), split("test")};
  require<DataError>(splits.train || splits.valid || splits.test, options.path,
                     ": holds none of train.safetensors, valid.safetensors and test.safetensors");
  return splits;
}

bool TensorFiles::takes(const std::string& path, AskedSet) {
  return path.ends_with(".safetensors") && !fs::is_directory(path);
}

std::shared_ptr<const Dataset> TensorFiles::open(const OpenRequest& request) {
  return request.interface != nullptr
             ? open_told(request.path, *request.interface)
             : in_memory(request.path, read_tensor_file(request.path, request.values));
}

bool TensorFiles::lays_out(const std::string& folder) {
  return is_tensor_folder(folder);
}

NamedSets TensorFiles::sets(const std::string& folder) {
  return tensor_file_sets(
      folder, [](const std::string& file) { return open(OpenRequest{.path = file, .values = Values::any}); });
}

SplitIndices TensorFiles::split(const std::string& path, const std::string& folder,
                                const SplitOptions& options) {
  const TensorFile all = read_tensor_file(path);
  auto metadata = SafetensorsFile(path).header().metadata;
  metadata.erase("format");
  metadata.merge(split_metadata(path, options));
  return write_parts(
      folder, options, all.batch.count(), [&](const std::string& out, const std::vector<int64_t>& samples) {
        write_tensor_file(out, take(all.batch, samples, all.schema), all.schema, metadata, Existing::keep);
      });
}

// Arrays by name, from one container to the other. What they mean is looked at where the options say it.

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

/// What the options say joins what the archive says itself. Poses of no group would be read by nobody.
void tell(std::map<std::string, std::string>& metadata, const std::vector<NamedArray>& arrays,
          const ArrayConvertOptions& options, const std::string& where) {
  const auto say = [&](const char* key, const std::string& value) {
    if (value.empty()) {
      return;
    }
    const auto [said, fresh] = metadata.emplace(key, value);
    require<ConfigError>(fresh || said->second == value, where, ": ", key, ": must be ", quote(said->second),
                         ", as the archive says itself, got ", quote(value));
  };
  say("group", options.group ? std::string(name_of(*options.group)) : "");
  say("length_unit", options.length_unit);
  say("time_unit", options.time_unit);
  const auto named = [&](const char* name) {
    const auto at = std::ranges::find(arrays, name, &NamedArray::name);
    return at != arrays.end() ? &at->array : nullptr;
  };
  const Array *elements = named("elements"), *offsets = named("offsets");
  if (options.group) {
    const int64_t m = matrix_size(*options.group);
    require<ConfigError>(elements != nullptr && offsets != nullptr, where,
                         ": group goes with poses, arrays `elements` (N,m,m) and `offsets` (B+1)");
    const auto& shape = elements->shape;
    require<ConfigError>(shape.size() == 3 && shape[1] == m && shape[2] == m, where,
                         ": elements must be (N, ", m, ", ", m, ") for group=", name_of(*options.group),
                         ", got ", shape_text(shape));
    require<DataError>(offsets->type == ElementType::i64, where, ": offsets must be int64, got ",
                       name_of(offsets->type));
  }
  const std::vector<std::string> groups(std::begin(lie_group_names), std::end(lie_group_names));
  const bool poses = elements != nullptr && elements->shape.size() == 3 && offsets != nullptr;
  require<ConfigError>(
      metadata.contains("group") || !poses, where,
      ": holds poses (elements, offsets) and does not say of which group: add group=se3, or one of ",
      joined(groups));
}

bool is_file(const std::string& path) {
  return !std::filesystem::is_directory(path);
}

}  // namespace

bool ArrayArchives::converts(const std::string& in, const std::string& out, const OptionTexts&) {
  return in.ends_with(".npz") && is_file(in) && out.ends_with(".safetensors");
}

Converted ArrayArchives::convert(const std::string& in, const std::string& out,
                                 const ArrayConvertOptions& options) {
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
  tell(metadata, arrays, options, in);
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

// What `weyl predict` wrote, as one of the file formats (formats.h): outputs without the samples that they are of.

namespace {

Json said_of(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.header().metadata.find(key);
  require<DataError>(found != file.header().metadata.end(), file.path(), ": the metadata must hold '", key,
                     "', as those of predictions do");
  return Json::parse(found->second, file.path() + ": metadata '" + key + "'");
}

}  // namespace

bool PredictionFiles::takes(const std::string& path, AskedSet) {
  return tensor_file_format(path) == predictions_format;
}

void PredictionFiles::inspect(const std::string& path, const InspectionReport& report) {
  const SafetensorsFile file(path);
  const Json samples = said_of(file, "samples"), outputs = said_of(file, "outputs");
  const auto number = [&](const char* key) {
    const Json* x = samples.find(key);
    const double value = x != nullptr ? x->number_or(-1) : -1;
    require<DataError>(value >= 0 && value < 1e15, path, ": metadata 'samples': must hold '", key,
                       "', a number that is not negative");
    return value;
  };
  Inspection result;
  const Json* carrier = samples.find("carrier");
  const auto name = std::ranges::find(carrier_names, carrier != nullptr ? carrier->string_or("") : "");
  require<DataError>(name != std::end(carrier_names), path,
                     ": metadata 'samples': must hold the name of a carrier");
  result.carrier = static_cast<Carrier>(name - std::begin(carrier_names));
  result.samples = static_cast<int64_t>(number("count"));
  result.least_tokens = static_cast<int64_t>(number("least_tokens"));
  result.most_tokens = static_cast<int64_t>(number("most_tokens"));
  result.mean_tokens = number("mean_tokens");
  Summaries fields;
  for (const auto& [name, entry] : file.header().tensors) {
    std::string unit;
    for (const Json& output : outputs.items()) {
      const Json *called = output.find("name"), *measured = output.find("unit");
      if (called != nullptr && measured != nullptr && called->string_or("") == name) {
        unit = measured->string_or("");
      }
    }
    fields.add(name, unit, load_tensor(file, name));
  }
  result.fields = fields.done();
  for (const FieldSummary& field : result.fields) {
    if (field.missing > 0) {
      result.warnings.push_back(text(field.name, ": ", field.missing, " values are not finite"));
    }
  }
  result.warnings.emplace_back("these are predictions: they hold no inputs, and no model reads them");
  report("", result);
}

}  // namespace weyl

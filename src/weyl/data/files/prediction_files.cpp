// What `weyl predict` wrote, as one of the file formats (formats.h): outputs without the samples that they are of.
#include <algorithm>
#include <iterator>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/files/field_summaries.h"
#include "weyl/data/files/formats.h"

namespace weyl {
namespace {

Json said_of(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.header().metadata.find(key);
  require<DataError>(found != file.header().metadata.end(), file.path(), ": the metadata must hold '", key,
                     "', as those of predictions do");
  return Json::parse(found->second, file.path() + ": metadata '" + key + "'");
}

}  // namespace

bool PredictionFiles::takes(const std::string& path, const DataOptions& options) {
  if (!TensorFiles::takes(path, options)) {
    return false;
  }
  const SafetensorsFile file(path);
  const auto format = file.header().metadata.find("format");
  return format != file.header().metadata.end() && format->second == predictions_format;
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

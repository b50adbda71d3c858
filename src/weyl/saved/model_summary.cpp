#include "weyl/saved/model_summary.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "weyl/carriers/quantity.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/version.h"

namespace weyl {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view carriers[] = {"points", "poses", "grid"};  // in the order of Carrier

std::vector<std::string> names(const Json* json) {
  std::vector<std::string> items;
  if (json != nullptr) {
    for (const auto& item : json->items()) {
      items.push_back(printable(item.string_or("")));
    }
  }
  return items;
}

// Zero for what no count can be: a file may claim anything.
int64_t count(const Json* json) {
  const double found = json != nullptr ? json->number_or(0) : 0;
  return found >= 0 && found < 9e15 ? static_cast<int64_t>(found) : 0;
}
double number(const Json* json) {
  return json != nullptr ? json->number_or(0) : 0;
}
std::string word(const Json* json) {
  return json != nullptr ? printable(json->string_or("")) : std::string();
}

// A word that may name Angstroms by their letter.
std::string unit(const Json* json) {
  constexpr std::string_view angstrom = "\u00c5";
  const std::string all = json != nullptr ? json->string_or("") : std::string();
  std::string result;
  for (size_t begin = 0;;) {
    const size_t end = all.find(angstrom, begin);
    result += printable(std::string_view(all).substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) {
      return result;
    }
    result += angstrom;
    begin = end + angstrom.size();
  }
}

// The entries of one file's metadata, and the file's name for messages.
struct Entries {
  const std::map<std::string, std::string>& metadata;
  const std::string& where;

  const std::string& at(const std::string& key) const {
    const auto found = metadata.find(key);
    require<DataError>(found != metadata.end(), where, ": metadata must have '", key, "', which is missing");
    return found->second;
  }
  Json json(const std::string& key) const {
    return Json::parse(at(key), text(where, ": metadata '", key, "'"));
  }
};

// The type that most weights have.
std::string dtype_of(const SafetensorsHeader& header) {
  static const std::map<ElementType, std::string> known{{ElementType::f16, "float16"},
                                                        {ElementType::bf16, "bfloat16"},
                                                        {ElementType::f32, "float32"},
                                                        {ElementType::f64, "float64"}};
  std::map<std::string, uint64_t> bytes;
  for (const auto& [name, entry] : header.tensors) {
    const auto type = known.find(entry.type);
    if (type != known.end() && !name.starts_with("task.")) {
      bytes[type->second] += entry.end - entry.begin;
    }
  }
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "float32" : most->first;
}

}  // namespace

std::map<std::string, std::string> to_metadata(const ModelSummary& s) {
  Json parts = Json::array();
  for (const auto& [name, parameters] : s.parts) {
    parts.add(Json::object().set("name", name).set("parameters", parameters));
  }
  Json training = Json::object();
  training.set("step", s.step).set("epoch", s.epoch);
  if (!s.metric.empty()) {
    training.set("metric", s.metric).set("value", s.value).set("unit", s.unit);
  }
  Interface interface = s.interface;
  std::map<std::string, std::string> metadata{
      {"format_version", std::to_string(s.format_version)},
      {"weyl_version", version()},
      {"system", s.system},
      {"carrier", s.carrier},
      {"task", s.task},
      {"recipe", s.recipe},
      {"interface", write_toml([&](Fields& f) { fields(f, interface); })},
      {"symmetry", Json::object()
                       .set("exact", Json::array(s.exact))
                       .set("approximate", Json::array(s.approximate))
                       .dump()},
      {"parameters", Json::object()
                         .set("count", s.parameters)
                         .set("real", s.parameters_real)
                         .set("parts", std::move(parts))
                         .dump()},
      {"flops_per_token", Json::object()
                              .set("forward", s.flops_forward)
                              .set("train", s.flops_train)
                              .set("nominal", s.flops_nominal)
                              .dump()},
      {"training", training.dump()}};
  if (!s.trained_on.empty()) {
    metadata["trained_on"] = to_json_text(s.trained_on);
  }
  return metadata;
}

bool is_model(const SafetensorsHeader& header) {
  return header.metadata.contains("format_version") && header.metadata.contains("recipe");
}

ModelSummary read_summary(const SafetensorsHeader& header, const std::string& where) {
  const Entries entries{header.metadata, where};
  ModelSummary s;
  const std::string& format = entries.at("format_version");
  const auto [stop, error] = std::from_chars(format.data(), format.data() + format.size(), s.format_version);
  require<DataError>(error == std::errc() && stop == format.data() + format.size() && s.format_version >= 1 &&
                         s.format_version <= checkpoint_format,
                     where, ": format_version must be 1 to ", checkpoint_format, " for weyl ", version(),
                     ", got ", quote(format));
  s.weyl_version = printable(entries.at("weyl_version"));
  s.system = printable(entries.at("system"));
  s.task = printable(entries.at("task"));
  s.carrier = entries.at("carrier");
  require<DataError>(std::count(std::begin(carriers), std::end(carriers), s.carrier) == 1, where,
                     ": carrier must be points, poses or grid, got ", quote(s.carrier));
  s.recipe = entries.at("recipe");
  try {
    read_toml_text(entries.at("interface"), where + ": metadata 'interface'", {},
                   [&](Fields& f) { fields(f, s.interface); });
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
  const bool poses = s.carrier == "poses";
  require<DataError>(poses == s.interface.group.has_value(), where,
                     poses ? ": metadata 'interface' must name the group of its poses, names none"
                           : ": metadata 'interface' must name no group, its carrier is not poses");
  require<DataError>((s.carrier == "grid") == s.interface.grid, where,
                     ": metadata 'interface': `grid` must say whether the carrier is one, which is ",
                     s.carrier);
  const auto& group = s.interface.group;
  require<DataError>(!group || s.interface.dimension == dimension_of(*group), where,
                     ": metadata 'interface': the dimension must be that of its group, got ",
                     s.interface.dimension);
  const Json symmetry = entries.json("symmetry");
  s.exact = names(symmetry.find("exact"));
  s.approximate = names(symmetry.find("approximate"));
  const Json parameters = entries.json("parameters");
  s.parameters = count(parameters.find("count"));
  s.parameters_real = count(parameters.find("real"));
  if (const Json* parts = parameters.find("parts")) {
    for (const auto& part : parts->items()) {
      s.parts.emplace_back(word(part.find("name")), count(part.find("parameters")));
    }
  }
  const Json flops = entries.json("flops_per_token");
  s.flops_forward = number(flops.find("forward"));
  // Older files do not say: three forward passes, and the count of a model that does not.
  s.flops_train = flops.find("train") != nullptr ? number(flops.find("train")) : 3 * s.flops_forward;
  s.flops_nominal = flops.find("nominal") != nullptr ? number(flops.find("nominal"))
                                                     : 6 * static_cast<double>(s.parameters_real);
  const Json training = entries.json("training");
  s.step = count(training.find("step"));
  s.epoch = number(training.find("epoch"));
  s.metric = word(training.find("metric"));
  s.unit = unit(training.find("unit"));
  s.value = number(training.find("value"));
  if (const auto facts = header.metadata.find("trained_on"); facts != header.metadata.end()) {
    s.trained_on = sample_facts(facts->second, where + ": metadata 'trained_on'");
  }
  s.dtype = dtype_of(header);
  return s;
}

std::string model_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    require<DataError>(fs::exists(path, error), path, ": must be a model file or a run folder, got nothing");
    return path;
  }
  for (const char* place : {"best", "last", "previous", "."}) {
    const fs::path file = (fs::path(path) / place / "model.safetensors").lexically_normal();
    if (fs::is_regular_file(file, error)) {
      return file.string();
    }
  }
  throw DataError(
      text(path, ": must hold a checkpoint (best/model.safetensors or last/model.safetensors), got none"));
}

}  // namespace weyl

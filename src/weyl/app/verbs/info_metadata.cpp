#include "weyl/app/verbs/info_metadata.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/carriers/quantity.h"
#include "weyl/config/options_json.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/text_number.h"
#include "weyl/saved/model_summary.h"
#include "weyl/train/recipe.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

std::string of(const Json& json, std::string_view key) {
  const Json* value = json.find(key);
  return value != nullptr ? value->string_or("") : "";
}

double number_of(const Json* json) {
  return json != nullptr ? json->number_or(0) : 0;
}

// 1,234,567
std::string grouped(double count) {
  std::string digits = std::to_string(static_cast<long long>(count));
  for (auto i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<size_t>(i), 1, ',');
  }
  return digits;
}

std::string quantities(const Json* list) {
  std::string line;
  for (const Json& q : list != nullptr ? list->items() : std::vector<Json>{}) {
    const double channels = number_of(q.find("channels"));
    line += (line.empty() ? "" : ", ") + of(q, "name") + " (" + of(q, "level") + " " + of(q, "kind") +
            (channels > 1 ? " x" + short_number(channels) : "") +
            (of(q, "unit").empty() ? "" : ", " + of(q, "unit")) + ")";
  }
  return line.empty() ? "none" : line;
}

std::string names(const Json* list) {
  std::string line;
  for (const Json& name : list != nullptr ? list->items() : std::vector<Json>{}) {
    line += (line.empty() ? "" : ", ") + name.string_or("");
  }
  return line.empty() ? "none" : line;
}

void row(std::string& out, std::string_view name, const std::string& value) {
  out += std::string(name) + std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') + value + "\n";
}

Json symmetry_json(const ModelSummary& s, const Recipe& recipe) {
  Json symmetry =
      Json::object().set("exact", Json::array(s.exact)).set("approximate", Json::array(s.approximate));
  if (recipe.model.frames != FrameMethod::none) {
    symmetry.set("condition",
                 "for graphs that have principal axes (model.frames): no two of their moments are equal");
  }
  return symmetry;
}

}  // namespace

Json info_json(const ModelSummary& s, const Recipe& recipe) {
  Json parts = Json::array();
  for (const auto& [name, count] : s.parts) {
    parts.add(Json::object().set("name", name).set("parameters", count));
  }
  Json json = Json::object();
  json.set("system", s.system)
      .set("parameters", s.parameters)
      .set("parameters_real", s.parameters_real)
      .set("parts", parts)
      .set("dtype", s.dtype)
      .set("carrier", s.carrier)
      .set("symmetry", symmetry_json(s, recipe))
      .set("inputs", quantities_json(s.interface.features))
      .set("outputs", quantities_json(s.interface.outputs))
      .set("options", options_json([model = recipe.model](Fields& f) mutable { fields(f, model); }))
      .set("flops_per_token", Json::object()
                                  .set("forward", s.flops_forward)
                                  .set("train", s.flops_train)
                                  .set("nominal", s.flops_nominal))
      .set("format_version", s.format_version);
  if (s.interface.group) {
    json.set("group", name_of(*s.interface.group));
  }
  if (!s.interface.elements.empty()) {
    json.set("elements", Json::array(s.interface.elements));
  }
  if (!s.trained_on.empty()) {
    json.set("trained_on", Json::parse(to_json_text(s.trained_on), "trained_on"));
  }
  if (!s.task.empty()) {
    json.set("task", s.task);
    if (const auto notes = notes_of(recipe.task); !notes.empty()) {
      json.set("notes", Json::array(notes));
    }
  }
  if (s.step > 0) {
    Json training = Json::object().set("step", s.step).set("epoch", s.epoch);
    if (!s.metric.empty()) {
      training.set("metric", s.metric).set("value", s.value).set("unit", s.unit);
    }
    json.set("training", training);
  }
  return json;
}

std::string info_text(const Json& d) {
  std::string out;
  row(out, "system", of(d, "system"));
  row(out, "parameters",
      grouped(number_of(d.find("parameters"))) + " (" + grouped(number_of(d.find("parameters_real"))) +
          " stored real numbers)");
  if (const Json* parts = d.find("parts")) {
    for (const Json& part : parts->items()) {
      row(out, "  " + of(part, "name"), grouped(number_of(part.find("parameters"))));
    }
  }
  row(out, "dtype", of(d, "dtype"));
  row(out, "carrier", of(d, "carrier") + (of(d, "group").empty() ? "" : " of " + of(d, "group")));
  if (const Json* symmetry = d.find("symmetry")) {
    row(out, "exact", names(symmetry->find("exact")));
    if (const std::string condition = of(*symmetry, "condition"); !condition.empty()) {
      row(out, "", condition);
    }
    row(out, "approximate", names(symmetry->find("approximate")));
  }
  row(out, "inputs", quantities(d.find("inputs")));
  row(out, "outputs", quantities(d.find("outputs")));
  if (const Json* elements = d.find("elements")) {
    constexpr size_t most = 20;  // more are the table's, from its beginning
    const auto& all = elements->items();
    row(out, "elements",
        all.size() <= most
            ? names(elements)
            : text(all.front().string_or(""), " .. ", all.back().string_or(""), " (", all.size(), ")"));
  }
  if (const Json* facts = d.find("trained_on")) {
    row(out, "trained on", description(sample_facts(facts->dump(), "trained_on")));
  }
  if (const Json* flops = d.find("flops_per_token")) {
    row(out, "flops/token",
        short_number(number_of(flops->find("forward"))) + " forward, " +
            short_number(number_of(flops->find("train"))) + " train, " +
            grouped(number_of(flops->find("nominal"))) + " nominal");
  }
  if (const Json* facts = d.find("facts")) {
    for (const Json& fact : facts->items()) {
      row(out, "grid", fact.string_or(""));
    }
  }
  if (const Json* training = d.find("training")) {
    row(out, "trained",
        grouped(number_of(training->find("step"))) + " steps, " + of(*training, "metric") + " " +
            short_number(number_of(training->find("value"))) + " " + of(*training, "unit"));
  }
  if (const Json* notes = d.find("notes")) {
    for (const Json& note : notes->items()) {
      row(out, "note", note.string_or(""));
    }
  }
  row(out, "format", short_number(number_of(d.find("format_version"))));
  return out;
}

namespace {

// A safetensors file that is no model of ours: what it holds.
Json list_tensors(const SafetensorsHeader& header) {
  Json tensors = Json::array(), metadata = Json::object();
  int64_t parameters = 0;
  for (const auto& [name, entry] : header.tensors) {
    Json shape = Json::array();
    int64_t count = 1;
    for (const int64_t n : entry.shape) {
      shape.add(n);
      count *= n;
    }
    parameters += count;
    tensors.add(Json::object().set("name", name).set("dtype", name_of(entry.type)).set("shape", shape));
  }
  for (const auto& [key, value] : header.metadata) {
    metadata.set(key, value);
  }
  Json json = Json::object();
  json.set("system", Json()).set("parameters", parameters).set("tensors", tensors).set("metadata", metadata);
  return json;
}

std::string tensors_text(const Json& json) {
  std::string out = "no weyl model; " + std::to_string(json.find("tensors")->items().size()) + " tensors, " +
                    std::to_string(static_cast<int64_t>(json.find("parameters")->number_or(0))) +
                    " numbers\n";
  for (const Json& tensor : json.find("tensors")->items()) {
    std::string shape;
    for (const Json& n : tensor.find("shape")->items()) {
      shape += (shape.empty() ? "" : " x ") + std::to_string(static_cast<int64_t>(n.number_or(0)));
    }
    out += "  " + tensor.find("name")->string_or("") + "  " + tensor.find("dtype")->string_or("") + "  (" +
           shape + ")\n";
  }
  for (const auto& [key, value] : json.find("metadata")->members()) {
    out += "  " + key + ": " + value.string_or("") + "\n";
  }
  return out;
}

}  // namespace

std::optional<int> run_from_metadata(const InfoCommand& command, const ModelOptions& known) {
  if (command.verify) {
    return verify(command);
  }
  if (command.subject.path.ends_with(".toml")) {
    return {};  // a config: the engine builds it as shapes
  }
  require<ConfigError>(command.subject.overrides.empty(), "weyl info: overrides go with a CONFIG, but ",
                       command.subject.path, " is none");
  const std::string path = model_file(command.subject.path);
  const SafetensorsFile file(path);
  const SafetensorsHeader& header = file.header();
  if (!is_model(header)) {
    const Json json = list_tensors(header);
    std::cout << (command.output.json ? json.dump() + "\n" : tensors_text(json));
    return exit_done;
  }
  const ModelSummary summary = read_summary(header, path);
  Recipe recipe;
  recipe.model = known;
  try {
    read_toml_text(summary.recipe, path + ": metadata 'recipe'", {}, [&](Fields& f) { fields(f, recipe); });
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
  const Json json = info_json(summary, recipe);
  std::cout << (command.output.json ? json.dump() + "\n" : info_text(json));
  return exit_done;
}

namespace {

namespace fs = std::filesystem;

/// Adds the .safetensors files in a folder and its folders. DataError: one of them cannot be read.
void add_files(std::vector<std::string>& files, const std::string& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".safetensors" && entry->is_regular_file(error)) {
      files.push_back(entry->path().string());
    }
  }
  require<DataError>(!error, folder, ": must be readable to be verified: ", error.message());
}

/// Says which folders of a run are passed over: what was damaged and set aside is known to differ.
void say_what_is_set_aside(const std::string& run) {
  std::vector<std::string> aside;
  std::error_code error;
  for (fs::directory_iterator entry(run, error), end; entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find(".damaged") != std::string::npos &&
        entry->is_directory(error)) {
      aside.push_back(entry->path().string());
    }
  }
  std::ranges::sort(aside);
  std::string names;
  for (const std::string& path : aside) {
    names += (names.empty() ? "" : ", ") + path;
  }
  if (!names.empty()) {
    say(names + ": not verified, was set aside as damaged");
  }
}

/// The file, or the .safetensors files in a folder and its folders: of a run those of best/, last/ and previous/.
std::vector<std::string> files_to_verify(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return {path};
  }
  std::vector<std::string> files;
  if (is_run_folder(path)) {
    for (const char* name : {"best", "last", "previous"}) {
      if (const fs::path folder = fs::path(path) / name; fs::is_directory(folder, error)) {
        add_files(files, folder.string());
      }
    }
    say_what_is_set_aside(path);
  } else {
    add_files(files, path);
  }
  require<DataError>(!files.empty(), path, ": must hold .safetensors files to be verified, holds none");
  std::ranges::sort(files);
  return files;
}

}  // namespace

int verify(const InfoCommand& command) {
  const std::string& path = command.subject.path;
  require<ConfigError>(command.subject.overrides.empty() && !path.ends_with(".toml"),
                       "weyl info --verify: takes a file or a run without overrides, got ", path,
                       command.subject.overrides.empty() ? "" : " and overrides");
  std::string out;
  Json without = Json::array();
  int64_t files = 0, tensors = 0, bytes = 0;
  for (const std::string& name : files_to_verify(path)) {
    const SafetensorsFile file(name);
    file.verify();
    if (!file.header().has_checksums) {
      without.add(name);
      out += name + "  has no checksums: nothing to compare\n";
      continue;
    }
    const auto count = static_cast<int64_t>(file.header().tensors.size());
    const auto size = static_cast<int64_t>(fs::file_size(name));
    out += text(name, "  as it was written: ", count, " tensors, ", size, " bytes\n");
    ++files;
    tensors += count;
    bytes += size;
  }
  if (command.output.json) {
    Json verified = Json::object();
    verified.set("files", files)
        .set("tensors", tensors)
        .set("bytes", bytes)
        .set("without_checksums", without);
    out = Json::object().set("verified", verified).dump() + "\n";
  }
  std::cout << out;
  return exit_done;
}

}  // namespace weyl

#include "weyl/data/volumes/decathlon_index.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

const Json& part(const Json& json, const char* key, std::string_view where) {
  const Json* found = json.find(key);
  require<DataError>(found != nullptr, where, ": '", key, "' is missing");
  return *found;
}

/// The number of a key or a value; -1: none.
int64_t number_in(std::string_view text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

constexpr const char* renumber = "; number the classes anew, here and in the values of the masks";

/// {"0": "a", "1": "b"} or {"a": 0, "b": 1} as {a, b}.
std::vector<std::string> names_by_number(const Json& json, const char* key, std::string_view where) {
  const auto& members = part(json, key, where).members();
  std::vector<std::string> names(members.size());
  std::vector<bool> seen(members.size());
  for (const auto& [left, right] : members) {
    int64_t number = number_in(left);
    std::string name = right.string_or("");
    if (number < 0) {
      const double value = right.number_or(static_cast<double>(number_in(right.string_or(""))));
      number = std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e9
                   ? static_cast<int64_t>(value)
                   : -1;
      name = left;
    }
    require<DataError>(number >= 0 && number < static_cast<int64_t>(names.size()) && !seen[number], where,
                       ": '", key, "' must be numbered 0 .. ", names.size() - 1, " without a gap, got ",
                       quote(left, 40), key == std::string_view("labels") ? renumber : "");
    seen[number] = true;
    names[number] = std::move(name);
  }
  require<DataError>(!names.empty(), where, ": '", key, "' must name at least one");
  return names;
}

std::string path_in(const std::string& folder, const std::string& relative, std::string_view where) {
  const fs::path path = fs::path(relative).lexically_normal();
  require<DataError>(!relative.empty() && path.is_relative() && *path.begin() != ".." &&
                         relative.find('\0') == std::string::npos,
                     where, ": paths must be relative and inside the folder, got ", quote(relative));
  return (fs::path(folder) / path).string();
}

std::vector<DecathlonCase> cases(const Json* list, bool labelled, const std::string& folder,
                                 std::string_view where) {
  std::vector<DecathlonCase> result;
  if (list == nullptr) {
    return result;
  }
  for (const Json& item : list->items()) {
    if (!item.is_object()) {
      require<DataError>(!labelled, where, ": a training case must have an image and a label");
      result.push_back({path_in(folder, item.string_or(""), where), ""});
      continue;
    }
    const std::string image = part(item, "image", where).string_or("");
    const std::string label = labelled ? part(item, "label", where).string_or("") : "";
    result.push_back({path_in(folder, image, where), labelled ? path_in(folder, label, where) : ""});
  }
  return result;
}

Json numbered(const std::vector<std::string>& names) {
  Json json = Json::object();
  for (size_t i = 0; i < names.size(); ++i) {
    json.set(std::to_string(i), names[i]);
  }
  return json;
}

}  // namespace

DecathlonIndex parse_decathlon(std::string_view text, const std::string& folder, std::string_view where) {
  const Json json = Json::parse(text, where);
  require<DataError>(json.is_object(), where, ": must be a JSON object");
  // Its files are one for each channel, and no list names them.
  require<DataError>(
      json.find("channel_names") == nullptr || json.find("modality") != nullptr, where,
      ": is of a set of nnU-Net v2 ('channel_names', a file for each channel, case_0000.nii.gz), "
      "which is not read; write it as the Medical Segmentation Decathlon does: one file a case with "
      "its channels along the fourth axis, 'modality' for 'channel_names', and a list 'training' of "
      "{'image': ..., 'label': ...}");
  DecathlonIndex index;
  if (const Json* name = json.find("name")) {
    index.name = name->string_or("");
  }
  index.modalities = names_by_number(json, "modality", where);
  index.labels = names_by_number(json, "labels", where);
  index.training = cases(json.find("training"), true, folder, where);
  index.test = cases(json.find("test"), false, folder, where);
  require<DataError>(!index.training.empty() || !index.test.empty(), where,
                     ": 'training' and 'test' name no case at all");
  return index;
}

DecathlonIndex read_decathlon(const std::string& folder) {
  const std::string path = (fs::path(folder) / "dataset.json").string();
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_decathlon({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, folder, path);
}

std::string decathlon_json(const DecathlonIndex& index) {
  Json json = Json::object(), training = Json::array(), test = Json::array();
  for (const auto& c : index.training) {
    training.add(Json::object().set("image", "./" + c.image).set("label", "./" + c.label));
  }
  for (const auto& c : index.test) {
    test.add("./" + c.image);
  }
  json.set("name", index.name);
  json.set("tensorImageSize", index.modalities.size() > 1 ? "4D" : "3D");
  json.set("modality", numbered(index.modalities));
  json.set("labels", numbered(index.labels));
  json.set("numTraining", static_cast<int64_t>(index.training.size()));
  json.set("numTest", static_cast<int64_t>(index.test.size()));
  json.set("training", training);
  json.set("test", test);
  return json.dump() + "\n";
}

}  // namespace weyl

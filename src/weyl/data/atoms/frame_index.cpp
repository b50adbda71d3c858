#include "weyl/data/atoms/frame_index.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/json.h"

namespace weyl {
namespace {

constexpr const char* kCommon = "frames_in_common";

template <class T>
TensorBytes column(const char* name, ElementType type, const std::vector<T>& values,
                   std::vector<int64_t> shape = {}) {
  shape = shape.empty() ? std::vector{std::ssize(values)} : shape;
  return {name, type, std::move(shape), std::as_bytes(std::span(values))};
}

/// The numbers of a column, (rows) or (rows, width); `rows` -1: as many as there are.
template <class T>
std::vector<T> read_column(const SafetensorsFile& file, const std::string& name, ElementType type,
                           int64_t rows, int64_t width = 0) {
  const TensorEntry& entry = file.entry(name);
  const bool fits = entry.type == type && entry.shape.size() == (width > 0 ? 2U : 1U) &&
                    (rows < 0 || entry.shape[0] == rows) && (width == 0 || entry.shape[1] == width);
  require<DataError>(fits, file.path(), ": '", name, "' must be of type ", name_of(type), " with ",
                     width > 0 ? text(width, " numbers") : std::string("a number"), " for each ",
                     rows < 0 ? std::string("sample") : text("of ", rows, " samples"));
  std::vector<T> values((entry.end - entry.begin) / sizeof(T));
  file.read(name, std::as_writable_bytes(std::span(values)));
  return values;
}

Json table_of(const std::map<std::string, std::string>& words) {
  Json json = Json::object();
  for (const auto& [name, word] : words) {
    json.set(name, word);
  }
  return json;
}

const Json& member_of(const Json& json, const char* name, std::string_view where) {
  const Json* found = json.find(name);
  require<DataError>(found != nullptr, where, ": '", name, "' is missing");
  return *found;
}

std::string string_in(const Json& json, std::string_view where) {
  require<DataError>(json.is_string(), where, ": must be a string, got ", json.dump().substr(0, 40));
  return json.string_or("");
}

std::vector<std::string> words_in(const Json& json, const char* name, std::string_view where) {
  std::vector<std::string> words;
  for (const Json& word : member_of(json, name, where).items()) {
    words.push_back(string_in(word, where));
  }
  return words;
}

std::map<std::string, std::string> words_by_name(const Json& json, const char* name, std::string_view where) {
  const Json& table = member_of(json, name, where);
  require<DataError>(table.is_object(), where, ": '", name, "' must be an object");
  std::map<std::string, std::string> words;
  for (const auto& [key, word] : table.members()) {
    words[key] = string_in(word, where);
  }
  return words;
}

std::string written(const FramesInCommon& c) {
  Json json = Json::object();
  json.set("labels", Json::array(c.labels))
      .set("keys", table_of(c.keys))
      .set("left_out", table_of(c.left_out));
  json.set("unread", Json::array(c.unread)).set("warnings", Json::array(c.warnings));
  json.set("config_types", Json::array(c.config_types)).set("typical_nodes", c.typical_nodes);
  return json.set("periodic", int64_t{c.periodic ? 1 : 0}).dump();
}

FramesInCommon read_common(const std::string& source, const std::string& where) {
  const Json json = Json::parse(source, where);
  FramesInCommon common;
  common.labels = words_in(json, "labels", where);
  common.keys = words_by_name(json, "keys", where);
  common.left_out = words_by_name(json, "left_out", where);
  common.unread = words_in(json, "unread", where);
  common.warnings = words_in(json, "warnings", where);
  common.config_types = words_in(json, "config_types", where);
  common.typical_nodes = member_of(json, "typical_nodes", where).number_or(0);
  common.periodic = member_of(json, "periodic", where).number_or(0) != 0;
  require<DataError>(std::isfinite(common.typical_nodes) && common.typical_nodes > 0, where,
                     ": 'typical_nodes' must be positive");
  return common;
}

}  // namespace

FrameIndex read_index(const SafetensorsFile& file, const std::vector<int64_t>& channels) {
  FrameIndex index;
  const auto common = file.header().metadata.find(kCommon);
  require<DataError>(common != file.header().metadata.end(), file.path(), ": '", kCommon, "' is missing");
  index.common = read_common(common->second, text(file.path(), ": ", kCommon));
  index.sizes = read_column<uint32_t>(file, "sizes", ElementType::u32, -1);
  const auto samples = std::ssize(index.sizes);
  require<DataError>(std::ranges::find(index.sizes, 0U) == index.sizes.end(), file.path(),
                     ": 'sizes' must be positive");
  if (file.contains("places")) {
    const auto numbers = read_column<uint64_t>(file, "places", ElementType::u64, samples, 2);
    for (size_t i = 0; i < numbers.size(); i += 2) {
      index.places.push_back({numbers[i], numbers[i + 1]});
    }
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    const std::string name = text("state_", i);
    index.states.push_back(read_column<uint16_t>(file, name, ElementType::u16, samples));
    require<DataError>(std::ranges::all_of(index.states.back(), [&](uint16_t c) { return c < channels[i]; }),
                       file.path(), ": '", name, "' must be below ", channels[i]);
  }
  index.isolated = read_column<int64_t>(file, "isolated", ElementType::i64, -1);
  const auto& alone = index.isolated;
  const bool ascend = std::ranges::adjacent_find(alone, std::greater_equal()) == alone.end();
  require<DataError>(alone.empty() || (ascend && alone.front() >= 0 && alone.back() < samples), file.path(),
                     ": 'isolated' must ascend from 0 to ", samples - 1);
  return index;
}

std::string write_index(const PreparedFile& to, const FrameIndex& index) {
  static_assert(sizeof(FramePlace) == 2 * sizeof(uint64_t));
  const auto samples = std::ssize(index.sizes);
  std::vector<TensorBytes> tensors;
  if (!index.places.empty()) {
    tensors.push_back(column("places", ElementType::u64, index.places, {samples, 2}));
  }
  tensors.push_back(column("isolated", ElementType::i64, index.isolated));
  tensors.push_back(column("sizes", ElementType::u32, index.sizes));
  for (size_t i = 0; i < index.states.size(); ++i) {
    tensors.push_back(column("", ElementType::u16, index.states[i]));
    tensors.back().name = text("state_", i);
  }
  const std::string common = written(index.common);
  if (read_common(common, "index") != index.common) {
    return "a name in the frames is no UTF-8";
  }
  return to.save(tensors, {{kCommon, common}});
}

}  // namespace weyl

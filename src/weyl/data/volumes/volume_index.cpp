#include "weyl/data/volumes/volume_index.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/files_below.h"
#include "weyl/data/volumes/text_volumes.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargestNumber = 65535;  // of a class, which masks have 16 bits for
constexpr size_t kMostLabels = 256;        // which are read as bytes
constexpr const char* kIndexFile = "dataset.json";
constexpr const char* kMaskWord = "seg";  // of BraTS

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

int64_t number_of(const Json& json) {
  const double value = json.number_or(static_cast<double>(number_in(json.string_or(""))));
  const bool whole = std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e9;
  return whole ? static_cast<int64_t>(value) : -1;
}

/// {"0": "a", "1": "b"} or {"a": 0, "b": 1} as {a, b}.
std::vector<std::string> channel_names(const Json& json, const char* key, std::string_view where) {
  const auto& members = part(json, key, where).members();
  std::vector<std::string> names(members.size());
  std::vector<bool> seen(members.size());
  for (const auto& [left, right] : members) {
    int64_t number = number_in(left);
    std::string name = right.string_or("");
    if (number < 0) {
      number = number_of(right);
      name = left;
    }
    require<DataError>(number >= 0 && number < std::ssize(names) && !seen[static_cast<size_t>(number)], where,
                       ": '", key, "' must be numbered 0 .. ", names.size() - 1, " without a gap, got ",
                       quote(left, 40));
    seen[static_cast<size_t>(number)] = true;
    names[static_cast<size_t>(number)] = std::move(name);
  }
  require<DataError>(!names.empty(), where, ": '", key, "' must name at least one");
  return names;
}

/// A label with the numbers that it stands for: one, or those of a region.
struct NamedNumbers {
  std::string name;
  std::vector<int64_t> numbers;
  bool region = false;
};

NamedNumbers named_numbers(const std::string& left, const Json& right, std::string_view where) {
  NamedNumbers label{left, {}, false};
  if (const int64_t number = number_in(left); number >= 0) {  // the Decathlon's {"0": "background"}
    label = {right.string_or(""), {number}, false};
  } else if (!right.items().empty()) {
    label.region = right.items().size() > 1;
    for (const Json& item : right.items()) {
      label.numbers.push_back(number_of(item));
    }
  } else {
    label.numbers.push_back(number_of(right));
  }
  for (const int64_t number : label.numbers) {
    require<DataError>(number >= 0 && number <= kLargestNumber, where, ": 'labels' must have numbers 0 .. ",
                       kLargestNumber, ", or lists of them, got that of ", quote(left, 40));
  }
  return label;
}

void read_labels(VolumeIndex& index, const Json& json, std::string_view where) {
  std::vector<NamedNumbers> labels;
  std::map<int64_t, std::string> names;  // of classes, by their numbers
  bool regions = false;
  for (const auto& [left, right] : part(json, "labels", where).members()) {
    labels.push_back(named_numbers(left, right, where));
    if (labels.back().name == "ignore") {
      require<DataError>(labels.back().numbers.size() == 1 && !index.ignored, where,
                         ": the label 'ignore' must have one number");
      index.ignored = labels.back().numbers[0];
      labels.pop_back();
      continue;
    }
    regions = regions || labels.back().region;
    for (const int64_t number : labels.back().numbers) {
      names.try_emplace(number);
    }
    if (labels.back().numbers.size() == 1) {
      std::string& name = names[labels.back().numbers[0]];
      require<DataError>(name.empty(), where, ": 'labels' must have each number once, got ",
                         labels.back().numbers[0], " for ", quote(name, 40), " and for ",
                         quote(labels.back().name, 40));
      name = labels.back().name;
    }
  }
  require<DataError>(!names.empty(), where, ": 'labels' must name at least one");
  const int64_t highest = names.rbegin()->first;
  require<DataError>(!index.ignored || *index.ignored > highest, where,
                     ": the label 'ignore' must have the highest number of 'labels', got ",
                     index.ignored.value_or(0), " beside ", highest);
  require<DataError>(!index.ignored || names.size() < kMostLabels, where, ": 'labels' must be at most ",
                     kMostLabels, " with 'ignore', got ", names.size() + 1);
  require<DataError>(names.begin()->first == 0, where,
                     ": 'labels' must have a background of number 0, the least is ", names.begin()->first);
  for (const auto& [number, name] : names) {
    index.numbers.push_back(number);
    index.labels.push_back(!name.empty() || !regions ? name : text("class ", number));
  }
  for (const NamedNumbers& label : regions ? labels : std::vector<NamedNumbers>()) {
    VolumeRegion region{label.name, {}};
    for (const int64_t number : label.numbers) {
      region.classes.push_back(std::ranges::lower_bound(index.numbers, number) - index.numbers.begin());
    }
    std::ranges::sort(region.classes);
    region.classes.erase(std::ranges::unique(region.classes).begin(), region.classes.end());
    if (region.classes != std::vector<int64_t>{0}) {  // the background
      index.regions.push_back(std::move(region));
    }
  }
}

std::string path_in(const std::string& folder, const std::string& relative, std::string_view where) {
  const fs::path path = fs::path(relative).lexically_normal();
  require<DataError>(!relative.empty() && path.is_relative() && *path.begin() != ".." &&
                         relative.find('\0') == std::string::npos,
                     where, ": paths must be relative and inside the folder, got ", quote(relative));
  return (fs::path(folder) / path).string();
}

std::vector<VolumeCase> decathlon_cases(const Json* list, bool labelled, const std::string& folder,
                                        std::string_view where) {
  std::vector<VolumeCase> result;
  if (list == nullptr) {
    return result;
  }
  for (const Json& item : list->items()) {
    require<DataError>(item.is_object() || !labelled, where,
                       ": a training case must have an image and a label");
    const std::string image = path_in(
        folder, item.is_object() ? part(item, "image", where).string_or("") : item.string_or(""), where);
    const std::string label =
        labelled ? path_in(folder, part(item, "label", where).string_or(""), where) : "";
    result.push_back({stem_of(image), {image}, label});
  }
  return result;
}

bool is_nnunet(const Json& json) {
  return json.find("channel_names") != nullptr &&
         (json.find("modality") == nullptr || json.find("training") == nullptr);
}

void require_ending(const std::string& ending, std::string_view where) {
  const bool picture = ending == ".png" || ending == ".tif" || ending == ".tiff" || ending == ".bmp";
  require<DataError>(
      ending.starts_with('.') && is_volume_file(ending), where,
      ": 'file_ending' must be .nii.gz, .nii, .mha or .nrrd, got ", quote(ending, 20),
      picture
          ? "; pictures with masks are read by data.set = \"images\", .png, .jpg or .bmp from images/ beside masks/, and "
            "stacks of them once each is saved as one NIfTI volume"
          : "; save the volumes as NIfTI and change file_ending");
}

/// CASE and 1 of "CASE_0001"; -1: there is no channel number.
std::pair<std::string, int64_t> split_channel(const std::string& stem) {
  constexpr size_t kDigits = 4;
  if (stem.size() < kDigits + 2 || stem[stem.size() - kDigits - 1] != '_') {
    return {stem, -1};
  }
  const std::string digits = stem.substr(stem.size() - kDigits);
  const bool number = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::pair(stem.substr(0, stem.size() - kDigits - 1),
                            number_in(digits.substr(std::min(digits.find_first_not_of('0'), kDigits - 1))))
                : std::pair(stem, int64_t{-1});
}

std::map<std::string, std::string> by_stem(const std::vector<std::string>& files) {
  std::map<std::string, std::string> result;
  for (const std::string& file : files) {
    const auto [at, first] = result.emplace(stem_of(file), file);
    require<DataError>(first, file, ": has the name of ", at->second);
  }
  return result;
}

/// Gives each case its mask of that name. DataError: a mask of no case; with `all`, a case without one.
void add_masks(std::vector<VolumeCase>& cases, const fs::path& folder, bool all) {
  auto masks = by_stem(volumes_in(folder.string()));
  for (VolumeCase& c : cases) {
    const auto found = masks.find(c.name);
    require<DataError>(found != masks.end() || !all, c.channels[0], ": has no mask ",
                       (folder / c.name).string(), ".nii.gz (or .nii, .mha, .nrrd)");
    if (found != masks.end()) {
      c.mask = found->second;
      masks.erase(found);
    }
  }
  require<DataError>(masks.empty(), masks.empty() ? "" : masks.begin()->second,
                     ": is the mask of no image; images must have the same names");
}

/// imagesTr, labelsTr, imagesTs and labelsTs.
void add_nnunet_cases(VolumeIndex& index, const std::string& folder) {
  const auto channels = std::ssize(index.modalities);
  const fs::path in = folder;
  for (const auto& [cases, images, labels] :
       {std::tuple{&index.training, "imagesTr", "labelsTr"}, {&index.test, "imagesTs", "labelsTs"}}) {
    *cases = cases_by_channel(volumes_in((in / images).string()), channels);
    if (const bool training = cases == &index.training; training || fs::is_directory(in / labels)) {
      add_masks(*cases, in / labels, training);
    }
  }
}

VolumeIndex read_pairs(const std::string& folder) {
  const fs::path in = folder;
  const bool labels = fs::is_directory(in / "labels"), masks = fs::is_directory(in / "masks");
  require<DataError>(!labels || !masks, folder, ": must have masks in labels/ or in masks/, but has both");
  VolumeIndex index;
  for (const auto& [name, file] : by_stem(volumes_in((in / "images").string()))) {
    index.training.push_back({name, {file}, ""});
  }
  add_masks(index.training, in / (labels ? "labels" : "masks"), true);
  return index;
}

/// What stands behind the name of its folder in the name of a file, of each volume in it; "" where a name does not begin
/// with the folder's.
std::map<std::string, std::string> words_of_case(const fs::path& folder) {
  std::map<std::string, std::string> words;
  const std::string name = folder.filename().string();
  for (const std::string& file : volumes_in(folder.string())) {
    const std::string stem = stem_of(file);
    const bool named = stem.size() > name.size() + 1 && stem.starts_with(name) &&
                       (stem[name.size()] == '-' || stem[name.size()] == '_');
    words.emplace(named ? stem.substr(name.size() + 1) : "", file);
  }
  return words;
}

std::vector<fs::path> folders_in(const std::string& folder) {
  std::vector<fs::path> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.is_directory(failure) && !entry.path().filename().string().starts_with(".")) {
      result.push_back(entry.path());
    }
  }
  std::ranges::sort(result);
  return result;
}

bool is_case_folder(const fs::path& folder) {
  const auto words = words_of_case(folder);
  return !words.empty() && !words.contains("");
}

/// The case of a folder, with the names of its channels.
std::pair<VolumeCase, std::vector<std::string>> case_of(const fs::path& folder,
                                                        std::map<std::string, std::string> words) {
  VolumeCase found{folder.filename().string(), {}, ""};
  if (const auto mask = words.find(kMaskWord); mask != words.end()) {
    found.mask = mask->second;
    words.erase(mask);
  }
  std::vector<std::string> channels;
  for (const auto& [word, file] : words) {
    channels.push_back(word);
    found.channels.push_back(file);
  }
  return {std::move(found), std::move(channels)};
}

VolumeIndex read_brats(const std::string& folder) {
  VolumeIndex index;
  std::string first;
  const auto listed = [](const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) {
      list += (list.empty() ? "" : ", ") + quote(word, 20);
    }
    return list;
  };
  for (const fs::path& path : folders_in(folder)) {
    const auto words = words_of_case(path);
    if (words.empty()) {
      continue;
    }
    require<DataError>(!words.contains(""), words.begin()->second,
                       ": must begin with the name of its folder, ", quote(path.filename().string(), 60),
                       ", as all volumes of a folder a case do");
    auto [found, channels] = case_of(path, words);
    if (first.empty()) {
      index.modalities = channels;
      first = path.string();
    }
    require<DataError>(!channels.empty() && channels == index.modalities, path.string(),
                       ": must have the channels of ", first, ", ", listed(index.modalities), ", got ",
                       channels.empty() ? "none" : listed(channels));
    index.training.push_back(std::move(found));
  }
  const auto without = [](const VolumeCase& c) { return c.mask.empty(); };
  const auto lacking = std::ranges::find_if(index.training, without);
  if (std::ranges::all_of(index.training, without)) {
    std::swap(index.test, index.training);
  } else {
    require<DataError>(lacking == index.training.end(),
                       lacking == index.training.end() ? "" : lacking->channels[0], ": has no mask ",
                       lacking == index.training.end() ? "" : lacking->name, "-", kMaskWord,
                       ".nii.gz, which other cases have; give cases without one a folder of their own");
  }
  return index;
}

bool is_pairs(const std::string& folder) {
  const fs::path in = folder;
  return (fs::is_directory(in / "labels") || fs::is_directory(in / "masks")) &&
         !volumes_in((in / "images").string()).empty();
}

std::string text_of(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<VolumeIndex> index_of_case(const std::string& folder) {
  // The path as it is called, also where it is given as "." or with a sign behind it.
  std::error_code error;
  fs::path path = fs::weakly_canonical(folder, error);
  if (!is_case_folder(path)) {
    return {};
  }
  VolumeIndex index;
  auto [found, channels] = case_of(path, words_of_case(path));
  index.modalities = channels;
  index.test.push_back(std::move(found));
  return index;
}

std::vector<std::string> volumes_in(const std::string& folder) {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (is_volume_file(name) && !name.starts_with(".") && entry.is_regular_file(failure)) {
      result.push_back(entry.path().string());
    }
  }
  std::ranges::sort(result);
  return result;
}

std::vector<VolumeCase> cases_by_channel(const std::vector<std::string>& files, int64_t channels) {
  std::map<std::string, std::map<int64_t, std::string>> found;
  for (const std::string& file : files) {
    const auto [name, channel] = split_channel(stem_of(file));
    require<DataError>(
        channel >= 0 && channel < channels, file, ": its name must end in the number of its channel, _0000",
        channels > 1 ? text(" to _", std::string(channels > 10 ? "00" : "000"), channels - 1) : "");
    const auto [at, first] = found[name].emplace(channel, file);
    require<DataError>(first, file, ": is the same channel of the same case as ", at->second);
  }
  std::vector<VolumeCase> cases;
  for (const auto& [name, by_channel] : found) {
    VolumeCase c{name, {}, ""};
    for (const auto& [channel, file] : by_channel) {
      c.channels.push_back(file);
    }
    require<DataError>(std::ssize(c.channels) == channels, c.channels[0], ": the case ", quote(name, 60),
                       " must have ", channels, " channels, a file each, got ", c.channels.size());
    cases.push_back(std::move(c));
  }
  return cases;
}

namespace {

/// The numbers of channels that the names of files say, by case; nothing: a file says none, or two of a case the same.
std::optional<std::map<std::string, std::set<int64_t>>> channels_by_case(
    const std::vector<std::string>& files) {
  std::map<std::string, std::set<int64_t>> found;
  for (const std::string& file : files) {
    const auto [name, channel] = split_channel(stem_of(file));
    if (channel < 0 || !found[name].insert(channel).second) {
      return {};
    }
  }
  return found;
}

bool is_whole(const std::set<int64_t>& channels, int64_t count) {
  return std::ssize(channels) == count && *channels.rbegin() == count - 1;
}

}  // namespace

bool are_by_channel(const std::vector<std::string>& files, int64_t channels) {
  const auto cases = channels_by_case(files);
  return cases && !cases->empty() &&
         std::ranges::all_of(*cases, [&](const auto& c) { return is_whole(c.second, channels); });
}

int64_t channels_of_cases(const std::vector<std::string>& files) {
  const auto cases = channels_by_case(files);
  if (!cases || cases->size() < 2) {  // of one name numbers may be those of cases
    return 0;
  }
  const int64_t count = std::ssize(cases->begin()->second);
  return are_by_channel(files, count) ? count : 0;
}

bool have_a_case_by_channel(const std::vector<std::string>& files, int64_t channels) {
  const auto cases = channels_by_case(files);
  return cases && std::ranges::any_of(*cases, [&](const auto& c) { return is_whole(c.second, channels); }) &&
         std::ranges::all_of(*cases, [&](const auto& c) { return *c.second.rbegin() < channels; });
}

VolumeIndex parse_volume_index(std::string_view text, const std::string& folder, std::string_view where) {
  const Json json = Json::parse(text, where);
  require<DataError>(json.is_object(), where, ": must be a JSON object");
  VolumeIndex index;
  if (const Json* name = json.find("name")) {
    index.name = name->string_or("");
  }
  const bool nnunet = is_nnunet(json);
  index.modalities = channel_names(json, nnunet ? "channel_names" : "modality", where);
  read_labels(index, json, where);
  if (nnunet) {
    const Json* ending = json.find("file_ending");
    require_ending(ending == nullptr ? ".nii.gz" : ending->string_or(""), where);
    require<DataError>(
        json.find("dataset") == nullptr, where,
        ": lists its cases under 'dataset', which is not read; put them into imagesTr and labelsTr");
    return index;
  }
  index.training = decathlon_cases(json.find("training"), true, folder, where);
  index.test = decathlon_cases(json.find("test"), false, folder, where);
  require<DataError>(!index.training.empty() || !index.test.empty(), where,
                     ": 'training' and 'test' name no case at all");
  return index;
}

bool is_volume_set(const std::string& folder) {
  if (fs::is_regular_file(fs::path(folder) / kIndexFile) || is_pairs(folder)) {
    return true;
  }
  constexpr size_t kLookedAt = 64;  // of folders that may hold millions of pictures
  auto folders = folders_in(folder);
  folders.resize(std::min(folders.size(), kLookedAt));
  return std::ranges::any_of(folders, is_case_folder);
}

namespace {

/// What the dataset.json of a folder says; nothing where there is none.
std::optional<VolumeIndex> index_in(const fs::path& folder) {
  const std::string path = (folder / kIndexFile).string();
  return fs::is_regular_file(path) ? std::optional(parse_volume_index(text_of(path), folder.string(), path))
                                   : std::nullopt;
}

/// The same; nothing also where it cannot be read.
std::optional<VolumeIndex> readable_index_in(const fs::path& folder) {
  try {
    return index_in(folder);
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace

VolumeIndex read_volume_index(const std::string& folder) {
  VolumeIndex index;
  if (auto written = index_in(folder)) {
    index = std::move(*written);
    if (index.training.empty() && index.test.empty()) {
      add_nnunet_cases(index, folder);
    }
    require<DataError>(!index.training.empty() || !index.test.empty(), folder,
                       ": imagesTr and imagesTs hold no volume");
    return index;
  }
  const auto folders = folders_in(folder);
  const auto first = std::ranges::find_if(folders, is_case_folder);
  const bool cases = first != folders.end(), pairs = is_pairs(folder);
  require<DataError>(!cases || !pairs, folder, ": must be a folder a case, or images/ beside masks, but has ",
                     cases ? quote(first->filename().string(), 60) : "", " beside images/");
  require<DataError>(
      cases || pairs, folder,
      ": must hold volumes in a layout that is known: dataset.json (Decathlon, nnU-Net v2), images/ "
      "beside labels/ or masks/, or a folder a case (BraTS)");
  const auto loose = volumes_in(folder);
  require<DataError>(loose.empty(), loose.empty() ? "" : loose[0], ": lies beside ",
                     cases ? "folders a case" : "images/",
                     ", which it is no part of; give it a folder "
                     "of its own");
  return pairs ? read_pairs(folder) : read_brats(folder);
}

std::vector<VolumeFold> parse_volume_folds(std::string_view text, std::string_view where) {
  const Json json = Json::parse(text, where);
  std::vector<VolumeFold> folds;
  for (const Json& item : json.items()) {
    VolumeFold fold;
    std::set<std::string> seen;
    for (const auto& [key, names] : {std::pair{"train", &fold.train}, {"val", &fold.valid}}) {
      for (const Json& name : part(item, key, where).items()) {
        names->push_back(name.string_or(""));
        require<DataError>(!names->back().empty(), where, ": '", key, "' must be a list of names of cases");
        require<DataError>(seen.insert(names->back()).second, where, ": fold ", folds.size(),
                           " has the case ", quote(names->back(), 60), " twice");
      }
      require<DataError>(!names->empty(), where, ": '", key, "' of fold ", folds.size(), " must name a case");
    }
    folds.push_back(std::move(fold));
  }
  require<DataError>(folds.size() >= 2, where,
                     ": must be a list of at least two folds, each {\"train\": [...], \"val\": [...]}, got ",
                     folds.size());
  return folds;
}

std::string file_of_volume_folds(const std::string& folder) {
  return (fs::path(folder) / "splits_final.json").string();
}

std::vector<VolumeFold> read_volume_folds(const std::string& folder) {
  const std::string path = file_of_volume_folds(folder);
  return fs::is_regular_file(path) ? parse_volume_folds(text_of(path), path) : std::vector<VolumeFold>();
}

namespace {

Json numbered(const std::vector<std::string>& names, const std::vector<int64_t>& numbers = {}) {
  Json json = Json::object();
  for (size_t i = 0; i < names.size(); ++i) {
    json.set(std::to_string(numbers.empty() ? static_cast<int64_t>(i) : numbers.at(i)), names[i]);
  }
  return json;
}

}  // namespace

std::string decathlon_json(const VolumeIndex& index) {
  Json json = Json::object(), training = Json::array(), test = Json::array();
  for (const auto& c : index.training) {
    training.add(Json::object().set("image", "./" + c.channels[0]).set("label", "./" + c.mask));
  }
  for (const auto& c : index.test) {
    test.add("./" + c.channels[0]);
  }
  json.set("name", index.name);
  json.set("tensorImageSize", index.modalities.size() > 1 ? "4D" : "3D");
  json.set("modality", numbered(index.modalities));
  json.set("labels", numbered(index.labels, index.numbers));
  json.set("numTraining", static_cast<int64_t>(index.training.size()));
  json.set("numTest", static_cast<int64_t>(index.test.size()));
  json.set("training", training);
  json.set("test", test);
  return json.dump() + "\n";
}

std::optional<VolumeIndex> index_around(const std::vector<std::string>& files) {
  std::error_code error;
  const auto place = [&](const std::string& path) { return fs::weakly_canonical(path, error).string(); };
  std::set<std::string> wanted;
  for (const auto& file : files) {
    wanted.insert(place(file));
  }
  const fs::path own = fs::absolute(files.front(), error).lexically_normal().parent_path();
  for (const fs::path& folder : {own, own.parent_path()}) {
    if (!fs::is_regular_file(folder / "dataset.json")) {
      continue;
    }
    std::optional<VolumeIndex> index;
    try {
      index = read_volume_index(folder.string());
    } catch (const DataError&) {
      // What is wrong with other files of the set does not change what its images are.
      if (folder != own && own.filename().string().starts_with("images")) {
        return readable_index_in(folder);
      }
      continue;
    }
    for (const auto* cases : {&index->training, &index->test}) {
      for (const VolumeCase& c : *cases) {
        const auto asked = [&](const std::string& file) { return wanted.contains(place(file)); };
        if (std::ranges::any_of(c.channels, asked) || (!c.mask.empty() && asked(c.mask))) {
          return index;
        }
      }
    }
  }
  return {};
}

std::optional<VolumeIndex> index_of_masks(const std::vector<std::string>& masks) {
  std::error_code error;
  const auto place = [&](const fs::path& path) { return fs::weakly_canonical(path, error); };
  const fs::path own = fs::absolute(masks.front(), error).lexically_normal().parent_path();
  if (auto beside = index_in(own)) {
    return beside;
  }
  if (own.filename().string().starts_with("labels")) {
    return index_in(own.parent_path());
  }
  try {
    const auto above = index_in(own.parent_path());
    for (const auto* cases : {above ? &above->training : nullptr, above ? &above->test : nullptr}) {
      const auto listed = [&](const VolumeCase& c) {
        return !c.mask.empty() && place(c.mask) == place(masks.front());
      };
      if (cases != nullptr && std::ranges::any_of(*cases, listed)) {
        return above;
      }
    }
  } catch (const DataError&) {  // of something else
  }
  return {};
}

bool has_masks_and_index(const std::string& folder) {
  const auto has = [&](const char* name) { return fs::exists(fs::path(folder) / name); };
  if (!has(kIndexFile) || has("imagesTr") || has("imagesTs") || has("labelsTr") ||
      volumes_in(folder).empty()) {
    return false;
  }
  const auto index = index_in(folder);
  return index && index->training.empty() && index->test.empty();
}

}  // namespace weyl

#include "weyl/data/clouds/modelnet_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPlain = "plain", kEnding = ".h5", kDigits = "0123456789", kBetween = "_-. ";

/// A file's name taken apart: its split, what follows, and the number at the end of that.
struct Parsed {
  std::string split, name, digits;
};

/// Longer words first: `training` begins with `train`.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"training", "train"}, {"train", "train"},  {"validation", "val"}, {"valid", "val"},
    {"val", "val"},        {"testing", "test"}, {"test", "test"}};

std::optional<Parsed> parsed(std::string_view file) {
  if (!file.ends_with(kEnding)) {
    return {};
  }
  file.remove_suffix(kEnding.size());
  if (constexpr std::string_view ply = "ply_data_"; file.starts_with(ply)) {
    file.remove_prefix(ply.size());
  }
  for (const auto& [word, split] : kWords) {
    if (file.starts_with(word)) {
      file.remove_prefix(word.size());
      file.remove_prefix(std::min(file.find_first_not_of(kBetween), file.size()));
      const size_t last = file.find_last_not_of(kDigits) + 1;  // npos + 1 is 0: all are digits
      return Parsed{std::string(split), std::string(file.substr(0, last)), std::string(file.substr(last))};
    }
  }
  return {};
}

using PartFile = std::pair<std::string, std::string>;  // its digits, its path

/// Whether the digits count parts: 0, 1, 2, ... or 1, 2, 3, ...; several.
bool count_parts(const std::vector<PartFile>& files) {
  std::vector<int> numbers;
  for (const auto& [digits, path] : files) {
    constexpr size_t most_digits = 6;  // more count no parts
    if (digits.empty() || digits.size() > most_digits) {
      return false;
    }
    numbers.push_back(std::stoi(digits));
  }
  std::sort(numbers.begin(), numbers.end());
  bool consecutive = numbers.size() > 1 && numbers.front() <= 1;
  for (size_t i = 1; i < numbers.size(); ++i) {
    consecutive = consecutive && numbers[i] == numbers[i - 1] + 1;
  }
  return consecutive;
}

std::string without_separator(std::string name) {
  const size_t last = name.find_last_not_of(kBetween);
  name.resize(last == std::string::npos ? 0 : last + 1);
  return name;
}

std::string listed(const std::vector<std::string>& names) {
  std::string line;
  for (const auto& name : names) {
    line += (line.empty() ? "" : ", ") + quote(name);
  }
  return line;
}

}  // namespace

ModelnetFiles::ModelnetFiles(const std::string& folder) : folder_(folder) {
  std::map<std::pair<std::string, std::string>, std::vector<PartFile>> groups;  // by split and name
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto file = parsed(entry.path().filename().string());
    if (file && entry.is_regular_file()) {
      groups[{file->split, file->name}].emplace_back(file->digits, entry.path().string());
    }
  }
  for (const auto& [key, files] : groups) {
    const auto& [split, name] = key;
    // Nothing but a number says no name, whatever it counts.
    const bool parts = name.empty() || count_parts(files);
    for (const auto& [digits, path] : files) {
      splits_[split][parts ? without_separator(name) : name + digits].push_back(path);
    }
  }
  if (!splits_.contains("train") && !splits_.contains("test")) {
    splits_.clear();
  }
  std::set<std::string> names;
  for (auto& [split, variants] : splits_) {
    for (auto& [name, paths] : variants) {
      std::sort(paths.begin(), paths.end());
      if (!name.empty() || variants.size() > 1) {
        names.insert(name.empty() ? std::string(kPlain) : name);
      }
    }
  }
  variants_.assign(names.begin(), names.end());
}

void ModelnetFiles::require_variant(const std::string& variant) const {
  require<DataError>(variants_.size() <= 1 || !variant.empty(), folder_, ": holds the variants ",
                     listed(variants_), " of one set: data.modelnet.variant must say which");
  const bool known = std::find(variants_.begin(), variants_.end(), variant) != variants_.end();
  require<DataError>(
      variant.empty() || known, folder_, ": data.modelnet.variant must be ",
      variants_.empty() ? std::string("left out, no file's name has one") : "one of " + listed(variants_),
      ", got ", quote(variant));
}

std::vector<std::string> ModelnetFiles::of(std::string_view split, const std::string& variant) const {
  const auto found = splits_.find(split);
  if (found == splits_.end()) {
    return {};
  }
  const auto& variants = found->second;
  if (variant.empty()) {  // then there is one
    return variants.begin()->second;
  }
  const auto named = variants.find(variant);
  const auto plain = variants.find("");
  if (named != variants.end()) {
    return named->second;
  }
  const bool goes_with_all = plain != variants.end() && (variants.size() == 1 || variant == kPlain);
  return goes_with_all ? plain->second : std::vector<std::string>();
}

std::optional<std::string> ModelnetFiles::variant_of(const std::string& path) const {
  const auto name = fs::path(path).filename();
  for (const auto& [split, variants] : splits_) {
    for (const auto& [variant, paths] : variants) {
      if (std::ranges::none_of(paths, [&](const fs::path& p) { return p.filename() == name; })) {
        continue;
      }
      const bool of_all = variant.empty() && variants.size() == 1;
      return variants_.size() <= 1 || of_all ? "" : variant.empty() ? std::string(kPlain) : variant;
    }
  }
  return std::nullopt;
}

}  // namespace weyl

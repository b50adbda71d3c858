#include "weyl/data/inspect.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/advice.h"
#include "weyl/data/base/files_below.h"
#include "weyl/data/base/inspection.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/formats.h"
#include "weyl/data/open.h"

namespace weyl {

namespace {

/// The sets of a folder by the format that it is of; none: it is of none.
NamedSets sets_of_folder(const OpenRequest& request) {
  NamedSets found;
  recognise(request.path, request.asked, [&]<class Format>(std::type_identity<Format>) {
    if constexpr (HasSets<Format>) {
      if (Format::lays_out(request.path)) {
        found = Format::sets(request.path);
        return;
      }
    }
    if constexpr (CanOpen<Format>) {
      found = {{"", Format::open(request)}};
    }
  });
  return found;
}

std::vector<std::pair<std::string, Inspection>> inspect_sets(const NamedSets& sets) {
  std::vector<std::pair<std::string, Inspection>> found;
  Duplicates seen;  // which asks the sets for the names of samples
  std::vector<std::string> names;
  for (const auto& [split, data] : sets) {
    names.push_back(split);
    found.emplace_back(split, inspect(*data, split, &seen));
  }
  if (!found.empty()) {
    std::ranges::move(warnings_about_absent(names), std::back_inserter(found.front().second.warnings));
  }
  return found;
}

/// The folder as a whole but for the files that are broken, which its first set warns of; nothing where no format can
/// leave them out, or that is not what is wrong.
std::vector<std::pair<std::string, Inspection>> inspect_sound(const std::string& path) {
  NamedSets sets;
  std::vector<std::string> faults;
  try {
    any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
      if constexpr (LeavesOutFaults<Format>) {
        sets = Format::lays_out(path) ? Format::sound_sets(path, faults) : NamedSets();
      }
      return !sets.empty();
    });
  } catch (const DataError&) {
    return {};
  }
  if (sets.empty() || faults.empty()) {
    return {};
  }
  auto found = inspect_sets(sets);
  auto& warnings = found.front().second.warnings;
  for (std::string& fault : faults) {
    fault += "; left out";
  }
  warnings.insert(warnings.begin(), faults.begin(), faults.end());
  return found;
}

/// Whether this is what is wrong with the index of a folder. Its files say nothing without it: masks would be taken for
/// images.
bool is_fault_of_index(const std::string& path, const std::string& fault) {
  return any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (HasIndex<Format>) {
      try {
        if (Format::lays_out(path)) {
          Format::require_index(path);
        }
      } catch (const DataError& error) {
        return error.what() == fault;
      }
    }
    return false;
  });
}

/// As a whole, or where some file of it is broken without that, or file by file.
std::vector<std::pair<std::string, Inspection>> inspect_folder(const std::string& path) {
  NamedSets sets;
  try {
    sets = sets_of_folder({.path = path, .values = Values::any});
    if (!sets.empty()) {
      return inspect_sets(sets);
    }
  } catch (const DataError& error) {
    if (is_fault_of_index(path, error.what())) {
      throw;
    }
    sets.clear();
    auto found = inspect_sound(path);
    if (found.empty()) {
      found = inspect_files(path, error.what());
    }
    if (found.empty()) {
      throw;
    }
    return found;
  }
  throw DataError(text(path, ": ", advice_for(path)));
}

}  // namespace

NamedSets open_for_inspection(const std::string& path) {
  const OpenRequest request{.path = path, .values = Values::any};
  if (!std::filesystem::is_directory(path)) {
    return {{"", open_file(path, {}, request.interface, request.values)}};
  }
  NamedSets found = sets_of_folder(request);
  if (found.empty()) {
    throw DataError(text(path, ": ", advice_for(path)));
  }
  return found;
}

void inspect_path(const std::string& path, const AnyReport& report) {
  const bool inspected = any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanInspect<Format>) {
      if (Format::takes(path, {})) {
        Format::inspect(path, report);
        return true;
      }
    }
    return false;
  });
  if (inspected) {
    return;
  }
  const auto found =
      std::filesystem::is_directory(path) ? inspect_folder(path) : inspect_sets(open_for_inspection(path));
  for (const auto& [split, inspection] : found) {
    report(split, inspection);
  }
}

namespace {

namespace fs = std::filesystem;

/// The split that a path below the folder says: a folder of its name, or a file whose name begins with it.
std::string split_of(const fs::path& below) {
  for (const char* split : {"train", "valid", "test"}) {
    if (below.filename().string().starts_with(split) ||
        std::ranges::any_of(below.parent_path(), [&](const fs::path& part) { return part == split; })) {
      return split;
    }
  }
  return "";
}

/// A file as a data set; null where no format takes it. DataError: a broken one.
std::shared_ptr<const Dataset> open_alone(const std::string& path) {
  const OpenRequest request{.path = path, .values = Values::any};
  std::shared_ptr<const Dataset> data;
  any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanOpen<Format>) {
      if (Format::takes(path, request.asked)) {
        data = Format::open(request);
      }
    }
    return data != nullptr;
  });
  return data;
}

void merge(std::vector<FieldSummary>& to, const std::vector<FieldSummary>& more) {
  for (const FieldSummary& field : more) {
    const auto found = std::ranges::find(to, field.name, &FieldSummary::name);
    if (found == to.end()) {
      to.push_back(field);
      continue;
    }
    found->shape[0] += field.shape[0];
    for (size_t d = 1; d < std::min(found->shape.size(), field.shape.size()); ++d) {
      found->shape[d] = found->shape[d] == field.shape[d] ? found->shape[d] : 0;
    }
    found->min = std::min(found->min, field.min);
    found->max = std::max(found->max, field.max);
    found->missing += field.missing;
  }
}

/// Adds one more file to what was found in others of its carrier.
void merge(Inspection& to, const Inspection& more) {
  const auto all = static_cast<double>(to.samples + more.samples);
  to.mean_tokens = all > 0 ? (to.mean_tokens * static_cast<double>(to.samples) +
                              more.mean_tokens * static_cast<double>(more.samples)) /
                                 all
                           : 0;
  to.least_tokens = to.samples == 0     ? more.least_tokens
                    : more.samples == 0 ? to.least_tokens
                                        : std::min(to.least_tokens, more.least_tokens);
  to.most_tokens = std::max(to.most_tokens, more.most_tokens);
  to.samples += more.samples;
  merge(to.fields, more.fields);
  merge(to.labels, more.labels);
  if (to.volumes && more.volumes) {
    for (size_t d = 0; d < 3; ++d) {
      to.volumes->least_spacing[d] = std::min(to.volumes->least_spacing[d], more.volumes->least_spacing[d]);
      to.volumes->most_spacing[d] = std::max(to.volumes->most_spacing[d], more.volumes->most_spacing[d]);
    }
    for (const auto& [axes, count] : more.volumes->axes) {
      to.volumes->axes[axes] += count;
    }
    std::ranges::copy(more.volumes->each, std::back_inserter(to.volumes->each));
  }
  if (to.group && more.group && to.group->group == more.group->group) {
    to.group->residual = std::max(to.group->residual, more.group->residual);
    to.group->mended = to.group->mended || more.group->mended;
    to.group->off += more.group->off;
    to.group->least_margin = std::min(to.group->least_margin, more.group->least_margin);
    to.group->outside += more.group->outside;
  }
}

}  // namespace

std::vector<std::pair<std::string, Inspection>> inspect_files(const std::string& folder,
                                                              const std::string& fault) {
  std::map<std::string, Inspection> by_split;
  std::vector<std::string> warnings;
  for (const std::string& file : files_below(folder, [](const std::string&) { return true; })) {
    try {
      const auto data = open_alone(file);
      if (data == nullptr) {
        continue;
      }
      Inspection found = inspect(*data);
      for (const std::string& warning : found.warnings) {
        warnings.push_back(text(file, ": ", warning));
      }
      found.warnings.clear();
      const auto [at, first] =
          by_split.try_emplace(split_of(fs::path(file).lexically_relative(folder)), found);
      if (first) {
        continue;
      }
      if (at->second.carrier == found.carrier) {
        merge(at->second, found);
      } else {
        warnings.push_back(text(file, ": is of the kind ", name_of(found.carrier),
                                ", the files before it of ", name_of(at->second.carrier), "; left out"));
      }
    } catch (const DataError& error) {
      warnings.push_back(text(error.what(), "; left out"));
    }
  }
  const bool said = std::ranges::any_of(warnings, [&](const std::string& w) { return w.starts_with(fault); });
  if (!said) {
    warnings.insert(warnings.begin(), fault);
  }
  std::vector<std::pair<std::string, Inspection>> result;
  for (const char* split : {"train", "valid", "test", ""}) {
    if (const auto at = by_split.find(split); at != by_split.end()) {
      result.emplace_back(split, std::move(at->second));
    }
  }
  if (!result.empty()) {
    result.front().second.warnings = std::move(warnings);
  }
  return result;
}

}  // namespace weyl

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/files/files_below.h"
#include "weyl/data/files/inspect.h"
#include "weyl/data/files/open_request.h"

namespace weyl {
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
      if (Format::takes(path, request.options)) {
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

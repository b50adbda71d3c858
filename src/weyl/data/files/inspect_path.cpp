#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/files/advice.h"
#include "weyl/data/files/inspect.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/open.h"

namespace weyl {

NamedSets named_sets(const Splits& splits) {
  NamedSets found;
  for (const auto& [name, set] :
       {std::pair{"train", splits.train}, {"valid", splits.valid}, {"test", splits.test}}) {
    if (set) {
      found.emplace_back(name, set);
    }
  }
  return found;
}

namespace {

/// The sets of a folder by the first format that takes it; none: no format does.
NamedSets sets_of_folder(const OpenRequest& request) {
  NamedSets found;
  any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (HasLayout<Format>) {
      found = Format::sets(request.path);
    }
    if constexpr (CanOpen<Format>) {
      if (found.empty() && Format::takes(request.path, request.options)) {
        found = {{"", Format::open(request)}};
      }
    }
    return !found.empty();
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
    std::ranges::move(doubts_about_absent(names), std::back_inserter(found.front().second.warnings));
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
        sets = Format::sound_sets(path, faults);
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

/// As a whole, or where some file of it is broken without that, or file by file.
std::vector<std::pair<std::string, Inspection>> inspect_folder(const std::string& path) {
  NamedSets sets;
  try {
    sets = sets_of_folder({.path = path, .values = Values::any});
    if (!sets.empty()) {
      return inspect_sets(sets);
    }
  } catch (const DataError& error) {
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
    return {{"", open_file(path, request.options, request.interface, request.values)}};
  }
  NamedSets found = sets_of_folder(request);
  if (found.empty()) {
    throw DataError(text(path, ": ", advice_for(path)));
  }
  return found;
}

void inspect_path(const std::string& path, const InspectionReport& report) {
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

}  // namespace weyl

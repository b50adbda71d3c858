#include <filesystem>

#include "weyl/core/alternatives.h"
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

NamedSets open_for_inspection(const std::string& path) {
  const OpenRequest request{.path = path, .values = Values::any};
  NamedSets found;
  if (std::filesystem::is_directory(path)) {
    any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
      if constexpr (HasLayout<Format>) {
        found = Format::sets(path);
      }
      if constexpr (CanOpen<Format>) {
        if (found.empty() && Format::takes(path, request.options)) {
          found = {{"", Format::open(request)}};
        }
      }
      return !found.empty();
    });
  }
  if (found.empty()) {
    found = {{"", open_file(path, request.options, request.interface, request.values)}};
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
  if (!inspected) {
    for (const auto& [split, data] : open_for_inspection(path)) {
      report(split, inspect(*data));
    }
  }
}

}  // namespace weyl

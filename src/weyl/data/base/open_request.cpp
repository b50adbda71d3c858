#include "weyl/data/base/open_request.h"

#include <algorithm>

#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string names(const std::vector<Quantity>& quantities) {
  std::string result;
  for (const auto& q : quantities) {
    result += (result.empty() ? "" : ", ") + q.name;
  }
  return result.empty() ? "nothing" : result;
}

}  // namespace

void require_features(const OpenRequest& request, const Schema& found) {
  if (request.interface == nullptr) {
    return;
  }
  const auto &gives = found.interface.features, &wanted = request.interface->features;
  const bool equal =
      std::equal(gives.begin(), gives.end(), wanted.begin(), wanted.end(), [](const auto& a, const auto& b) {
        return a.name == b.name && a.level == b.level && a.kind == b.kind && a.channels == b.channels;
      });
  require<DataError>(equal, request.path, ": must give the model's features ", names(wanted), ", gives ",
                     names(gives));
}

}  // namespace weyl

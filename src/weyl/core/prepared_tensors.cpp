#include "weyl/core/prepared_tensors.h"

#include <optional>

#include "weyl/core/check.h"

namespace weyl {
namespace {

std::optional<NamedTensors> kept(const PreparedFile& prepared,
                                 const std::function<bool(const NamedTensors&)>& fits) {
  try {
    if (const auto file = prepared.open()) {
      if (NamedTensors tensors = load_tensors(*file); fits(tensors)) {
        return tensors;
      }
    }
  } catch (const DataError&) {
  }
  return {};
}

}  // namespace

NamedTensors kept_or_made(const PreparedFile& file, const std::function<bool(const NamedTensors&)>& fits,
                          const std::function<NamedTensors()>& make) {
  if (!file.keeps()) {
    return make();
  }
  if (auto tensors = kept(file, fits)) {
    return *tensors;
  }
  PreparedFile::Turn turn(file);
  if (auto tensors = kept(file, fits)) {  // which another has made by now
    turn.kept();
    return *tensors;
  }
  NamedTensors tensors = make();
  if (file.save([&](const std::string& path, const PreparedFile::Metadata& metadata) {
            save_tensors(path, tensors, metadata, Existing::replace_link);
          })
          .empty()) {
    turn.kept();
  }
  return tensors;
}

}  // namespace weyl

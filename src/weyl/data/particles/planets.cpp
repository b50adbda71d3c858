#include "weyl/data/particles/options.h"

#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/text_number.h"
#include "weyl/data/base/tensor_splits.h"

namespace weyl {
namespace {

// What the maker says of the file; of a file from elsewhere, the paper's.
int64_t steps_of(const std::string& path) {
  const SafetensorsFile file(path);
  const auto found = file.header().metadata.find("steps");
  if (found == file.header().metadata.end()) {
    return planet_steps;
  }
  const std::optional<int64_t> steps = parse_integer(found->second);
  require<DataError>(steps && *steps > 0, path, ": the metadata 'steps' must be a positive integer, got '",
                     found->second, "'");
  return *steps;
}

}  // namespace

Schema declared_schema(const PlanetsDataOptions&) {
  Schema schema;
  schema.interface.length_unit = "length";
  schema.interface.typical_nodes = 4;
  schema.interface.features = {{.name = "mass", .unit = "mass"},
                               {.name = "velocity", .kind = Kind::vector, .unit = "length/time"}};
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset, .unit = "length"}};
  schema.horizon = kPlanetTimeStep * static_cast<double>(planet_steps);
  return schema;
}

Splits open_set(const PlanetsDataOptions& options) {
  namespace fs = std::filesystem;
  Schema wanted = declared_schema(options);
  std::string first;
  for (const char* split : {"train", "valid", "test"}) {
    const std::string path = (fs::path(options.path) / (std::string(split) + ".safetensors")).string();
    if (!fs::exists(path)) {
      continue;
    }
    const double horizon = kPlanetTimeStep * static_cast<double>(steps_of(path));
    require<DataError>(first.empty() || horizon == wanted.horizon, path,
                       ": its systems must be followed as long as those of ", first, ", ", wanted.horizon,
                       ", got ", horizon);
    wanted.horizon = horizon;
    first = path;
  }
  return open_tensor_splits({.path = options.path,
                             .key = "data.planets",
                             .make = text("`weyl data make planets --out ", options.path, "`"),
                             .wanted = wanted,
                             .train = options.train,
                             .valid = options.valid,
                             .test = options.test});
}

}  // namespace weyl

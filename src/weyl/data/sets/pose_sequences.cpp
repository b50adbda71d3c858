#include "weyl/data/sets/pose_sequences.h"

#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/sets/pose_files.h"
#include "weyl/data/sets/tensor_splits.h"

namespace weyl {

Schema pose_sequences_schema(const PoseSequencesDataOptions& options) {
  Schema schema;
  schema.interface.group = options.group;
  schema.interface.dimension = dimension_of(options.group);
  schema.interface.typical_nodes = 7;
  schema.labels = {{.name = "element", .level = Level::graph, .kind = Kind::element},
                   {.name = "flank", .kind = Kind::category}};
  return schema;
}

Splits open_pose_sequences(const PoseSequencesDataOptions& options) {
  if (is_pose_file(options.path) && !std::filesystem::is_directory(options.path)) {
    return open_trajectory(options);
  }
  return open_tensor_splits({.path = options.path,
                             .key = "data.pose_sequences",
                             .make = text("`weyl data make pose_sequences --out ", options.path,
                                          " group=", name_of(options.group), "`"),
                             .wanted = pose_sequences_schema(options),
                             .train = options.train,
                             .valid = options.valid,
                             .test = options.test});
}

}  // namespace weyl

#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/data/options.h"

namespace weyl {

/// What the data set declares in code, without touching a file: enough to build a model as shapes.
/// `interface` is the config's [interface], which the set `tensors` needs (ConfigError without): its
/// features, and its outputs as labels.
Schema declared_schema(const DataOptions& options, const Interface* interface = nullptr);

/// Opens the files that the options name; typical_nodes is the mean of the training split. DataError: which
/// file is missing or broken, and the command that makes it.
Splits open_splits(const DataOptions& options, const Interface* interface = nullptr,
                   Keep keep = Keep::in_memory);

/// Opens one file with all its samples, by the first of the formats of files/formats.h that takes it: as the
/// options of its set say (defaults when they name another). A folder that no format takes as a whole (as
/// frames, volumes or images alone, without labels) is a data set of the options' kind: its test split, else
/// valid, else train. The columns of a carrier tensor file are what `interface` says (of a model, or the
/// config's), else what its shapes tell. Labels that the file lacks are left out of the schema. Without an
/// interface, Values::any lets a carrier tensor file hold NaN and matrices outside their group, to be
/// inspected. DataError lists the formats for a path of none.
std::shared_ptr<const Dataset> open_file(const std::string& path, const DataOptions& options,
                                         const Interface* interface = nullptr,
                                         Values values = Values::checked, Keep keep = Keep::in_memory);

}  // namespace weyl

#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/data/options.h"

namespace weyl {

/// What the data set declares in code, without touching a file: enough to build a model as shapes. `interface` is the
/// config's [interface]. The set `tensors` takes its features from it, and its labels from the outputs (ConfigError
/// without an interface).
Schema declared_schema(const DataOptions& options, const Interface* interface = nullptr);

/// Opens the files that the options name; typical_nodes is the mean over the training split. DataError names the file
/// that is missing or broken, and the command that makes it. ConfigError: folds of a set that has none, or too many.
Splits open_splits(const DataOptions& options, const Interface* interface = nullptr,
                   Keep keep = Keep::in_memory);

/// The options with what only the files of the opened training split say, which a trained model must keep.
DataOptions as_opened(DataOptions options, const Dataset& train);

/// How open_file read a path.
struct OpenedAs {
  bool by_options = false;  // the options say how; they say nothing of a carrier tensor file
  std::string
      part;  // a line, where a folder has several splits, that says which of them the samples are; empty: all are
};

/// Opens one file with all its samples, by the first format of formats.h that takes it. The format follows `options`
/// where they are of its set, else the defaults. A folder that a format takes as a whole holds frames, volumes or
/// images alone, without labels. Any other folder is opened as a data set of the options' kind: its test split, else
/// valid, else train.
///
/// `interface` (a model's, or the config's) says what the columns of a carrier tensor file are; without it the shapes
/// do. Labels that the file lacks are left out of the schema. Without an interface, Values::any accepts NaN and
/// matrices outside their group in a carrier tensor file, so that it can be inspected. DataError: no format takes the
/// path; the message says what the path seems to be, or lists the formats. `how`: filled where it is given.
std::shared_ptr<const Dataset> open_file(const std::string& path, const DataOptions& options,
                                         const Interface* interface = nullptr,
                                         Values values = Values::checked, Keep keep = Keep::in_memory,
                                         OpenedAs* how = nullptr);

}  // namespace weyl

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weyl/data/atoms/options.h"
#include "weyl/data/base/file_format.h"
#include "weyl/data/base/listed_folds.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/bodies/options.h"
#include "weyl/data/clouds/options.h"
#include "weyl/data/images/options.h"
#include "weyl/data/particles/options.h"
#include "weyl/data/poses/options.h"
#include "weyl/data/tensors/options.h"
#include "weyl/data/volumes/options.h"

namespace weyl {

/// The data sets, a row each. All else about a set stands in its kind's folder, beginning with options.h there, which
/// declares for each `Options` of the list:
///
///   fields(Fields&, Options&)                the keys of [data.<name_in_config>]
///   require_effects(const Options&)          reports options without effect; optional
///   declared_schema(const Options&)          what the set declares without a look at files (tensors: the [interface])
///   open_set(const Options&)                 its splits; with a second argument, Folds, those of a fold
///   as_opened(Options, const Dataset& train) the options with what only the files say; optional
///   listed_folds(const Options&)             the folds that the files list themselves; optional
///   declared_samples(const Options&)         needed only where train, valid and test do not count samples
using DataSet =
    std::variant<NbodyDataOptions, TensorsDataOptions, PoseSequencesDataOptions, PoseWindowsDataOptions,
                 RotatedMnistDataOptions, Cifar10DataOptions, ImagesDataOptions, Ph2DataOptions,
                 ModelnetDataOptions, DecathlonDataOptions, MoleculesDataOptions, Md17DataOptions,
                 Qm9DataOptions, Molecule3dDataOptions, Pcqm4mv2DataOptions, Oc20DataOptions,
                 CloudsDataOptions, PlanetsDataOptions, RigidBodiesDataOptions>;
struct DataOptions {
  DataSet set;
  int64_t folds = 0, fold = 0;  // cross-validation (Folds in base/parts.h); sets of grids alone have it
};
void fields(Fields& f, DataOptions& o);

/// Reports options that are set but have no effect (config/unused_options.h). An option whose effect depends on the
/// files counts as having one.
void require_effects(const DataOptions& options);

/// The fold that is asked for, where one is. ConfigError: it is none of the folds.
std::optional<Folds> folds_of(const DataOptions& options);

/// The folds that the set's files list themselves, which data.folds must be. DataError: the list is broken.
ListedFolds listed_folds(const DataOptions& options);

/// The folder or file that the options name.
const std::string& path_of(const DataOptions& options);
/// The same samples at another place.
DataOptions moved_to(DataOptions options, const std::string& path);
/// The options for another set of the same kind, at `path`, with all its samples. Where the files give no splits, all
/// samples are for testing.
DataOptions all_of(DataOptions options, const std::string& path);

/// Tells a set whose folders are its classes which classes a model knows: `names`, in the order of their numbers. Where
/// all folders have names among these, they get the model's numbers, though some classes be absent (class_names.h).
DataOptions know_classes(DataOptions options, const std::vector<std::string>& names);
/// Restricts the states of frames (FrameState) to the values that a model knows, by key. A key that is not in `values`
/// may have any value in its range.
DataOptions know_states(DataOptions options, const std::map<std::string, std::vector<int64_t>>& values);
/// Sets the option `classes`, of `label` mask of clouds `point_classes`, where it is 0, to the number that the opened data
/// set has: `categories` of that label.
DataOptions count_classes(DataOptions options, std::string_view label, int64_t categories);
/// The same options for whatever classes the files have: for samples whose classes nobody asks for.
DataOptions of_any_classes(DataOptions options);

/// The set that the options ask for, which they must outlive.
AskedSet asked(const DataOptions& options);

/// How many samples each split has by the options alone, without a look at a file. 0: the options do not say it (they
/// leave it to the files, or give fractions). For rigid bodies this assumes scenes with as many frames as `weyl data
/// make rigid_bodies` gives them.
PartCounts declared_samples(const DataOptions& options);

}  // namespace weyl

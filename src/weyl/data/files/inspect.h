#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/files/duplicates.h"
#include "weyl/data/files/formats.h"

namespace weyl {

/// One field over all samples (`translations`: those of the elements of poses, which have a unit): `shape`
/// with the rows of all of them (0 along an axis that differs), extremes of the finite values (0 when there
/// are none), `missing` the number of values that are not finite.
struct FieldSummary {
  std::string name;
  std::vector<int64_t> shape;
  std::string unit;
  double min = 0, max = 0;
  int64_t missing = 0;
};

/// How the matrices of poses stand to their group and to the chart of its logarithm.
struct GroupSummary {
  LieGroup group = LieGroup::se3;
  double residual = 0;      // the largest distance of a matrix to the group, infinite for what is no element;
                            // where the reader mends, of what the file held (formats/pose_file.h)
  bool mended = false;      // the reader put the file's rotations onto the group
  int64_t off = 0;          // matrices further off than kOffGroup as they are read
  double least_margin = 0;  // of the chart, over relative poses within samples (pose_elements.h)
  int64_t outside = 0;      // samples with a relative pose outside the chart
};
constexpr double kOffGroup = 1e-5;  // float32 rounds to 1e-6

/// What `data inspect` reports.
struct Inspection {
  Carrier carrier = Carrier::points;
  int64_t samples = 0;
  int64_t least_tokens = 0, most_tokens = 0;
  double mean_tokens = 0;
  std::vector<FieldSummary> fields, labels;
  std::optional<GroupSummary> group;  // of poses
  std::vector<std::string> warnings;  // one line each
};

/// Warnings: values that are not finite, missing labels, samples without nodes, nodes of a sample at one
/// place (nearer than 1e-9 of its extent), constant labels, periodic cells without volume, matrices off their
/// group, relative poses outside the chart of the logarithm; and what SampleChecks find (sample_checks.h). `split` is the name
/// of the split that the data are (empty: none); with `seen`, which `data` must outlive, samples are compared with one
/// another and with those of earlier splits.
Inspection inspect(const Dataset& data, const std::string& split = "", Duplicates* seen = nullptr);

/// The sets that a path holds, for inspection: one file, as ("", set), or the splits of a folder by name.
/// Values of carrier tensor files may be NaN here. DataError: see open_file; a folder that no format takes, with what
/// it seems to be (advice.h).
NamedSets open_for_inspection(const std::string& path);

/// Inspects what a path holds, whatever its format (formats.h), one split after the other. Of a folder, each file that
/// cannot be read is a warning of the first split; DataError where none can.
void inspect_path(const std::string& path, const InspectionReport& report);

/// The files of a folder, and of folders in it, one by one, for a folder that is not read as a whole because of
/// `fault`: by the split that their names or folders say, all others as "". The first set warns of `fault` and of each
/// file that cannot be read. Empty: no file can be read, or there is none that a format takes.
std::vector<std::pair<std::string, Inspection>> inspect_files(const std::string& folder,
                                                              const std::string& fault);

}  // namespace weyl

#pragma once

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/data/base/duplicates.h"
#include "weyl/data/base/file_format.h"

namespace weyl {

/// A summary of one field over all samples.
///   shape     with the rows of all samples together; 0 along an axis whose size differs
///   min, max  of the finite values; 0 when there are none; not a number when no sample was read
///   missing   the number of values that are not finite
/// The translations of poses, which have a unit, are a field of their own, `translations`.
struct FieldSummary {
  std::string name;
  std::vector<int64_t> shape;
  std::string unit;
  double min = 0, max = 0;
  int64_t missing = 0;
  bool read = true;  // at least one sample
};

/// How far the matrices of poses are off their group and outside the chart of its logarithm.
struct GroupSummary {
  LieGroup group = LieGroup::se3;
  double residual = 0;      // the largest distance of a matrix to the group, infinite for what is no element;
                            // where the reader mends matrices, that of the file's (poses/pose_file.h)
  bool mended = false;      // the reader moved the file's rotations onto the group
  int64_t off = 0;          // matrices further off than kOffGroup as they are read
  double least_margin = 0;  // to the chart's end, over relative poses within samples (pose_elements.h)
  int64_t outside = 0;      // samples with a relative pose outside the chart
};
constexpr double kOffGroup = 1e-5;  // float32 rounds to 1e-6

/// The spacings of volumes, on the axes as they are read, and the axes as the files have them.
struct VolumeSummary {
  std::array<double, 3> least_spacing{INFINITY, INFINITY, INFINITY}, most_spacing{};
  std::string unit;
  std::map<std::string, int64_t> axes;  // samples by the directions of their axes, "LPS"

  /// A volume as its file has it.
  struct Volume {
    std::string name;
    std::vector<int64_t> cells;
    std::array<double, 3> spacing{};
    std::string axes;
    std::vector<std::array<double, 2>> values;  // the least and the largest of each channel; none: not read
    std::vector<int64_t> class_cells;           // of each class of its mask; none: without one
  };
  std::vector<std::string> channels, classes;  // names, where the files give them
  std::vector<int64_t> numbers;                // of the classes in the files' masks; none: without masks
  std::vector<Volume> each;

  /// Whether sizes, spacings or axes differ from volume to volume.
  bool differ() const;
};

/// A set whose files have numbers for the classes of their masks, ascending, by the places of the classes.
class NumberedClasses {
 public:
  virtual ~NumberedClasses() = default;
  virtual const std::vector<int64_t>& class_numbers() const = 0;
};

/// What `data inspect` reports.
struct Inspection {
  Carrier carrier = Carrier::points;
  int64_t samples = 0;
  int64_t least_tokens = 0, most_tokens = 0;
  double mean_tokens = 0;
  std::vector<FieldSummary> fields, labels;
  std::optional<GroupSummary> group;     // of poses
  std::optional<VolumeSummary> volumes;  // of files that say where their voxels are
  std::vector<std::string> warnings;     // one line each
};

/// Inspects a data set. It warns of values that are not finite, missing labels, samples without nodes, nodes of a
/// sample at one place (nearer than 1e-9 of its extent), constant labels, periodic cells without volume, matrices off
/// their group, relative poses outside the chart of the logarithm, no samples, a split of one sample, and what
/// SampleChecks find (sample_checks.h). Grids of more than `most_inspected` values are described by their headers alone,
/// and counted in a warning.
///
/// `split` is the name of the split that the data are; empty: none. With `seen`, which `data` must outlive, samples are
/// compared with one another and with those of earlier splits.
Inspection inspect(const Dataset& data, const std::string& split = "", Duplicates* seen = nullptr);
constexpr int64_t most_inspected = int64_t{1} << 28;  // 1 GiB as float32

/// Gathers FieldSummary objects, chunk by chunk.
class Summaries {
 public:
  /// Adds the rows of one more chunk to a field. An undefined tensor adds nothing.
  void add(const std::string& name, const std::string& unit, const Tensor& values);
  /// The same of values that are not read, of which the shape is known.
  void add_unread(const std::string& name, const std::string& unit, const std::vector<int64_t>& shape);
  std::vector<FieldSummary> done();

 private:
  FieldSummary& grow(const std::string& name, const std::string& unit, const std::vector<int64_t>& shape);

  std::vector<FieldSummary> all_;
  std::map<std::string, size_t> places_;  // in `all_`, by name
};

}  // namespace weyl

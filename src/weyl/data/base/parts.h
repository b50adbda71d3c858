#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/output_files.h"

namespace weyl {

/// The number of samples in each part.
struct PartCounts {
  int64_t train = 0, valid = 0, test = 0;
};

/// Cross-validation: the samples for training and validation are cut into `count` parts, of which part `fold` is for
/// validation and the others are for training. 0 parts: no folds.
struct Folds {
  int64_t count = 0, fold = 0;
};
/// The samples 0 .. size-1 as a fold has them: parts of a permutation drawn from Stream(seed, "folds"), whose sizes
/// differ by at most one, each in ascending order. ConfigError: fewer than two folds, more than there are samples, or a
/// fold that is none of them.
struct FoldIndices {
  std::vector<int64_t> train, valid;
};
FoldIndices draw_fold(int64_t size, const Folds& folds, int64_t seed);
/// ConfigError unless the fold is one of at least two.
void require_fold(const Folds& folds);

/// The counts asked for. For a count of 0 it is the fraction {train, valid, test} of all samples, rounded; validation
/// and test come first, and each takes at most what is left. Messages begin with `where`, the path and the key,
/// "data/ph2: data.ph2". ConfigError: the fractions are not three, or add up to more than 1. DataError: the counts add
/// up to more samples than there are.
PartCounts part_counts(int64_t size, const std::vector<double>& fractions, const PartCounts& asked,
                       const std::string& where);

/// Disjoint parts of the samples 0 .. size-1, with the given counts. They are consecutive pieces of a permutation drawn
/// from Stream(seed, stream), in its order. ShapeError: the counts add up to more than `size`.
std::vector<std::vector<int64_t>> draw_parts(int64_t size, const std::vector<int64_t>& counts, int64_t seed,
                                             std::string_view stream);

/// draw_parts with the permutation of numpy's RandomState(seed), seed below 2^32.
std::vector<std::vector<int64_t>> draw_parts_by_numpy(int64_t size, const std::vector<int64_t>& counts,
                                                      int64_t seed);

/// draw_parts without a permutation: the first samples, then the next, and so on.
std::vector<std::vector<int64_t>> parts_in_order(int64_t size, const std::vector<int64_t>& counts);

/// The fractions of a random split; what is left is the test split.
struct SplitOptions {
  double train = 0.8, valid = 0.1;
  int64_t seed = 0;
};

/// The samples 0 .. size-1 in three parts, each in ascending order.
struct SplitIndices {
  std::vector<int64_t> train, valid, test;
};

/// A random partition, a pure function of (size, options). It takes the pieces of draw_parts for the stream "split":
/// the first round(train * size) samples are for training, the next round(valid * size) for validation, the rest for
/// testing. ConfigError unless the fractions are at least 0 and add up to at most 1.
SplitIndices random_split(int64_t size, const SplitOptions& options);

/// For the formats: the metadata that parts of a file get in addition to the file's own.
std::map<std::string, std::string> split_metadata(const std::string& path, const SplitOptions& options);

/// For the formats: adds `<folder>/<split><ending>` for each part that is not empty, and returns these parts.
std::vector<const std::vector<int64_t>*> add_parts(NewFiles& files, const std::string& folder,
                                                   const SplitIndices& parts, const std::string& ending);

/// For the formats: draws the parts of `size` samples, and writes each that is not empty to
/// `<folder>/<split>.safetensors` by write(path, samples), which must use Existing::keep.
SplitIndices write_parts(
    const std::string& folder, const SplitOptions& options, int64_t size,
    const std::function<void(const std::string& path, const std::vector<int64_t>& samples)>& write);

}  // namespace weyl

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// How many samples each part has.
struct PartCounts {
  int64_t train = 0, valid = 0, test = 0;
};

/// Those asked for; for 0 the fraction {train, valid, test} of all, rounded: validation and test first, each
/// at most what is left. Messages begin with `where` and the key, "data/ph2: data.ph2". ConfigError: not
/// three fractions, or of more than 1 together. DataError: more than there are.
PartCounts part_counts(int64_t size, const std::vector<double>& fractions, const PartCounts& asked,
                       const std::string& where);

/// Disjoint parts of the samples 0 .. size-1, of so many each: consecutive pieces of a permutation drawn from
/// Stream(seed, stream), in its order. ShapeError: more than there are.
std::vector<std::vector<int64_t>> draw_parts(int64_t size, const std::vector<int64_t>& counts, int64_t seed,
                                             std::string_view stream);

/// The same by the permutation of numpy's RandomState(seed), seed below 2^32.
std::vector<std::vector<int64_t>> draw_parts_by_numpy(int64_t size, const std::vector<int64_t>& counts,
                                                      int64_t seed);

/// The same without a permutation: the first samples, the next, and so on.
std::vector<std::vector<int64_t>> parts_in_order(int64_t size, const std::vector<int64_t>& counts);

/// How a set is cut at random: fractions of its samples; what is left is the test split.
struct SplitOptions {
  double train = 0.8, valid = 0.1;
  int64_t seed = 0;
};

/// The samples 0 .. size-1 in three parts, each in ascending order.
struct SplitIndices {
  std::vector<int64_t> train, valid, test;
};

/// A random partition, a pure function of (size, options): of draw_parts by the stream "split" the first
/// round(train * size) are for training, the next round(valid * size) for validation, the rest for testing.
/// ConfigError unless the fractions are at least 0 and add up to at most 1.
SplitIndices random_split(int64_t size, const SplitOptions& options);

}  // namespace weyl

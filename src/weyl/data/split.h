#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weyl {

/// How a set is cut at random: fractions of its samples; what is left is the test split.
struct SplitOptions {
  double train = 0.8, valid = 0.1;
  int64_t seed = 0;
};

/// The samples 0 .. size-1 in three parts, each in ascending order.
struct SplitIndices {
  std::vector<int64_t> train, valid, test;
};

/// A random partition, a pure function of (size, options): the first round(valid * size) of a permutation
/// drawn from Stream(seed, "split") are for validation, the next round(test * size) for testing, the rest for
/// training. ConfigError unless the fractions are at least 0 and add up to at most 1.
SplitIndices random_split(int64_t size, const SplitOptions& options);

/// Writes the parts of one data file, weyl.nbody or carrier tensors, as
/// `<folder>/{train,valid,test}.safetensors`; empty parts are not written. Metadata is kept, with the seed
/// and the source's name added. Files that are there already are never replaced (ConfigError); when one
/// cannot be written (DataError) none of the new ones is left.
SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options);

}  // namespace weyl

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weyl {

/// Cuts a batch among ranks by the work of its samples (tokens, edges): the largest first, each to the rank that has least; of
/// equals the first sample and the first rank. Returns for each rank the places of its samples in the batch, ascending; a
/// rank of a small batch may have none. A pure function, so that every rank knows all shares.
std::vector<std::vector<int64_t>> shares_of(std::span<const int64_t> work, int ranks);

/// The mean of the ranks' work over the largest of them, 1 where all have the same; 1 of a batch without work.
double balance_of(std::span<const int64_t> work, const std::vector<std::vector<int64_t>>& shares);

/// A run of gradients that are summed over ranks as one tensor.
struct Bucket {
  std::vector<size_t> parameters;  // in their order
  int64_t bytes = 0;
};

/// Cuts parameters, given by their bytes in the order of their names' declaration, into buckets of at most `most` bytes, or of
/// one larger parameter. The last ones come first, since the backward pass is done with them first. It depends on sizes
/// alone, never on when gradients come: sums over three ranks and more have other bits with other borders.
std::vector<Bucket> buckets_of(std::span<const int64_t> bytes, int64_t most);

}  // namespace weyl

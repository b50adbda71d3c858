#include "weyl/carriers/subset.h"

#include "weyl/core/check.h"

namespace weyl {

Subset::Subset(std::shared_ptr<const Dataset> all, std::vector<int64_t> samples, Schema schema)
    : all_(std::move(all)), samples_(std::move(samples)), schema_(std::move(schema)) {
  for (const int64_t s : samples_) {
    require(s >= 0 && s < all_->size(), "subset: sample ", s, " is not one of 0 .. ", all_->size() - 1);
  }
}

int64_t Subset::sample(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  return samples_[static_cast<size_t>(index)];
}

int64_t Subset::tokens(int64_t index) const {
  return all_->tokens(sample(index));
}

Lattice Subset::lattice(int64_t index) const {
  return all_->lattice(sample(index));
}

std::string Subset::source(int64_t index) const {
  return all_->source(sample(index));
}

std::vector<int64_t> Subset::in_whole(std::span<const int64_t> indices) const {
  std::vector<int64_t> which;
  which.reserve(indices.size());
  for (const int64_t i : indices) {
    which.push_back(sample(i));
  }
  return which;
}

Batch Subset::batch(std::span<const int64_t> indices) const {
  return all_->batch(in_whole(indices));
}

Batch Subset::augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                        const Draw& draw) const {
  return all_->augmented(in_whole(indices), in_whole(partners), draw);
}

}  // namespace weyl

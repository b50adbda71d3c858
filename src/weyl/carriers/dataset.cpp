#include "weyl/carriers/dataset.h"

#include "weyl/carriers/consistency.h"
#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"

namespace weyl {

InMemory::InMemory(Batch all, Schema schema) : all_(std::move(all)), schema_(std::move(schema)) {
  require_consistent(all_, schema_);
}

int64_t InMemory::size() const {
  return all_.count();
}

int64_t InMemory::tokens(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  if (std::holds_alternative<Grid>(all_.input)) {
    return all_.tokens() / all_.count();
  }
  return graphs_of(all_.input).size(index);
}

Batch InMemory::batch(std::span<const int64_t> indices) const {
  return take(all_, indices, schema_);
}

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

PreparedFile Subset::prepared(const std::string& what) const {
  std::string labels;
  for (const Quantity& q : schema_.labels) {
    labels += " " + q.name;
  }
  return all_->prepared(text(what, "\nsamples ", size(), " ", checksum(std::as_bytes(std::span(samples_))),
                             ", labels", labels));
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

std::optional<Batch> Subset::made_anew(std::span<const int64_t> indices,
                                       std::span<const Placement> by) const {
  return all_->made_anew(in_whole(indices), by);
}

Batch Subset::augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                        const Draw& draw) const {
  return all_->augmented(in_whole(indices), in_whole(partners), draw);
}

}  // namespace weyl

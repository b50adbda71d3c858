#pragma once

#include <memory>
#include <vector>

#include "weyl/carriers/dataset.h"

namespace weyl {

/// Some samples of a set, in any order, sharing its memory.
class Subset : public Dataset {
 public:
  /// `schema`: that of the set, but for what is of the samples (typical_nodes).
  Subset(std::shared_ptr<const Dataset> all, std::vector<int64_t> samples, Schema schema);
  const Dataset& whole() const { return *all_; }
  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  Lattice lattice(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices) const override;
  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                  const Draw& draw) const override;
  double mended() const override { return all_->mended(); }
  std::string source(int64_t index) const override;
  /// The index in the set of a sample of this part. ShapeError: there is no such sample.
  int64_t sample(int64_t index) const;

 private:
  std::vector<int64_t> in_whole(std::span<const int64_t> indices) const;

  std::shared_ptr<const Dataset> all_;
  std::vector<int64_t> samples_;
  Schema schema_;
};

}  // namespace weyl

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "weyl/carriers/dataset.h"

namespace weyl {

/// A set whose samples are made anew (Dataset::made_anew), each row at a placement of its own, with their labels. Each
/// sample is so many rows in turn: row i is sample i / copies. Points in space are turned about the mean of their places (a
/// placement's shift, which is in cells, must be 0), labels with them.
class PlacedSamples : public Dataset {
 public:
  /// `by`: the placement of a row, by its index; it must be a pure function.
  PlacedSamples(std::shared_ptr<const Dataset> data, std::function<Placement(int64_t)> by, int64_t copies = 1)
      : data_(std::move(data)), by_(std::move(by)), copies_(copies) {}
  int64_t size() const override { return data_->size() * copies_; }
  const Schema& schema() const override { return data_->schema(); }
  int64_t tokens(int64_t index) const override { return data_->tokens(index / copies_); }
  Lattice lattice(int64_t index) const override { return data_->lattice(index / copies_); }
  std::string source(int64_t index) const override { return data_->source(index / copies_); }
  std::string name(int64_t index) const override { return data_->name(index / copies_); }
  bool streams() const override { return data_->streams(); }
  bool reads_anywhere() const override { return data_->reads_anywhere(); }
  /// DataError: the set cannot make its samples anew, and they are no points in space.
  Batch batch(std::span<const int64_t> indices) const override;

 private:
  std::shared_ptr<const Dataset> data_;
  std::function<Placement(int64_t)> by_;
  int64_t copies_;
};

/// Whether a set holds points in space, which can be turned as they are.
bool holds_points_in_space(const Dataset& data);

/// Whether a set can make its samples anew.
bool makes_anew(const Dataset& data);

}  // namespace weyl

#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/lattice.h"

namespace weyl {

/// What a random change of samples is a function of, beside the sample.
struct Draw {
  uint64_t seed = 0;
  int64_t epoch = 0;
};

/// A set of samples. Safe to read from several threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual const Schema& schema() const = 0;
  virtual int64_t tokens(int64_t index) const = 0;  // N of one sample
  /// The lattice of a grid, where grids may differ: those of one batch must be alike, in their spacing alone when
  /// they are cropped.
  virtual Lattice lattice(int64_t /*index*/) const { return {}; }
  virtual Batch batch(std::span<const int64_t> indices) const = 0;
  /// The samples as training sees them in an epoch: as they are, unless the set has options that change them at random.
  /// Each is a function of `draw`, of itself and of its partner, another sample that may be mixed into it.
  virtual Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                          const Draw& /*draw*/) const {
    return batch(indices);
  }
  /// How far the worst pose of the source was off its group before the reader put it there; 0: none was.
  virtual double mended() const { return 0; }
  /// The file that a sample alone comes from, whose format and geometry its prediction may take
  /// (data/images/prediction.h); empty: none, or one that holds many samples.
  virtual std::string source(int64_t /*index*/) const { return ""; }
};

/// All samples in one big batch; `batch` is a row gather.
class InMemory : public Dataset {
 public:
  InMemory(Batch all, Schema schema);
  int64_t size() const override;
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices) const override;
  const Batch& all() const { return all_; }

 private:
  Batch all_;
  Schema schema_;
};

/// Whether samples are read once and kept, or, where their format can be read from sample to sample (frames of atoms),
/// read anew when they are asked for: then batches are best asked for in their order.
enum class Keep { in_memory, on_disk };

/// The splits of a data set; absent ones are null.
struct Splits {
  std::shared_ptr<const Dataset> train, valid, test;
};

}  // namespace weyl

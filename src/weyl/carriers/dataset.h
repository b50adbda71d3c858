#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/lattice.h"
#include "weyl/core/prepared_file.h"

namespace weyl {

/// The source of random changes: an augmented sample is a function of a Draw, of itself and of its partner.
struct Draw {
  uint64_t seed = 0;
  int64_t epoch = 0;
};

/// A motion of a whole sample in space, p -> R p + t about the middle of its grid: R row-major, t in cells.
struct Placement {
  std::array<double, 9> rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<double, 3> shift{};
};

/// What a model says of the cells of one grid, in the set's axes.
struct CellPredictions {
  Tensor classes;        // (spatial...) int64
  Tensor probabilities;  // (K, spatial...)
  /// What is made of the most probable classes (spatial...) int64 on another grid, as that of each one part remains; none: nothing.
  std::function<Tensor(const Tensor&)> finish = {};
};

/// A set of samples. Safe to read from several threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual const Schema& schema() const = 0;
  virtual int64_t tokens(int64_t index) const = 0;  // N of one sample
  /// The lattice of a grid, for sets whose grids may differ. Grids of one batch must have the same lattice, or the same
  /// spacing alone when they are cropped.
  virtual Lattice lattice(int64_t /*index*/) const { return {}; }
  virtual Batch batch(std::span<const int64_t> indices) const = 0;
  /// The samples as training sees them in an epoch. They are unchanged unless the set has options that change them at
  /// random. Each is then a function of `draw`, of itself and of its partner, another sample that may be mixed into it.
  virtual Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                          const Draw& /*draw*/) const {
    return batch(indices);
  }
  /// Grids made anew from what they were made of, each moved by a placement of its own first, so that nothing of a grid is
  /// interpolated, with the labels of the samples. Nothing: the set has no more than the grids.
  virtual std::optional<Batch> made_anew(std::span<const int64_t> /*indices*/,
                                         std::span<const Placement> /*by*/) const {
    return {};
  }
  /// How far the worst pose of the source was off its group before the reader moved it there. 0: none was off.
  virtual double mended() const { return 0; }
  /// The file that holds this sample alone; a prediction may take its format and geometry (data/images/prediction.h).
  /// Empty: there is none, or the file holds many samples.
  virtual std::string source(int64_t /*index*/) const { return ""; }
  /// What a sample is called, and its prediction after it; empty: as its source is, without the ending.
  virtual std::string name(int64_t /*index*/) const { return ""; }
  /// Predictions on the grid of a sample brought to that of its own file, where the reader has made another of it
  /// (resampled, cut), with classes by the numbers that files have for them. ShapeError: they are of another size than the
  /// sample.
  virtual CellPredictions as_in_file(int64_t /*index*/, CellPredictions predictions) const {
    return predictions;
  }
  /// The directions of a volume's axes as its file has them, "LPS"; the reader may have turned them. Empty: nobody says.
  virtual std::string axes(int64_t /*index*/) const { return ""; }
  /// Whether batches are read from files each time they are asked for.
  virtual bool streams() const { return false; }
  /// Whether any of them can be read at once. Else a batch costs the reading of all before it: a thread of its own for each of
  /// several batches would read all.
  virtual bool reads_anywhere() const { return true; }
  /// Where what is found by reading all samples may be kept for whoever opens the set next. `what` says what it is, and all
  /// that it depends on beside the samples. A file that keeps nothing: the set does not stream, or says of nobody how it is known.
  virtual PreparedFile prepared(const std::string& /*what*/) const { return {}; }
  /// What the user should know of how the set was opened, a line each.
  virtual std::vector<std::string> notes() const { return {}; }
  /// What the header of a sample's file says twice and differently, and which of the two is taken. Empty: nothing.
  virtual std::string doubt(int64_t /*index*/) const { return ""; }
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

/// How samples are kept:
///   in_memory  they are read once and kept
///   on_disk    they are read anew each time, where the format can be read sample by sample (frames of atoms); batches
///              are then best asked for in the order of the samples
enum class Keep { in_memory, on_disk };

/// The splits of a data set; absent ones are null.
struct Splits {
  std::shared_ptr<const Dataset> train, valid, test;
};

/// Some samples of a set, in any order, sharing its memory.
class Subset : public Dataset {
 public:
  /// `schema`: the schema of the set, with this part's own statistics (typical_nodes).
  Subset(std::shared_ptr<const Dataset> all, std::vector<int64_t> samples, Schema schema);
  const Dataset& whole() const { return *all_; }
  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  Lattice lattice(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices) const override;
  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                  const Draw& draw) const override;
  std::optional<Batch> made_anew(std::span<const int64_t> indices,
                                 std::span<const Placement> by) const override;
  double mended() const override { return all_->mended(); }
  std::string source(int64_t index) const override;
  std::string name(int64_t index) const override { return all_->name(sample(index)); }
  CellPredictions as_in_file(int64_t index, CellPredictions predictions) const override {
    return all_->as_in_file(sample(index), std::move(predictions));
  }
  std::string axes(int64_t index) const override { return all_->axes(sample(index)); }
  std::string doubt(int64_t index) const override { return all_->doubt(sample(index)); }
  bool streams() const override { return all_->streams(); }
  bool reads_anywhere() const override { return all_->reads_anywhere(); }
  PreparedFile prepared(const std::string& what) const override;
  std::vector<std::string> notes() const override { return all_->notes(); }
  /// The index in the whole set of a sample of this part. ShapeError: there is no such sample.
  int64_t sample(int64_t index) const;

 private:
  std::vector<int64_t> in_whole(std::span<const int64_t> indices) const;

  std::shared_ptr<const Dataset> all_;
  std::vector<int64_t> samples_;
  Schema schema_;
};

}  // namespace weyl

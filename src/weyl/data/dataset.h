#pragma once

#include <memory>
#include <string>

#include "weyl/data/batch.h"
#include "weyl/data/lattice.h"
#include "weyl/data/options.h"
#include "weyl/data/tensor_format.h"

namespace weyl {

/// A set of samples. Safe to read from several threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual const Schema& schema() const = 0;
  virtual int64_t tokens(int64_t index) const = 0;  // N of one sample
  /// Of grids that may differ: those of one batch must be alike, in their spacing alone when they are
  /// cropped.
  virtual Lattice lattice(int64_t /*index*/) const { return {}; }
  virtual Batch batch(std::span<const int64_t> indices) const = 0;
  /// How far the worst pose of the source was off its group before the reader put it there; 0: none was.
  virtual double mended() const { return 0; }
  /// The file that a sample alone comes from, whose format and geometry its prediction may take
  /// (data/prediction.h); empty: none, or one that holds many samples.
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

/// The splits of a data set; absent ones are null.
struct Splits {
  std::shared_ptr<const Dataset> train, valid, test;
};

/// What the data set declares in code, without touching a file: enough to build a model as shapes.
/// `interface` is the config's [interface], which the set `tensors` needs (ConfigError without): its
/// features, and its outputs as labels.
Schema declared_schema(const DataOptions& options, const Interface* interface = nullptr);

/// Opens the files that the options name; typical_nodes is the mean of the training split. DataError: which
/// file is missing or broken, and the command that makes it.
Splits open_splits(const DataOptions& options, const Interface* interface = nullptr);

/// Opens one file, or a folder (of images alone: they without labels; else its test split, else valid, else
/// train), all its samples, by the file's own format: a weyl data file as the options of its set say
/// (defaults when the options name another), the original .npy folder, a trajectory of text
/// (sets/pose_files.h), or a carrier tensor file (cli.md) whose columns are what `interface` says (of a
/// model, or the config's), else what its shapes tell. Labels that the file lacks are left out of the schema.
/// Without an interface, Values::any lets a carrier tensor file hold NaN and matrices outside their group, to
/// be inspected.
std::shared_ptr<const Dataset> open_file(const std::string& path, const DataOptions& options,
                                         const Interface* interface = nullptr,
                                         Values values = Values::checked);

}  // namespace weyl

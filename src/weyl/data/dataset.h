#pragma once

#include <memory>
#include <string>

#include "weyl/data/batch.h"
#include "weyl/data/options.h"

namespace weyl {

/// A set of samples. Safe to read from several threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual const Schema& schema() const = 0;
  virtual int64_t tokens(int64_t index) const = 0;                        // N of one sample
  virtual Batch batch(std::span<const int64_t> indices) const = 0;
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
Schema declared_schema(const DataOptions& options);

/// Opens the files that the options name. DataError: which file, and the command that makes it.
Splits open_splits(const DataOptions& options);

/// Opens one file (or folder) as the data set that the options name; without options, by the file's own
/// format (a weyl data file or a carrier tensor file, see cli.md).
std::shared_ptr<const Dataset> open_file(const std::string& path, const DataOptions& options);

}  // namespace weyl

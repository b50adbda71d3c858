#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/clouds/cloud_view.h"
#include "weyl/data/clouds/options.h"

namespace weyl {

/// A cloud in memory.
struct HeldCloud {
  Cloud cloud;
  std::string source;         // of a cloud alone in its file
  std::string file;           // that it is in,
  int64_t number = 0;         // and which of its clouds it is
  std::vector<int64_t> rows;  // that are taken, unless training draws others; none: all

  int64_t taken() const { return rows.empty() ? cloud.points() : static_cast<int64_t>(rows.size()); }
};

/// All points of the file of a cloud whose nodes are some of them, moved or scaled, and of each its node, or the nearest.
struct FilePoints {
  Tensor positions;  // (P, 3) float64, as the file has them
  Tensor nodes;      // (P) int64, rows of the sample's nodes
};

/// The clouds of the file that was read last, which may be many: (P, 3) each, as the file has them.
struct LastFile {
  std::string path;
  std::vector<std::vector<double>> positions;
};

/// Leaves these rows of a cloud, in their order.
void keep_rows(Cloud& cloud, const std::vector<int64_t>& rows);

/// Clouds in memory, as clouds/clouds.h says.
class CloudSet : public Dataset {
 public:
  CloudSet(std::vector<HeldCloud> clouds, Schema schema, const CloudsDataOptions& options);

  int64_t size() const override { return static_cast<int64_t>(clouds_.size()); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override { return options_.input.nodes(clouds_.at(index).taken()); }
  std::string source(int64_t index) const override { return clouds_.at(index).source; }
  /// The file that a cloud is in, alone or with others.
  const std::string& file(int64_t index) const { return clouds_.at(index).file; }
  std::string name(int64_t index) const override;
  /// Reads the file of a cloud again, unless `last` has it, and leaves it there. DataError: it has changed.
  FilePoints points_in_file(int64_t index, LastFile& last) const;
  Batch batch(std::span<const int64_t> indices) const override;
  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                  const Draw& draw) const override;

 private:
  struct Seen {
    const Cloud* cloud = nullptr;
    CloudView view;  // its rows are those of the cloud
  };

  Seen seen(int64_t index, const Draw* draw) const;
  Batch batch_of(std::span<const int64_t> indices, const Draw* draw) const;
  Tensor shape_classes(std::span<const int64_t> indices) const;
  void fill(const Tensor& tensor, const std::vector<Seen>& clouds, Kind kind) const;

  std::vector<HeldCloud> clouds_;
  Schema schema_;
  CloudsDataOptions options_;
};

/// The feature of graphs that tells a model the class of a cloud.
constexpr const char* kShapeClass = "shape_class";

/// All clouds of one file, or of a folder without folders of classes, with the labels that the files say, if any; of a model
/// that is told classes (class_input) also the one that their folder is called by.
std::shared_ptr<const Dataset> open_cloud_files(const std::string& path, const CloudsDataOptions& options);

}  // namespace weyl

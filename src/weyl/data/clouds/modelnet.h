#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/options.h"
#include "weyl/data/clouds/surface.h"

namespace weyl {

/// Points of a shape (P, 3), and the unit normals there, where they are asked for.
struct PointsOfShape {
  std::vector<float> points, normals;
};

/// One shape: its points, of which the first `points` of the options are taken, and, where they are asked for, its mesh.
struct Shape {
  PointsOfShape all;
  std::shared_ptr<const Mesh> mesh;
  int64_t label = -1;   // none
  std::string source;   // of a mesh alone in its file
  uint64_t number = 0;  // in its split of the files
  bool fitted = false;  // into the unit ball; else the points that are taken are, where that is asked for
};

/// Shapes in memory, as clouds/modelnet.h says.
class ShapeSet : public Dataset {
 public:
  /// `names` are those of the classes, none where nobody says them; `up` is 0, 1 or 2.
  ShapeSet(std::vector<Shape> shapes, const ModelnetDataOptions& options, std::string split, int up,
           std::vector<std::string> names = {});

  int64_t size() const override { return static_cast<int64_t>(shapes_.size()); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  std::string source(int64_t index) const override { return shapes_.at(index).source; }
  Lattice lattice(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices) const override;
  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                  const Draw& draw) const override;
  std::optional<Batch> made_anew(std::span<const int64_t> indices,
                                 std::span<const Placement> by) const override;

 private:
  using Change =
      std::function<void(std::vector<double>& places)>;  // of points (P, 3), before they become cells

  double side() const { return 2 * options_.extent / static_cast<double>(options_.voxels); }  // of a cell
  Rotation rotation_of(const Shape& shape) const;
  PointsOfShape placed(PointsOfShape points, const Shape& shape) const;  // in the ball, and turned
  PointsOfShape taken(const Shape& shape) const;                         // the first points, placed
  PointsOfShape drawn(const Shape& shape, Stream& stream) const;         // of all points or the mesh, placed
  std::optional<Stream> stream_of(int64_t index,
                                  const Draw* draw) const;  // by which training changes a sample
  /// The cells of a shape; the end of them. `stream`: by which its points are drawn; null: they are those it has.
  float* fill(const Shape& shape, Stream* stream, const Change& change, float* to) const;
  Batch grids(std::span<const int64_t> indices, const Draw* draw) const;  // without labels
  Tensor empty_cells(int64_t count) const;
  Batch as_grids(Tensor cells) const;
  Batch clouds(std::span<const int64_t> indices, const Draw* draw) const;
  Batch made(std::span<const int64_t> indices, const Draw* draw) const;  // null: unchanged
  Batch labelled(Batch batch, std::span<const int64_t> indices) const;

  std::vector<Shape> shapes_;
  ModelnetDataOptions options_;
  std::string split_;
  int up_;
  Schema schema_;
};

/// Keeps the first `asked` samples, all for 0. DataError naming `where`: there are fewer.
template <class Sample>
void keep_first(std::vector<Sample>& samples, int64_t asked, const std::string& where) {
  const auto found = static_cast<int64_t>(samples.size());
  require<DataError>(asked <= found, where, " must be at most ", found,
                     ", the samples there are (0: all), got ", asked);
  if (asked > 0) {
    samples.resize(asked);
  }
}

/// Takes `asked` samples (0: a tenth) out of `train`, drawn by the stream "valid"; both keep their order.
/// DataError naming `where`: none would be left.
template <class Sample>
std::vector<Sample> draw_validation(std::vector<Sample>& train, int64_t asked, int64_t seed,
                                    const std::string& where) {
  const auto size = static_cast<int64_t>(train.size());
  const int64_t count = asked > 0 ? asked : size / 10;
  require<DataError>(count < size, where, ".valid must be less than ", size,
                     ", the training samples that it is drawn from, got ", count);
  std::vector<bool> drawn(size);
  const auto parts = draw_parts(size, {count}, seed, "valid");
  for (const int64_t i : parts.front()) {
    drawn[i] = true;
  }
  std::vector<Sample> valid, rest;
  for (int64_t i = 0; i < size; ++i) {
    (drawn[i] ? valid : rest).push_back(std::move(train[i]));
  }
  train = std::move(rest);
  return valid;
}

/// Whether a folder holds one of the two layouts.
bool is_modelnet_folder(const std::string& path);

/// One .h5 file, or one .off file without a label; all its samples, turned as the test split. With
/// `classes` 0 the classes are those that the file shows.
std::shared_ptr<const Dataset> open_modelnet_file(const std::string& path,
                                                  const ModelnetDataOptions& options);

/// The axis that points upwards in the files, 0 to 2.
int upward_axis(const ModelnetDataOptions& options);

}  // namespace weyl

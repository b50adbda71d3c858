#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/formats/off.h"
#include "weyl/data/options.h"
#include "weyl/data/shapes/surface.h"

namespace weyl {

/// One shape: its points, of which the first `points` of the options are taken, and, where they are asked for, its mesh.
struct Shape {
  std::vector<float> points;  // (P, 3)
  std::shared_ptr<const Mesh> mesh;
  int64_t label = -1;   // none
  std::string source;   // of a mesh alone in its file
  uint64_t number = 0;  // in its split of the files
  bool fitted = false;  // into the unit ball; else the points that are taken are, where that is asked for
};

/// Shapes in memory, as sets/modelnet.h says.
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

 private:
  double side() const { return 2 * options_.extent / static_cast<double>(options_.voxels); }  // of a cell
  Rotation rotation_of(const Shape& shape) const;
  std::vector<float> placed(std::vector<float> points, const Shape& shape) const;  // in the ball, and turned
  std::vector<float> taken(const Shape& shape) const;                              // the first points, placed
  std::vector<float> drawn(const Shape& shape, Stream& stream) const;  // of all points or the mesh, placed
  float* fill(const Shape& shape, float* to) const;     // the cells of a shape; the end of them
  Batch grids(std::span<const int64_t> indices) const;  // without labels
  Batch clouds(std::span<const int64_t> indices, const Draw* draw) const;
  Batch labelled(Batch batch, std::span<const int64_t> indices) const;

  std::vector<Shape> shapes_;
  ModelnetDataOptions options_;
  std::string split_;
  int up_;
  Schema schema_;
};

}  // namespace weyl

#include "weyl/data/bodies/rigid_bodies.h"

#include <ATen/ops/empty.h>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/bodies/files.h"
#include "weyl/data/bodies/rigid_scenes.h"
#include "weyl/data/bodies/rigid_tokens.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr double kMeanTokens = 5465;  // of a scene of MOVi-B: 6.5 objects of 840.7 triangles

class RigidBodies : public Dataset {
 public:
  RigidBodies(const std::string& path, const RigidBodiesDataOptions& options, bool labels, int64_t asked,
              const std::string& key)
      : file_(path), o_(options), schema_(declared_schema(options)) {
    const bool has_labels = file_.frames() >= o_.rollout + 2;
    require<DataError>(has_labels || !labels, path, ": must have ", o_.rollout + 2,
                       " frames or more for a rollout of ", o_.rollout, ", got ", file_.frames());
    require<DataError>(file_.frames() >= 2, path, ": must have at least 2 frames, has ", file_.frames());
    require<DataError>(asked <= file_.scenes(), path, ": ", key, " must be at most ", file_.scenes(),
                       ", the scenes there are (0: all), got ", asked);
    if (!has_labels) {
      schema_.labels.clear();
    }
    const int64_t frames = has_labels ? file_.frames() - 1 - o_.rollout : file_.frames() - 1;
    per_scene_ = (frames + o_.stride - 1) / o_.stride;
    scenes_ = asked > 0 ? asked : file_.scenes();
    for (const RigidShape& shape : file_.shapes()) {
      shapes_.emplace_back(shape.mesh);
    }
    int64_t all = 0;
    for (int64_t scene = 0; scene < scenes_; ++scene) {
      tokens_.push_back(0);
      for (int64_t i = file_.offsets()[scene]; i < file_.offsets()[scene + 1]; ++i) {
        tokens_.back() += shapes_[file_.objects()[i].shape].triangles();
      }
      all += tokens_.back();
    }
    schema_.interface.typical_nodes =
        scenes_ > 0 ? static_cast<double>(all) / static_cast<double>(scenes_) : 1;
  }

  int64_t size() const override { return scenes_ * per_scene_; }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override { return tokens_[scene_of(index)]; }
  Batch batch(std::span<const int64_t> indices) const override;
  void set_typical_nodes(double mean) { schema_.interface.typical_nodes = mean; }

 private:
  int64_t scene_of(int64_t index) const {
    require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
    return index / per_scene_;
  }

  RigidScenesFile file_;
  RigidBodiesDataOptions o_;
  Schema schema_;
  std::vector<TokenShape> shapes_;
  int64_t scenes_ = 0, per_scene_ = 0;
  std::vector<int64_t> tokens_;  // of each scene
};

Batch RigidBodies::batch(std::span<const int64_t> indices) const {
  std::vector<int64_t> graphs, objects;
  std::vector<RigidScene> scenes;
  int64_t before = -1;
  for (const int64_t index : indices) {
    const int64_t scene = scene_of(index);
    scenes.push_back(scene == before ? scenes.back() : file_.scene(scene));
    before = scene;
    graphs.push_back(tokens_[scene]);
    for (const RigidObject& object : scenes.back().objects) {
      objects.push_back(shapes_[object.shape].triangles());
    }
  }
  Points points;
  points.graphs = Segments::of_sizes(graphs);
  points.objects = Segments::of_sizes(objects);
  const int64_t n = points.graphs.rows(), bodies = points.objects.count(), steps = o_.rollout;
  const int64_t columns = o_.floor ? TokenRow::vectors + 1 : TokenRow::vectors;
  points.positions = at::empty({n, 3}, at::kDouble);
  points.vectors = at::empty({n, columns, 3}, at::kDouble);
  if (o_.floor) {
    points.scalars = at::empty({n, 1}, at::kDouble);
  }
  Batch result;
  std::map<std::string, double*> label;
  for (const Quantity& q : schema_.labels) {
    std::vector<int64_t> shape{bodies, q.channels};
    if (q.kind != Kind::scalar) {
      shape.push_back(3);
    }
    if (q.kind == Kind::symmetric_tensor) {
      shape.push_back(3);
    }
    label[q.name] = (result.labels[q.name] = at::empty(shape, at::kDouble)).mutable_data_ptr<double>();
  }
  TokenRow row{points.positions.mutable_data_ptr<double>(), points.vectors.mutable_data_ptr<double>(),
               o_.floor ? points.scalars.mutable_data_ptr<double>() : nullptr};
  int64_t body = 0;
  for (size_t k = 0; k < indices.size(); ++k) {
    const RigidScene& scene = scenes[k];
    const int64_t frame = 1 + indices[k] % per_scene_ * o_.stride, frames = file_.frames();
    for (size_t i = 0; i < scene.objects.size(); ++i, ++body) {
      const RigidObject& object = scene.objects[i];
      const TokenShape& shape = shapes_[object.shape];
      const float* poses = &scene.poses[i * frames * 7];
      const auto pose = [&](int64_t at) { return RigidPose(poses + at * 7, object.scale); };
      const RigidPose now = pose(frame), before = pose(frame - 1);
      shape.write(before, now, row);
      if (label.empty()) {
        continue;
      }
      shape.write_motion(before, now, label["past_displacement"] + 3 * body, label["past_turn"] + 3 * body);
      for (int64_t step = 1; step <= steps; ++step) {
        const int64_t at = 3 * (body * steps + step - 1);
        shape.write_motion(now, pose(frame + step), label["displacement"] + at, label["turn"] + at);
      }
      shape.write_mass_centre(now, label["mass_centre"] + 3 * body);
      const uint8_t* contacts = &scene.contacts[i * frames];
      label["contact"][body] = (contacts[frame] | contacts[frame + 1]) != 0 ? 1 : 0;
      label["vertex_count"][body] = static_cast<double>(shape.vertices());
      shape.write_moments(now, label["vertex_mean"] + 3 * body, label["vertex_moment"] + 9 * body);
    }
  }
  result.input = std::move(points);
  return result;
}

}  // namespace

Schema declared_schema(const RigidBodiesDataOptions& o) {
  Schema schema;
  schema.interface.length_unit = "m";
  schema.interface.typical_nodes = kMeanTokens;
  schema.horizon = 1;
  const auto vector = [](const char* name, int64_t channels, Role role, const char* unit) {
    return Quantity{.name = name, .kind = Kind::vector, .channels = channels, .role = role, .unit = unit};
  };
  schema.interface.features = {vector("vertices", 3, Role::offset, "m"), vector("arms", 3, Role::normal, "m"),
                               vector("normal", 1, Role::normal, ""),
                               vector("vertex_velocities", 3, Role::free, "m/frame"),
                               vector("velocity", 1, Role::free, "m/frame")};
  if (o.floor) {
    schema.interface.features.push_back(vector("up", 1, Role::normal, ""));
    schema.interface.features.push_back({.name = "height", .unit = "m"});
  }
  const auto label = [](const char* name, Kind kind, int64_t channels, const char* unit) {
    return Quantity{.name = name, .level = Level::object, .kind = kind, .channels = channels, .unit = unit};
  };
  schema.labels = {label("displacement", Kind::vector, o.rollout, "m"),
                   label("turn", Kind::axial_vector, o.rollout, "rad"),
                   label("past_displacement", Kind::vector, 1, "m"),
                   label("past_turn", Kind::axial_vector, 1, "rad"),
                   label("mass_centre", Kind::vector, 1, "m"),
                   label("contact", Kind::scalar, 1, ""),
                   label("vertex_count", Kind::scalar, 1, ""),
                   label("vertex_mean", Kind::vector, 1, "m"),
                   label("vertex_moment", Kind::symmetric_tensor, 1, "m^2")};
  return schema;
}

std::shared_ptr<const Dataset> open_rigid_bodies_file(const std::string& path,
                                                      const RigidBodiesDataOptions& options, bool labels) {
  return std::make_shared<RigidBodies>(path, options, labels, 0, "");
}

Splits open_set(const RigidBodiesDataOptions& o) {
  require<DataError>(fs::is_directory(o.path), o.path,
                     ": there is no such folder; make it with `weyl data make rigid_bodies --out ", o.path,
                     "`");
  const auto open = [&](const std::string& split, int64_t asked) -> std::shared_ptr<RigidBodies> {
    const std::string path = (fs::path(o.path) / (split + ".safetensors")).string();
    return fs::exists(path)
               ? std::make_shared<RigidBodies>(path, o, true, asked, "data.rigid_bodies." + split)
               : nullptr;
  };
  const auto train = open("train", o.train), valid = open("valid", o.valid), test = open("test", o.test);
  require<DataError>(train || valid || test, o.path,
                     ": holds no train.safetensors, valid.safetensors or test.safetensors; make them with "
                     "`weyl data make rigid_bodies --out ",
                     o.path, "`");
  for (const auto& other : {valid, test}) {
    if (train && other) {
      other->set_typical_nodes(train->schema().interface.typical_nodes);
    }
  }
  return {train, valid, test};
}

}  // namespace weyl

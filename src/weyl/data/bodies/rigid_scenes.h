#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "weyl/core/safetensors.h"
#include "weyl/data/clouds/mesh_file.h"

namespace weyl {

/// What the metadata `format` of such a file says.
inline constexpr const char* rigid_scenes_format = "weyl.rigid_bodies";

/// Frames of a scene, unless the maker is asked for others.
constexpr int64_t rigid_scene_frames = 96;

/// A shape that objects have, at scale 1 about its centre of mass.
struct RigidShape {
  std::string name;
  Mesh mesh;

  bool operator==(const RigidShape&) const = default;
};

struct RigidObject {
  int64_t shape = 0;  // its number in the file
  double scale = 1, mass = 1, friction = 0, restitution = 0;

  bool operator==(const RigidObject&) const = default;
};

/// One scene: n objects through F frames.
struct RigidScene {
  std::vector<RigidObject> objects;
  std::vector<float> poses;  // (n, F, 7): position, quaternion (x, y, z, w)
  std::vector<uint8_t>
      contacts;  // (n, F): what was touched since the frame before; 1 the floor, 2 another body

  bool operator==(const RigidScene&) const = default;
};

/// Scenes of rigid bodies, as `weyl data make rigid_bodies` writes them: shapes once, and the poses of objects in each
/// frame. A vertex v of an object's shape is at p + s R(q) v. Lengths in m, masses in kg; the floor is z = 0, gravity
/// points along -z.
///
/// The safetensors file has, with K shapes, S scenes and O objects in all, scene after scene: `shape_vertices` (V, 3) f64,
/// `shape_triangles` (T, 3) i64 (rows of their own shape), `shape_vertex_offsets`, `shape_triangle_offsets` (K + 1)
/// i64, `scene_offsets` (S + 1) i64, `shapes` (O) i64, `scales`, `masses`, `frictions`, `restitutions` (O) f64, `poses`
/// (O, F, 7) f32, `contacts` (O, F) u8; and as metadata format_version 1, `shape_names` (K, with commas between them) and
/// `frame_interval` in s.
///
/// Reading is safe from several threads. Opening reads all but the poses, which are read with their scene, or, where
/// they are small, at once. DataError naming the file and what is wrong: no such file, a tensor that is not there or of another
/// type or shape, offsets that do not begin with 0, do not ascend or do not end with their rows, a scene without
/// objects, a shape that is no surface (mesh_file.h), a corner that is no vertex, a number that is not finite, a scale or
/// mass that is not positive, a quaternion of another length than 1, contacts beyond 3.
class RigidScenesFile {
 public:
  explicit RigidScenesFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const std::map<std::string, std::string>& metadata() const { return file_.header().metadata; }
  const std::vector<RigidShape>& shapes() const { return shapes_; }
  int64_t scenes() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t frames() const { return frames_; }
  double interval() const { return interval_; }  // between frames, s
  /// The objects of a scene are [offsets[scene], offsets[scene + 1]) of all.
  const std::vector<int64_t>& offsets() const { return offsets_; }
  const std::vector<RigidObject>& objects() const { return objects_; }
  RigidScene scene(int64_t index) const;

 private:
  void read_shapes();
  void read_objects();
  template <class T>
  std::vector<T> read(const std::string& name, std::vector<int64_t> shape) const;
  std::vector<int64_t> read_offsets(const std::string& name) const;

  SafetensorsFile file_;
  std::vector<RigidShape> shapes_;
  std::vector<int64_t> offsets_;
  std::vector<RigidObject> objects_;
  int64_t frames_ = 0;
  double interval_ = 0;
  std::vector<float> poses_;  // of all, or none: they stay in the file
  std::vector<uint8_t> contacts_;
};

/// Scenes that are written to one file.
struct RigidScenes {
  int64_t frames = 0;
  double interval = 0;  // s
  std::vector<RigidShape> shapes;
  std::vector<int64_t> offsets{0};
  RigidScene all;  // of all scenes, one after the other

  void add(const RigidScene& scene);
};

/// Writes such a file with what else the metadata say; the poses (O, F, 7) may lie elsewhere, such as in a mapped file:
/// those of `scenes` are then not looked at. Errors as write_safetensors.
void write_rigid_scenes(const std::string& path, const RigidScenes& scenes, std::span<const float> poses,
                        std::map<std::string, std::string> metadata, Existing existing = Existing::replace);
void write_rigid_scenes(const std::string& path, const RigidScenes& scenes,
                        std::map<std::string, std::string> metadata, Existing existing = Existing::replace);

}  // namespace weyl

#include "weyl/data/bodies/rigid_scenes.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/clouds/mesh_file.h"

namespace weyl {
namespace {

constexpr uint64_t kInMemory = uint64_t{256} << 20;  // bytes of poses that are read at once
constexpr double kUnit = 1e-4;                       // by which the norm of a quaternion may differ from 1
constexpr int64_t kPose = 7;

template <class T>
constexpr ElementType element_type_of = std::is_same_v<T, double>    ? ElementType::f64
                                        : std::is_same_v<T, float>   ? ElementType::f32
                                        : std::is_same_v<T, int64_t> ? ElementType::i64
                                                                     : ElementType::u8;

const std::string& said(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.header().metadata.find(key);
  require<DataError>(found != file.header().metadata.end(), file.path(), ": the metadata must hold '", key,
                     "'");
  return found->second;
}

std::vector<std::string> between_commas(const std::string& names) {
  std::vector<std::string> parts(1);
  for (const char c : names) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

RigidScenesFile::RigidScenesFile(const std::string& path) : file_(path) {
  const auto format = metadata().find("format");
  require<DataError>(format != metadata().end() && format->second == rigid_scenes_format, path, ": is not a ",
                     rigid_scenes_format, " file (its metadata has another format)");
  const std::string& version = said(file_, "format_version");
  require<DataError>(version == "1", path, ": format_version must be 1, got ", quote(version, 20));
  const std::string& interval = said(file_, "frame_interval");
  interval_ = parse_real(interval).value_or(NAN);
  require<DataError>(interval_ > 0 && std::isfinite(interval_), path,
                     ": frame_interval must be a positive number, got ", quote(interval, 40));
  read_shapes();
  read_objects();
}

/// A tensor of a type and shape; a dimension of -1 may have any size.
template <class T>
std::vector<T> RigidScenesFile::read(const std::string& name, std::vector<int64_t> shape) const {
  const TensorEntry& entry = file_.entry(name);
  const bool fits = entry.shape.size() == shape.size() &&
                    std::equal(shape.begin(), shape.end(), entry.shape.begin(),
                               [](int64_t wanted, int64_t found) { return wanted < 0 || wanted == found; });
  require<DataError>(entry.type == element_type_of<T> && fits, path(), ": ", name, " must be ",
                     name_of(element_type_of<T>), " of shape ", shape_text(shape), " (-1: any), is ",
                     name_of(entry.type), " of shape ", shape_text(entry.shape));
  require_memory(entry.end - entry.begin, path());
  std::vector<T> values((entry.end - entry.begin) / sizeof(T));
  file_.read(name, std::as_writable_bytes(std::span(values)));
  if constexpr (std::is_floating_point_v<T>) {
    const auto at = std::ranges::find_if_not(values, [](T x) { return std::isfinite(x); });
    require<DataError>(at == values.end(), path(), ": ", name, " must be finite, number ",
                       at - values.begin(), " is not");
  }
  return values;
}

/// Offsets of groups that each have a row.
std::vector<int64_t> RigidScenesFile::read_offsets(const std::string& name) const {
  auto offsets = read<int64_t>(name, {-1});
  require<DataError>(!offsets.empty() && offsets[0] == 0, path(), ": ", name, " must begin with 0");
  for (size_t i = 1; i < offsets.size(); ++i) {
    require<DataError>(offsets[i] > offsets[i - 1], path(), ": ", name, " must ascend, ", offsets[i - 1],
                       " comes before ", offsets[i], " (none may be empty)");
  }
  return offsets;
}

void RigidScenesFile::read_shapes() {
  const auto vertex_offsets = read_offsets("shape_vertex_offsets");
  const auto triangle_offsets = read_offsets("shape_triangle_offsets");
  const auto vertices = read<double>("shape_vertices", {vertex_offsets.back(), 3});
  const auto triangles = read<int64_t>("shape_triangles", {triangle_offsets.back(), 3});
  const auto names = between_commas(said(file_, "shape_names"));
  const size_t count = names.size();
  require<DataError>(vertex_offsets.size() == count + 1 && triangle_offsets.size() == count + 1, path(),
                     ": shape_vertex_offsets and shape_triangle_offsets must be of the ", count,
                     " shapes that shape_names has, are of ", vertex_offsets.size() - 1, " and ",
                     triangle_offsets.size() - 1);
  for (size_t k = 0; k < count; ++k) {
    RigidShape shape{names[k], {}};
    shape.mesh.vertices.assign(vertices.begin() + 3 * vertex_offsets[k],
                               vertices.begin() + 3 * vertex_offsets[k + 1]);
    shape.mesh.triangles.assign(triangles.begin() + 3 * triangle_offsets[k],
                                triangles.begin() + 3 * triangle_offsets[k + 1]);
    const std::string where = path() + ": shape " + quote(names[k], 40);
    for (const int64_t corner : shape.mesh.triangles) {
      require<DataError>(corner >= 0 && corner < shape.mesh.vertex_count(), where,
                         ": corners must be vertices 0 .. ", shape.mesh.vertex_count() - 1, ", got ", corner);
    }
    require_surface(shape.mesh, where);
    shapes_.push_back(std::move(shape));
  }
}

void RigidScenesFile::read_objects() {
  offsets_ = read_offsets("scene_offsets");
  const int64_t count = offsets_.back();
  const auto shapes = read<int64_t>("shapes", {count});
  const auto scales = read<double>("scales", {count}), masses = read<double>("masses", {count}),
             frictions = read<double>("frictions", {count}),
             restitutions = read<double>("restitutions", {count});
  for (int64_t i = 0; i < count; ++i) {
    require<DataError>(shapes[i] >= 0 && shapes[i] < static_cast<int64_t>(shapes_.size()), path(),
                       ": shapes must be of 0 .. ", shapes_.size() - 1, ", object ", i, " has ", shapes[i]);
    require<DataError>(scales[i] > 0 && masses[i] > 0, path(),
                       ": scales and masses must be positive, object ", i, " has ", scales[i], " and ",
                       masses[i]);
    objects_.push_back({shapes[i], scales[i], masses[i], frictions[i], restitutions[i]});
  }
  const TensorEntry& poses = file_.entry("poses");
  const bool fits = poses.type == ElementType::f32 && poses.shape.size() == 3 && poses.shape[0] == count &&
                    poses.shape[1] > 0 && poses.shape[2] == kPose;
  require<DataError>(fits, path(), ": poses must be F32 of shape [", count, ", frames, 7], is ",
                     name_of(poses.type), " of shape ", shape_text(poses.shape));
  frames_ = poses.shape[1];
  contacts_ = read<uint8_t>("contacts", {count, frames_});
  const auto beyond = std::ranges::find_if(contacts_, [](uint8_t c) { return c > 3; });
  require<DataError>(beyond == contacts_.end(), path(), ": contacts must be 0 .. 3, object ",
                     (beyond - contacts_.begin()) / frames_, " has another");
  if (poses.end - poses.begin <= kInMemory) {
    poses_.resize((poses.end - poses.begin) / sizeof(float));
    file_.read("poses", std::as_writable_bytes(std::span(poses_)));
  }
}

RigidScene RigidScenesFile::scene(int64_t index) const {
  require(index >= 0 && index < scenes(), path(), ": scene ", index, " is not one of 0 .. ", scenes() - 1);
  const int64_t first = offsets_[index], count = offsets_[index + 1] - first;
  RigidScene scene;
  scene.objects.assign(objects_.begin() + first, objects_.begin() + first + count);
  scene.contacts.assign(contacts_.begin() + first * frames_, contacts_.begin() + (first + count) * frames_);
  const int64_t row = frames_ * kPose;
  scene.poses.resize(count * row);
  if (poses_.empty()) {
    file_.read_part("poses", first * row * sizeof(float), std::as_writable_bytes(std::span(scene.poses)));
  } else {
    std::copy_n(poses_.begin() + first * row, count * row, scene.poses.begin());
  }
  for (int64_t pose = 0; pose < count * frames_; ++pose) {
    const float* x = &scene.poses[pose * kPose];
    const bool finite = std::all_of(x, x + kPose, [](float v) { return std::isfinite(v); });
    const double norm = std::hypot(std::hypot(x[3], x[4]), std::hypot(x[5], x[6]));
    if (!finite || !(std::abs(norm - 1) < kUnit)) [[unlikely]] {
      require<DataError>(finite, path(), ": scene ", index, ": poses must be finite, object ", pose / frames_,
                         " is not in frame ", pose % frames_);
      throw DataError(text(path(), ": scene ", index, ": quaternions must have norm 1, that of object ",
                           pose / frames_, " in frame ", pose % frames_, " has ", norm));
    }
  }
  return scene;
}

void RigidScenes::add(const RigidScene& scene) {
  all.objects.insert(all.objects.end(), scene.objects.begin(), scene.objects.end());
  all.poses.insert(all.poses.end(), scene.poses.begin(), scene.poses.end());
  all.contacts.insert(all.contacts.end(), scene.contacts.begin(), scene.contacts.end());
  offsets.push_back(static_cast<int64_t>(all.objects.size()));
}

void write_rigid_scenes(const std::string& path, const RigidScenes& scenes,
                        std::map<std::string, std::string> metadata, Existing existing) {
  write_rigid_scenes(path, scenes, scenes.all.poses, std::move(metadata), existing);
}

void write_rigid_scenes(const std::string& path, const RigidScenes& scenes, std::span<const float> poses,
                        std::map<std::string, std::string> metadata, Existing existing) {
  std::vector<double> vertices, scales, masses, frictions, restitutions;
  std::vector<int64_t> triangles, vertex_offsets{0}, triangle_offsets{0}, shapes;
  std::string names;
  for (const RigidShape& shape : scenes.shapes) {
    require(shape.name.find(',') == std::string::npos,
            "rigid scenes: the name of a shape must have no comma, ", quote(shape.name), " has one");
    names += (vertices.empty() ? "" : ",") + shape.name;
    vertices.insert(vertices.end(), shape.mesh.vertices.begin(), shape.mesh.vertices.end());
    triangles.insert(triangles.end(), shape.mesh.triangles.begin(), shape.mesh.triangles.end());
    vertex_offsets.push_back(static_cast<int64_t>(vertices.size()) / 3);
    triangle_offsets.push_back(static_cast<int64_t>(triangles.size()) / 3);
  }
  for (const RigidObject& object : scenes.all.objects) {
    shapes.push_back(object.shape);
    scales.push_back(object.scale);
    masses.push_back(object.mass);
    frictions.push_back(object.friction);
    restitutions.push_back(object.restitution);
  }
  std::vector<TensorBytes> tensors;
  const auto add = [&](const char* name, const auto& values, std::vector<int64_t> row) {
    int64_t width = 1;
    for (const int64_t n : row) {
      width *= n;
    }
    row.insert(row.begin(), static_cast<int64_t>(values.size()) / width);
    const std::span all(values);
    using T = std::remove_const_t<typename decltype(all)::element_type>;
    tensors.push_back({name, element_type_of<T>, std::move(row), std::as_bytes(all)});
  };
  add("shape_vertices", vertices, {3});
  add("shape_triangles", triangles, {3});
  add("shape_vertex_offsets", vertex_offsets, {});
  add("shape_triangle_offsets", triangle_offsets, {});
  add("scene_offsets", scenes.offsets, {});
  add("shapes", shapes, {});
  add("scales", scales, {});
  add("masses", masses, {});
  add("frictions", frictions, {});
  add("restitutions", restitutions, {});
  add("poses", poses, {scenes.frames, kPose});
  add("contacts", scenes.all.contacts, {scenes.frames});
  metadata["format"] = rigid_scenes_format;
  metadata["format_version"] = "1";
  metadata["shape_names"] = names;
  std::string interval;
  append_number(interval, scenes.interval);
  metadata["frame_interval"] = interval;
  metadata["units"] = "lengths in m, masses in kg, times in s; gravity 10 m/s^2 along -z, floor z = 0";
  write_safetensors(path, tensors, metadata, existing);
}

}  // namespace weyl

#include "weyl/data/particles/nbody.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <cmath>
#include <filesystem>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/random.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/tensor_file.h"
#include "weyl/core/text_number.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/particles/files.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr double kOriginalInterval = 0.1;  // time between frames of the original files

/// Whole trajectories: positions and velocities (S, F, n, 3), charges (S, n), float64.
struct Trajectories {
  Tensor positions, velocities, charges;
  double interval = kOriginalInterval;
};

void require_trajectories(const Trajectories& t, const std::string& where) {
  const auto& x = t.positions;
  require<DataError>(x.dim() == 4 && x.size(3) == 3, where, ": positions must be (S, F, n, 3), got ",
                     shape_text(x));
  require<DataError>(t.velocities.sizes() == x.sizes(), where, ": velocities must be ", shape_text(x),
                     " as the positions, got ", shape_text(t.velocities));
  require<DataError>(t.charges.dim() == 2 && t.charges.size(0) == x.size(0) && t.charges.size(1) == x.size(2),
                     where, ": charges must be (", x.size(0), ", ", x.size(2), "), got ",
                     shape_text(t.charges));
}

Tensor real(const Tensor& t, const std::string& where, const char* name) {
  require<DataError>(t.is_floating_point(), where, ": ", name, " must be of a floating-point type, got ",
                     c10::toString(t.scalar_type()));
  return t.to(at::kDouble);
}

double number(const std::map<std::string, std::string>& metadata, const std::string& key,
              const std::string& where) {
  const auto found = metadata.find(key);
  require<DataError>(found != metadata.end(), where, ": the metadata must hold '", key, "'");
  const double x = parse_real(found->second).value_or(NAN);
  require<DataError>(x > 0 && std::isfinite(x), where, ": the metadata '", key,
                     "' must be a positive number, got '", found->second, "'");
  return x;
}

Trajectories read_file(const std::string& path) {
  const SafetensorsFile file(path);
  const auto& metadata = file.header().metadata;
  const auto format = metadata.find("format");
  require<DataError>(format != metadata.end() && format->second == nbody_format, path,
                     ": is not a weyl.nbody file (its metadata has another format)");
  const auto version = metadata.find("format_version");
  require<DataError>(version != metadata.end() && version->second == "1", path,
                     ": format_version must be 1, got ",
                     version == metadata.end() ? "none" : version->second);
  const auto get = [&](const char* name) { return real(load_tensor(file, name), path, name); };
  return {get("positions"), get("velocities"), get("charges"), number(metadata, "frame_interval", path)};
}

/// `loc_<split>*.npy` of a folder, or nothing; more than one is an error.
std::string original_suffix(const std::string& folder, const std::string& split) {
  const std::string prefix = "loc_" + split;
  std::string suffix;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".npy")) {
      require<DataError>(suffix.empty(), folder, ": holds two data sets, ", prefix, suffix, " and ", name);
      suffix = name.substr(prefix.size());
    }
  }
  return suffix;
}

Tensor read_original(const std::string& path) {
  const Array array = read_npy(path);
  return real(copy_tensor(array.type, array.shape, array.bytes, path), path, "values");
}

/// The original layout: loc and vel (S, F, 3, n), charges (S, n, 1).
Trajectories read_originals(const std::string& folder, const std::string& split, const std::string& suffix) {
  const auto path = [&](const char* name) {
    return (fs::path(folder) / (name + ("_" + split) + suffix)).string();
  };
  const auto frames = [&](const char* name) {
    const Tensor t = read_original(path(name));
    require<DataError>(t.dim() == 4 && t.size(2) == 3, path(name), ": must be (S, F, 3, n), got ",
                       shape_text(t));
    return t.transpose(2, 3).contiguous();
  };
  Trajectories result{frames("loc"), frames("vel"), read_original(path("charges")), kOriginalInterval};
  require<DataError>(result.charges.dim() == 3 && result.charges.size(2) == 1, path("charges"),
                     ": must be (S, n, 1), got ", shape_text(result.charges));
  result.charges = result.charges.squeeze(2);
  return result;
}

void require_finite_tensor(const Tensor& t, const std::string& where, const char* name) {
  require<DataError>(t.numel() == 0 || t.isfinite().all().item<bool>(), where, ": ", name,
                     " must be finite, some values are not");
}

class NbodySet : public InMemory {
 public:
  NbodySet(Batch all, Schema schema, bool flips)
      : InMemory(std::move(all), std::move(schema)), flips_(flips) {}

  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                  const Draw& draw) const override {
    Batch result = InMemory::augmented(indices, partners, draw);
    if (!flips_) {
      return result;
    }
    auto& points = std::get<Points>(result.input);
    std::vector<double> signs;  // of each graph
    for (const int64_t i : indices) {
      Stream stream(draw.seed, "charges", {static_cast<uint64_t>(draw.epoch), static_cast<uint64_t>(i)});
      signs.push_back(stream.below(2) == 1 ? -1 : 1);
    }
    const Tensor sign = at::tensor(signs, at::kDouble).index_select(0, points.graphs.index);
    points.scalars = points.scalars.clone();
    points.scalars.select(1, 0).mul_(sign);
    if (points.types.defined()) {
      points.types = (points.scalars.select(1, 0) > 0).to(at::kLong);
    }
    return result;
  }

 private:
  bool flips_;
};

// How many samples of a split are used: the first `asked`, all for 0.
int64_t trajectory_count(const Trajectories& t, const std::string& where, const std::string& split,
                         int64_t asked) {
  const int64_t found = t.positions.size(0);
  require<DataError>(asked <= found, where, ": data.nbody.", split, " must be at most ", found,
                     ", the samples there are (0: all), got ", asked);
  return asked > 0 ? asked : found;
}

std::shared_ptr<const Dataset> as_points(const Trajectories& t, const std::string& where,
                                         const NbodyDataOptions& o, bool labels,
                                         const std::string& split = {}, int64_t asked = 0) {
  require_trajectories(t, where);
  const int64_t frames = t.positions.size(1), n = t.positions.size(2);
  require<DataError>(o.input_frame < frames, where, ": input_frame must be one of 0 .. ", frames - 1,
                     ", got ", o.input_frame);
  const bool has_target = o.target_frame < frames;
  require<DataError>(has_target || !labels, where, ": target_frame must be one of 0 .. ", frames - 1,
                     ", got ", o.target_frame);
  const int64_t count = trajectory_count(t, where, split, asked);
  const auto rows = [&](const Tensor& of_frames, int64_t frame) {
    return of_frames.slice(0, 0, count).select(1, frame).reshape({count * n, 3}).clone();
  };
  Schema schema = declared_schema(o);
  schema.interface.typical_nodes = static_cast<double>(n);
  schema.horizon = t.interval * static_cast<double>(o.target_frame - o.input_frame);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>(count, n));
  points.positions = rows(t.positions, o.input_frame);
  const Tensor velocity = rows(t.velocities, o.input_frame);
  points.vectors = velocity.unsqueeze(1);
  points.scalars = t.charges.slice(0, 0, count).reshape({count * n, 1}).clone();
  if (o.charge_types) {
    points.types = (points.scalars.select(1, 0) > 0).to(at::kLong);
  }
  if (o.speed) {
    points.scalars = at::cat({points.scalars, velocity.square().sum(1, true).sqrt()}, 1);
  }
  require_finite_tensor(points.positions, where, "positions");
  require_finite_tensor(points.vectors, where, "velocities");
  require_finite_tensor(points.scalars, where, "charges");
  Batch all;
  if (has_target) {
    all.labels["displacement"] = (rows(t.positions, o.target_frame) - points.positions).unsqueeze(1);
    require_finite_tensor(all.labels["displacement"], where, "positions at target_frame");
  } else {
    schema.labels.clear();
  }
  all.input = std::move(points);
  return std::make_shared<NbodySet>(std::move(all), std::move(schema), o.flip_charges);
}

void require_frames(const NbodyDataOptions& o) {
  require<ConfigError>(o.input_frame >= 0 && o.target_frame > o.input_frame,
                       "data.nbody: target_frame must come after input_frame, got ", o.target_frame, " and ",
                       o.input_frame);
}

}  // namespace

Schema declared_schema(const NbodyDataOptions& options) {
  require_frames(options);
  Schema schema;
  schema.interface.length_unit = "length";
  schema.interface.typical_nodes = 5;
  schema.interface.types = options.charge_types ? 2 : 0;
  schema.interface.features = {{.name = "charge", .unit = "charge"}};
  if (options.speed) {
    schema.interface.features.push_back({.name = "speed", .unit = "length/time"});
  }
  schema.interface.features.push_back({.name = "velocity", .kind = Kind::vector, .unit = "length/time"});
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset, .unit = "length"}};
  schema.horizon = kOriginalInterval * static_cast<double>(options.target_frame - options.input_frame);
  return schema;
}

std::shared_ptr<const Dataset> open_nbody_file(const std::string& path, const NbodyDataOptions& options,
                                               bool labels) {
  require_frames(options);
  return as_points(read_file(path), path, options, labels);
}

Splits open_set(const NbodyDataOptions& options) {
  require_frames(options);
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; make it with `weyl data make nbody --out ", options.path,
                     "`");
  const auto open = [&](const std::string& split, int64_t asked) -> std::shared_ptr<const Dataset> {
    const std::string path = (fs::path(options.path) / (split + ".safetensors")).string();
    if (fs::exists(path)) {
      return as_points(read_file(path), path, options, true, split, asked);
    }
    const std::string suffix = original_suffix(options.path, split);
    if (suffix.empty()) {
      return nullptr;
    }
    return as_points(read_originals(options.path, split, suffix), options.path + " (" + split + ")", options,
                     true, split, asked);
  };
  Splits splits{open("train", options.train), open("valid", options.valid), open("test", options.test)};
  require<DataError>(
      splits.train || splits.valid || splits.test, options.path,
      ": holds neither train.safetensors nor loc_train*.npy; make them with `weyl data make nbody --out ",
      options.path, "`");
  return splits;
}

std::vector<std::string> convert_nbody(const std::string& originals, const std::string& folder) {
  require<DataError>(fs::is_directory(originals), originals, ": there is no such folder");
  NewFiles files;
  std::vector<Trajectories> parts;
  for (const std::string split : {"train", "valid", "test"}) {
    if (const std::string suffix = original_suffix(originals, split); !suffix.empty()) {
      files.add_split(folder, split);
      parts.push_back(read_originals(originals, split, suffix));
      require_trajectories(parts.back(), originals + " (" + split + ")");
    }
  }
  require<DataError>(!parts.empty(), originals, ": holds no loc_train*.npy, loc_valid*.npy or loc_test*.npy");
  std::vector<std::string> written;
  files.write_each([&](size_t i) {
    const Trajectories& t = parts[i];
    save_tensors(files.path(i),
                 {{"positions", t.positions}, {"velocities", t.velocities}, {"charges", t.charges}},
                 {{"format", nbody_format},
                  {"format_version", "1"},
                  {"converted_from", fs::path(originals).filename().string()},
                  {"particles", std::to_string(t.positions.size(2))},
                  {"frame_interval", text(t.interval)},
                  {"units", "reduced: masses 1, charges +-1, strength of the Coulomb force 1"}},
                 Existing::keep);
    written.push_back(files.path(i));
  });
  return written;
}

}  // namespace weyl

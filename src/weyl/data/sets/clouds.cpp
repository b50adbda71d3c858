#include "weyl/data/sets/clouds.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/parts.h"
#include "weyl/data/sets/class_names.h"
#include "weyl/data/sets/cloud_layout.h"
#include "weyl/data/sets/cloud_reader.h"
#include "weyl/data/shapes/surface.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUsualPoints = 1024;  // where the options say all, and nobody has looked at the files

/// A cloud in memory.
struct Held {
  Cloud cloud;
  std::string source;  // of a cloud alone in its file
};

void require_options(const CloudsDataOptions& o) {
  std::vector<std::string> keys;
  for (const CloudFeature& feature : o.features) {
    require<ConfigError>(!feature.key.empty(), "data.clouds.features: key must be given");
    require<ConfigError>(std::ranges::find(keys, feature.key) == keys.end(),
                         "data.clouds.features: ", quote(feature.key, 40), " is there twice");
    keys.push_back(feature.key);
  }
  for (const char* axis : {"x", "y", "z"}) {
    require<ConfigError>(o.columns.empty() || std::ranges::count(o.columns, axis) == 1,
                         "data.clouds.columns: must have x, y and z once each");
  }
  require<ConfigError>(o.train_fraction + o.valid_fraction <= 1 + 1e-12,
                       "data.clouds: train_fraction and valid_fraction must sum to at most 1, got ",
                       o.train_fraction + o.valid_fraction);
}

/// Without labels and the mean number of points.
Schema schema_without_labels(const CloudsDataOptions& o) {
  require_options(o);
  Schema schema;
  schema.interface.typical_nodes = static_cast<double>(o.points > 0 ? o.points : kUsualPoints);
  for (const CloudFeature& feature : o.features) {
    Quantity q{.name = feature.key};
    if (feature.kind == CloudFeatureKind::scalar) {
      q.channels = feature.channels;
    } else {
      q.kind = Kind::vector;
      q.role = feature.kind == CloudFeatureKind::normal ? Role::normal : Role::free;
    }
    schema.interface.features.push_back(q);
  }
  return schema;
}

class Clouds : public Dataset {
 public:
  Clouds(std::vector<Held> clouds, Schema schema) : clouds_(std::move(clouds)), schema_(std::move(schema)) {}

  int64_t size() const override { return std::ssize(clouds_); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override { return clouds_.at(index).cloud.points(); }
  std::string source(int64_t index) const override { return clouds_.at(index).source; }

  Batch batch(std::span<const int64_t> indices) const override {
    std::vector<int64_t> sizes;
    int64_t rows = 0;
    for (const int64_t i : indices) {
      sizes.push_back(tokens(i));
      rows += sizes.back();
    }
    const auto& features = schema_.interface.features;
    Points points;
    points.positions = at::empty({rows, 3}, at::kDouble);
    points.graphs = Segments::of_sizes(sizes);
    auto* to = points.positions.mutable_data_ptr<double>();
    for (const int64_t i : indices) {
      to = std::ranges::copy(clouds_[i].cloud.positions, to).out;
    }
    const int64_t scalars = channels_of(features, Level::node, Kind::scalar),
                  vectors = channels_of(features, Level::node, Kind::vector);
    if (scalars > 0) {
      points.scalars = at::empty({rows, scalars}, at::kDouble);
      fill(points.scalars, indices, Kind::scalar);
    }
    if (vectors > 0) {
      points.vectors = at::empty({rows, vectors, 3}, at::kDouble);
      fill(points.vectors, indices, Kind::vector);
    }
    Batch result;
    result.input = std::move(points);
    if (!schema_.labels.empty()) {
      Tensor labels = at::empty({std::ssize(indices), 1}, at::kLong);
      auto* label = labels.mutable_data_ptr<int64_t>();
      for (const int64_t i : indices) {
        *label++ = clouds_[i].cloud.label;
      }
      result.labels["class"] = labels;
    }
    return result;
  }

 private:
  /// The columns of the features of a kind, one after the other.
  void fill(const Tensor& tensor, std::span<const int64_t> indices, Kind kind) const {
    const int64_t width = tensor.numel() / std::max<int64_t>(tensor.size(0), 1);
    auto* row = tensor.mutable_data_ptr<double>();
    for (const int64_t i : indices) {
      const Cloud& cloud = clouds_[i].cloud;
      int64_t begin = 0;
      for (size_t k = 0; k < schema_.interface.features.size(); ++k) {
        const Quantity& q = schema_.interface.features[k];
        if (q.kind != kind) {
          continue;
        }
        const int64_t numbers = kind == Kind::vector ? 3 : q.channels;
        for (int64_t p = 0; p < cloud.points(); ++p) {
          std::copy_n(cloud.features[k].data() + p * numbers, numbers, row + p * width + begin);
        }
        begin += numbers;
      }
      row += cloud.points() * width;
    }
  }

  std::vector<Held> clouds_;
  Schema schema_;
};

/// Rows `which` of (P, c) values.
std::vector<double> rows_of(const std::vector<double>& values, const std::vector<int64_t>& which,
                            int64_t points) {
  const int64_t width = std::ssize(values) / points;
  std::vector<double> result;
  result.reserve(which.size() * width);
  for (const int64_t row : which) {
    result.insert(result.end(), values.begin() + row * width, values.begin() + (row + 1) * width);
  }
  return result;
}

void draw_points(Cloud& cloud, int64_t count, Stream& stream) {
  const int64_t points = cloud.points();
  if (count == 0 || points <= count) {
    return;
  }
  std::vector<int64_t> which(points);
  std::iota(which.begin(), which.end(), 0);
  for (int64_t k = 0; k < count; ++k) {
    std::swap(which[k], which[k + stream.below(points - k)]);
  }
  which.resize(count);
  std::ranges::sort(which);
  cloud.positions = rows_of(cloud.positions, which, points);
  for (auto& values : cloud.features) {
    values = rows_of(values, which, points);
  }
}

/// With `faults` files that are broken are left out, a line of each among them.
std::vector<Held> load(const std::vector<CloudFile>& files, const CloudsDataOptions& o,
                       std::vector<std::string>* faults = nullptr) {
  std::vector<Held> all;
  for (const CloudFile& file : files) {
    const size_t first = all.size();
    const std::string name = fs::path(file.path).filename().string();
    try {
      read_clouds(file.path, o, [&](Cloud cloud) {
        if (o.fit) {
          fit_into_ball(std::span(cloud.positions));
        }
        Stream stream(static_cast<uint64_t>(o.seed), "clouds points " + name, {all.size() - first});
        draw_points(cloud, o.points, stream);
        cloud.label = file.label >= 0 ? file.label : cloud.label;
        all.push_back({std::move(cloud), file.path});
      });
    } catch (const DataError& fault) {
      if (faults == nullptr) {
        throw;
      }
      all.erase(all.begin() + static_cast<int64_t>(first), all.end());
      faults->emplace_back(fault.what());
    }
    if (all.size() != first + 1) {  // one of many
      std::for_each(all.begin() + static_cast<int64_t>(first), all.end(), [](Held& h) { h.source.clear(); });
    }
  }
  return all;
}

int64_t most_label(const std::vector<Held>& clouds) {
  int64_t most = -1;
  for (const Held& held : clouds) {
    most = std::max(most, held.cloud.label);
  }
  return most;
}

/// Whether the clouds have classes: all of them, or none.
bool have_classes(const std::vector<Held>& clouds) {
  const Held* with = nullptr;
  const Held* without = nullptr;
  for (const Held& held : clouds) {
    (held.cloud.label >= 0 ? with : without) = &held;
  }
  require<DataError>(with == nullptr || without == nullptr, without == nullptr ? "" : without->source,
                     ": must have a class as other clouds have, such as ",
                     with == nullptr ? "" : with->source);
  return with != nullptr;
}

double mean_points(const std::vector<Held>& clouds) {
  double sum = 0;
  for (const Held& held : clouds) {
    sum += static_cast<double>(held.cloud.points());
  }
  return sum / static_cast<double>(clouds.size());
}

/// The schema of clouds of which `names` and `most`, the largest label, are known.
Schema schema_of(const CloudsDataOptions& o, const std::vector<std::string>& names, int64_t most) {
  Schema schema = schema_without_labels(o);
  if (most < 0) {
    return schema;
  }
  const int64_t found = names.empty() ? most + 1 : std::ssize(names);
  const bool fits = o.classes == 0 || (names.empty() ? found <= o.classes : found == o.classes);
  if (!fits) {
    require_known(names, o.known_classes, o.path);
  }
  require<DataError>(fits || !names.empty(), o.path, ": classes must be 0 .. ", o.classes - 1,
                     " (data.clouds.classes = ", o.classes, "), got ", most);
  require<DataError>(fits, o.path, ": data.clouds.classes must be ", found, ", the classes there are, got ",
                     o.classes);
  schema.labels = {{.name = "class",
                    .level = Level::graph,
                    .kind = Kind::category,
                    .categories = o.classes > 0 ? o.classes : found}};
  if (!names.empty()) {
    schema.category_names["class"] = names;
  }
  return schema;
}

}  // namespace

Schema clouds_schema(const CloudsDataOptions& o) {
  require<ConfigError>(o.classes > 0, "data.clouds.classes: must be given, the number of classes");
  return schema_of(o, {}, o.classes - 1);
}

Splits open_clouds(const CloudsDataOptions& o, std::vector<std::string>* faults) {
  require_options(o);
  const CloudLayout layout = cloud_layout(o);
  std::vector<Held> parts[3];
  if (layout.split()) {
    const std::vector<CloudFile>* given[] = {&layout.train, &layout.valid, &layout.test};
    for (size_t k = 0; k < 3; ++k) {
      parts[k] = load(*given[k], o, faults);
    }
  } else {
    std::vector<Held> all = load(layout.all, o, faults);
    const SplitIndices drawn =
        random_split(std::ssize(all), {.train = o.train_fraction, .valid = o.valid_fraction, .seed = o.seed});
    const std::vector<int64_t>* which[] = {&drawn.train, &drawn.valid, &drawn.test};
    for (size_t k = 0; k < 3; ++k) {
      for (const int64_t i : *which[k]) {
        parts[k].push_back(std::move(all[i]));
      }
    }
  }
  int64_t most = -1;
  bool first = true, classes = false;
  for (const auto& part : parts) {
    if (part.empty()) {
      continue;
    }
    const bool has = have_classes(part);
    require<DataError>(first || has == classes, o.path,
                       ": the clouds of all splits must have classes, or of none");
    classes = has;
    first = false;
    most = std::max(most, most_label(part));
  }
  Schema schema = schema_of(o, layout.classes, most);
  for (const auto& part : parts) {  // the training split, if there is one
    if (!part.empty()) {
      schema.interface.typical_nodes = mean_points(part);
      break;
    }
  }
  schema.warnings = layout.warnings;
  const auto set = [&](std::vector<Held>& part) -> std::shared_ptr<const Dataset> {
    return part.empty() ? nullptr : std::make_shared<Clouds>(std::move(part), schema);
  };
  return {set(parts[0]), set(parts[1]), set(parts[2])};
}

std::shared_ptr<const Dataset> open_cloud_files(const std::string& path, const CloudsDataOptions& options) {
  CloudsDataOptions o = options;
  o.path = path;
  o.labels.clear();
  require_options(o);
  std::vector<CloudFile> files;
  for (const std::string& file : fs::is_directory(path) ? clouds_in(path) : std::vector<std::string>{path}) {
    files.push_back({file, -1});
  }
  std::vector<Held> clouds = load(files, o);
  require<DataError>(!clouds.empty(), path, ": holds no point cloud (.npz, .ply, .off, .h5 or text)");
  Schema schema = schema_of(o, {}, have_classes(clouds) ? most_label(clouds) : -1);
  schema.interface.typical_nodes = mean_points(clouds);
  return std::make_shared<Clouds>(std::move(clouds), std::move(schema));
}

}  // namespace weyl

#include "weyl/data/clouds/clouds.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/core/text_number.h"
#include "weyl/data/base/class_names.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/clouds/cloud_layout.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/clouds/cloud_view.h"
#include "weyl/data/clouds/surface.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr Rotation kUpright{1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr const char* kPointClasses = "mask";

/// Rows `which` of (P, c) values.
template <class T>
std::vector<T> rows_of(const std::vector<T>& values, const std::vector<int64_t>& which, int64_t points) {
  const int64_t width = std::ssize(values) / points;
  std::vector<T> result;
  result.reserve(which.size() * width);
  for (const int64_t row : which) {
    result.insert(result.end(), values.begin() + row * width, values.begin() + (row + 1) * width);
  }
  return result;
}

/// Rows of a file's cloud of so many points that are taken: a pure function of (seed, name of the file, number in it).
std::vector<int64_t> rows_taken(const CloudsDataOptions& o, const std::string& file, int64_t number,
                                int64_t points) {
  Stream stream(static_cast<uint64_t>(o.seed), "clouds points " + fs::path(file).filename().string(),
                {static_cast<uint64_t>(number)});
  return draw_rows(points, o.points, stream);
}

}  // namespace

void keep_rows(Cloud& cloud, const std::vector<int64_t>& rows) {
  const int64_t points = cloud.points();
  if (std::ssize(rows) == points) {
    return;
  }
  cloud.positions = rows_of(cloud.positions, rows, points);
  for (auto& values : cloud.features) {
    values = rows_of(values, rows, points);
  }
  cloud.classes = rows_of(cloud.classes, rows, cloud.classes.empty() ? 1 : points);
}

CloudSet::CloudSet(std::vector<HeldCloud> clouds, Schema schema, const CloudsDataOptions& options)
    : clouds_(std::move(clouds)), schema_(std::move(schema)), options_(options) {}

/// Of one of many in a file its number is part of it.
std::string CloudSet::name(int64_t index) const {
  const HeldCloud& held = clouds_.at(index);
  return held.source.empty() ? text(fs::path(held.file).stem().string(), "_", held.number) : "";
}

FilePoints CloudSet::points_in_file(int64_t index, LastFile& last) const {
  const HeldCloud& held = clouds_.at(index);
  if (last.path != held.file) {
    CloudsDataOptions o = options_;  // places alone
    o.features.clear();
    o.point_label.clear();
    last = {};
    read_clouds(held.file, o, [&](Cloud cloud) { last.positions.push_back(std::move(cloud.positions)); });
    last.path = held.file;
  }
  const auto require_same = [&](bool same) {
    require<DataError>(same, held.file, ": has changed since it was read");
  };
  require_same(held.number < std::ssize(last.positions));
  const std::vector<double>& positions = last.positions[held.number];
  std::vector<double> fitted = positions;
  if (options_.fit) {
    fit_into_ball(std::span(fitted));
  }
  const int64_t points = std::ssize(positions) / 3;
  const std::vector<int64_t> taken = rows_taken(options_, held.file, held.number, points);
  const bool kept = held.rows.empty();  // and nothing else of the cloud
  require_same(held.cloud.points() == (kept ? std::ssize(taken) : points));
  const Seen nodes = seen(index, nullptr);
  std::vector<int64_t> own(points, -1);
  for (int64_t m = 0; m < nodes.view.nodes(); ++m) {
    const int64_t row = kept ? taken[nodes.view.rows[m]] : nodes.view.rows[m];
    require_same(std::equal(fitted.begin() + 3 * row, fitted.begin() + 3 * (row + 1),
                            nodes.view.positions.begin() + 3 * m));
    own[row] = m;
  }
  const NearestPoints nearest(nodes.view.positions);
  FilePoints all{at::empty({points, 3}, at::kDouble), at::empty({points}, at::kLong)};
  std::ranges::copy(positions, all.positions.mutable_data_ptr<double>());
  auto* node = all.nodes.mutable_data_ptr<int64_t>();
  for (int64_t p = 0; p < points; ++p) {
    node[p] = own[p] >= 0 ? own[p] : nearest.to({fitted[3 * p], fitted[3 * p + 1], fitted[3 * p + 2]});
  }
  return all;
}

Batch CloudSet::batch(std::span<const int64_t> indices) const {
  return batch_of(indices, nullptr);
}

Batch CloudSet::augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                          const Draw& draw) const {
  return batch_of(indices, options_.input.augment ? &draw : nullptr);
}

CloudSet::Seen CloudSet::seen(int64_t index, const Draw* draw) const {
  const HeldCloud& held = clouds_.at(index);
  std::optional<Stream> stream;
  if (draw != nullptr) {
    stream.emplace(
        draw->seed, "cloud",
        std::initializer_list<uint64_t>{static_cast<uint64_t>(draw->epoch), static_cast<uint64_t>(index)});
  }
  std::vector<int64_t> rows = held.rows;
  if (stream && options_.input.draws()) {
    rows = draw_rows(held.cloud.points(), options_.points, *stream);
  }
  std::vector<double> points =
      rows.empty() ? held.cloud.positions : rows_of(held.cloud.positions, rows, held.cloud.points());
  Seen seen{&held.cloud, view_of(std::move(points), options_.input, static_cast<int>(options_.up), kUpright,
                                 stream ? &*stream : nullptr)};
  if (!rows.empty()) {
    for (int64_t& row : seen.view.rows) {
      row = rows[row];
    }
  }
  return seen;
}

Batch CloudSet::batch_of(std::span<const int64_t> indices, const Draw* draw) const {
  std::vector<Seen> clouds;
  std::vector<int64_t> sizes;
  int64_t rows = 0;
  for (const int64_t i : indices) {
    clouds.push_back(seen(i, draw));
    sizes.push_back(clouds.back().view.nodes());
    rows += sizes.back();
  }
  const auto& features = schema_.interface.features;
  Points points;
  points.positions = at::empty({rows, 3}, at::kDouble);
  points.graphs = Segments::of_sizes(sizes);
  auto* to = points.positions.mutable_data_ptr<double>();
  for (const Seen& cloud : clouds) {
    to = std::ranges::copy(cloud.view.positions, to).out;
  }
  const int64_t scalars = channels_of(features, Level::node, Kind::scalar),
                vectors = channels_of(features, Level::node, Kind::vector);
  if (scalars > 0) {
    points.scalars = at::empty({rows, scalars}, at::kDouble);
    fill(points.scalars, clouds, Kind::scalar);
  }
  if (vectors > 0) {
    points.vectors = at::empty({rows, vectors, 3}, at::kDouble);
    fill(points.vectors, clouds, Kind::vector);
  }
  if (find_quantity(features, kShapeClass) != nullptr) {
    points.of_graphs[kShapeClass] = shape_classes(indices);
  }
  Batch result;
  result.input = std::move(points);
  if (find_quantity(schema_.labels, kPointClasses) != nullptr) {
    Tensor labels = at::empty({rows, 1}, at::kLong);
    auto* label = labels.mutable_data_ptr<int64_t>();
    for (const Seen& cloud : clouds) {
      for (const int64_t row : cloud.view.rows) {
        *label++ = cloud.cloud->classes[row];
      }
    }
    result.labels[kPointClasses] = labels;
  } else if (!schema_.labels.empty()) {
    Tensor labels = at::empty({std::ssize(indices), 1}, at::kLong);
    auto* label = labels.mutable_data_ptr<int64_t>();
    for (const int64_t i : indices) {
      *label++ = clouds_[i].cloud.label;
    }
    result.labels["class"] = labels;
  }
  return result;
}

/// (B, classes) float64: 1 at the class of each cloud, else 0.
Tensor CloudSet::shape_classes(std::span<const int64_t> indices) const {
  const int64_t classes = find_quantity(schema_.interface.features, kShapeClass)->channels;
  Tensor ones = at::zeros({std::ssize(indices), classes}, at::kDouble);
  auto* row = ones.mutable_data_ptr<double>();
  for (const int64_t i : indices) {
    row[clouds_[i].cloud.label] = 1;
    row += classes;
  }
  return ones;
}

/// The columns of the features of a kind, one after the other: those of the files, which turn with the points, then those
/// that the points make.
void CloudSet::fill(const Tensor& tensor, const std::vector<Seen>& clouds, Kind kind) const {
  const int64_t width = tensor.numel() / std::max<int64_t>(tensor.size(0), 1);
  auto* row = tensor.mutable_data_ptr<double>();
  for (const Seen& seen : clouds) {
    int64_t begin = 0;
    for (size_t k = 0; k < options_.features.size(); ++k) {
      const Quantity& q = schema_.interface.features[k];
      if (q.kind != kind) {
        continue;
      }
      const int64_t numbers = kind == Kind::vector ? 3 : q.channels;
      auto* to = row + begin;
      for (const int64_t p : seen.view.rows) {
        std::copy_n(seen.cloud->features[k].data() + p * numbers, numbers, to);
        if (kind == Kind::vector && seen.view.turned != kUpright) {
          turn(std::span(to, 3), seen.view.turned);
        }
        to += width;
      }
      begin += numbers;
    }
    if (kind == Kind::vector) {
      put_vectors(seen.view, begin / 3, width / 3, row);
    } else {
      put_numbers(seen.view, begin, width, row);
    }
    row += seen.view.nodes() * width;
  }
}

namespace {

constexpr int64_t kUsualPoints = 1024;  // where the options say all, and nobody has looked at the files

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
  schema.interface.typical_nodes = static_cast<double>(o.input.nodes(o.points > 0 ? o.points : kUsualPoints));
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
  for (const Quantity& q : features_of(o.input)) {
    require<ConfigError>(find_quantity(schema.interface.features, q.name) == nullptr,
                         "data.clouds.features: ", quote(q.name, 40), " is the name of what data.clouds.",
                         q.name == "frame" ? "frame" : "neighbours", " gives");
    schema.interface.features.push_back(q);
  }
  return schema;
}

/// The largest class of clouds and that of their points, drawn or not; -1: there are none.
struct MostClasses {
  int64_t of_clouds = -1, of_points = -1;

  void look(const Cloud& cloud) {
    of_clouds = std::max(of_clouds, cloud.label);
    for (const int64_t k : cloud.classes) {
      of_points = std::max(of_points, k);
    }
  }
};

/// The class of a model that is told classes by which the folder of a file is called; -1: it knows none of that name.
int64_t class_of_folder(const std::string& file, const CloudsDataOptions& o) {
  if (!o.class_input) {
    return -1;
  }
  const auto at = std::ranges::find(o.known_classes,
                                    fs::absolute(file).lexically_normal().parent_path().filename().string());
  return at != o.known_classes.end() ? at - o.known_classes.begin() : -1;
}

/// A class is that of the layout, else that of the file itself, else that of its folder, which may have been given alone. With
/// `faults` files that are broken are left out, a line of each among them.
std::vector<HeldCloud> load(const std::vector<CloudFile>& files, const CloudsDataOptions& o,
                            MostClasses& most, std::vector<std::string>* faults = nullptr) {
  std::vector<HeldCloud> all;
  for (const CloudFile& file : files) {
    const size_t first = all.size();
    const int64_t of_folder = class_of_folder(file.path, o);
    MostClasses seen = most;
    try {
      read_clouds(file.path, o, [&](Cloud cloud) {
        if (o.fit) {
          fit_into_ball(std::span(cloud.positions));
        }
        require<DataError>(o.input.neighbours == 0 || cloud.points() > o.input.neighbours, file.path,
                           ": data.clouds.neighbours must be less than ", cloud.points(),
                           ", the points of the cloud, got ", o.input.neighbours);
        const auto number = static_cast<int64_t>(all.size() - first);
        std::vector<int64_t> rows = rows_taken(o, file.path, number, cloud.points());
        cloud.label = file.label >= 0 ? file.label : cloud.label >= 0 ? cloud.label : of_folder;
        seen.look(cloud);
        if (!o.input.draws()) {
          keep_rows(cloud, rows);
          rows.clear();
        }
        all.push_back({std::move(cloud), file.path, file.path, number, std::move(rows)});
      });
      most = seen;
    } catch (const DataError& fault) {
      if (faults == nullptr) {
        throw;
      }
      all.erase(all.begin() + static_cast<int64_t>(first), all.end());
      faults->emplace_back(fault.what());
    }
    if (all.size() != first + 1) {  // one of many
      std::for_each(all.begin() + static_cast<int64_t>(first), all.end(),
                    [](HeldCloud& h) { h.source.clear(); });
    }
  }
  return all;
}

/// Whether the clouds have classes: all of them, or none.
bool have_classes(const std::vector<HeldCloud>& clouds) {
  const HeldCloud* with = nullptr;
  const HeldCloud* without = nullptr;
  for (const HeldCloud& held : clouds) {
    (held.cloud.label >= 0 ? with : without) = &held;
  }
  require<DataError>(with == nullptr || without == nullptr, without == nullptr ? "" : without->source,
                     ": must have a class as other clouds have, such as ",
                     with == nullptr ? "" : with->source);
  return with != nullptr;
}

double mean_nodes(const std::vector<HeldCloud>& clouds, const CloudInput& input) {
  double sum = 0;
  for (const HeldCloud& held : clouds) {
    sum += static_cast<double>(input.nodes(held.taken()));
  }
  return sum / static_cast<double>(clouds.size());
}

/// A line for each feature whose numbers are so large that places within 1, and all else, hardly count beside them, or so small
/// that they hardly count themselves.
void warn_of_far_scales(const std::vector<HeldCloud>& clouds, const CloudsDataOptions& o,
                        std::vector<std::string>& warnings) {
  constexpr double large = 100, small = 0.01;
  for (size_t k = 0; k < o.features.size(); ++k) {
    double squares = 0, numbers = 0;
    for (const HeldCloud& held : clouds) {
      for (const double x : held.cloud.features[k]) {
        squares += x * x;
      }
      numbers += static_cast<double>(held.cloud.features[k].size());
    }
    if (const double size = std::sqrt(squares / std::max(numbers, 1.0));
        size > large || (size > 0 && size < small)) {
      warnings.push_back(
          text("data.clouds.features: ", quote(o.features[k].key, 40),
               " is read as it is and has a root mean square of ", short_number(size),
               " over the training points; numbers near 1 are learned from better: scale them in the files"));
    }
  }
}

/// How many classes of clouds there are, of which `names` and the largest, `most`, are known.
int64_t count_of_classes(const CloudsDataOptions& o, const std::vector<std::string>& names, int64_t most) {
  const int64_t found = names.empty() ? most + 1 : std::ssize(names);
  const bool fits = o.classes == 0 || (names.empty() ? found <= o.classes : found == o.classes);
  if (!fits || o.class_input) {  // a model is told classes by their numbers
    require_known(names, o.known_classes, o.path);
  }
  require<DataError>(fits || !names.empty(), o.path, ": classes must be 0 .. ", o.classes - 1,
                     " (data.clouds.classes = ", o.classes, "), got ", most);
  require<DataError>(fits, o.path, ": data.clouds.classes must be ", found, ", the classes there are, got ",
                     o.classes);
  return o.classes > 0 ? o.classes : found;
}

/// The schema of clouds of which `names` and the largest labels are known.
Schema schema_with_labels(const CloudsDataOptions& o, const std::vector<std::string>& names,
                          const MostClasses& most) {
  Schema schema = schema_without_labels(o);
  if (!o.point_label.empty() && most.of_points >= 0) {
    require<DataError>(o.point_classes == 0 || most.of_points < o.point_classes, o.path,
                       ": classes of points must be 0 .. ", o.point_classes - 1,
                       " (data.clouds.point_classes = ", o.point_classes, "), got ", most.of_points);
    schema.labels = {{.name = kPointClasses,
                      .kind = Kind::category,
                      .categories = o.point_classes > 0 ? o.point_classes : most.of_points + 1}};
  }
  const bool learned = o.point_label.empty() && !o.class_input;
  if (most.of_clouds < 0 || !(learned || o.class_input)) {
    require<DataError>(
        !o.class_input, o.path,
        ": data.clouds.class_input needs the class of each cloud: a folder for each class, an array, or a "
        "table that data.clouds.labels names");
    return schema;
  }
  const int64_t classes = count_of_classes(o, names, most.of_clouds);
  if (o.class_input) {
    schema.interface.features.push_back({.name = kShapeClass, .level = Level::graph, .channels = classes});
  } else {
    schema.labels = {{.name = "class", .level = Level::graph, .kind = Kind::category, .categories = classes}};
  }
  if (!names.empty()) {
    schema.category_names["class"] = names;
  }
  return schema;
}

}  // namespace

Schema declared_schema(const CloudsDataOptions& o) {
  const bool of_points = !o.point_label.empty();
  require<ConfigError>(!of_points || o.point_classes > 0,
                       "data.clouds.point_classes: must be given, the number of classes of points");
  require<ConfigError>((of_points && !o.class_input) || o.classes > 0,
                       "data.clouds.classes: must be given, the number of classes");
  return schema_with_labels(o, {}, {.of_clouds = o.classes - 1, .of_points = o.point_classes - 1});
}

Splits open_set(const CloudsDataOptions& o, std::vector<std::string>* faults) {
  require_options(o);
  const CloudLayout layout = cloud_layout(o);
  std::vector<HeldCloud> parts[3];
  MostClasses most;
  if (layout.split()) {
    const std::vector<CloudFile>* given[] = {&layout.train, &layout.valid, &layout.test};
    for (size_t k = 0; k < 3; ++k) {
      parts[k] = load(*given[k], o, most, faults);
    }
  } else {
    std::vector<HeldCloud> all = load(layout.all, o, most, faults);
    const SplitIndices drawn =
        random_split(std::ssize(all), {.train = o.train_fraction, .valid = o.valid_fraction, .seed = o.seed});
    const std::vector<int64_t>* which[] = {&drawn.train, &drawn.valid, &drawn.test};
    for (size_t k = 0; k < 3; ++k) {
      for (const int64_t i : *which[k]) {
        parts[k].push_back(std::move(all[i]));
      }
    }
  }
  bool first = true, classes = false;
  for (const auto& part : parts) {
    if (part.empty()) {
      continue;
    }
    if (!o.point_label.empty() && !o.class_input) {
      continue;
    }
    const bool has = have_classes(part);
    require<DataError>(first || has == classes, o.path,
                       ": the clouds of all splits must have classes, or of none");
    classes = has;
    first = false;
  }
  Schema schema = schema_with_labels(o, layout.classes, most);
  for (const auto& part : parts) {  // the training split, if there is one
    if (!part.empty()) {
      schema.interface.typical_nodes = mean_nodes(part, o.input);
      break;
    }
  }
  schema.warnings = layout.warnings;
  Schema training = schema;
  warn_of_far_scales(parts[0], o, training.warnings);
  if (o.input.draws() && o.input.centres == 0 && std::ranges::none_of(parts[0], [](const HeldCloud& held) {
        return held.taken() < held.cloud.points();
      })) {
    training.warnings.push_back(
        text("data.clouds.augment.draw draws nothing: no training cloud has more than ", o.points,
             " points, and all of them are nodes"));
  }
  const auto set = [&](std::vector<HeldCloud>& part, const Schema& of) -> std::shared_ptr<const Dataset> {
    return part.empty() ? nullptr : std::make_shared<CloudSet>(std::move(part), of, o);
  };
  return {set(parts[0], training), set(parts[1], schema), set(parts[2], schema)};
}

CloudsDataOptions as_opened(CloudsDataOptions o, const Dataset& train) {
  if (const Quantity* input = find_quantity(train.schema().interface.features, kShapeClass)) {
    o.classes = input->channels;
  }
  return o;
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
  MostClasses most;
  std::vector<HeldCloud> clouds = load(files, o, most);
  require<DataError>(!clouds.empty(), path, ": holds no point cloud: must be ", cloud_endings);
  if ((o.point_label.empty() || o.class_input) && !have_classes(clouds)) {
    most.of_clouds = -1;
  }
  Schema schema = schema_with_labels(o, {}, most);
  schema.interface.typical_nodes = mean_nodes(clouds, o.input);
  return std::make_shared<CloudSet>(std::move(clouds), std::move(schema), o);
}

}  // namespace weyl

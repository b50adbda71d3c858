#include "weyl/data/clouds/cloud_reader.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weyl/carriers/unlabelled.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/data/clouds/las.h"
#include "weyl/data/clouds/lidar_scan.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/pcd.h"
#include "weyl/data/clouds/ply.h"
#include "weyl/data/clouds/point_clouds.h"
#include "weyl/data/clouds/point_text.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/npy.h"

namespace weyl {
namespace {

const std::vector<std::string> usual_positions{"positions", "points", "pos", "xyz", "coords", "data"};
const std::vector<std::string> usual_labels{"label", "labels", "class", "classes", "y", "target"};
const std::vector<std::string> usual_point_labels{"point_label",
                                                  "point_labels",
                                                  "part",
                                                  "parts",
                                                  "part_label",
                                                  "part_labels",
                                                  "pid",
                                                  "seg",
                                                  "segment",
                                                  "semantic",
                                                  "semantics",
                                                  "sem_label",
                                                  "semantic_label",
                                                  "semantic_labels",
                                                  "label",
                                                  "labels",
                                                  "class",
                                                  "scalar_label",
                                                  "classification",
                                                  "scalar_classification"};
const std::vector<std::string> of_atoms{"nuclear_charges", "atomic_numbers", "numbers", "species", "z"};
constexpr size_t kMostArrayNames = 12;  // in a message
constexpr double kByte = 255;
constexpr int64_t kMostClass = 1'000'000;

std::vector<std::string> names_for(const std::string& given, const std::vector<std::string>& usual) {
  return given.empty() ? usual : std::vector<std::string>{given};
}

/// Names of the classes of clouds, none where nobody asks for them.
std::vector<std::string> labels_for(const CloudsDataOptions& o) {
  if (!o.point_label.empty() && !o.class_input) {
    return {};
  }
  std::vector<std::string> names = names_for(o.label, usual_labels);
  std::erase(names, o.point_label);
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (size_t k = 0; k < std::min(names.size(), kMostArrayNames); ++k) {
    list += (k == 0 ? "" : ", ") + printable(names[k], 40);
  }
  return list + (names.size() > kMostArrayNames ? ", ..." : "");
}

int64_t width_of(const CloudFeature& feature) {
  return feature.kind == CloudFeatureKind::scalar ? feature.channels : 3;
}

void require_finite(const std::vector<double>& values, int64_t width, const std::string& where,
                    const std::string& what) {
  const auto bad = std::ranges::find_if(values, [](double x) { return !std::isfinite(x); });
  require<DataError>(bad == values.end(), where, ": ", what, " must be finite, of point ",
                     (bad - values.begin()) / width, " they are not");
}

// --- columns ---

/// Names that the columns of a feature may have, the likelier first.
std::vector<std::vector<std::string>> candidates(const CloudFeature& f) {
  std::vector<std::vector<std::string>> all;
  const auto add = [&](const std::string& stem, std::initializer_list<const char*> ends) {
    std::vector<std::string> names;
    for (const char* end : ends) {
      names.push_back(stem + end);
    }
    all.push_back(names);
  };
  const bool normal = f.key == "normal" || f.key == "normals";
  const bool colour = f.key == "colour" || f.key == "colours" || f.key == "color" || f.key == "colors";
  if (f.kind != CloudFeatureKind::scalar) {
    if (normal) {
      add("n", {"x", "y", "z"});
      add("normal", {"_x", "_y", "_z"});
    }
    add(f.key, {"_x", "_y", "_z"});
    add(f.key, {"x", "y", "z"});
  } else if (f.channels == 1) {
    all.push_back({f.key});
  } else {
    if (colour && f.channels <= 4) {
      for (const auto& names :
           {std::array{"red", "green", "blue", "alpha"}, std::array{"r", "g", "b", "a"}}) {
        all.emplace_back(names.begin(), names.begin() + f.channels);
      }
    }
    for (const char* between : {"_", ""}) {
      std::vector<std::string> names;
      for (int64_t k = 0; k < f.channels; ++k) {
        names.push_back(f.key + between + std::to_string(k));
      }
      all.push_back(names);
    }
  }
  return all;
}

std::vector<int64_t> columns_of(const PointTable& table, const CloudFeature& feature,
                                const std::string& where) {
  const auto all = candidates(feature);
  for (const auto& names : all) {
    std::vector<int64_t> columns;
    for (const std::string& name : names) {
      columns.push_back(table.find(name));
    }
    if (std::ranges::find(columns, -1) == columns.end()) {
      return columns;
    }
  }
  throw DataError(text(where, ": has no feature ", quote(feature.key, 40), " (", list_of(all.front()),
                       "), its columns are ", list_of(table.names)));
}

std::vector<double> gathered(const PointTable& table, const std::vector<int64_t>& columns, bool parts) {
  std::vector<double> values;
  values.reserve(table.rows * columns.size());
  for (int64_t row = 0; row < table.rows; ++row) {
    for (const int64_t k : columns) {
      const double x = table.values[row * table.columns() + k];
      values.push_back(parts && table.bytes[k] ? x / kByte : x);
    }
  }
  return values;
}

/// What labels of points must be.
constexpr const char* kPointClass = " must be whole numbers from 0 on, -1 where the class is not known";

bool is_point_class(double x) {
  return x >= unlabelled && x == std::floor(x) && x <= kMostClass;
}

/// Numbers of a column as the classes of points: of the first that is none, its row; -1: all are.
int64_t first_that_is_no_class(const PointTable& table, int64_t column) {
  for (int64_t row = 0; row < table.rows; ++row) {
    const double x = table.values[row * table.columns() + column];
    if (!is_point_class(x)) {
      return row;
    }
  }
  return -1;
}

void read_classes(const PointTable& table, const std::string& name, const std::string& where, Cloud& cloud) {
  const int64_t column = table.find(name);
  require<DataError>(column >= 0, where, ": has no column ", quote(name, 40),
                     " (data.clouds.point_label), its columns are ", list_of(table.names));
  const int64_t wrong = first_that_is_no_class(table, column);
  require<DataError>(wrong < 0, where, ": ", quote(name, 40), kPointClass, "; of point ", wrong, " it is ",
                     wrong < 0 ? 0 : table.values[wrong * table.columns() + column]);
  cloud.classes.reserve(table.rows);
  for (int64_t row = 0; row < table.rows; ++row) {
    cloud.classes.push_back(static_cast<int64_t>(table.values[row * table.columns() + column]));
  }
}

Cloud cloud_of(const PointTable& table, const CloudsDataOptions& o, const std::string& where) {
  std::vector<std::vector<int64_t>> columns{{table.find("x"), table.find("y"), table.find("z")}};
  uint64_t numbers = 3;
  for (const CloudFeature& feature : o.features) {
    columns.push_back(columns_of(table, feature, where));
    numbers += columns.back().size();
  }
  require_memory(static_cast<uint64_t>(table.rows) * numbers * sizeof(double), where);
  Cloud cloud;
  cloud.positions = gathered(table, columns[0], false);
  for (size_t k = 0; k < o.features.size(); ++k) {
    cloud.features.push_back(gathered(table, columns[k + 1], o.features[k].kind == CloudFeatureKind::scalar));
    require_finite(cloud.features.back(), width_of(o.features[k]), where, quote(o.features[k].key, 40));
  }
  if (!o.point_label.empty()) {
    read_classes(table, o.point_label, where, cloud);
  }
  return cloud;
}

// --- arrays ---

const NamedArray* array_named(const std::vector<NamedArray>& arrays, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(arrays, name, &NamedArray::name);
    if (found != arrays.end()) {
      return &*found;
    }
  }
  return nullptr;
}

/// The arrays of a file, of HDF5 those that nobody asked for too.
using Entries = std::vector<Hdf5Entry>;

Entries entries_of(const std::vector<NamedArray>& arrays) {
  Entries entries;
  for (const NamedArray& a : arrays) {
    entries.push_back({a.name, a.array.shape});
  }
  return entries;
}

std::string shapes_of(const Entries& arrays) {
  std::string list;
  for (size_t k = 0; k < std::min(arrays.size(), kMostArrayNames); ++k) {
    list += text(k == 0 ? "" : ", ", quote(arrays[k].name, 40), " ", shape_text(arrays[k].shape));
  }
  return arrays.empty() ? "none" : list + (arrays.size() > kMostArrayNames ? ", ..." : "");
}

/// Numbers of a row of an array whose first axes are `rows`, which must be `width` (an axis of 1 may be left out).
void require_shape(const NamedArray& from, const std::vector<int64_t>& rows, int64_t width,
                   const std::string& where) {
  const auto& shape = from.array.shape;
  std::vector<int64_t> whole = rows;
  whole.push_back(width);
  require<DataError>(shape == whole || (width == 1 && shape == rows), where, ": ", quote(from.name, 40),
                     " must be ", shape_text(whole), ", got ", shape_text(shape));
  require<DataError>(holds_values(from.array.type), where, ": ", quote(from.name, 40),
                     " must hold numbers, got ", name_of(from.array.type));
}

/// The numbers of an array of labels, also where they are whole ones stored as floats, as NumPy's often are.
std::vector<double> label_numbers(const NamedArray& from, const std::string& where) {
  const Array& array = from.array;
  require<DataError>(holds_values(array.type), where, ": ", quote(from.name, 40),
                     " must be integers, got type ", name_of(array.type));
  const auto count = static_cast<int64_t>(array.bytes.size()) / size_of(array.type);
  return reals_of(array, 0, count, where + ": " + quote(from.name, 40));
}

/// The classes of all points of a file, (B P) or (P).
std::vector<int64_t> classes_of_points(const NamedArray& from, const std::vector<int64_t>& rows,
                                       const std::string& where) {
  require_shape(from, rows, 1, where);
  const std::vector<double> numbers = label_numbers(from, where);
  const auto wrong = std::ranges::find_if_not(numbers, is_point_class);
  require<DataError>(wrong == numbers.end(), where, ": ", quote(from.name, 40), kPointClass, "; got ",
                     wrong == numbers.end() ? 0 : *wrong);
  return {numbers.begin(), numbers.end()};
}

std::vector<int64_t> labels_of(const NamedArray& from, int64_t clouds, bool many, const std::string& where) {
  const auto& shape = from.array.shape;
  const bool single = !many && (shape.empty() || shape == std::vector<int64_t>{1});
  require<DataError>(
      single || shape == std::vector<int64_t>{clouds} || shape == std::vector<int64_t>{clouds, 1}, where,
      ": ", quote(from.name, 40), " must be ", shape_text(std::vector<int64_t>{clouds}),
      ", a class for each cloud, got ", shape_text(shape));
  const std::vector<double> numbers = label_numbers(from, where);
  const auto wrong = std::ranges::find_if_not(numbers, [](double x) { return is_point_class(x) && x >= 0; });
  require<DataError>(wrong == numbers.end(), where, ": ", quote(from.name, 40),
                     " must be whole numbers from 0 on, got ", wrong == numbers.end() ? 0 : *wrong);
  return {numbers.begin(), numbers.end()};
}

/// Whether an array of this shape has a value for each point of positions of shape (B P 3) or (P 3).
bool has_value_of_each_point(const std::vector<int64_t>& shape, const std::vector<int64_t>& positions) {
  if (positions.size() < 2) {
    return false;
  }
  const std::vector<int64_t> rows(positions.begin(), positions.end() - 1);
  std::vector<int64_t> column = rows;
  column.push_back(1);
  return shape == rows || shape == column;
}

/// The same of an array, where there are several points: not one for each cloud.
bool is_of_points(const NamedArray& array, const NamedArray& positions) {
  const auto& shape = positions.array.shape;
  return has_value_of_each_point(array.array.shape, shape) && shape[shape.size() - 2] > 1;
}

/// The classes of clouds by the first of the usual names that is not of their points.
const NamedArray* usual_label(const std::vector<NamedArray>& arrays, const NamedArray& positions,
                              const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const NamedArray* found = array_named(arrays, {name});
    if (found != nullptr && !is_of_points(*found, positions)) {
      return found;
    }
  }
  return nullptr;
}

/// `all` are the file's arrays, for messages.
void use_arrays(const std::vector<NamedArray>& arrays, const std::function<Entries()>& all,
                const CloudsDataOptions& o, const std::string& where, const std::function<void(Cloud)>& use) {
  const auto named = [&](const std::vector<std::string>& names, const std::string& lack) {
    const NamedArray* found = array_named(arrays, names);
    return found != nullptr ? found : throw DataError(text(where, ": ", lack, shapes_of(all())));
  };
  const auto names = names_for(o.positions, usual_positions);
  const NamedArray* positions = named(names, text("must have an array of positions named ", list_of(names),
                                                  " (data.clouds.positions), its arrays are "));
  const auto& shape = positions->array.shape;
  require<DataError>((shape.size() == 2 || shape.size() == 3) && shape.back() == 3 &&
                         std::ranges::find(shape, 0) == shape.end(),
                     where, ": ", quote(positions->name, 40),
                     " must be (points, 3) or (clouds, points, 3) with none of them 0, got ",
                     shape_text(shape));
  const bool many = shape.size() == 3;
  const int64_t clouds = many ? shape[0] : 1, points = shape[shape.size() - 2];
  const std::vector<int64_t> rows(shape.begin(), shape.end() - 1);
  require_shape(*positions, rows, 3, where);
  std::vector<const NamedArray*> features;
  for (const CloudFeature& feature : o.features) {
    features.push_back(
        named({feature.key}, text("has no feature ", quote(feature.key, 40), ", its arrays are ")));
    require_shape(*features.back(), rows, width_of(feature), where);
  }
  std::vector<int64_t> classes;
  if (!o.point_label.empty()) {
    classes = classes_of_points(*named({o.point_label}, text("has no array ", quote(o.point_label, 40),
                                                             " (data.clouds.point_label), its arrays are ")),
                                rows, where);
  }
  const NamedArray* label = nullptr;
  if (o.label.empty()) {
    label = usual_label(arrays, *positions, labels_for(o));
  } else {
    label =
        named({o.label}, text("has no array ", quote(o.label, 40), " (data.clouds.label), its arrays are "));
  }
  const auto labels = label != nullptr ? labels_of(*label, clouds, many, where) : std::vector<int64_t>();
  for (int64_t b = 0; b < clouds; ++b) {
    const std::string of = many ? text(where, ": cloud ", b) : where;
    Cloud cloud;
    cloud.positions = reals_of(positions->array, b * points * 3, points * 3, of);
    require_finite(cloud.positions, 3, of, "coordinates");
    for (size_t k = 0; k < features.size(); ++k) {
      const int64_t width = width_of(o.features[k]);
      auto values = reals_of(features[k]->array, b * points * width, points * width, of);
      require_finite(values, width, of, quote(o.features[k].key, 40));
      if (features[k]->array.type == ElementType::u8 && o.features[k].kind == CloudFeatureKind::scalar) {
        std::ranges::for_each(values, [](double& x) { x /= kByte; });
      }
      cloud.features.push_back(std::move(values));
    }
    cloud.label = labels.empty() ? -1 : labels[b];
    if (!classes.empty()) {
      cloud.classes.assign(classes.begin() + b * points, classes.begin() + (b + 1) * points);
    }
    use(std::move(cloud));
  }
}

bool ends(std::string_view path, std::initializer_list<std::string_view> with) {
  return std::ranges::any_of(with, [&](std::string_view end) { return path.ends_with(end); });
}

/// The arrays of an archive by their headers; none: it cannot be read.
std::optional<Entries> entries_in(const std::string& path) {
  Entries entries;
  try {
    if (is_hdf5(path)) {
      return read_hdf5_entries(path);
    }
    for (const NpzEntry& e : read_npz_entries(path)) {
      entries.push_back({e.name, e.header.shape});
    }
  } catch (const DataError&) {
    return std::nullopt;
  }
  return entries;
}

bool has(const Entries& entries, const std::string& name) {
  return std::ranges::find(entries, name, &Hdf5Entry::name) != entries.end();
}

/// Positions by a usual name, (P, 3) or (B, P, 3).
bool has_positions(const Entries& entries, size_t axes) {
  return std::ranges::any_of(entries, [&](const Hdf5Entry& e) {
    return std::ranges::find(usual_positions, e.name) != usual_positions.end() && e.shape.size() == axes &&
           e.shape.back() == 3;
  });
}

bool are_clouds(const Entries& entries) {
  return std::ranges::none_of(of_atoms, [&](const std::string& name) { return has(entries, name); }) &&
         (has_positions(entries, 2) || has_positions(entries, 3));
}

}  // namespace

bool is_hdf5(std::string_view path) {
  return ends(path, {".h5", ".hdf5"});
}

bool is_cloud_text(std::string_view path) {
  return ends(path, {".xyz", ".txt", ".csv", ".pts", ".asc"});
}

bool is_cloud_file(std::string_view path) {
  return ends(path, {".ply", ".pcd", ".las", ".off", ".bin", ".npz", ".h5", ".hdf5"}) || is_cloud_text(path);
}

namespace {

/// The points of a file that holds no arrays.
PointTable table_of(const std::string& path, const CloudsDataOptions& o) {
  if (ends(path, {".ply"})) {
    return read_ply(path);
  }
  if (ends(path, {".pcd"})) {
    return read_pcd(path);
  }
  if (ends(path, {".las"})) {
    return read_las(path);
  }
  if (ends(path, {".bin"})) {
    return read_lidar_scan(path);
  }
  if (ends(path, {".off"})) {
    PointTable table{
        .names = {"x", "y", "z"}, .bytes = {false, false, false}, .values = read_off_vertices(path)};
    table.rows = static_cast<int64_t>(table.values.size()) / 3;
    return table;
  }
  return read_point_text(path, o.columns);
}

/// The arrays of an HDF5 file that the options ask for, the first by each list of names.
std::vector<NamedArray> hdf5_arrays(const std::string& path, const CloudsDataOptions& o, uint64_t limit) {
  const auto positions = names_for(o.positions, usual_positions);
  std::vector<std::vector<std::string>> wanted{positions, labels_for(o)};
  if (!o.point_label.empty()) {
    wanted.push_back({o.point_label});
  }
  for (const CloudFeature& feature : o.features) {
    wanted.push_back({feature.key});
  }
  while (true) {
    std::vector<NamedArray> arrays = read_hdf5_arrays(path, wanted, limit);
    std::vector<std::string>& labels = wanted[1];
    const NamedArray *places = array_named(arrays, positions), *label = array_named(arrays, labels);
    if (!o.label.empty() || places == nullptr || label == nullptr || !is_of_points(*label, *places)) {
      return arrays;
    }
    labels.erase(labels.begin(), std::ranges::find(labels, label->name) + 1);  // the next may be of clouds
  }
}

}  // namespace

void read_clouds(const std::string& path, const CloudsDataOptions& o, const std::function<void(Cloud)>& use) {
  const uint64_t limit = static_cast<uint64_t>(o.limit) << 20U;
  if (ends(path, {".npz"})) {
    const auto arrays = read_npz(path, limit);
    use_arrays(arrays, [&] { return entries_of(arrays); }, o, path, use);
  } else if (is_hdf5(path)) {
    use_arrays(hdf5_arrays(path, o, limit), [&] { return read_hdf5_entries(path); }, o, path, use);
  } else {
    use(cloud_of(table_of(path, o), o, path));
  }
}

std::optional<bool> seems_clouds(const std::string& path) {
  if (ends(path, {".ply", ".pcd", ".las", ".off"})) {
    return true;
  }
  if (ends(path, {".bin"})) {
    return looks_like_lidar_scan(path);
  }
  if (!ends(path, {".npz"}) && !is_hdf5(path)) {
    return looks_like_points(path);
  }
  const auto entries = entries_in(path);
  return entries ? std::optional(are_clouds(*entries)) : std::nullopt;
}

std::string usual_point_label(const std::string& path, const CloudsDataOptions& o) {
  if (ends(path, {".npz"}) || is_hdf5(path)) {
    const Entries entries = entries_in(path).value_or(Entries{});
    for (const std::string& positions : names_for(o.positions, usual_positions)) {
      const auto places = std::ranges::find(entries, positions, &Hdf5Entry::name);
      if (places == entries.end() || places->shape.size() < 2) {
        continue;
      }
      for (const std::string& name : usual_point_labels) {
        const auto found = std::ranges::find_if(
            entries, [&](const Hdf5Entry& entry) { return in_small_letters(entry.name) == name; });
        if (found != entries.end() && has_value_of_each_point(found->shape, places->shape)) {
          return found->name;
        }
      }
      return "";
    }
    return "";
  }
  try {
    const PointTable table = table_of(path, o);
    for (const std::string& name : usual_point_labels) {
      const auto found = std::ranges::find_if(
          table.names, [&](const std::string& column) { return in_small_letters(column) == name; });
      if (found != table.names.end() && first_that_is_no_class(table, found - table.names.begin()) < 0) {
        return *found;
      }
    }
  } catch (const DataError&) {  // said by whoever reads it
  }
  return "";
}

bool is_labelled_set(const std::string& path) {
  const auto entries = ends(path, {".npz"}) || is_hdf5(path) ? entries_in(path) : std::nullopt;
  return entries && has_positions(*entries, 3) &&
         std::ranges::any_of(usual_labels, [&](const std::string& name) { return has(*entries, name); });
}

bool holds_clouds(const std::string& path) {
  const auto entries = entries_in(path);
  const bool of_modelnet = entries && is_hdf5(path) && has(*entries, "data") && has(*entries, "label");
  return entries && !of_modelnet && are_clouds(*entries);
}

}  // namespace weyl

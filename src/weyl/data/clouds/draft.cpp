// Point clouds and shapes, as `weyl config new` sees them.
#include <algorithm>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/clouds/cloud_layout.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/clouds/files.h"
#include "weyl/data/clouds/modelnet_files.h"
#include "weyl/data/clouds/options.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_points = 128;  // of a cloud: more see finer detail and take longer, by the square

constexpr int64_t near_points = 8;  // that a node sees beside it

constexpr const char* why_normals = "of the surface: places alone hardly change what this system says";

/// The key under which the clouds have normals; empty: they have none.
std::string normals_of(const std::string& path) {
  for (const std::string key : {"normal", "normals"}) {
    try {
      open_set(CloudsDataOptions{.path = path, .features = {{.key = key, .kind = CloudFeatureKind::normal}}});
      return key;
    } catch (const DataError&) {  // there is no such array
    }
  }
  return "";
}

int64_t fewest_points(const Splits& splits) {
  int64_t fewest = INT64_MAX;
  for (const auto& split : {splits.train, splits.valid, splits.test}) {
    for (int64_t i = 0; split != nullptr && i < split->size(); ++i) {
      fewest = std::min(fewest, split->tokens(i));
    }
  }
  return fewest;
}

bool is_archive_of_clouds(const std::string& path) {
  return fs::is_regular_file(path) && (path.ends_with(".npz") || is_hdf5(path)) &&
         seems_clouds(path).value_or(false);
}

/// The name of the labels of points and their number; an empty name: there are none.
struct PointLabels {
  std::string name;
  Classes classes;
};

PointLabels point_labels_of(const CloudsDataOptions& options, const CloudLayout& layout) {
  CloudsDataOptions o = options;
  for (const auto* files : {&layout.train, &layout.all}) {
    if (o.point_label.empty() && !files->empty()) {
      o.point_label = usual_point_label(files->front().path, o);
    }
  }
  if (o.point_label.empty()) {
    return {};
  }
  try {
    return {o.point_label, classes_of(open_set(o), "mask")};
  } catch (const DataError&) {  // other files have no such labels
    return {};
  }
}

/// That nodes are told of the points nearest to them: `asked`, or as moments for a system that places alone hardly move.
void write_neighbours(ConfigDraft& draft, bool asked, bool moments) {
  if (asked || moments) {
    draft.set("neighbours", near_points, "each node is told of its nearest points, the surface around it");
  }
  if (moments) {
    draft.set("neighbours_as", "moments",
              "by numbers that no turn changes: places alone hardly change what this system says");
  }
}

FoundData look_at_clouds(const std::string& path) {
  FoundData found;
  CloudsDataOptions options{.path = path};
  options.points = most_points;  // of sets that fill the memory no more is needed
  const CloudLayout layout = cloud_layout(options);
  const bool split = layout.split();
  const Splits splits = open_set(options);
  count_samples(found, splits, path);
  const Classes classes = classes_of(splits, "class");
  const PointLabels labels = point_labels_of(options, layout);
  require<ConfigError>(
      classes.count > 0 || labels.classes.count > 1, path,
      ": the clouds have no classes, which a task of clouds learns: a folder for each "
      "class, an array of labels, a table that data.clouds.labels names, or labels of points, an array or a "
      "column that data.clouds.point_label names");
  found.family = FoundData::Family::shapes;
  found.voxels = false;
  found.what = text(found.samples, " training clouds");
  const std::string up(axis_names[static_cast<size_t>(options.up)]);
  found.upright_axis = up;
  if (classes.count > 0) {
    found.what += text(" of ", classes.count, " classes");
    found.tasks.push_back({"classification", "classes of clouds"});
  }
  if (labels.classes.count > 1) {
    found.what += text(", points of ", labels.classes.count, " classes");
    found.tasks.push_back({"segmentation", text("classes of points, \"", labels.name, "\"")});
  }
  const int64_t points = std::min(most_points, found.most_tokens);
  found.most_tokens = points;
  const bool near = fewest_points(splits) > near_points;
  found.write_data = [=](ConfigDraft& draft, const std::string& task, const std::string& system) {
    write_set(draft, "clouds", path);
    if (task == "segmentation") {
      draft.set("point_label", labels.name, "the class of each point");
      draft.set("point_classes", labels.classes.count, "those that the files show");
      if (classes.count > 1) {
        draft.set("class_input", true, "the model is told the class of each cloud; false: it is not");
        draft.set("classes", classes.count, "those that the files show");
      }
    } else {
      draft.set("classes", classes.count, "those that the files show");
    }
    draft.set("points", points, "of a cloud, drawn: more see finer detail and take longer, by the square");
    draft.set("up", up, "taken to be so: `weyl eval RUN --rotate z` turns the clouds about this axis");
    const std::string normals = system == "gatr" ? normals_of(path) : "";
    write_neighbours(draft, near && task == "segmentation", near && system == "gatr" && normals.empty());
    if (normals.empty()) {
      draft.remark(
          "Places alone are read; normals, colours and the like: features = [{ key = \"normal\", kind = "
          "\"normal\" }].");
    } else {
      draft.set("features",
                TomlText::raw(text("[{ key = ", TomlText(normals).text, ", kind = \"normal\" }]")),
                why_normals);
    }
    if (!split) {
      draft.set("train_fraction", 0.8);
      draft.set("valid_fraction", 0.1);
    }
  };
  found.write_task = [=](ConfigDraft& draft, const std::string& task, const std::string&) {
    write_classes(draft, task, task == "segmentation" ? labels.classes : classes);
  };
  return found;
}

/// The set of a folder in ModelNet's layout; of several that of the variant, which must be said.
FoundData look_at_shapes(const std::string& path, const std::string& variant) {
  const ModelnetFiles files(path);
  if (variant.empty() && files.variants().size() > 1) {
    const std::string& one = files.variants().front();
    const auto training = files.of("train", one), test = files.of("test", one);
    throw ConfigError(text(path, ": holds several sets of HDF5 files, ", TomlText(files.variants()).text,
                           "; a file of one says which: `weyl config new --data ",
                           shell_word(training.empty() ? test.front() : training.front()), "`"));
  }
  ModelnetDataOptions options{.path = path, .carrier = ShapeCarrier::points, .points = 0, .classes = 0};
  options.variant = variant;
  const Splits all = open_set(options);
  FoundData found;
  found.family = FoundData::Family::shapes;
  count_samples(found, all, path);
  const Classes classes = classes_of(all, "class");
  const auto found_points = static_cast<int64_t>(found.mean_tokens);  // of files of clouds, not of meshes
  const int64_t points = files.empty() ? 128 : std::min<int64_t>(128, found_points);
  found.upright_axis = files.empty() ? "z" : "y";
  found.what = text(found.samples, " training shapes of ", classes.count, " classes");
  found.tasks = {{"classification", "classes"}};
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string& system) {
    write_set(draft, "modelnet", path, "HDF5 clouds or OFF meshes, with their classes");
    if (!variant.empty()) {
      draft.set("variant", variant, text("of ", TomlText(files.variants()).text));
    }
    draft.set("classes", classes.count, "those that the files show");
    if (reads_grids(system)) {
      if (!files.empty() && found_points < ModelnetDataOptions().points) {
        draft.set("points", found_points, "all that a sample has");
      }
      draft.set("voxels", 32);
      draft.set("fill", "density",
                "shells of occupied cells do not turn smoothly, Gaussians around the points do");
      draft.set("sigma", 1.5);
      draft.set("extent", 1.15, "so that they fade out before the border");
      draft.set(
          "rotate_train", "uniform",
          "any rotation, drawn once for each sample: between the turns of a cube no model on a grid is exact, and "
          "nothing in the data says which way is up");
    } else {
      draft.set("carrier", "points");
      draft.set("points", points, "of a sample: more see finer detail and take longer, by the square");
      if (system == "gatr" && files.empty()) {
        draft.set("normals", true, why_normals);
      } else {
        write_neighbours(draft, false, system == "gatr" && found_points > near_points);
      }
    }
  };
  found.write_model = [](ConfigDraft& draft, const FoundData&, const std::string&) {
    draft.drop("margin");  // which the recipe has for its tables alone
  };
  found.write_task = [=](ConfigDraft& draft, const std::string& task, const std::string&) {
    write_classes(draft, task, classes);
  };
  return found;
}

/// What a config says for an HDF5 file whose name is that of a split of ModelNet. The data set is the one that the file
/// belongs to; a folder may hold several. `tasks` is empty where the file has no such name.
FoundData look_at_shape_file(const std::string& path) {
  if (!is_hdf5(path) || holds_clouds(path)) {
    return {};
  }
  const std::string above = fs::path(path).parent_path().string(), folder = above.empty() ? "." : above;
  const auto variant = ModelnetFiles(folder).variant_of(path);
  return variant ? look_at_shapes(folder, *variant) : FoundData();
}

}  // namespace

FoundData CloudFiles::draft(const std::string& path) {
  return fs::is_directory(path) || is_archive_of_clouds(path) ? look_at_clouds(path) : FoundData();
}

FoundData ShapeFiles::draft(const std::string& path) {
  if (fs::is_directory(path)) {
    return look_at_shapes(path, "");
  }
  FoundData found = look_at_shape_file(path);
  return found.tasks.empty() && is_archive_of_clouds(path) ? look_at_clouds(path) : found;
}

}  // namespace weyl

// Point clouds of one's own, as `weyl config new` sees them.
#include <algorithm>
#include <filesystem>

#include "weyl/app/new_config_data.h"
#include "weyl/core/check.h"
#include "weyl/data/open.h"
#include "weyl/data/sets/cloud_layout.h"
#include "weyl/data/sets/cloud_reader.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_points = 128;  // of a cloud: more see finer detail and take longer, by the square

bool is_archive_of_clouds(const std::string& path) {
  return fs::is_regular_file(path) && (path.ends_with(".npz") || is_hdf5(path)) &&
         seems_clouds(path).value_or(false);
}

/// PLY and OFF alone, which say no classes: what is missing is said of them. (Of text nobody knows what it is.)
bool is_folder_of_plain_clouds(const std::string& path) {
  return is_flat_cloud_folder(path) && std::ranges::all_of(clouds_in(path), [](const std::string& file) {
           return file.ends_with(".ply") || file.ends_with(".off");
         });
}

}  // namespace

FoundData look_at_clouds(const std::string& path) {
  FoundData found;
  if (!is_cloud_folder(path) && !is_archive_of_clouds(path) && !is_folder_of_plain_clouds(path)) {
    return found;
  }
  CloudsDataOptions options{.path = path};
  options.points = 0;
  const bool split = cloud_layout(options).split();
  const Splits splits = open_splits({options});
  count_samples(found, splits, path);
  const Schema& schema = splits.train->schema();
  const Quantity* label = find_quantity(schema.labels, "class");
  require<ConfigError>(label != nullptr, path,
                       ": the clouds have no classes, which a task of clouds learns: a folder for each "
                       "class, an array of labels, or a table that data.clouds.labels names");
  const auto known = schema.category_names.find("class");
  const auto names = known == schema.category_names.end() ? std::vector<std::string>() : known->second;
  const int64_t classes = label->categories;
  found.family = FoundData::Family::shapes;
  found.voxels = false;
  found.what = text(found.samples, " training clouds of ", classes, " classes");
  found.tasks = {{"classification", "classes"}};
  const int64_t points = std::min(most_points, found.most_tokens);
  found.most_tokens = points;
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("data");
    draft.set("set", "clouds");
    draft.table("data.clouds");
    draft.set("path", path);
    draft.set("classes", classes, "those that the files show");
    draft.set("points", points, "of a cloud, drawn: more see finer detail and take longer, by the square");
    draft.remark(
        "Places alone are read; normals, colours and the like: features = [{ key = \"normal\", kind = "
        "\"normal\" }].");
    if (!split) {
      draft.set("train_fraction", 0.8);
      draft.set("valid_fraction", 0.1);
    }
  };
  found.write_task = [=](ConfigDraft& draft, const std::string& task, const std::string&) {
    draft.table("task." + task);
    if (std::ssize(names) == classes) {
      draft.set("names", names);
    } else {
      draft.remark(text("The files do not name the ", classes, " classes; names = [...] does, for reports."));
    }
  };
  return found;
}

}  // namespace weyl

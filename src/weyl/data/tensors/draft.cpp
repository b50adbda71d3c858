// Carrier tensor files, as `weyl config new` sees them.
#include <ATen/TensorOperators.h>
#include <ATen/ops/max.h>

#include <algorithm>
#include <filesystem>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/poses/files.h"
#include "weyl/data/tensors/files.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// The labels of a file that tasks know, as a config's outputs.
struct TensorLabels {
  const Quantity *displacement = nullptr, *classes = nullptr, *energy = nullptr, *forces = nullptr,
                 *pose = nullptr;
  std::vector<Quantity> numbers;  // of samples, else of their nodes
  int64_t class_count = 0, mask_classes = 0;
};

int64_t categories_of(const std::string& file, const std::string& name) {
  const Tensor values = load_tensor(SafetensorsFile(file), name);
  return values.numel() > 0 ? std::max<int64_t>(at::max(values).item<int64_t>() + 1, 2) : 2;
}

TensorLabels tensor_labels_of(const std::string& file, const Schema& schema) {
  TensorLabels labels;
  std::vector<Quantity> of_nodes;
  for (const Quantity& q : schema.labels) {
    const bool scalar = q.kind == Kind::scalar && q.channels == 1, number = scalar && q.level == Level::graph;
    if (q.name == "displacement" && q.level == Level::node && q.kind == Kind::vector) {
      labels.displacement = &q;
    } else if (q.name == "pose" && q.level == Level::node && q.kind == Kind::element) {
      labels.pose = &q;
    } else if (q.name == "class" && q.level == Level::graph && q.kind == Kind::category) {
      labels.classes = &q;
      labels.class_count = categories_of(file, q.name);
    } else if (q.name == "energy" && number) {
      labels.energy = &q;
    } else if (q.name == "forces" && q.level == Level::node && q.kind == Kind::vector) {
      labels.forces = &q;
    } else if (number) {
      labels.numbers.push_back(q);
    } else if (scalar && q.name != "time" && !schema.interface.grid) {  // which converted trajectories have
      of_nodes.push_back(q);
    }
  }
  if (labels.numbers.empty()) {
    labels.numbers = of_nodes;
  }
  if (schema.interface.grid && SafetensorsFile(file).contains("mask")) {
    labels.mask_classes = categories_of(file, "mask");
  }
  return labels;
}

std::string item(const Quantity& q, const std::string& more = {}) {
  return text("{ name = ", TomlText(q.name).text, ", level = \"", level_names[static_cast<size_t>(q.level)],
              "\", kind = \"", kind_names[static_cast<size_t>(q.kind)], "\", channels = ", q.channels, more,
              " }");
}

std::string outputs_list(const std::vector<std::string>& items) {
  std::string out = "[\n";
  for (const std::string& one : items) {
    out += "  " + one + ",\n";
  }
  return out + "]";
}

std::vector<std::string> outputs_for(const std::string& task, const TensorLabels& labels) {
  if (task == "trajectory") {
    return {item(*labels.displacement, ", role = \"offset\"")};
  }
  if (task == "pose_correction" || task == "registration") {
    return {item(*labels.pose)};
  }
  if (task == "classification") {
    return {item(*labels.classes, text(", categories = ", labels.class_count))};
  }
  if (task == "segmentation") {
    return {item({.name = "mask", .kind = Kind::category}, text(", categories = ", labels.mask_classes))};
  }
  if (task == "force_field") {
    std::vector<std::string> items{item(*labels.energy, ", extensive = true, unit = \"eV\"")};
    if (labels.forces != nullptr) {
      items.push_back(item(*labels.forces, ", unit = \"eV/Angstrom\""));
    }
    return items;
  }
  std::vector<std::string> items;
  for (const Quantity& q : labels.numbers) {
    items.push_back(item(q));
  }
  return items;
}

void write_interface(ConfigDraft& draft, const Schema& schema, const std::string& task,
                     const TensorLabels& labels) {
  const Interface& told = schema.interface;
  draft.table("interface");
  if (told.group) {
    draft.set("group", std::string(name_of(*told.group)));
  } else {
    draft.set("dimension", told.dimension);
  }
  if (told.grid) {
    draft.set("grid", true);
  }
  if (told.types > 0) {
    draft.set("types", told.types, "one more than the largest in the training file");
  }
  if (task == "force_field") {
    draft.set("length_unit", "Angstrom", "the files say none; with the units of energies and forces below");
  }
  std::vector<std::string> features;
  for (Quantity q : told.features) {
    q.name = task == "registration" ? "copy" : q.name;
    features.push_back(item(q));
  }
  if (!features.empty()) {
    draft.set("features", TomlText::raw(outputs_list(features)),
              "the columns of the files; name them apart where they differ");
  }
  const std::vector<std::string> outputs = outputs_for(task, labels);
  std::string left;  // a velocity under its own name, for one, is a label to these files, and nobody's input
  for (const Quantity& q : schema.labels) {
    const std::string begins = text("{ name = ", TomlText(q.name).text, ",");
    if (std::ranges::none_of(outputs, [&](const std::string& one) { return one.starts_with(begins); })) {
      left += (left.empty() ? "" : ", ") + q.name;
    }
  }
  if (!left.empty()) {
    left = "; " + left + ": neither learned nor seen (inputs are called vectors, scalars, types)";
  }
  draft.set("outputs", TomlText::raw(outputs_list(outputs)),
            "the labels of the files that the task learns" + left);
}

/// Whether the one number of each token is 0 or 1, and each sample has both: two copies of a set of poses.
bool holds_copies(const Batch& batch) {
  const auto* poses = std::get_if<Poses>(&batch.input);
  if (poses == nullptr || !poses->scalars.defined() || poses->scalars.size(1) != 1) {
    return false;
  }
  const Tensor& x = poses->scalars;
  bool both = x.eq(0).logical_or(x.eq(1)).all().item<bool>();
  for (int64_t s = 0; both && s < poses->graphs.count(); ++s) {
    const Tensor one = x.slice(0, poses->graphs.offsets[s], poses->graphs.offsets[s + 1]).eq(1);
    both = one.any().item<bool>() && !one.all().item<bool>();
  }
  return both;
}

FoundData look_at_tensor_files(const std::string& path, const std::string& file) {
  const TensorFile read = read_tensor_file(file, Values::checked);
  Schema schema = read.schema;
  schema.interface.grid = std::holds_alternative<Grid>(read.batch.input);
  const auto& group = schema.interface.group;
  if (group && find_quantity(schema.labels, "flank") != nullptr) {
    return draft_pose_sequences(path, schema);
  }
  for (const Quantity& q : schema.interface.features) {
    require<ConfigError>(q.kind != Kind::multivector, path, ": there is no recipe for data with ", q.name,
                         "; state them in the [interface] of a config of one's own");
  }
  const auto kept = std::make_shared<Schema>(schema);
  const auto labels = std::make_shared<TensorLabels>(tensor_labels_of(file, *kept));
  FoundData found;
  found.group = group ? name_of(*group) : "";
  found.family = group                   ? FoundData::Family::poses
                 : schema.interface.grid ? (schema.interface.dimension == 2 ? FoundData::Family::images
                                                                            : FoundData::Family::volumes)
                                         : FoundData::Family::points;
  InMemory train(read.batch, schema);
  count_samples(found, {std::make_shared<InMemory>(std::move(train)), nullptr, nullptr}, path);
  if (const auto* grid = std::get_if<Grid>(&read.batch.input)) {
    found.cells = found.most_cells = grid->values.sizes().slice(2).vec();
    found.crop = crop_of(found.cells, found.most_cells);
    found.upright = schema.interface.dimension == 2 && labels->class_count > 0 ? upright_pictures : "";
  }
  if (const auto* points = std::get_if<Points>(&read.batch.input)) {
    found.periodic = points->pbc.defined() && points->pbc.any().item<bool>();
  }
  found.forces = labels->forces != nullptr;
  found.what = text(found.samples, " training samples of tensor files");
  const auto fits = [&](bool there, const char* task, const char* by_what) {
    if (there) {
      found.tasks.push_back({task, by_what, /*on_request=*/labels->pose != nullptr && !found.tasks.empty()});
    }
  };
  fits(labels->pose != nullptr && holds_copies(read.batch), "registration", "pose, of two copies");
  fits(labels->pose != nullptr, "pose_correction", "pose");
  fits(labels->displacement != nullptr, "trajectory", "displacement");
  fits(labels->classes != nullptr, "classification", "class");
  fits(labels->mask_classes > 0, "segmentation", "mask");
  fits(labels->energy != nullptr && schema.interface.dimension == 3, "force_field", "energy");
  fits(!labels->numbers.empty(), "property",
       labels->numbers.empty() || labels->numbers[0].level == Level::graph ? "numbers of samples"
                                                                           : "numbers of nodes");
  require<ConfigError>(
      !found.tasks.empty(), path,
      ": no task learns the labels of its files; names that tasks know: displacement, class, mask, "
      "energy, forces, of poses element with flank, and pose, or any number of a sample or of its nodes");
  found.write_data = [=](ConfigDraft& draft, const std::string& task, const std::string&) {
    const auto& features = kept->interface.features;
    if (task == "pose_correction" && features.size() == 1 && features[0].channels == 2) {
      write_set(draft, "pose_windows", path);
      draft.set("group", found.group, "as the files say");
      return;
    }
    write_set(draft, "tensors", path, "carrier tensor files; [interface] says what is in them");
    write_interface(draft, *kept, task, *labels);
  };
  found.write_task = [=](ConfigDraft& draft, const std::string& task, const std::string&) {
    draft.table("task." + task);
    if (task == "trajectory") {
      draft.set("baseline", "none", "best_straight_line where a vector feature is named velocity");
    } else if (task == "segmentation") {
      draft.set("cross_entropy", 1.0);
      draft.set("dice", 1.0);
      if (!found.crop.empty()) {
        draft.set("window", TomlText::raw(text("{ size = ", TomlText(found.crop).text, " }")));
      }
    } else if (task == "force_field") {
      draft.set("forces", labels->forces != nullptr ? "gradient" : "none");
      draft.set("reference", kept->interface.types > 0 ? "elements" : "mean");
    } else if (task == "property") {
      std::vector<std::string> targets;
      for (const Quantity& q : labels->numbers) {
        targets.push_back(q.name);
      }
      draft.set("targets", targets);
      draft.set("reference", "mean");
    }
  };
  return found;
}

}  // namespace

FoundData TensorFiles::draft(const std::string& path) {
  const std::string file = (fs::path(path) / "train.safetensors").string();
  return fs::exists(file) ? look_at_tensor_files(path, file) : FoundData();
}

}  // namespace weyl

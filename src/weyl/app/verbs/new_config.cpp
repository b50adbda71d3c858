#include "weyl/app/verbs/new_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/advice.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/clouds/cloud_reader.h"
#include "weyl/data/formats.h"
#include "weyl/train/recipe.h"
#include "weyl/train/train.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

using Family = FoundData::Family;

std::string command(const std::string& path) {
  return "`weyl config new --data " + shell_word(path) + "`";
}

/// Of a file that is no training set by itself: a command that works, or what is missing.
[[noreturn]] void refuse_file(const std::string& path) {
  const bool strange = is_hdf5(path) && !seems_clouds(path).value_or(false);  // no shapes
  any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanTake<Format> && CanDraft<Format>) {
      if (strange || !Format::takes(path, {})) {
        return false;
      }
      if constexpr (SaysSet<Format>) {
        throw ConfigError(
            text(path, ": is one file of a data set; give all of it, --data with ", Format::set_of_files));
      } else if constexpr (SetIsFolderAbove<Format>) {
        const std::string above = fs::path(path).parent_path().string();
        throw ConfigError(text(path, ": is one file of a data set, which ",
                               command(above.empty() ? "." : above), " takes"));
      } else if constexpr (CanSplit<Format>) {
        const std::string folder = shell_word(fs::path(path).stem().string());
        throw ConfigError(text(path, ": is one file without splits; `weyl data split ", shell_word(path),
                               " --out ", folder, "`, then --data ", folder));
      }
    }
    return false;
  });
  const std::string advice = advice_for(path);
  throw DataError(text(path, ": ", advice.empty() ? "is of no format that is trained on" : advice));
}

FoundData look_at_data(const std::string& path);

/// The same of a folder.
[[noreturn]] void refuse_folder(const std::string& path) {
  const std::string within = data_set_within(path);
  if (within.empty()) {
    throw DataError(text(path, ": ", advice_for(path)));
  }
  look_at_data(within);  // throws what is wrong with it
  throw ConfigError(text(path, ": holds no data set itself, but what ", command(within), " takes"));
}

FoundData look_at_data(const std::string& path) {
  require<DataError>(fs::exists(path), path, ": there is no such file or folder");
  FoundData found;
  any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanDraft<Format>) {
      if (is_of<Format>(path, {})) {
        found = Format::draft(path);
      }
    }
    return !found.tasks.empty();
  });
  if (found.tasks.empty()) {
    fs::is_directory(path) ? refuse_folder(path) : refuse_file(path);
  }
  return found;
}

std::string choose_task(const FoundData& found, const NewConfigRequest& request) {
  std::string all;
  for (const FittingTask& task : found.tasks) {
    all += text(all.empty() ? "" : " or ", task.name, " (", task.by_what, ")");
  }
  if (request.task.empty()) {
    const auto natural = std::ranges::count(found.tasks, false, &FittingTask::on_request);
    require<ConfigError>(natural == 1, request.data, ": several tasks fit, name one by --task: ", all);
    return std::ranges::find(found.tasks, false, &FittingTask::on_request)->name;
  }
  const bool fits = std::ranges::find(found.tasks, request.task, &FittingTask::name) != found.tasks.end();
  require<ConfigError>(fits, "--task: must be one that ", request.data, " has labels for, ", all, ", got ",
                       quote(request.task));
  return request.task;
}

/// Whether data are learned from as frames of atoms are: with a cut-off, for a time.
bool as_atoms(const FoundData& found, const std::string& task) {
  return found.family == Family::atoms || found.periodic || task == "force_field";
}

/// The systems with a recipe for such data, the best first.
std::vector<std::string> fitting_systems(const FoundData& found, const std::string& task) {
  if (found.periodic) {
    return {"geomformer"};
  }
  switch (found.family) {
    case Family::atoms:
      return {"geomformer", "platonic", "gatr", "transformer"};
    case Family::particles:
      return {"platonic", "geomformer", "gatr", "transformer"};
    case Family::bodies:
      return {"gatr", "transformer"};
    case Family::points:
      return found.dimension == 3 ? std::vector<std::string>{"platonic", "geomformer", "gatr", "transformer"}
             : found.dimension == 2 ? std::vector<std::string>{"platonic", "transformer"}
                                    : std::vector<std::string>{"transformer"};
    case Family::shapes:
      return found.voxels ? std::vector<std::string>{"platonic", "transformer", "steerable", "gatr", "cnn"}
                          : std::vector<std::string>{"platonic", "gatr", "transformer"};
    case Family::poses:
      return {"lie"};
    case Family::images:
      return task == "segmentation" ? std::vector<std::string>{"steerable", "unet"}
             : found.patches        ? std::vector<std::string>{"steerable", "platonic", "transformer", "cnn"}
                                    : std::vector<std::string>{"steerable", "cnn"};
    case Family::volumes:
      return {"steerable", task == "segmentation" ? "unet" : "cnn"};
  }
  return {};
}

std::string choose_system(const std::vector<std::string>& fitting, const NewConfigRequest& request,
                          const ModelOptions& known) {
  if (request.system.empty()) {
    return fitting.front();
  }
  const bool exists =
      std::ranges::any_of(known.known, [&](const auto& s) { return s.name() == request.system; });
  require<ConfigError>(exists && std::ranges::find(fitting, request.system) != fitting.end(),
                       "--system: must be one with a recipe for such data, ",
                       one_of({std::vector<std::string_view>(fitting.begin(), fitting.end())}), ", got ",
                       quote(request.system));
  return request.system;
}

/// The recipe nearest to the data, and how many samples it trains on itself (0: its budget is a time).
struct Nearest {
  std::string path;
  int64_t samples = 0;
};

Nearest nearest_recipe(const FoundData& found, const std::string& task, const std::string& system) {
  const std::string of_grids = system == "steerable" ? "steerable-transformer" : system;
  if (as_atoms(found, task)) {
    return {"md/" + (system == "geomformer" ? "et" : system) + ".toml"};
  }
  switch (found.family) {
    case Family::bodies:
      return {"rigid/" + system + ".toml", 94'000};  // of 1,000 scenes of 96 frames
    case Family::shapes:
      if (task == "segmentation") {
        return {"parts/" + system + ".toml", 2000};
      }
      return {"solids/" + of_grids + ".toml", 800};
    case Family::poses:
      return {"completion/" + found.group + ".toml", 5000};
    case Family::volumes:
      return system == "cnn" ? Nearest{"solids/cnn.toml", 800}
                             : Nearest{"phantoms/" + of_grids + ".toml", 30};
    case Family::images:
      return task == "segmentation" ? Nearest{"lesions/" + of_grids + ".toml", 80}
                                    : Nearest{"glyphs/" + of_grids + ".toml", 5000};
    default:
      return {"nbody/" + system + ".toml", 3000};
  }
}

std::string rounded(double x) {
  return text(static_cast<int64_t>(std::llround(x)));
}

constexpr int64_t recipe_cells = 45;  // along each axis of the volumes of which configs/phantoms tells
constexpr int64_t seconds_of_atoms = 300;
constexpr double slow_atoms = 300;  // that a slow core learns from in a second, of the slowest system

/// What of the recipe's model follows from the data.
void fit_model(ConfigDraft& draft, const FoundData& found, const std::string& task,
               const std::string& system) {
  draft.table("model." + system);
  if (system == "geomformer" && as_atoms(found, task)) {
    draft.set("cutoff", TomlText::raw(text("{ radius = ", TomlText(found.radius).text, " }")),
              "by the density of the data");
    draft.note("cutoff", found.family == Family::atoms
                             ? text("\u00c5: about ", rounded(found.neighbours), " neighbours an atom here")
                             : "in the unit of the positions: choose it so that a point has some 10 to 50 "
                               "neighbours");
  } else if (system == "geomformer" && found.family != Family::particles) {
    for (const char* key : {"least_width", "smoothing", "dropout"}) {  // of particles and their simulations
      draft.drop(key);
    }
  }
  if (system != "geomformer" && as_atoms(found, task)) {
    draft.remark(
        "This system has no cut-off: every atom sees every other one of its frame, at a cost by the square of their "
        "number. Of large molecules, and of frames that grow, --system geomformer sees those within a radius.");
  }
  const bool cropped = !found.crop.empty();
  const auto seen = cropped ? found.crop : found.cells;
  const bool as_recipe = std::ranges::all_of(seen, [](int64_t n) { return n == recipe_cells; });
  if (!as_recipe || (!cropped && found.cells != found.most_cells)) {
    draft.uncomment("stages");  // which tells of the sizes that the recipe's own grids have
  }
  if (found.write_model) {
    found.write_model(draft, found, system);
  }
  if (system == "platonic" && found.dimension == 2 && found.family != Family::images) {
    draft.set("group", "cyclic_4", "exact under quarter turns of the plane");
  }
  if ((system == "platonic" || system == "transformer") && task == "classification") {
    draft.set("pooling", "mean", "one answer a sample");
  }
  if (system == "steerable" && task == "classification") {
    draft.table("model.steerable.head");
    draft.set("hidden", 64);
  }
}

/// Why a system that is not exact under all rotations is trained on turned samples.
std::string why_turned(const std::string& system, const FoundData& found) {
  const std::string rest =
      (found.family == FoundData::Family::volumes ? "those who are scanned do not all lie alike"
                                                  : "nothing in the data says which way is up") +
      (found.handed.empty() ? "" : "; no mirrors: " + found.handed);
  return system == "platonic"    ? "exact under the rotations of its group alone, and " + rest
         : system == "steerable" ? "on a grid exact under quarter turns at most, and " + rest
                                 : "exact under no rotation by itself, and " + rest;
}

/// Random rotations in training, where the system has not all of them by itself and the data do not fix a direction.
void fit_augmentation(ConfigDraft& draft, const FoundData& found, const std::string& task,
                      const std::string& system) {
  const bool exact = system == "gatr" || system == "geomformer" || system == "lie";
  if (found.dimension == 1) {
    draft.drop("augment");
  } else if (!exact && !found.upright.empty()) {
    draft.set("augment", "none", found.upright);
  } else if (!exact) {
    // Mirror images of what has a class may be of another one; positions and energies turn with the mirror.
    const bool mirrored = draft.value("train", "augment") == "\"rotoreflections\"" &&
                          task != "classification" && found.handed.empty();
    draft.set("augment", mirrored ? "rotoreflections" : "rotations", why_turned(system, found));
    draft.note("augment", why_turned(system, found));
  }
  if (!found.upright_axis.empty() && found.dimension == 3 && !reads_grids(system)) {
    draft.remark(text(
        "Orientation: ",
        exact
            ? "answers do not depend on how a sample is turned, whatever training sees."
            : text(
                  "samples are taken to come in any direction. Where all stand upright, in use too, "
                  "augment = \"none\" here and augment = { rotate = \"z\" } in the table of the set (up = \"",
                  found.upright_axis, "\") turn them about that axis alone."),
        " What turned samples do to the trained model: `weyl eval RUN --moved`."));
  }
}

/// Epochs between validations, so that there are at least ten within `budget` epochs.
TomlText epochs_between(double budget) {
  return budget >= 10 ? TomlText(static_cast<int64_t>(budget / 10)) : TomlText(two_digits(budget / 10.5));
}

/// Batches by the size of the samples, a budget by their number: as many steps as the recipe's, or minutes of atoms.
void fit_training(ConfigDraft& draft, const FoundData& found, const std::string& task,
                  const std::string& system, const Nearest& recipe) {
  const bool atoms = as_atoms(found, task);
  const double usual_batch = draft.number("train", "batch", 1), epochs = draft.number("train", "epochs", 1),
               warmup = draft.number("train.schedule", "warmup", 0);
  const auto batch = std::clamp<int64_t>(found.samples / 4, 1, static_cast<int64_t>(usual_batch));
  const bool bodies = found.family == Family::bodies, by_tokens = (atoms || bodies) && found.mean_tokens > 30;
  const bool by_time = atoms || (bodies && by_tokens);
  const int64_t tokens = std::max<int64_t>(bodies ? 2000 : 500, found.most_tokens);
  const double a_step =
      by_tokens ? std::max(1.0, static_cast<double>(tokens) / found.mean_tokens) : static_cast<double>(batch);
  const double steps = std::max(1.0, std::ceil(static_cast<double>(found.samples) / a_step));  // of an epoch
  draft.table("train");
  if (by_tokens) {
    draft.drop("batch");
    draft.set("batch_tokens", tokens,
              text(bodies ? "triangles" : "atoms", " a step: samples have ", rounded(found.mean_tokens),
                   " on average, and at most ", found.most_tokens));
  } else {
    draft.set("batch", batch, "at most a quarter of the training samples");
  }
  double now = epochs;
  if (by_time) {
    draft.drop("epochs");
    draft.set("max_seconds", seconds_of_atoms, "longer is better: ten minutes, or an hour");
    const double least_steps = std::min(
        2000.0,
        std::max(10.0, static_cast<double>(seconds_of_atoms) * slow_atoms / (a_step * found.mean_tokens)));
    draft.set("evaluate_every", epochs_between(least_steps / steps),
              text("epochs: every ", rounded(std::max(1.0, least_steps / 10)),
                   " steps or so, ten validations and more also where a step is slow"));
  } else {
    const bool few = found.family == Family::images || found.family == Family::shapes;
    const double most = found.family == Family::poses ? 300 : few ? 60 : 100;
    require(draft.value("train", "epochs") != "false", "new_config: recipe ", recipe.path,
            " must say epochs, which those of a draft are made of");
    const double all = epochs * static_cast<double>(recipe.samples) / usual_batch;
    now = std::clamp<double>(std::round(all / steps), 1, std::max(epochs, most));
    draft.set("epochs", static_cast<int64_t>(now),
              text("about ", rounded(now * steps), " steps; more are better where there is time"));
    draft.set("evaluate_every", epochs_between(now), "epochs: at least ten validations");
  }
  if (!found.crop.empty() && task == "segmentation") {
    draft.set("crop", found.crop,
              found.why_crop.empty() ? "the volumes are too large to learn from whole" : found.why_crop);
    draft.set("crop_foreground", 0.5, "of the crops, as many are laid around a voxel of a class");
  }
  fit_augmentation(draft, found, task, system);
  draft.table("train.schedule");
  if (by_time) {
    draft.set("warmup", two_digits(std::min(1.0, 200 / steps)), "epochs: some 200 steps, at most one epoch");
  } else if (warmup > now / 10) {
    draft.set("warmup", now / 10, "epochs");
  }
}

/// What is written must be read, and each of its options must do something. What `train` would say of it is added to the
/// warnings; if it would refuse it, the reason is returned.
std::string check_config(const std::string& config, const ModelOptions& known, const Systems& systems,
                         std::vector<std::string>& warnings) {
  Recipe recipe;
  recipe.model = known;
  read_toml_text(config, "the new config", {}, [&](Fields& f) { fields(f, recipe); });
  require_effects(recipe);
  try {
    TrainRequest request;
    request.systems = &systems;
    for (std::string& line : rehearse(recipe, request)) {
      if (std::ranges::find(warnings, line) == warnings.end()) {
        warnings.push_back(std::move(line));
      }
    }
  } catch (const ConfigError& error) {
    return error.what();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

NewConfig new_config(const NewConfigRequest& request, const Systems& systems) {
  const ModelOptions known = options_of(systems);
  FoundData found = look_at_data(request.data);
  NewConfig result;
  result.task = choose_task(found, request);
  const std::vector<std::string> fitting = fitting_systems(found, result.task);
  result.system = choose_system(fitting, request, known);
  if (found.plan) {
    found.plan(found, result.task, result.system);
  }
  result.warnings = found.warnings;
  const Nearest recipe = nearest_recipe(found, result.task, result.system);
  const std::string_view shipped = shipped_recipe(recipe.path);
  require(!shipped.empty(), "new_config: there is no recipe ", recipe.path, " in cmake/WeylRecipes.cmake");
  ConfigDraft draft(shipped);
  draft.remark(text("By `weyl config new`, for ", request.data, ": ", found.what, "."));
  draft.remark(
      text("From the recipe configs/", recipe.path,
           "; lines with #> are changed for these data, and say why. Every key that could stand here: "
           "`weyl config explain data`, task, model, train. Train: `weyl train` on this file."));
  std::string others;
  for (const std::string& other : fitting) {
    others += other == result.system ? "" : text(others.empty() ? "" : ", ", other);
  }
  if (!others.empty()) {
    draft.remark("Other systems that fit (--system): " + others + ".");
  }
  draft.clear("data");
  draft.clear("task");
  found.write_data(draft, result.task, result.system);
  draft.table("task");
  draft.set("name", result.task, "the one that the data have labels for");
  found.write_task(draft, result.task, result.system);
  fit_model(draft, found, result.task, result.system);
  fit_training(draft, found, result.task, result.system, recipe);
  const Visit visit = [&](Fields& f) {
    Recipe options;
    options.model = known;
    fields(f, options);
  };
  result.text = draft.file(visit);
  if (const std::string fault = check_config(result.text, known, systems, result.warnings); !fault.empty()) {
    const std::string line = "`weyl train` refuses this config as it stands: " + fault;
    draft.remark_at_head(line);
    result.text = draft.file(visit);
    result.warnings.push_back(line);
  }
  return result;
}

}  // namespace weyl

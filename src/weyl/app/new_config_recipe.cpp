// Models and trainings of configs/, fitted to the data that `weyl config new` found.
#include "weyl/app/new_config_recipe.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace {

using Family = FoundData::Family;

bool is_image(const FoundData& found) {
  return found.family == Family::images;
}

std::string rounded(double x) {
  return text(static_cast<int64_t>(std::llround(x)));
}

void write_geomformer(ConfigDraft& draft, const FoundData& found) {
  draft.table("model.geomformer");
  if (found.family == Family::atoms || found.periodic) {
    draft.set("preset", "et", "TorchMD-Net's Equivariant Transformer: fast, and of local parts alone");
    draft.set("width", 64, "as in configs/md/et.toml; 128 for much or varied data");
    draft.set("heads", 8);
    draft.set("blocks", 3);
    draft.set("kernels", 32);
    draft.set("cutoff", TomlText::raw(text("{ radius = ", TomlText(found.radius).text, " }")),
              found.family == Family::atoms
                  ? text("\u00c5: about ", rounded(found.neighbours), " neighbours an atom here")
                  : "in the unit of the positions: choose it so that a point has some 10 to 50 neighbours");
    return;
  }
  draft.set("width", 48);
  draft.set("heads", 6);
  draft.set("blocks", 4);
  draft.set("kernels", 64);
  draft.set("input", "local", "sums over all other points, not from the centroid");
  if (found.family == Family::particles) {
    draft.set("least_width", 0.2, "sharper functions of the distance learn the training set by heart");
    draft.set("smoothing", 0.0, "directions are not asked for derivatives here");
    draft.set("dropout", TomlText::raw("{ attention = 0.2, activation = 0.2, hidden = 0.2 }"));
  }
}

void write_platonic(ConfigDraft& draft, const FoundData& found, const std::string& task) {
  const bool plane = found.dimension == 2, shapes = found.family == Family::shapes;
  draft.table("model.platonic");
  draft.set("group", plane ? "cyclic_4" : "tetrahedron",
            plane ? "exact under quarter turns" : "exact under its 12 rotations");
  draft.set("width", is_image(found) ? 64 : 96);
  draft.set("heads", is_image(found) ? 8 : 12);
  draft.set("blocks", found.family == Family::particles ? 4 : 3);
  if (shapes || is_image(found)) {
    draft.set("use_key", true);
  }
  if (!is_image(found)) {
    draft.set("position_vector", true, "the places themselves are inputs, from the centroid of each sample");
  }
  if (task == "classification") {
    draft.set("pooling", "mean");
  }
  draft.set("rope_on_values", true);
  const double sigma = is_image(found) ? 6 : shapes ? 2 : found.family == Family::atoms ? 1.5 : 1;
  draft.set("rope", TomlText::raw(text("{ sigma = ", TomlText(sigma).text, ", init = \"random\" }")),
            "frequencies of positions, in the inverse of their unit");
}

void write_gatr(ConfigDraft& draft, const FoundData& found) {
  draft.table("model.gatr");
  draft.set("width", 8, "multivectors of a node, 16 numbers each");
  draft.set("scalars", 32);
  draft.set("heads", 4);
  draft.set("blocks", found.family == Family::atoms ? 3 : 4);
}

void write_transformer(ConfigDraft& draft, const FoundData& found, const std::string& task) {
  draft.table("model.transformer");
  draft.set("width", is_image(found) ? 64 : 128);
  draft.set("heads", is_image(found) ? 4 : 8);
  draft.set("blocks", 4);
  if (task == "classification") {
    draft.set("pooling", "mean");
  }
  if (is_image(found)) {
    draft.set("fourier", TomlText::raw("{ sigma = 1.5 }"));
  }
}

void write_lie(ConfigDraft& draft) {
  draft.table("model.lie");
  draft.set("variant", "G", "scores by the norm of the logarithm of relative poses");
  draft.set("width", 32);
  draft.set("heads", 4);
  draft.set("blocks", 3);
}

void write_steerable_plane(ConfigDraft& draft, bool masks) {
  if (masks) {
    draft.set("orders", 4);
    draft.set("stages",
              TomlText::raw("[\n  { middle = 4, channels = 6, kernel = 5, pool = 4 },\n"
                            "  { middle = 8, channels = 16, kernel = 5, pool = 4 },\n]"),
              "sides that 16 divides turn exactly");
  } else {
    draft.set("orders", 3, "higher ones are quicker to learn what the pixels say");
    draft.set("profile", "gaussian",
              "smooth rings: what is learned upright holds at angles between the grid's own");
    draft.set("bias_init", -0.3, "short vectors, whose direction is noise, are put to sleep");
    draft.set("stages",
              TomlText::raw("[\n  { middle = 4, channels = 4, kernel = 5, pool = 2 },\n"
                            "  { middle = 8, channels = 12, kernel = 5, pool = 2 },\n]"),
              "sides that 4 divides turn exactly");
  }
  draft.set("encoder", TomlText::raw("{ depth = 2, heads = 4 }"), "transformer blocks after the stages");
}

void write_steerable_space(ConfigDraft& draft, const FoundData& found, bool masks) {
  draft.set("degree", 2);
  draft.set("ratio", std::vector<int64_t>{4, 2, 1});
  if (masks || found.family != Family::shapes) {
    draft.set(
        "stages",
        TomlText::raw("[\n  { middle = 0, channels = 8, kernel = 3, stride = 2, same = false, pool = 2 },\n"
                      "  { middle = 8, channels = 16, kernel = 3, pool = 1 },\n]"),
        "45 -> 22 -> 11 voxels along an axis: such sizes turn exactly");
    draft.set("encoder", TomlText::raw("{ depth = 1, heads = 4 }"), "transformer blocks after the stages");
    return;
  }
  draft.set("bias_init", -0.3, "short vectors, whose direction is noise, are put to sleep");
  draft.set(
      "stages",
      TomlText::raw("[\n  { middle = 0, channels = 8, kernel = 6, stride = 2, same = false, pool = 2 },\n"
                    "  { middle = 8, channels = 16, kernel = 3, same = false, pool = 1 },\n]"),
      "32 -> 14 -> 7 -> 5 voxels along an axis: sizes that every turn of the cube keeps");
  draft.set("encoder", TomlText::raw("{ depth = 2, heads = 4 }"), "transformer blocks after the stages");
}

void write_steerable(ConfigDraft& draft, const FoundData& found, const std::string& task) {
  const bool masks = task == "segmentation";
  draft.table("model.steerable");
  if (found.dimension == 2) {
    write_steerable_plane(draft, masks);
  } else {
    write_steerable_space(draft, found, masks);
  }
  if (!masks) {
    draft.table("model.steerable.head");
    draft.set("hidden", 64);
  }
}

/// How a recipe of configs/ trains, in steps rather than epochs.
struct Plan {
  int64_t batch = 32, steps = 1000, most_epochs = 100;
  double rate = 1e-3, weight_decay = 0, clip = 1, average = 0.99;
  double beta2 = 0.999;
  bool augment = false;
};

/// Whether every rotation is exact, so that turned samples teach nothing.
bool turns_exactly(const std::string& system) {
  return system == "geomformer" || system == "gatr";
}

Plan training_plan(const FoundData& found, const std::string& task, const std::string& system) {
  const bool masks = task == "segmentation";
  if (found.family == Family::atoms || task == "force_field") {
    return {.batch = 8, .rate = system == "geomformer" ? 3e-3 : 1e-3, .clip = 10};
  }
  if (system == "lie") {
    return {.batch = 64, .steps = 15800, .most_epochs = 300, .rate = 2e-3, .clip = 2, .average = 0.999};
  }
  if (found.family == Family::volumes || (system == "steerable" && masks)) {
    const bool volumes = found.family == Family::volumes;
    return {.batch = volumes ? 1 : 5, .steps = 600, .rate = 5e-3, .weight_decay = 0.01, .augment = true};
  }
  if (is_image(found)) {
    return {.batch = 50,
            .steps = 1500,
            .most_epochs = 60,
            .rate = system == "steerable" ? 5e-3 : 2e-3,
            .weight_decay = system == "steerable" ? 0.01 : 0.05};
  }
  if (found.family == Family::shapes) {
    const bool grid = system == "steerable";
    return {.batch = 20,
            .steps = grid ? 400 : 1200,
            .most_epochs = 60,
            .rate = grid ? 5e-3 : 1e-3,
            .weight_decay = grid ? 0.01 : 0.05,
            .average = grid ? 0.9 : 0.99};
  }
  return {.batch = system == "geomformer" ? 20
                   : system == "gatr"     ? 50
                                          : 100,
          .steps = 6000,
          .most_epochs = 200,
          .rate = system == "geomformer" ? 1.5e-3 : 1e-3,
          .weight_decay = 0.5,
          .average = 0.999,
          .beta2 = 0.99,
          .augment = !turns_exactly(system) && found.dimension > 1};
}

/// A number of two digits.
double two_digits(double x) {
  if (x <= 0) {
    return 0;
  }
  const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
  return unit < 1 ? std::round(x / unit) / std::round(1 / unit) : std::round(x / unit) * unit;
}

}  // namespace

std::vector<std::string> fitting_systems(const FoundData& found, const std::string& task) {
  switch (found.family) {
    case Family::atoms:
      return found.periodic ? std::vector<std::string>{"geomformer"}
                            : std::vector<std::string>{"geomformer", "platonic", "gatr", "transformer"};
    case Family::particles:
      return {"platonic", "geomformer", "gatr", "transformer"};
    case Family::points:
      if (found.periodic) {
        return {"geomformer"};
      }
      return found.dimension == 3 ? std::vector<std::string>{"platonic", "geomformer", "gatr", "transformer"}
             : found.dimension == 2 ? std::vector<std::string>{"platonic", "transformer"}
                                    : std::vector<std::string>{"transformer"};
    case Family::shapes:
      return found.voxels ? std::vector<std::string>{"platonic", "transformer", "steerable"}
                          : std::vector<std::string>{"platonic", "gatr", "transformer"};
    case Family::poses:
      return {"lie"};
    case Family::images:
      if (found.patches && task == "classification") {
        return {"steerable", "platonic", "transformer"};
      }
      return {"steerable"};
    case Family::volumes:
      return {"steerable"};
  }
  return {};
}

void write_model(ConfigDraft& draft, const FoundData& found, const std::string& task,
                 const std::string& system) {
  draft.table("model");
  const auto systems = fitting_systems(found, task);
  std::string others;
  for (const std::string& other : systems) {
    others += other == system ? "" : text(others.empty() ? "others that fit: " : ", ", other);
  }
  draft.set("system", system, others.empty() ? "the one that fits such data" : others);
  if (system == "geomformer") {
    write_geomformer(draft, found);
  } else if (system == "platonic") {
    write_platonic(draft, found, task);
  } else if (system == "gatr") {
    write_gatr(draft, found);
  } else if (system == "transformer") {
    write_transformer(draft, found, task);
  } else if (system == "lie") {
    write_lie(draft);
  } else {
    write_steerable(draft, found, task);
  }
}

void write_train(ConfigDraft& draft, const FoundData& found, const std::string& task,
                 const std::string& system) {
  const Plan plan = training_plan(found, task, system);
  const bool atoms = found.family == Family::atoms || task == "force_field";
  const int64_t batch = std::clamp<int64_t>(found.samples / 4, 1, plan.batch);
  draft.table("train");
  double a_step = static_cast<double>(batch);  // samples
  const bool by_tokens = atoms && found.mean_tokens > 30;
  const auto tokens = std::max<int64_t>(500, found.most_tokens);
  if (by_tokens) {
    a_step = std::max(1.0, static_cast<double>(tokens) / found.mean_tokens);
  }
  const double steps = std::max(1.0, std::ceil(static_cast<double>(found.samples) / a_step));  // of an epoch
  double epochs = 0;
  if (atoms) {
    draft.set("max_seconds", 300.0, "longer is better: ten minutes, or an hour");
  } else {
    epochs = std::clamp<double>(std::round(static_cast<double>(plan.steps) / steps), 1,
                                static_cast<double>(plan.most_epochs));
    draft.set("epochs", static_cast<int64_t>(epochs),
              text("about ", rounded(epochs * steps), " steps; more are better where there is time"));
  }
  if (by_tokens) {
    draft.set("batch_tokens", tokens,
              text("atoms a step: frames have ", rounded(found.mean_tokens), " on average, and at most ",
                   found.most_tokens));
  } else {
    draft.set("batch", batch);
  }
  if (needs_crop(found.cells) && task == "segmentation") {
    draft.set("crop", crop_of(found.cells), "the volumes are too large to learn from whole");
    draft.set("crop_foreground", 0.5);
  }
  if (plan.augment || (atoms && !turns_exactly(system))) {
    draft.set("augment", "rotoreflections");
  }
  draft.set("average", plan.average);
  const double between =
      atoms ? std::max(1.0, std::round(200 / steps)) : std::max(1.0, std::round(epochs / 10));
  draft.set("evaluate_every", between);
  draft.table("train.optimiser");
  draft.set("name", "adamw");
  draft.set("rate", plan.rate);
  if (plan.weight_decay > 0) {
    draft.set("weight_decay", plan.weight_decay);
  }
  if (plan.beta2 != 0.999) {
    draft.set("beta2", plan.beta2);
  }
  draft.set("clip", plan.clip);
  draft.table("train.schedule");
  draft.set("name", "cosine");
  draft.set("warmup", atoms ? two_digits(std::min(1.0, 200 / steps)) : std::min(1.0, epochs / 10));
}

}  // namespace weyl

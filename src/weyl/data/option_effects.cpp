#include "weyl/config/idle.h"
#include "weyl/data/formats/pose_file.h"
#include "weyl/data/options.h"

namespace weyl {
namespace {

constexpr const char* without_fractions = "beside train, valid and test, which count";

/// Augmentation that changes nothing, and changes of colours where there are none. `key` names its table.
void refuse_augmentation(const std::string& key, const ImageAugmentation& o, int64_t channels) {
  require<ConfigError>(o.pad > 0 || o.resized_crop || o.flip || o.colours() || o.mixes(), key,
                       ": must have one at least of pad, resized_crop, flip, three, jitter, hue, mixup and "
                       "cutmix on, got none");
  const std::pair<const char*, bool> of_colours[] = {
      {"three", o.three}, {"jitter", o.jitter > 0}, {"hue", o.hue > 0}};
  for (const auto& [name, on] : of_colours) {
    require<ConfigError>(!on || channels == 3, key, ".", name,
                         ": must be off for images without colours, got ", channels,
                         channels == 1 ? " channel" : " channels");
  }
}

/// What has no patches has none of their options. `side`: of images of one known size, in pixels; else 0.
template <class Options>
void refuse_image_input(const Options& o, int64_t channels, bool masks, int64_t side = 0,
                        std::vector<Conditional> options = {}) {
  const bool points = o.input.carrier == ImageCarrier::points;
  for (const char* key : {"patch", "patch_feature", "threshold", "frame"}) {
    options.push_back({key, points, "with carrier = \"grid\""});
  }
  const std::string table = std::string("data.") + Options::name_in_config;
  refuse_idle(table, o, Options{}, options);
  require<ConfigError>(side == 0 || !points || side % o.input.patch == 0, table, ".patch: must divide the ",
                       side, " pixels of a side, got ", o.input.patch);
  if (o.input.augment) {
    require<ConfigError>(!masks, table,
                         ".augment: must be false for images with masks, which it does not change");
    require<ConfigError>(
        !o.input.threshold, table,
        ".augment: must be false beside threshold, which counts the patches of images as they are");
    refuse_augmentation(table + ".augment", *o.input.augment, channels);
    require<ConfigError>(side == 0 || o.input.augment->pad <= side, table,
                         ".augment.pad: must be at most the ", side, " pixels of a side, got ",
                         o.input.augment->pad);
  }
}

/// Frames are divided by counts where one of train and valid is given, else by fractions.
template <class Options>
void refuse_frames(const Options& o) {
  const std::string table = std::string("data.") + Options::name_in_config;
  std::vector<Conditional> options{
      {"fractions", o.train == 0 && o.valid == 0 && o.test == 0, without_fractions}};
  if constexpr (requires { o.order; }) {
    constexpr int64_t seeds = int64_t{1} << 32;
    options.push_back({"seed", o.order != SplitOrder::file, "with order = \"file\""});
    require<ConfigError>(o.order != SplitOrder::numpy || o.seed < seeds, table,
                         ".seed: must be below 2^32 with order = \"numpy\", got ", o.seed);
  }
  refuse_idle(table, o, Options{}, options);
}

void refuse(const NbodyDataOptions&) {}
void refuse(const TensorsDataOptions&) {}
void refuse(const PlanetsDataOptions&) {}
void refuse(const PoseSequencesDataOptions& o) {
  const bool trajectory = is_pose_file(o.path);
  const char* of_folder = "on a folder, whose files are sequences already";
  const Conditional options[] = {{"length", trajectory, of_folder},
                                 {"stride", trajectory, of_folder},
                                 {"fractions", trajectory, of_folder},
                                 {"seed", trajectory, of_folder}};
  refuse_idle("data.pose_sequences", o, PoseSequencesDataOptions{}, options);
}
void refuse(const RigidBodiesDataOptions&) {}
void refuse(const RotatedMnistDataOptions& o) {
  refuse_image_input(o, 1, /*masks=*/false, 28);
}
void refuse(const Cifar10DataOptions& o) {
  refuse_image_input(o, 3, /*masks=*/false, 32);
}
void refuse(const ImagesDataOptions& o) {
  refuse_image_input(o, o.channels, o.target == ImageTarget::mask, 0,
                     {{"mask_threshold", o.target == ImageTarget::mask, "with target = \"class\""}});
}
void refuse(const Ph2DataOptions& o) {
  refuse_image_input(o, 3, /*masks=*/true, 0,
                     {{"fractions", o.train == 0 && o.valid == 0 && o.test == 0, without_fractions}});
}
void refuse(const ModelnetDataOptions& o) {
  const bool grid = o.carrier == ShapeCarrier::grid;
  const char* without_grid = "with carrier = \"points\"";
  const char* without_points = "with carrier = \"grid\"";
  const Conditional options[] = {
      {"centres", !grid, without_points},
      {"neighbours", !grid, without_points},
      {"frame", !grid, without_points},
      {"augment", !grid, without_points},
      {"voxels", grid, without_grid},
      {"extent", grid, without_grid},
      {"fill", grid, without_grid},
      {"sigma", grid && o.fill == VoxelFill::density, grid ? "without fill = \"density\"" : without_grid}};
  refuse_idle("data.modelnet", o, ModelnetDataOptions{}, options);
  require_effects(o.input, o.points, "data.modelnet");
}
void refuse(const CloudsDataOptions& o) {
  for (size_t k = 0; k < o.features.size(); ++k) {
    const CloudFeature usual{.key = o.features[k].key, .kind = o.features[k].kind};
    const Conditional options[] = {{"channels", usual.kind == CloudFeatureKind::scalar,
                                    "with kind = \"vector\" or \"normal\", which have one vector each"}};
    refuse_idle(text("data.clouds.features[", k, "]"), o.features[k], usual, options);
  }
  const Conditional options[] = {
      {"label", o.labels.empty(), "beside labels, which says the classes"},
      {"up", o.input.knows_up(), "without frame = \"up\" and without augment.rotate = \"z\""}};
  refuse_idle("data.clouds", o, CloudsDataOptions{}, options);
  require_effects(o.input, o.points, "data.clouds");
}
void refuse(const DecathlonDataOptions& o) {
  const Conditional options[] = {
      {"normalise_over", o.normalise, "with normalise = false"},
      {"fractions", o.train == 0 || o.valid == 0 || o.test == 0, without_fractions}};
  refuse_idle("data.decathlon", o, DecathlonDataOptions{}, options);
}
void refuse(const MoleculesDataOptions& o) {
  refuse_frames(o);
}
void refuse(const Md17DataOptions& o) {
  refuse_frames(o);
}
void refuse(const Qm9DataOptions& o) {
  require<ConfigError>(o.inputs == AtomInputs::elements || o.elements.empty(),
                       "data.qm9.elements: has no effect with inputs = \"pyg\"");
  refuse_frames(o);
}

}  // namespace

void require_effects(const DataOptions& options) {
  std::visit([](const auto& o) { refuse(o); }, options.set);
}

}  // namespace weyl

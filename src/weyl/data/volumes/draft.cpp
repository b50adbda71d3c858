// Volumes, as `weyl config new` sees them.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "weyl/carriers/lattice.h"
#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/volumes/files.h"
#include "weyl/data/volumes/intensities.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/options.h"
#include "weyl/data/volumes/resample.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

namespace {

using Sides = std::array<double, 3>;

/// The volumes of the training split as their files have them.
struct FoundVolumes {
  std::vector<Lattice> lattices;
  Sides median{};     // spacing along each axis
  bool alike = true;  // all have one spacing
};

FoundVolumes look_at_volumes(const Dataset& train) {
  FoundVolumes found;
  std::array<std::vector<double>, 3> along;
  for (int64_t i = 0; i < train.size(); ++i) {
    found.lattices.push_back(train.lattice(i));
    const auto& spacing = found.lattices.back().spacing;
    found.alike = found.alike && same_spacing(spacing, found.lattices[0].spacing);
    for (size_t d = 0; d < 3; ++d) {
      along[d].push_back(spacing[d]);
    }
  }
  for (size_t d = 0; d < 3; ++d) {
    found.median[d] = median(along[d]);
  }
  return found;
}

/// Three digits, which is more than headers are known by.
double rounded_spacing(double x) {
  const double unit = std::pow(10, std::floor(std::log10(x)) - 2);
  return unit < 1 ? std::round(x / unit) / std::round(1 / unit) : std::round(x / unit) * unit;
}

std::string by(const Sides& s) {
  return text(rounded_spacing(s[0]), " x ", rounded_spacing(s[1]), " x ", rounded_spacing(s[2]));
}

/// The axis across slices so far apart that nothing is turned out of their plane; nnU-Net's rule.
std::optional<size_t> across_slices(const Sides& s) {
  constexpr double kFar = 3;
  const auto coarsest = static_cast<size_t>(std::ranges::max_element(s) - s.begin());
  const double other = std::max(s[(coarsest + 1) % 3], s[(coarsest + 2) % 3]);
  return s[coarsest] >= kFar * other ? std::optional(coarsest) : std::nullopt;
}

/// A spacing that all volumes are brought to, and why; no numbers: each keeps its own.
struct PlannedSpacing {
  std::vector<double> spacing;
  std::string why;
};

PlannedSpacing plan_spacing(const FoundVolumes& found, const std::string& system) {
  const bool turns = system == "steerable";
  if (turns && !is_isotropic(found.median)) {
    const double side = rounded_spacing(std::cbrt(found.median[0] * found.median[1] * found.median[2]));
    return {
        {side, side, side},
        text(
            "mm: as many voxels as at the median spacing, ", by(found.median),
            ", but the same along each axis, because the net's rotations are of millimetres only on such a grid")};
  }
  if (found.alike) {
    return {};
  }
  const Sides& m = found.median;
  return {{rounded_spacing(m[0]), rounded_spacing(m[1]), rounded_spacing(m[2])},
          "mm: the median of the training volumes, whose spacings differ"};
}

/// The fewest and the most voxels along each axis, of all training volumes at the planned spacing.
void measure(FoundData& to, const FoundVolumes& found, const std::vector<double>& spacing) {
  for (size_t i = 0; i < found.lattices.size(); ++i) {
    const Lattice& own = found.lattices[i];
    std::array<int64_t, 3> cells{own.cells[0], own.cells[1], own.cells[2]};
    if (!spacing.empty()) {
      cells = change_of_spacing(cells, own.spacing, {spacing[0], spacing[1], spacing[2]}).cells;
    }
    if (i == 0) {
      to.cells = to.most_cells = {cells.begin(), cells.end()};
      to.mean_tokens = 0;
      to.most_tokens = 0;
    }
    int64_t tokens = 1;
    for (size_t d = 0; d < 3; ++d) {
      to.cells[d] = std::min(to.cells[d], cells[d]);
      to.most_cells[d] = std::max(to.most_cells[d], cells[d]);
      tokens *= cells[d];
    }
    to.mean_tokens += static_cast<double>(tokens) / static_cast<double>(found.lattices.size());
    to.most_tokens = std::max(to.most_tokens, tokens);
  }
}

constexpr int64_t whole_voxels =
    64 * 64 * 64;  // that a plain net learns from at once: a gigabyte or so of memory
constexpr int64_t crop_voxels = 45 * 45 * 45;  // of a crop, else

/// Of a plain net, whose crops may have any size: as many voxels as a cube of 45, with sides as the volumes' are.
std::vector<int64_t> shaped_crop(const std::vector<int64_t>& cells) {
  std::vector<int64_t> crop = cells;
  const auto volume = [&] { return crop[0] * crop[1] * crop[2]; };
  while (volume() > crop_voxels) {
    auto longest = std::ranges::max_element(crop);
    *longest = std::max<int64_t>(1, *longest - std::max<int64_t>(1, *longest / 50));
  }
  return crop;
}

/// Stages of a U-Net on cells of a spacing, as nnU-Net plans them: an axis is halved while its halves have four cells or
/// more and its spacing stays below twice the finest of such axes; kernels reach along an axis once its spacing is below
/// twice the finest of all.
std::string stages_of(std::vector<int64_t> cells, Sides spacing) {
  constexpr size_t kMostStages = 6;
  constexpr int64_t kLeastCells = 4;
  const auto list = [](const std::vector<int64_t>& n) {
    const bool same = std::ranges::count(n, n[0]) == std::ssize(n);
    return TomlText(same ? std::vector<int64_t>{n[0]} : n).text;
  };
  std::string stages;
  std::vector<int64_t> kernel(3, 1);
  for (size_t s = 0; s < kMostStages; ++s) {
    std::vector<int64_t> stride(3, 1);
    double finest = INFINITY;
    for (size_t d = 0; d < 3; ++d) {
      finest = cells[d] >= 2 * kLeastCells ? std::min(finest, spacing[d]) : finest;
    }
    if (s > 0 && std::isinf(finest)) {
      break;
    }
    for (size_t d = 0; d < 3; ++d) {
      stride[d] = s > 0 && cells[d] >= 2 * kLeastCells && spacing[d] < 2 * finest ? 2 : 1;
      cells[d] = (cells[d] + stride[d] - 1) / stride[d];
      spacing[d] *= static_cast<double>(stride[d]);
    }
    for (size_t d = 0; d < 3; ++d) {
      kernel[d] = kernel[d] == 3 || spacing[d] < 2 * std::ranges::min(spacing) ? 3 : 1;
    }
    stages += text(s == 0 ? "[{ " : ", { ", "kernel = ", list(kernel), ", stride = ", list(stride), " }");
  }
  return stages + "]";
}

/// Sizes at the planned spacing, and the crop.
void plan(FoundData& data, const FoundVolumes& volumes, const std::string& system) {
  measure(data, volumes, plan_spacing(volumes, system).spacing);
  if (system == "unet") {
    if (data.most_tokens > whole_voxels) {
      data.crop = shaped_crop(data.cells);
      data.why_crop = text(
          "volumes have up to ", data.most_tokens,
          " voxels, too many to learn from at once; a crop has as many as 45 x 45 x 45, with sides as theirs");
    }
  } else {
    data.crop = crop_of(data.cells, data.most_cells);
    const bool cube =
        std::ranges::count(data.crop, data.crop.empty() ? 0 : data.crop[0]) == std::ssize(data.crop);
    data.why_crop =
        cube
            ? "the volumes are too large to learn from whole; 45 voxels along each axis are a size that the recipe's net turns exactly"
            : "the volumes are too large to learn from whole, and too thin for a cube, which alone the net would turn exactly";
  }
}

void write_labels(ConfigDraft& draft, const VolumeIndex& index, const std::vector<int64_t>& numbers) {
  const bool named = !index.numbers.empty();
  draft.set("classes", std::ssize(numbers),
            named ? "as dataset.json has them, with the background" : "the numbers that the masks have");
  if (numbers != counted_numbers(std::ssize(numbers))) {
    draft.set("labels", numbers,
              text("the numbers of the classes in ", named ? "dataset.json" : "the masks",
                   "; predictions have them too"));
  }
}

/// The letters of a name, small, in words.
std::set<std::string> words_of(const std::string& name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : in_small_letters(name) + " ") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  }
  return words;
}

/// The first name of a class of the left, where there is one of the right; empty: nothing tells the sides apart.
std::string sided(const std::vector<std::string>& labels) {
  const auto of = [&](const char* side) {
    return std::ranges::find_if(labels, [&](const auto& label) { return words_of(label).contains(side); });
  };
  return of("left") != labels.end() && of("right") != labels.end() ? *of("left") : "";
}

void write_normalising(ConfigDraft& draft, const std::vector<std::string>& names, int64_t modalities) {
  const auto counted = counted_of_channels(VoxelsCounted::modality, names, modalities);
  const auto ct = std::ranges::count(counted, VoxelsCounted::foreground);
  const auto kept = std::ranges::count(counted, Normalised());
  std::string reason =
      ct == 0
          ? "no channel is called CT: each is brought to mean 0 and deviation 1 over its voxels that are not 0"
          : text(
                ct == modalities ? "CT is" : text("the channel that is called CT is"),
                " cut off at the percentiles 0.5 and 99.5 of the training cases' foreground, and shifted and "
                "scaled by its mean and deviation",
                ct == modalities ? ""
                                 : "; others get mean 0 and deviation 1 over their voxels that are not 0");
  if (kept > 0) {
    reason += "; what is called noNorm stays as it is";
  }
  draft.set("normalise_over", "modality", reason);
}

void write_regions(ConfigDraft& draft, const std::vector<VolumeRegion>& regions) {
  std::string list;
  for (const VolumeRegion& region : regions) {
    list += text(list.empty() ? "[" : ", ", "{ name = ", TomlText(region.name).text,
                 ", labels = ", TomlText(region.classes).text, " }");
  }
  if (!list.empty()) {
    draft.set(
        "regions", TomlText::raw(list + "]"),
        "the region labels of dataset.json, by the places of their classes: their mean is the headline");
  }
}

/// How the labelled cases are split: by fractions, but for few of them. Nothing can be said from a split of one case, so that
/// there is none for a test before each has two.
void split_few(DecathlonDataOptions& options, int64_t labelled, bool own_test) {
  if (labelled > 0 && labelled < (own_test ? 4 : 6)) {  // for training, then for validation
    const double valid = labelled == 1 ? 0 : labelled == 3 ? 0.3 : labelled == 5 ? 0.4 : 0.5;
    options.fractions = {1 - valid, valid, 0};
  } else if (labelled > 0 && labelled < 10) {  // fractions of so few leave a split without any
    options.valid = 2;
    options.test = own_test ? 0 : 2;
    options.train = labelled - options.valid - options.test;
  }
}

void write_split(ConfigDraft& draft, const DecathlonDataOptions& options, int64_t labelled, bool own_test) {
  if (labelled < 10 && options.train == 0) {
    draft.set("fractions", options.fractions,
              text("of the ", labelled, labelled == 1 ? " labelled case" : " labelled cases",
                   ": far too few for a model", own_test ? "" : ", and none is left for a test"));
  } else if (labelled < 10) {
    draft.set("train", options.train, text("of the ", labelled, " labelled cases; few for a model"));
    draft.set("valid", options.valid);
    if (options.test > 0) {
      draft.set("test", options.test);
    }
  }
}

}  // namespace

FoundData VolumeFiles::draft(const std::string& path) {
  if (!lays_out(path)) {
    return {};
  }
  const VolumeIndex index = read_volume_index(path);
  DecathlonDataOptions options{.path = path, .modalities = 0, .classes = 0, .normalise = false};
  const auto labelled = std::ssize(index.training);
  const bool own_test = std::ranges::any_of(index.test, [](const VolumeCase& c) { return !c.mask.empty(); });
  const ListedFolds listed = listed_folds(options);
  if (listed.count == 0) {  // which say themselves what is for training
    split_few(options, labelled, own_test);
  }
  const Splits splits = open_set(options, {listed.count, 0});
  FoundData found;
  found.family = FoundData::Family::volumes;
  count_samples(found, splits, path);
  const Schema& schema = splits.train->schema();
  const int64_t modalities = schema.interface.features[0].channels;
  const std::vector<int64_t> numbers = as_opened(options, *splits.train).labels;
  const auto volumes = std::make_shared<const FoundVolumes>(look_at_volumes(*splits.train));
  measure(found, *volumes, {});
  const auto size = [](const std::vector<int64_t>& n) { return text(n[0], " x ", n[1], " x ", n[2]); };
  found.what = text(
      found.samples, " training volumes of ", size(found.cells),
      found.most_cells == found.cells ? "" : text(" to ", size(found.most_cells)), " voxels, ",
      volumes->alike ? text("all of ", by(volumes->median)) : text("at the median of ", by(volumes->median)),
      " mm");
  found.tasks = {{"segmentation", "masks"}};
  if (const std::string side = sided(index.labels); !side.empty()) {
    found.handed = text("the class ", quote(side, 40), " tells one side from the other");
  }
  found.plan = [volumes](FoundData& data, const std::string&, const std::string& system) {
    plan(data, *volumes, system);
  };
  found.write_model = [volumes](ConfigDraft& draft, const FoundData& data, const std::string& system) {
    if (system != "unet") {
      draft.drop("margin");  // which the recipe has for its tables alone
      return;
    }
    const PlannedSpacing planned = plan_spacing(*volumes, system);
    Sides spacing = volumes->median;
    std::ranges::copy(planned.spacing, spacing.begin());
    const auto& cells = data.crop.empty() ? data.cells : data.crop;
    draft.set(
        "stages", TomlText::raw(stages_of(cells, spacing)),
        text("for ", cells[0], " x ", cells[1], " x ", cells[2], " voxels of ", by(spacing),
             " mm: an axis is halved while four voxels are left and its spacing is below twice the finest"));
    draft.set("base", 8, "channels at the full resolution, doubled with each stage; nnU-Net takes 32");
    draft.table("train.grids");
    if (const auto across = across_slices(spacing)) {
      draft.set("rotation", TomlText::raw(text("{ axis = \"", "xyz"[*across], "\" }")),
                "what a plain net learns from samples alone: up to 30 degrees in the slices, in one of five");
    } else {
      draft.set(
          "rotation", true,
          "what a plain net learns from samples alone: up to 30 degrees about any axis, in one of five");
    }
    draft.set("scale", true, "0.7 to 1.4 times as large, in one of five");
    for (const char* change : {"noise", "brightness", "contrast", "gamma"}) {
      draft.set(change, true, "scanners differ");
    }
  };
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string& system) {
    write_set(draft, "decathlon", path, "a folder of volumes with masks");
    draft.set("modalities", modalities,
              index.modalities.empty() ? "as the first image has" : "as the folder has them");
    write_labels(draft, index, numbers);
    if (index.ignored) {
      draft.remark(text("Voxels of the label `ignore` of dataset.json, ", *index.ignored,
                        ", count in neither loss nor metrics."));
    }
    if (const PlannedSpacing planned = plan_spacing(*volumes, system); !planned.spacing.empty()) {
      draft.set("spacing", planned.spacing, planned.why);
    }
    write_normalising(draft, index.modalities, modalities);
    if (listed.count > 0) {
      draft.table("data");
      draft.set("folds", listed.count, "those of splits_final.json, which `weyl crossval` trains all");
      draft.set("fold", 0, "the one that is validated: --fold");
    } else {
      write_split(draft, options, labelled, own_test);
    }
  };
  found.write_task = [=](ConfigDraft& draft, const std::string& task, const std::string& system) {
    write_classes(draft, task, {std::ssize(numbers), index.labels});
    if (index.labels.empty() && numbers != counted_numbers(std::ssize(numbers))) {
      std::vector<std::string> names;
      std::ranges::transform(numbers, std::back_inserter(names), [](int64_t n) { return std::to_string(n); });
      draft.set("names", names, "nobody names them: their numbers in the masks");
    }
    write_regions(draft, index.regions);
    FoundData planned;
    plan(planned, *volumes, system);
    if (!planned.crop.empty()) {
      draft.set("window", TomlText::raw(text("{ size = ", TomlText(planned.crop).text, " }")),
                "voxels that are predicted at a time, as many as train.crop");
    }
  };
  return found;
}

}  // namespace weyl

#include "weyl/data/volumes/decathlon.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <span>

#include "weyl/carriers/unlabelled.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/inspection.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/volumes/case_splits.h"
#include "weyl/data/volumes/intensities.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/prepared_volumes.h"
#include "weyl/data/volumes/resample.h"
#include "weyl/data/volumes/text_volumes.h"
#include "weyl/data/volumes/volume_index.h"
#include "weyl/data/volumes/volume_tensor.h"

namespace weyl {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMebi = 1 << 20;
constexpr uint64_t kWidest = 2;  // bytes that a value is stored in for one that it has as float32

/// A case with what its headers say, and the grid that it gets; all but `files` along canonical axes.
struct PlacedCase {
  VolumeCase files;
  NiftiOrientation orientation;     // of the files
  std::array<int64_t, 3> cells{};   // of the files
  std::array<double, 3> spacing{};  // of the files, mm
  VolumeBox box;                    // of these cells that is kept
  Lattice lattice;                  // that it is brought to
  std::string axes, doubt;

  const std::string& image() const { return files.channels[0]; }
  GridChange change() const;
};

GridChange PlacedCase::change() const {
  return change_of_spacing(box.kept, spacing, lattice.spacing);
}

/// How the volumes of a set are read: its options with the numbers of the classes, and how each channel is normalised.
struct Reading {
  DecathlonDataOptions options;
  std::vector<Normalised> counted;
  std::vector<int64_t>
      numbers;  // that masks have, by their places in Volume::mask: the classes', then the ignored one

  /// Where the prepared volume of a case is kept, by all that its values depend on.
  PreparedFile kept(const VolumeCase& files) const;
  uint64_t limit() const { return static_cast<uint64_t>(options.limit * kMebi) * kWidest; }
  bool by_foreground() const {
    return options.normalise && std::ranges::count(counted, VoxelsCounted::foreground) > 0;
  }
  Tensor is_ignored(const Tensor& mask) const { return mask.ge(std::ssize(options.labels)); }
  Tensor is_foreground(const Tensor& mask) const {
    return mask.gt(0).logical_and(is_ignored(mask).logical_not());
  }
};

PreparedFile Reading::kept(const VolumeCase& files) const {
  const DecathlonDataOptions& o = options;
  std::string how = text("1; interpolation ", names_of(o.interpolation)[static_cast<size_t>(o.interpolation)],
                         o.trim ? "; trim to image and mask" : "", o.normalise ? "; normalise" : "");
  for (const auto& [what, numbers] : {std::pair{"spacing", &o.spacing}, {"window", &o.window}}) {
    how += text("; ", what);
    for (const double x : *numbers) {
      how += text(" ", toml_number(x));
    }
  }
  for (const Normalised c : counted) {
    how += text("; ", c ? names_of(*c)[static_cast<size_t>(*c)] : "as it is");
  }
  for (const int64_t number : numbers) {
    how += text(" ", number);
  }
  return prepared_volume(o.prepared, files, how);
}

void require_size(const std::string& where, const char* what, std::span<const int64_t> cells,
                  int64_t channels, int64_t limit) {
  double mebi = static_cast<double>(channels) * sizeof(float) / static_cast<double>(kMebi);
  for (const int64_t n : cells) {
    mebi *= static_cast<double>(n);
  }
  require<DataError>(mebi <= static_cast<double>(limit), where, ": ", what, " ", shape_text(cells), " are ",
                     mebi, " MiB as float32, more than the ", limit,
                     " that one volume may have; a config allows more by data.decathlon.limit");
}

/// The grid that the kept box of a case gets.
void place(PlacedCase& c, const DecathlonDataOptions& o) {
  c.lattice.spacing = c.spacing;
  if (!o.spacing.empty()) {
    std::ranges::copy(o.spacing, c.lattice.spacing.begin());
  }
  const GridChange change = c.change();
  c.lattice.cells.assign(change.cells.begin(), change.cells.end());
  require_size(c.image(), "resampled to data.decathlon.spacing, sizes", c.lattice.cells, o.modalities,
               o.limit);
}

PlacedCase look_at(const VolumeCase& files, const DecathlonDataOptions& o) {
  const NiftiHeader image = read_volume_header(files.channels[0]);
  const int64_t channels = files.channels.size() == 1 ? image.volumes() : std::ssize(files.channels);
  require<DataError>(channels == o.modalities, files.channels[0], ": must have ", o.modalities,
                     " channels (data.decathlon.modalities), got ", channels);
  require<DataError>(files.channels.size() == 1 || image.volumes() == 1, files.channels[0],
                     ": must be one channel, as each of the ", files.channels.size(),
                     " files of its case, got ", image.volumes());
  require_size(files.channels[0], "sizes", image.shape, files.channels.size() == 1 ? 1 : channels, o.limit);
  const auto must_fit = [&](const std::string& file, const char* what) {
    require_same_grid(
        image, text("its image ", files.channels[0]), read_volume_header(file), file, what, o.check_geometry,
        "; mend the header, or take them as they are by data.decathlon.check_geometry = false in a config");
  };
  for (size_t c = 1; c < files.channels.size(); ++c) {
    must_fit(files.channels[c], "the channel");
  }
  if (!files.mask.empty()) {
    must_fit(files.mask, "the mask");
  }
  PlacedCase placed{.files = files};
  const NiftiAffine affine = affine_of(image);
  placed.orientation = orientation_of(affine);
  for (size_t d = 0; d < 3; ++d) {
    placed.cells[d] = image.shape[static_cast<size_t>(placed.orientation.axis[d])];
  }
  placed.box.kept = placed.cells;
  placed.spacing = canonical_spacing(image);
  placed.axes = axis_codes(affine);
  placed.doubt = doubt_of_sizes(image);
  place(placed, o);
  return placed;
}

/// The axes of a file of a case, which may have its own where it stands at the same place; by check_geometry = false the first file's count for all.
NiftiOrientation orientation_in(const PlacedCase& c, const Nifti& volume, const Reading& reading) {
  return reading.options.check_geometry ? orientation_of(affine_of(volume.header)) : c.orientation;
}

/// All channels of a case as its files have them, (C, X, Y, Z) in canonical order.
Tensor image_of(const PlacedCase& c, const Reading& reading) {
  std::vector<Tensor> channels;
  for (const std::string& file : c.files.channels) {
    const Nifti image = read_volume(file, reading.limit());
    channels.push_back(image_tensor(image, orientation_in(c, image, reading)));
    require<DataError>(channels.back().isfinite().all().item<bool>(), file,
                       ": values must be finite, some are not");
  }
  return channels.size() == 1 ? channels[0] : at::cat(channels);
}

/// The classes of a case as its file has them, by their places, (X, Y, Z) in canonical order.
Tensor mask_of(const PlacedCase& c, const Reading& reading) {
  const Nifti mask = read_volume(c.files.mask, reading.limit());
  return mask_tensor(mask, reading.numbers, orientation_in(c, mask, reading), c.files.mask);
}

/// The box of what is not 0 in any channel, or in the mask, whose truth nobody may lose; all of it where everything is 0.
void trim(PlacedCase& c, const Reading& reading) {
  Tensor there = image_of(c, reading).ne(0).any(0);
  if (!c.files.mask.empty()) {
    there = there.logical_or(reading.is_foreground(mask_of(c, reading)));
  }
  for (int64_t d = 0; d < 3; ++d) {
    const Tensor along = there.any(d == 0 ? 1 : 0).any(d == 2 ? 0 : 1).nonzero().squeeze(1);
    if (along.numel() > 0) {
      const auto at = static_cast<size_t>(d);
      c.box.begin[at] = along.min().item<int64_t>();
      c.box.kept[at] = along.max().item<int64_t>() + 1 - c.box.begin[at];
    }
  }
  place(c, reading.options);
}

/// A view of the cells (..., X, Y, Z) of the file that are kept.
Tensor in_box(Tensor t, const VolumeBox& box) {
  for (int64_t d = 0; d < 3; ++d) {
    const auto at = static_cast<size_t>(d);
    t = t.narrow(t.dim() - 3 + d, box.begin[at], box.kept[at]);
  }
  return t;
}

/// A case as models see it, but for channels that are normalised by the foreground of all training cases.
Volume made_ready(const PlacedCase& c, const Reading& reading) {
  const DecathlonDataOptions& o = reading.options;
  Volume volume;
  volume.image = in_box(image_of(c, reading), c.box).contiguous();
  if (!o.window.empty()) {
    volume.image.clamp_(o.window[0], o.window[1]);
  }
  if (o.normalise) {
    normalise_by_itself(volume.image, reading.counted);
  }
  volume.image = resampled(volume.image, c.change(), o.interpolation);
  if (!c.files.mask.empty()) {
    volume.mask = resampled_classes(in_box(mask_of(c, reading), c.box).contiguous(),
                                    std::ssize(reading.numbers), c.change());
  }
  return volume;
}

/// The same, once where a folder keeps it.
Volume prepare(const PlacedCase& c, const Reading& reading) {
  const PreparedFile file = reading.kept(c.files);
  if (auto kept = load_volume(file)) {
    const auto cells = kept->image.sizes().slice(1);
    if (kept->image.size(0) == reading.options.modalities && cells == at::IntArrayRef(c.lattice.cells) &&
        kept->mask.defined() == !c.files.mask.empty()) {
      return *kept;
    }
  }
  const Volume volume = made_ready(c, reading);
  save_volume(file, volume, c.box);
  return volume;
}

/// Lowest, highest, mean and deviation of channels by the foreground of the training cases: given, or counted when they
/// are first asked for; of channels that are not normalised those that change nothing.
class Intensities {
 public:
  using Values = std::vector<std::vector<double>>;
  Intensities(std::shared_ptr<const Reading> reading, std::vector<PlacedCase> training)
      : reading_(std::move(reading)),
        training_(std::move(training)),
        values_(reading_->options.intensities) {}

  const Values& values() {
    std::call_once(once_, [&] {
      const auto& counted = reading_->counted;
      if (values_.empty() && reading_->options.normalise &&
          (reading_->by_foreground() || std::ranges::count(counted, Normalised()) > 0)) {
        count();
      }
    });
    return values_;
  }

 private:
  void count() {
    std::vector<std::vector<float>> seen;
    const bool needed = reading_->by_foreground();
    for (const PlacedCase& c : training_) {
      if (needed && !c.files.mask.empty()) {
        const Volume volume = prepare(c, *reading_);
        see_foreground(volume.image, reading_->is_foreground(volume.mask).to(at::kByte), seen);
      }
    }
    require<DataError>(
        !needed || (!seen.empty() && !seen[0].empty()), reading_->options.path,
        ": channels that are normalised over the foreground need training cases with masks that "
        "have some, or data.decathlon.intensities; data.decathlon.normalise_over = \"all\" needs "
        "neither");
    for (size_t c = 0; c < reading_->counted.size(); ++c) {
      const Normalised by = reading_->counted[c];
      values_.push_back(!by                               ? unchanging_intensities()
                        : by == VoxelsCounted::foreground ? foreground_intensities(std::move(seen.at(c)))
                                                          : std::vector<double>());
    }
  }

  std::once_flag once_;
  std::shared_ptr<const Reading> reading_;
  std::vector<PlacedCase> training_;
  Values values_;
};

std::string lattice_text(const Lattice& lattice) {
  const auto& s = lattice.spacing;
  return text(shape_text(lattice.cells), " at ", s[0], " x ", s[1], " x ", s[2], " mm");
}

class Volumes : public Dataset, public NumberedClasses {
 public:
  Volumes(std::vector<PlacedCase> cases, std::shared_ptr<const Reading> reading,
          std::shared_ptr<Intensities> intensities, const VolumeIndex& names,
          std::vector<std::string> warnings = {})
      : cases_(std::move(cases)),
        reading_(std::move(reading)),
        intensities_(std::move(intensities)),
        cache_(reading_->options.cache * kMebi),
        schema_(declared_schema(reading_->options)) {
    schema_.channel_names = names.modalities;
    schema_.warnings = std::move(warnings);
    if (!names.labels.empty()) {
      schema_.category_names["mask"] = names.labels;
    }
    double tokens_of_all = 0;
    for (int64_t i = 0; i < size(); ++i) {
      tokens_of_all += static_cast<double>(tokens(i));
    }
    schema_.interface.typical_nodes = tokens_of_all / static_cast<double>(size());
    if (cases_.front().files.mask.empty()) {
      schema_.labels.clear();
    }
  }

  int64_t size() const override { return static_cast<int64_t>(cases_.size()); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override {
    const auto& cells = cases_.at(index).lattice.cells;
    return cells[0] * cells[1] * cells[2];
  }
  Lattice lattice(int64_t index) const override { return cases_.at(index).lattice; }
  std::string source(int64_t index) const override { return cases_.at(index).image(); }
  std::string name(int64_t index) const override { return cases_.at(index).files.name; }
  std::string axes(int64_t index) const override { return cases_.at(index).axes; }
  std::string doubt(int64_t index) const override { return cases_.at(index).doubt; }
  const std::vector<int64_t>& class_numbers() const override { return reading_->options.labels; }

  Batch batch(std::span<const int64_t> indices) const override {
    require(!indices.empty(), "decathlon: a batch must have at least one volume");
    const PlacedCase& first = cases_.at(indices[0]);
    std::vector<Tensor> images, masks;
    for (const int64_t i : indices) {
      const PlacedCase& other = cases_.at(i);
      require<DataError>(other.lattice.alike(first.lattice), other.image(),
                         ": volumes of one batch must have one size and spacing, ",
                         lattice_text(other.lattice), " is not ", lattice_text(first.lattice), " of ",
                         first.image());
      const Volume volume = load(i);
      images.push_back(volume.image);
      if (volume.mask.defined()) {
        masks.push_back(volume.mask.unsqueeze(0));
      }
    }
    Batch result;
    result.input = Grid{at::stack(images), first.lattice.spacing};
    if (!masks.empty()) {
      const Tensor mask = at::stack(masks).to(at::kLong);
      result.labels["mask"] = mask.masked_fill(reading_->is_ignored(mask), unlabelled);
    }
    return result;
  }

  CellPredictions as_in_file(int64_t index, CellPredictions given) const override {
    const PlacedCase& c = cases_.at(index);
    require(given.probabilities.dim() == 4 &&
                given.probabilities.sizes().slice(1) == at::IntArrayRef(c.lattice.cells) &&
                given.classes.sizes() == at::IntArrayRef(c.lattice.cells),
            c.image(), ": predictions must be of sizes ", shape_text(c.lattice.cells), ", got ",
            shape_text(given.classes.sizes()));
    const GridChange there = c.change();
    if (there.cells != c.box.kept || there.step != std::array<double, 3>{1, 1, 1}) {
      resample_back(c, given);
    }
    if (c.box.kept != c.cells) {
      fill_up(c, given);
    }
    if (reading_->options.labels != counted_numbers(reading_->options.classes)) {
      given.classes = at::index_select(at::tensor(reading_->options.labels, at::kLong), 0,
                                       given.classes.reshape({-1}).to(at::kLong))
                          .view(given.classes.sizes());
    }
    return given;
  }

  const DecathlonDataOptions& options() const { return reading_->options; }
  const Intensities::Values& intensities() const { return intensities_->values(); }

 private:
  /// Probabilities onto the kept box of the file's grid, and from them the classes.
  static void resample_back(const PlacedCase& c, CellPredictions& p) {
    GridChange back{c.box.kept, {1, 1, 1}};
    const GridChange there = c.change();
    for (size_t d = 0; d < 3; ++d) {
      back.step[d] = 1 / there.step[d];
    }
    p.probabilities = resampled(p.probabilities.to(at::kFloat), back, Interpolation::linear);
    p.classes = most_likely(p.probabilities);
    if (p.finish) {
      p.classes = p.finish(p.classes);
    }
  }

  /// Background around the kept box.
  static void fill_up(const PlacedCase& c, CellPredictions& p) {
    std::vector<int64_t> sizes(c.cells.begin(), c.cells.end());
    const Tensor classes = at::zeros(sizes, p.classes.options());
    in_box(classes, c.box).copy_(p.classes);
    sizes.insert(sizes.begin(), p.probabilities.size(0));
    const Tensor probabilities = at::zeros(sizes, p.probabilities.options());
    probabilities[0].fill_(1);
    in_box(probabilities, c.box).copy_(p.probabilities);
    p = {classes, probabilities};
  }

  Volume load(int64_t index) const {
    if (auto found = cache_.find(index)) {
      return *found;
    }
    Volume volume = prepare(cases_.at(index), *reading_);
    if (reading_->by_foreground()) {
      normalise_by_foreground(volume.image, intensities_->values());
    }
    cache_.keep(index, volume);
    return volume;
  }

  std::vector<PlacedCase> cases_;
  std::shared_ptr<const Reading> reading_;
  std::shared_ptr<Intensities> intensities_;
  mutable VolumeCache cache_;
  Schema schema_;
};

/// The options of volumes: ConfigError unless those that are lists are what they must be.
void require_options(const DecathlonDataOptions& o) {
  const std::string table = text(o.path, ": data.decathlon.");
  require<ConfigError>(o.spacing.empty() || o.spacing.size() == 3, table,
                       "spacing must be three numbers, mm along each axis, or [], got ", o.spacing.size());
  require<ConfigError>(o.window.empty() || (o.window.size() == 2 && o.window[0] < o.window[1]), table,
                       "window must be two numbers that ascend, or [], got ", o.window.size(), " numbers");
  require<ConfigError>(
      o.labels.empty() ||
          (o.labels[0] == 0 && std::ranges::adjacent_find(o.labels, std::greater_equal()) == o.labels.end()),
      table, "labels must ascend from 0, the background");
  require<ConfigError>(o.labels.empty() || o.classes == 0 || std::ssize(o.labels) == o.classes, table,
                       "labels must be as many as the ", o.classes, " classes, got ", o.labels.size());
  for (const auto& of : o.intensities) {
    require<ConfigError>(of.empty() || (of.size() == 4 && of[0] <= of[1] && of[3] >= 0), table,
                         "intensities must be [lowest, highest, mean, deviation] or [] for each channel");
  }
}

/// Normalised over the foreground, a channel needs intensities of its own where some are given.
void require_intensities(const Reading& reading) {
  const auto& given = reading.options.intensities;
  for (size_t c = 0; c < given.size(); ++c) {
    const bool wanted = reading.counted.at(c) == VoxelsCounted::foreground;
    require<ConfigError>(given[c].empty() != wanted, reading.options.path,
                         ": data.decathlon.intensities: channel ", c + 1, wanted ? " is" : " is not",
                         " normalised over the foreground and must have ", wanted ? "four numbers" : "none");
  }
}

std::shared_ptr<const Reading> reading_of(const DecathlonDataOptions& o, const VolumeIndex& index) {
  require<ConfigError>(o.intensities.empty() || std::ssize(o.intensities) == o.modalities, o.path,
                       ": data.decathlon.intensities must be a list for each of the ", o.modalities,
                       " channels, got ", o.intensities.size());
  auto reading = std::make_shared<Reading>(
      o, counted_of_channels(o.normalise_over, index.modalities, o.modalities, o.intensities), o.labels);
  if (index.ignored) {
    reading->numbers.push_back(*index.ignored);
  }
  if (o.normalise) {
    require_intensities(*reading);
  }
  return reading;
}

/// The box of a case: as it was kept, else by a look at all of its voxels.
void find_box(PlacedCase& c, const Reading& reading) {
  const auto kept = load_box(reading.kept(c.files));
  bool fits = kept.has_value();
  for (size_t d = 0; fits && d < 3; ++d) {
    fits = kept->begin[d] >= 0 && kept->kept[d] > 0 && kept->begin[d] <= c.cells[d] - kept->kept[d];
  }
  if (fits) {
    c.box = *kept;
    place(c, reading.options);
  } else {
    trim(c, reading);
    save_volume(reading.kept(c.files), {}, c.box);
  }
}

std::vector<PlacedCase> look_at_all(const std::vector<VolumeCase>& cases, const Reading& reading) {
  std::vector<PlacedCase> placed;
  for (const VolumeCase& files : cases) {
    placed.push_back(look_at(files, reading.options));
    if (reading.options.trim) {
      find_box(placed.back(), reading);
    }
  }
  return placed;
}

/// Takes those cases out that `read` refuses, and adds why to `faults`. DataError: none is left in the folder.
void take_out_faulty(const std::string& folder, VolumeIndex& index, std::vector<std::string>& faults,
                     const std::function<void(const VolumeCase&)>& read) {
  for (std::vector<VolumeCase>* cases : {&index.training, &index.test}) {
    std::erase_if(*cases, [&](const VolumeCase& files) {
      try {
        read(files);
        return false;
      } catch (const DataError& error) {
        faults.emplace_back(error.what());
        return true;
      }
    });
  }
  require<DataError>(!index.training.empty() || !index.test.empty(), folder, ": no case can be read");
}

/// Fills in what the index says, and refuses options that contradict it.
void complete(DecathlonDataOptions& o, VolumeIndex& index) {
  const std::string json = (fs::path(o.path) / "dataset.json").string(),
                    where = fs::is_regular_file(json) ? json : o.path;
  const auto same = [&](int64_t& wanted, size_t found, const char* what) {
    wanted = wanted > 0 ? wanted : static_cast<int64_t>(found);
    require<DataError>(found == 0 || wanted == static_cast<int64_t>(found), where, ": data.decathlon.", what,
                       " must be ", found, ", those it names, got ", wanted);
  };
  same(o.modalities, index.modalities.size(), "modalities");
  same(o.classes, index.numbers.size(), "classes");
  const auto& some = index.training.empty() ? index.test : index.training;
  if (o.modalities == 0) {
    o.modalities = read_volume_header(some.at(0).channels[0]).volumes();
  }
  if (o.classes == 0) {  // only the masks say it
    index.numbers = o.labels.empty() ? numbers_in_masks(some) : o.labels;
    o.classes = std::ssize(index.numbers);
  }
  require<DataError>(o.labels.empty() || index.numbers.empty() || o.labels == index.numbers, where,
                     ": data.decathlon.labels must be the numbers that it names, or []");
  o.labels = !o.labels.empty()        ? o.labels
             : !index.numbers.empty() ? index.numbers
                                      : counted_numbers(o.classes);
}

/// What a folder has, and how it is read.
struct FoundCases {
  VolumeIndex index;
  std::shared_ptr<const Reading> reading;
};

/// With `faults` without the cases that are refused.
FoundCases find_cases(const DecathlonDataOptions& options, std::vector<std::string>* faults) {
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; make one with `weyl data make phantoms --out ", options.path,
                     "`");
  require<DataError>(is_volume_set(options.path) || volumes_in(options.path).empty(), options.path,
                     ": holds volumes without masks, which predict alone takes; give a folder that has "
                     "images and masks");
  require<DataError>(
      is_volume_set(options.path), options.path,
      ": holds no dataset.json, no images/ beside labels/ or masks/, and no folder a case; make a "
      "set with `weyl data make phantoms --out ",
      options.path, "`");
  require_options(options);
  FoundCases found{read_volume_index(options.path), nullptr};
  DecathlonDataOptions o = options;
  if (faults != nullptr) {  // before anything is learned from the first image, or from all masks
    take_out_faulty(o.path, found.index, *faults, [](const VolumeCase& files) {
      read_volume_header(files.channels[0]);
      if (!files.mask.empty()) {
        numbers_in_masks({files});
      }
    });
  }
  complete(o, found.index);
  found.reading = reading_of(o, found.index);
  if (faults != nullptr) {
    take_out_faulty(o.path, found.index, *faults, [&](const VolumeCase& files) {
      const PlacedCase c = look_at(files, o);
      image_of(c, *found.reading);
      if (!files.mask.empty()) {
        mask_of(c, *found.reading);
      }
    });
  }
  return found;
}

/// Whether all labelled cases are one split, as of a folder that --data names.
bool takes_whole(const DecathlonDataOptions& o, const Folds& folds) {
  return folds.count == 0 && o.train == 0 && o.valid == 0 && o.test == 0 && o.held_out.empty() &&
         std::ranges::count(o.fractions, 0) == std::ssize(o.fractions) - 1;
}

/// The set; with `faults` without the cases that are refused.
Splits open_cases(const DecathlonDataOptions& options, const Folds& folds, std::vector<std::string>* faults) {
  const auto [index, reading] = find_cases(options, faults);
  std::vector<std::string> warnings;
  if (const std::string fault = fault_of_prepared(options.prepared); !fault.empty()) {
    warnings.push_back(
        text("data.decathlon.prepared keeps nothing, volumes are prepared each time: ", fault));
  }
  std::vector<VolumeCase> cases = index.training;
  std::ranges::copy_if(index.test, std::back_inserter(cases), [](const auto& c) { return !c.mask.empty(); });
  const bool labelled = !cases.empty();
  const int64_t left = std::ssize(index.training) + std::ssize(index.test) - std::ssize(cases);
  // That no test case has a mask is usual where models are trained; where all of the folder was asked for, it is news.
  if (left > 0 && labelled && (left < std::ssize(index.test) || takes_whole(options, folds))) {
    warnings.push_back(text(options.path, ": ", left, " of ", index.test.size(), " test cases ",
                            left == 1 ? "has no mask and is" : "have no mask and are",
                            " left out; predict takes them, too"));
  }
  const auto placed = look_at_all(labelled ? cases : index.test, *reading);
  SplitIndices parts;
  if (labelled) {
    parts = split_cases(reading->options, folds, cases, std::ssize(index.training), warnings);
  } else {
    parts.test = parts_in_order(std::ssize(placed), {std::ssize(placed)})[0];
  }
  const auto chosen = [&](const std::vector<int64_t>& which) {
    std::vector<PlacedCase> some;
    for (const int64_t i : which) {
      some.push_back(placed[static_cast<size_t>(i)]);
    }
    return some;
  };
  // Of folds over the cases of all, so that their models can be joined: one reading serves them.
  std::vector<int64_t> counted = parts.train;
  if (folds.count > 0) {
    counted.clear();
    for (int64_t i = 0; i < std::ssize(placed); ++i) {
      if (!std::ranges::binary_search(parts.test, i)) {
        counted.push_back(i);
      }
    }
  }
  const auto intensities = std::make_shared<Intensities>(reading, chosen(counted));
  const auto set = [&, &index = index,
                    &reading = reading](const std::vector<int64_t>& which) -> std::shared_ptr<const Dataset> {
    return which.empty() ? nullptr
                         : std::make_shared<Volumes>(chosen(which), reading, intensities, index, warnings);
  };
  return {set(parts.train), set(parts.valid), set(parts.test)};
}

}  // namespace

Schema declared_schema(const DecathlonDataOptions& o) {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.length_unit = "mm";
  schema.interface.features = {{.name = "modalities", .channels = o.modalities}};
  schema.labels = {{.name = "mask", .kind = Kind::category, .categories = o.classes}};
  return schema;
}

bool is_volume_folder(const std::string& path) {
  return !is_volume_set(path) && !volumes_in(path).empty();
}

Splits open_set(const DecathlonDataOptions& options, const Folds& folds) {
  return open_cases(options, folds, nullptr);
}

std::shared_ptr<const Dataset> open_whole(const DecathlonDataOptions& options) {
  const auto [index, reading] = find_cases(options, nullptr);
  std::vector<VolumeCase> cases = index.training;
  cases.insert(cases.end(), index.test.begin(), index.test.end());
  if (std::ranges::any_of(cases, [](const VolumeCase& c) { return c.mask.empty(); })) {
    std::ranges::for_each(cases, [](VolumeCase& c) { c.mask.clear(); });
  }
  return std::make_shared<Volumes>(look_at_all(cases, *reading), reading,
                                   std::make_shared<Intensities>(reading, std::vector<PlacedCase>()), index);
}

Splits open_sound_cases(const DecathlonDataOptions& options, std::vector<std::string>& faults) {
  return open_cases(options, {}, &faults);
}

std::string differently_read(const DecathlonDataOptions& one, const DecathlonDataOptions& other) {
  const DecathlonDataOptions &a = one, &b = other;
  return a.spacing != b.spacing                                           ? "spacing"
         : !a.spacing.empty() && a.interpolation != b.interpolation       ? "interpolation"
         : a.trim != b.trim                                               ? "trim"
         : a.window != b.window                                           ? "window"
         : a.normalise != b.normalise                                     ? "normalise"
         : a.normalise && a.normalise_over != b.normalise_over            ? "normalise_over"
         : a.normalise && a.intensities != b.intensities                  ? "intensities"
         : a.labels != b.labels && !a.labels.empty() && !b.labels.empty() ? "labels"
                                                                          : "";
}

DecathlonDataOptions as_opened(DecathlonDataOptions options, const Dataset& train) {
  const auto* volumes = dynamic_cast<const Volumes*>(&train);
  if (volumes == nullptr) {
    return options;
  }
  options.labels = volumes->options().labels;
  if (options.normalise) {
    options.intensities = volumes->intensities();
    // Names beside other data do not say anew what was learned: intensities decide, or that there are none.
    if (options.normalise_over == VoxelsCounted::modality && options.intensities.empty()) {
      options.normalise_over = VoxelsCounted::nonzero;
    }
  }
  return options;
}

std::shared_ptr<const Dataset> open_volume_files(const std::string& path,
                                                 const DecathlonDataOptions& options) {
  const auto files = fs::is_directory(path) ? volumes_in(path) : std::vector<std::string>{path};
  require<DataError>(!files.empty(), path, ": holds no volume (.nii, .nii.gz, .mha, .nrrd)");
  require_options(options);
  DecathlonDataOptions o = options;
  o.prepared.clear();  // which is of the set's own cases
  const auto around = index_around(files);
  VolumeIndex names = around.value_or(VolumeIndex{});
  const auto channels = o.modalities > 0 ? o.modalities : std::ssize(names.modalities);
  std::vector<VolumeCase> cases;
  const auto listed = std::ssize(names.modalities);
  const int64_t named = !fs::is_directory(path)                       ? 0
                        : listed > 1 && are_by_channel(files, listed) ? listed
                                                                      : channels_of_cases(files);
  require<DataError>(channels == 0 || named <= channels, path, ": has ", named,
                     " channels of each case by the names of its files (_0000, _0001, ...), must have ",
                     channels, " (data.decathlon.modalities): give the files of those alone");
  if (channels > 0 && have_a_case_by_channel(files, channels)) {
    cases = cases_by_channel(files, channels);  // or says which case lacks one
  } else if (auto one = channels > 1 && fs::is_directory(path) ? index_of_case(path) : std::nullopt;
             one && std::ssize(one->modalities) == channels) {
    cases = one->test;
    names = std::move(*one);
  } else {
    for (const std::string& file : files) {
      cases.push_back({"", {file}, ""});
    }
  }
  if (o.modalities == 0) {
    o.modalities = cases[0].channels.size() > 1 ? std::ssize(cases[0].channels)
                                                : read_volume_header(cases[0].channels[0]).volumes();
  }
  const bool fits = std::ssize(names.modalities) == o.modalities;
  names = fits ? names : VolumeIndex{};
  if (o.labels.empty()) {
    o.labels = std::ssize(names.numbers) == o.classes ? names.numbers : counted_numbers(o.classes);
  }
  const auto reading = reading_of(o, names);
  return std::make_shared<Volumes>(look_at_all(cases, *reading), reading,
                                   std::make_shared<Intensities>(reading, std::vector<PlacedCase>()), names);
}

}  // namespace weyl

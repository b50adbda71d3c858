#include "weyl/data/volumes/decathlon.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/volumes/decathlon_index.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/volume_tensor.h"

namespace weyl {

int64_t Volume::bytes() const {
  return static_cast<int64_t>(image.nbytes()) + (mask.defined() ? static_cast<int64_t>(mask.nbytes()) : 0);
}

std::optional<Volume> VolumeCache::find(int64_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = by_index_.find(index);
  if (found == by_index_.end()) {
    return {};
  }
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->second;
}

void VolumeCache::keep(int64_t index, const Volume& volume) {
  const std::lock_guard lock(mutex_);
  if (by_index_.contains(index) || volume.bytes() > most_) {
    return;
  }
  held_ += volume.bytes();
  by_use_.emplace_front(index, volume);
  by_index_[index] = by_use_.begin();
  while (held_ > most_) {
    held_ -= by_use_.back().second.bytes();
    by_index_.erase(by_use_.back().first);
    by_use_.pop_back();
  }
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMebi = 1 << 20;
constexpr uint64_t kWidest = 2;  // bytes that a value is stored in for one that it has as float32

/// A case with what its header says.
struct VolumeCase {
  DecathlonCase files;
  Lattice lattice;  // (X, Y, Z) in canonical order, mm
  std::string axes, doubt;
};

/// How far apart two volumes of one size are: the largest distance of a corner, in voxels of the first.
double distance(const NiftiHeader& a, const NiftiHeader& b) {
  const NiftiAffine x = affine_of(a), y = affine_of(b);
  const auto spacing = spacing_of(a);
  double worst = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double square = 0;
    for (size_t d = 0; d < 3; ++d) {
      double apart = x[4 * d + 3] - y[4 * d + 3];
      for (size_t axis = 0; axis < 3; ++axis) {
        const double far = (corner >> axis & 1) != 0 ? static_cast<double>(a.shape[axis] - 1) : 0;
        apart += far * (x[4 * d + axis] - y[4 * d + axis]);
      }
      square += apart * apart;
    }
    worst = std::max(worst, std::sqrt(square));
  }
  return worst / *std::min_element(spacing.begin(), spacing.end());
}

void require_mask(const NiftiHeader& image, const DecathlonCase& files, bool check_geometry) {
  const NiftiHeader mask = read_nifti_header(files.label);
  require<DataError>(
      mask.volumes() == 1 && std::equal(mask.shape.begin(), mask.shape.begin() + 3, image.shape.begin()),
      files.label, ": the mask must have the sizes of its image ", files.image, ", ",
      shape_text(std::span(image.shape).first(3)), ", got ", shape_text(mask.shape));
  constexpr double kApart = 0.1;
  const double apart = distance(image, mask);
  require<DataError>(
      !check_geometry || apart <= kApart, files.label, ": by its affine the mask stands ", apart,
      " voxels from its image ", files.image,
      "; mend the header, or take them as they are by data.decathlon.check_geometry = false in a config");
}

VolumeCase look_at(const DecathlonCase& files, const DecathlonDataOptions& o) {
  const NiftiHeader image = read_nifti_header(files.image);
  require<DataError>(image.volumes() == o.modalities, files.image, ": must have ", o.modalities,
                     " channels (data.decathlon.modalities), got ", image.volumes());
  constexpr double kFloat = sizeof(float);
  const double mebi = static_cast<double>(image.voxels()) * static_cast<double>(image.volumes()) * kFloat /
                      static_cast<double>(kMebi);
  require<DataError>(mebi <= static_cast<double>(o.limit), files.image, ": sizes ", shape_text(image.shape),
                     " are ", mebi, " MiB as float32, more than the ", o.limit,
                     " that one volume may have; a config allows more by data.decathlon.limit");
  if (!files.label.empty()) {
    require_mask(image, files, o.check_geometry);
  }
  const NiftiAffine affine = affine_of(image);
  const auto axis = orientation_of(affine).axis;
  return {files,
          {{image.shape[axis[0]], image.shape[axis[1]], image.shape[axis[2]]}, canonical_spacing(image)},
          axis_codes(affine),
          doubt_of_sizes(image)};
}

/// What is subtracted from the values of a channel, and what they are then multiplied by.
struct Scaling {
  double mean = 0, factor = 1;
  bool zeros = true;  // whether voxels that are 0 change too; else they stay 0
};

/// Over all voxels, or those that are not 0, of which there is one.
Scaling scaling_over(std::span<const float> values, bool zeros) {
  double sum = 0, squares = 0;
  int64_t voxels = 0;
  for (const float x : values) {
    voxels += zeros || x != 0 ? 1 : 0;
    sum += x;
  }
  const double mean = sum / static_cast<double>(voxels);
  for (const float x : values) {
    squares += zeros || x != 0 ? (x - mean) * (x - mean) : 0;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(voxels));
  return {mean, deviation > 0 ? 1 / deviation : 1, zeros};
}

/// Whether all but the outermost hundredths of the values that are not 0, of which there is one, lie within a twentieth of
/// their median. A few hot voxels do not decide it. Of many values evenly spread ones are looked at, which costs less than
/// to read a volume.
bool are_alike(std::span<const float> values) {
  constexpr double kTail = 0.01, kAlike = 0.05;
  constexpr size_t kLookedAt = 1 << 16;
  std::vector<float> nonzero;
  std::ranges::copy_if(values, std::back_inserter(nonzero), [](float x) { return x != 0; });
  const size_t step = (nonzero.size() - 1) / kLookedAt + 1;
  for (size_t k = 0; k * step < nonzero.size(); ++k) {
    nonzero[k] = nonzero[k * step];
  }
  nonzero.resize((nonzero.size() - 1) / step + 1);
  const auto last = static_cast<double>(nonzero.size() - 1);
  auto rest = nonzero.begin();  // what is not below the quantile before
  const auto quantile = [&](double share) {
    const auto place = nonzero.begin() + std::lround(share * last);
    std::nth_element(rest, place, nonzero.end());
    rest = place;
    return static_cast<double>(*place);
  };
  const double low = quantile(kTail), median = quantile(0.5), high = quantile(1 - kTail);
  return high - low <= kAlike * std::abs(median);
}

/// For mean 0 and deviation 1 over the voxels that count. Where those that are not 0 are (nearly) equal, as in a mask
/// given as a channel, they would become 0 or noise about it, as the background is: then all voxels count.
Scaling scaling_of(std::span<const float> values, VoxelsCounted counted) {
  const auto [low, high] = std::ranges::minmax(values);
  if (low == high) {  // a constant channel becomes 0
    return {low, 1, true};
  }
  return scaling_over(values, counted == VoxelsCounted::all || are_alike(values));
}

/// Each channel by itself, in place.
void normalise(Tensor& image, VoxelsCounted counted) {
  const int64_t count = image.numel() / image.size(0);
  auto* begin = image.mutable_data_ptr<float>();
  for (int64_t c = 0; c < image.size(0); ++c, begin += count) {
    const std::span<float> values(begin, static_cast<size_t>(count));
    const Scaling by = scaling_of(values, counted);
    for (float& x : values) {
      x = by.zeros || x != 0 ? static_cast<float>((x - by.mean) * by.factor) : 0.F;
    }
  }
}

class Volumes : public Dataset {
 public:
  /// `index` names channels and classes; null: nobody does.
  Volumes(std::vector<VolumeCase> cases, const DecathlonDataOptions& options, const DecathlonIndex* index)
      : cases_(std::move(cases)), options_(options), cache_(options.cache * kMebi) {
    schema_ = declared_schema(options_);
    if (index != nullptr) {
      schema_.channel_names = index->modalities;
      schema_.category_names["mask"] = index->labels;
    }
    double tokens_of_all = 0;
    for (int64_t i = 0; i < size(); ++i) {
      tokens_of_all += static_cast<double>(tokens(i));
    }
    schema_.interface.typical_nodes = tokens_of_all / static_cast<double>(size());
    if (cases_.front().files.label.empty()) {
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
  std::string source(int64_t index) const override { return cases_.at(index).files.image; }
  std::string axes(int64_t index) const override { return cases_.at(index).axes; }
  std::string doubt(int64_t index) const override { return cases_.at(index).doubt; }

  Batch batch(std::span<const int64_t> indices) const override {
    require(!indices.empty(), "decathlon: a batch must have at least one volume");
    const VolumeCase& first = cases_.at(indices[0]);
    std::vector<Tensor> images, masks;
    for (const int64_t i : indices) {
      const VolumeCase& other = cases_.at(i);
      require<DataError>(other.lattice.alike(first.lattice), other.files.image,
                         ": volumes of one batch must have one size and spacing, ",
                         lattice_text(other.lattice), " is not ", lattice_text(first.lattice), " of ",
                         first.files.image);
      const Volume volume = load(i);
      images.push_back(volume.image);
      if (volume.mask.defined()) {
        masks.push_back(volume.mask.unsqueeze(0));
      }
    }
    Batch result;
    result.input = Grid{at::stack(images), first.lattice.spacing};
    if (!masks.empty()) {
      result.labels["mask"] = at::stack(masks).to(at::kLong);
    }
    return result;
  }

 private:
  static std::string lattice_text(const Lattice& lattice) {
    const auto& s = lattice.spacing;
    return text(shape_text(lattice.cells), " at ", s[0], " x ", s[1], " x ", s[2], " mm");
  }

  uint64_t limit() const { return static_cast<uint64_t>(options_.limit * kMebi) * kWidest; }

  Volume load(int64_t index) const {
    if (auto found = cache_.find(index)) {
      return *found;
    }
    const DecathlonCase& files = cases_.at(index).files;
    Volume volume;
    const Nifti image = read_nifti(files.image, limit());
    volume.image = image_tensor(image);
    require<DataError>(volume.image.isfinite().all().item<bool>(), files.image,
                       ": values must be finite, some are not");
    if (options_.normalise) {
      normalise(volume.image, options_.normalise_over);
    }
    if (!files.label.empty()) {
      volume.mask = mask_tensor(read_nifti(files.label, limit()), options_.classes,
                                orientation_of(affine_of(image.header)), files.label);
    }
    cache_.keep(index, volume);
    return volume;
  }

  std::vector<VolumeCase> cases_;
  DecathlonDataOptions options_;
  mutable VolumeCache cache_;
  Schema schema_;
};

std::vector<std::string> volumes_in(const std::string& folder) {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (is_nifti(name) && !name.starts_with(".") && entry.is_regular_file()) {
      result.push_back(entry.path().string());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The dataset.json in the folder of the files or in the one above it (imagesTr/..) that names one of them: what
/// their channels are called. Nothing where there is none; one that is not Decathlon's names nothing.
std::optional<DecathlonIndex> index_around(const std::vector<std::string>& files) {
  std::error_code error;
  const auto place = [&](const std::string& path) { return fs::weakly_canonical(path, error).string(); };
  std::set<std::string> wanted;
  for (const auto& file : files) {
    wanted.insert(place(file));
  }
  const fs::path own = fs::absolute(files.front(), error).lexically_normal().parent_path();
  for (const fs::path& folder : {own, own.parent_path()}) {
    if (!is_decathlon_folder(folder.string())) {
      continue;
    }
    std::optional<DecathlonIndex> index;
    try {
      index = read_decathlon(folder.string());
    } catch (const DataError&) {
      continue;
    }
    for (const auto* cases : {&index->training, &index->test}) {
      for (const auto& files_of_case : *cases) {
        if (wanted.contains(place(files_of_case.image))) {
          return index;
        }
      }
    }
  }
  return {};
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

bool is_decathlon_folder(const std::string& path) {
  return fs::is_regular_file(fs::path(path) / "dataset.json");
}

bool is_volume_folder(const std::string& path) {
  return !is_decathlon_folder(path) && !volumes_in(path).empty();
}

Splits open_set(const DecathlonDataOptions& options) {
  require<DataError>(fs::is_directory(options.path), options.path,
                     ": there is no such folder; make one with `weyl data make phantoms --out ", options.path,
                     "`");
  require<DataError>(is_decathlon_folder(options.path), options.path,
                     ": holds no dataset.json; make a set with `weyl data make phantoms --out ", options.path,
                     "`");
  const DecathlonIndex index = read_decathlon(options.path);
  DecathlonDataOptions o = options;
  const std::string where = (fs::path(o.path) / "dataset.json").string();
  const auto same = [&](int64_t& wanted, size_t found, const char* what) {
    wanted = wanted > 0 ? wanted : static_cast<int64_t>(found);
    require<DataError>(wanted == static_cast<int64_t>(found), where, ": data.decathlon.", what, " must be ",
                       found, ", those it names, got ", wanted);
  };
  same(o.modalities, index.modalities.size(), "modalities");
  same(o.classes, index.labels.size(), "classes");
  const bool labelled = !index.training.empty();
  std::vector<VolumeCase> cases;
  for (const auto& files : labelled ? index.training : index.test) {
    cases.push_back(look_at(files, o));
  }
  const auto set = [&](std::vector<VolumeCase> part) -> std::shared_ptr<const Dataset> {
    return part.empty() ? nullptr : std::make_shared<Volumes>(std::move(part), o, &index);
  };
  if (!labelled) {
    return {nullptr, nullptr, set(std::move(cases))};
  }
  const auto size = static_cast<int64_t>(cases.size());
  const auto counts = part_counts(size, o.fractions, {o.train, o.valid, o.test}, o.path + ": data.decathlon");
  auto drawn = draw_parts(size, {counts.train, counts.valid, counts.test}, o.seed, "decathlon split");
  std::array<std::vector<VolumeCase>, 3> parts;
  for (size_t p = 0; p < 3; ++p) {
    std::sort(drawn[p].begin(), drawn[p].end());
    for (const int64_t i : drawn[p]) {
      parts[p].push_back(cases[i]);
    }
  }
  return {set(std::move(parts[0])), set(std::move(parts[1])), set(std::move(parts[2]))};
}

std::shared_ptr<const Dataset> open_volume_files(const std::string& path,
                                                 const DecathlonDataOptions& options) {
  const auto files = fs::is_directory(path) ? volumes_in(path) : std::vector<std::string>{path};
  require<DataError>(!files.empty(), path, ": holds no .nii or .nii.gz file");
  DecathlonDataOptions o = options;
  o.modalities = o.modalities > 0 ? o.modalities : read_nifti_header(files[0]).volumes();
  std::vector<VolumeCase> cases;
  for (const auto& file : files) {
    cases.push_back(look_at({file, ""}, o));
  }
  const auto index = index_around(files);
  const bool fits = index && std::ssize(index->modalities) == o.modalities;
  return std::make_shared<Volumes>(std::move(cases), o, fits ? &*index : nullptr);
}

}  // namespace weyl

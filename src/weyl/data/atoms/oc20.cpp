#include "weyl/data/atoms/oc20.h"

#include <ATen/ops/from_blob.h>
#include <algorithm>
#include <filesystem>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/frame_layout.h"
#include "weyl/data/atoms/molecules.h"

namespace weyl {
namespace {

constexpr int kTags = 3;

Vector3 sum(const Vector3& a, const Vector3& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

Tensor tensor_of_numbers(const std::vector<double>& numbers, at::IntArrayRef shape) {
  return at::from_blob(const_cast<double*>(numbers.data()), shape, at::kDouble).clone();
}

void append_vector(std::vector<double>& to, const Vector3& x) {
  to.insert(to.end(), x.begin(), x.end());
}

bool has_type(int number, std::span<const int64_t> type_of) {
  const auto z = static_cast<size_t>(number);
  return z < type_of.size() && type_of[z] >= 0;
}

int64_t type_of_number(int number, std::span<const int64_t> type_of) {
  require<DataError>(has_type(number, type_of), element_symbol(number),
                     " is none of the elements that are types");
  return type_of[static_cast<size_t>(number)];
}

/// The tokens of slabs, one after the other.
struct Tokens {
  std::vector<int64_t> sizes, types;
  std::vector<double> positions, scalars, relaxed, cells, energies;

  void add(const Slab& slab, const std::vector<SlabImage>& images, std::span<const int64_t> type_of) {
    const auto token = [&](int64_t atom, const Vector3* shift) {
      const auto a = static_cast<size_t>(atom);
      const Vector3 none{};
      types.push_back(type_of_number(slab.numbers[a], type_of));
      append_vector(positions, sum(slab.positions[a], shift != nullptr ? *shift : none));
      if (!slab.relaxed.empty()) {
        append_vector(relaxed, sum(slab.relaxed[a], shift != nullptr ? *shift : none));
      }
      for (int tag = 0; tag < kTags; ++tag) {
        scalars.push_back(slab.tags[a] == tag ? 1 : 0);
      }
      scalars.push_back(shift == nullptr ? 1 : 0);
      scalars.push_back(shift == nullptr && slab.free[a] ? 1 : 0);
    };
    for (int64_t atom = 0; atom < slab.size(); ++atom) {
      token(atom, nullptr);
    }
    for (const SlabImage& image : images) {
      token(image.atom, &image.shift);
    }
    sizes.push_back(slab.size() + static_cast<int64_t>(images.size()));
    for (const Vector3& row : slab.cell) {
      append_vector(cells, row);
    }
    if (slab.energy) {
      energies.push_back(*slab.energy);
    }
  }
};

std::vector<int64_t> types_by_number(const Interface& interface) {
  std::vector<int64_t> types;
  for (int64_t t = 0; t < interface.types; ++t) {
    const auto z = static_cast<size_t>(atomic_number(interface.elements[static_cast<size_t>(t)]));
    types.resize(std::max(types.size(), z + 1), -1);
    types[z] = t;
  }
  return types;
}

}  // namespace

Schema declared_schema(const Oc20DataOptions& options) {
  Schema schema = frames_schema({.option = "data.oc20", .elements = options.elements, .potential = false});
  schema.interface.features = {{.name = "tag", .channels = kTags}, {.name = "real"}, {.name = "free"}};
  schema.labels = {
      {.name = "energy", .level = Level::graph, .unit = energy_unit_of_models},
      {.name = "relaxed", .kind = Kind::vector, .role = Role::point, .unit = length_unit_of_models},
      {.name = "cell",
       .level = Level::graph,
       .kind = Kind::vector,
       .channels = 3,
       .unit = length_unit_of_models}};
  return schema;
}

Batch slab_batch(std::span<const Slab> slabs, double image_radius, const Interface& interface) {
  const std::vector<int64_t> type_of = types_by_number(interface);
  Tokens all;
  bool energies = true, relaxed = true;
  for (const Slab& slab : slabs) {
    all.add(slab, slab_images(slab, image_radius), type_of);
    energies = energies && slab.energy.has_value();
    relaxed = relaxed && !slab.relaxed.empty();
  }
  const auto b = static_cast<int64_t>(slabs.size());
  Points points;
  points.graphs = Segments::of_sizes(all.sizes);
  const int64_t n = points.graphs.rows();
  points.positions = tensor_of_numbers(all.positions, {n, 3});
  points.types = at::from_blob(all.types.data(), {n}, at::kLong).clone();
  points.scalars = tensor_of_numbers(all.scalars, {n, kTags + 2});
  Batch batch{std::move(points), {{"cell", tensor_of_numbers(all.cells, {b, 3, 3})}}};
  if (energies) {
    batch.labels["energy"] = tensor_of_numbers(all.energies, {b, 1});
  }
  if (relaxed) {
    batch.labels["relaxed"] = tensor_of_numbers(all.relaxed, {n, 1, 3});
  }
  return batch;
}

void require_elements(const Slab& slab, const Interface& interface, const std::string& where) {
  const std::vector<int64_t> type_of = types_by_number(interface);
  for (const int z : slab.numbers) {
    require<DataError>(has_type(z, type_of), where, ": ", element_symbol(z),
                       " is none of the elements that the model knows (data.oc20.elements)");
  }
}

SlabSet::SlabSet(const std::string& path, const Oc20DataOptions& options, bool noisy)
    : path_(path),
      image_radius_(options.image_radius),
      schema_(declared_schema(options)),
      reader_(open_frames(path)) {
  if (noisy) {
    noise_ = options.noisy_nodes;
  }
  std::optional<FramePlace> place = reader_->place();
  const bool keeps = !place;
  Slab first;
  double tokens = 0;
  std::string doubt;  // of the first that has one
  int64_t doubtful = 0;
  for (; reader_->next(frame_); place = keeps ? std::nullopt : reader_->place()) {
    Slab slab = slab_of(frame_, *reader_);
    require_elements(slab, schema_.interface, reader_->where());
    if (sizes_.empty()) {
      first = slab;
    }
    require<DataError>(
        slab.energy.has_value() == first.energy.has_value() && slab.relaxed.empty() == first.relaxed.empty(),
        reader_->where(), ": must have the labels of the first frame, 'energy' ",
        first.energy ? "given" : "absent", " and 'relaxed' ", first.relaxed.empty() ? "absent" : "given");
    if (const std::string found = doubt_of(slab); !found.empty()) {
      doubt = doubtful == 0 ? text(reader_->where(), ": ", found) : doubt;
      ++doubtful;
    }
    sizes_.push_back(slab_tokens(slab, image_radius_));
    tokens += static_cast<double>(sizes_.back());
    if (keeps) {
      kept_.push_back(std::move(slab));
    } else {
      places_.push_back(place.value());
    }
  }
  require<DataError>(!sizes_.empty(), path, ": must hold at least one slab, holds none");
  require<DataError>(!noise_ || !first.relaxed.empty(), path,
                     ": data.oc20.noisy_nodes needs the relaxed places, the file has none");
  if (doubtful > 0) {
    schema_.warnings.push_back(text(doubt, doubtful == 1 ? "" : text(" (and ", doubtful - 1, " more)")));
  }
  schema_.interface.typical_nodes = tokens / static_cast<double>(sizes_.size());
  std::erase_if(schema_.labels, [&](const Quantity& q) {
    return (q.name == "energy" && !first.energy) || (q.name == "relaxed" && first.relaxed.empty());
  });
  if (keeps) {
    reader_.reset();
  }
}

int64_t SlabSet::tokens(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  return sizes_[static_cast<size_t>(index)];
}

Slab SlabSet::slab(int64_t index) const {
  tokens(index);
  if (reader_ == nullptr) {
    return kept_[static_cast<size_t>(index)];
  }
  const std::lock_guard lock(mutex_);
  Slab found;
  try {
    reader_->go_to(places_[static_cast<size_t>(index)]);
    found = reader_->next(frame_) ? slab_of(frame_, *reader_) : Slab();
  } catch (const DataError&) {  // of what was read without one
    found = {};
  }
  require<DataError>(slab_tokens(found, image_radius_) == tokens(index), path_,
                     ": must not change while it is read, but sample ", index + 1, " is another than it was");
  return found;
}

Batch SlabSet::made(std::span<const int64_t> indices, const Draw* draw) const {
  std::vector<Slab> slabs;
  for (const int64_t index : indices) {
    slabs.push_back(slab(index));
    if (draw != nullptr && noise_) {
      Stream stream(draw->seed, "noisy nodes",
                    {static_cast<uint64_t>(draw->epoch), static_cast<uint64_t>(index)});
      add_noise(slabs.back(), *noise_, stream);
    }
  }
  return slab_batch(slabs, image_radius_, schema_.interface);
}

Batch SlabSet::augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                         const Draw& draw) const {
  return made(indices, &draw);
}

std::shared_ptr<const Dataset> open_slabs(const std::string& path, const Oc20DataOptions& options) {
  return std::make_shared<SlabSet>(frames_path(path), options, /*noisy=*/false);
}

Splits open_set(const Oc20DataOptions& options) {
  namespace fs = std::filesystem;
  require<DataError>(fs::exists(options.path), options.path, ": there is no such file or folder");
  Splits splits;
  if (!fs::is_directory(options.path)) {
    splits.test = open_slabs(options.path, options);
    return splits;
  }
  const auto open = [&](const char* split, int64_t asked) -> std::shared_ptr<const Dataset> {
    const std::string file = frames_of_split(options.path, split);
    if (file.empty()) {
      return nullptr;
    }
    auto all = std::make_shared<SlabSet>(file, options, /*noisy=*/std::string_view(split) == "train");
    require<DataError>(asked <= all->size(), file, ": data.oc20.", split, " must be at most ", all->size(),
                       ", the structures there are (0: all), got ", asked);
    if (asked == 0 || asked == all->size()) {
      return all;
    }
    std::vector<int64_t> first(static_cast<size_t>(asked));
    std::iota(first.begin(), first.end(), 0);
    Schema schema = all->schema();
    return std::make_shared<Subset>(std::move(all), std::move(first), std::move(schema));
  };
  splits.train = open("train", options.train);
  splits.valid = open("valid", options.valid);
  splits.test = open("test", options.test);
  require<DataError>(
      splits.train || splits.valid || splits.test, options.path,
      ": must hold files train.*, valid.* or test.* of slabs (.aselmdb or extended xyz), holds none");
  return splits;
}

}  // namespace weyl

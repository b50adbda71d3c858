// Molecule3D and PCQM4Mv2: molecules that stay on disk, with splits that are lists of indices.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "weyl/algebra/lie/kabsch.h"
#include "weyl/carriers/conformers.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/molecule3d.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/split_lists.h"

namespace weyl {
namespace {

using Places = std::vector<Vector3>;

/// The places of some atoms among several of each, (N, count, 3): those of one conformer.
Places places_of(const Tensor& all, int64_t which, int64_t begin, int64_t end) {
  const int64_t count = all.size(1);
  const auto* from = all.const_data_ptr<double>();
  Places places;
  for (int64_t i = begin; i < end; ++i) {
    const double* x = from + 3 * (i * count + which);
    places.push_back({x[0], x[1], x[2]});
  }
  return places;
}

void put(const Places& places, Tensor& to, int64_t begin) {
  std::copy_n(places.front().data(), 3 * places.size(), to.mutable_data_ptr<double>() + 3 * begin);
}

Places moved(Places places, const RigidFit& fit) {
  for (Vector3& x : places) {
    x = fit(x);
  }
  return places;
}

/// Some molecules of a set whose label `conformers` has the places of each, with the labels of their schema alone. The label
/// `relaxed` is moved onto the input by the rotation and translation that bring it nearest (kabsch).
class ConformersPart : public Subset {
 public:
  ConformersPart(std::shared_ptr<const Dataset> all, std::vector<int64_t> samples, Schema schema,
                 const ConformerMixture& mixture)
      : Subset(std::move(all), std::move(samples), std::move(schema)), mixture_(mixture) {}

  /// Each molecule at its first conformer.
  Batch batch(std::span<const int64_t> indices) const override {
    Batch batch = given(indices);
    align(batch);
    return batch;
  }

  /// Each molecule where ConformerMixture says, drawn anew in each epoch.
  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                  const Draw& draw) const override {
    Batch batch = given(indices);
    auto& points = std::get<Points>(batch.input);
    const Tensor& conformers = batch.labels.at(conformers_column);
    const Tensor counts = count_conformers(conformers, points.graphs);
    const auto relaxed = batch.labels.find(relaxed_column);
    for (size_t b = 0; b < indices.size(); ++b) {
      Stream stream(draw.seed, "conformer",
                    {static_cast<uint64_t>(draw.epoch), static_cast<uint64_t>(sample(indices[b]))});
      const int64_t begin = points.graphs.offsets[b], end = points.graphs.offsets[b + 1];
      const Places conformer =
          places_of(conformers, stream.below(counts.const_data_ptr<int64_t>()[b]), begin, end);
      const Places target =
          relaxed == batch.labels.end() ? Places() : places_of(relaxed->second, 0, begin, end);
      const bool known = !target.empty() && !std::isnan(target[0][0]);
      put(known ? mixed(conformer, target, stream) : conformer, points.positions, begin);
    }
    align(batch);
    return batch;
  }

 private:
  Batch given(std::span<const int64_t> indices) const {
    Batch batch = Subset::batch(indices);
    std::erase_if(batch.labels,
                  [&](const auto& label) { return find_quantity(schema().labels, label.first) == nullptr; });
    return batch;
  }

  Places mixed(const Places& conformer, const Places& target, Stream& stream) const {
    const double which = stream.uniform();
    if (which >= mixture_.relaxed + mixture_.middle) {
      return conformer;
    }
    Places noisy = target;
    for (Vector3& x : noisy) {
      for (double& coordinate : x) {
        coordinate += mixture_.noise * stream.normal();
      }
    }
    if (which < mixture_.relaxed) {
      return noisy;
    }
    const double share = 0.4 + 0.2 * stream.uniform();
    const Places near = moved(conformer, kabsch(conformer, noisy));
    for (size_t i = 0; i < noisy.size(); ++i) {
      for (size_t d = 0; d < 3; ++d) {
        noisy[i][d] = share * near[i][d] + (1 - share) * noisy[i][d];
      }
    }
    return noisy;
  }

  static void align(Batch& batch) {
    const auto relaxed = batch.labels.find(relaxed_column);
    if (relaxed == batch.labels.end()) {
      return;
    }
    const auto& points = std::get<Points>(batch.input);
    const Tensor input = points.positions.unsqueeze(1);
    for (size_t b = 0; b + 1 < points.graphs.offsets.size(); ++b) {
      const int64_t begin = points.graphs.offsets[b], end = points.graphs.offsets[b + 1];
      const Places target = places_of(relaxed->second, 0, begin, end);
      if (!std::isnan(target[0][0])) {
        put(moved(target, kabsch(target, places_of(input, 0, begin, end))), relaxed->second, begin);
      }
    }
  }

  ConformerMixture mixture_;
};

/// The part of a set that a list names; null for an empty one. `nodes` is the mean number of atoms of the training split,
/// 0: this is it.
template <class Part, class... Options>
std::shared_ptr<const Dataset> listed(const std::shared_ptr<const Dataset>& all, std::vector<int64_t> samples,
                                      double& nodes, const std::vector<std::string>& without = {},
                                      const std::vector<std::string>& warnings = {},
                                      const Options&... options) {
  if (samples.empty()) {
    return nullptr;
  }
  Schema schema = all->schema();
  std::erase_if(schema.labels,
                [&](const Quantity& q) { return std::ranges::find(without, q.name) != without.end(); });
  if (nodes == 0) {
    for (const int64_t sample : samples) {
      nodes += static_cast<double>(all->tokens(sample)) / static_cast<double>(samples.size());
    }
  }
  schema.interface.typical_nodes = nodes;
  schema.warnings.insert(schema.warnings.end(), warnings.begin(), warnings.end());
  return std::make_shared<Part>(all, std::move(samples), std::move(schema), options...);
}

void require_folder(const std::string& path) {
  require<DataError>(std::filesystem::is_directory(path), path, ": there is no such folder");
}

}  // namespace

Schema declared_schema(const Molecule3dDataOptions& options) {
  return frames_schema(layout_of(options));
}

Schema declared_schema(const Pcqm4mv2DataOptions& options) {
  return frames_schema(layout_of(options));
}

Splits open_set(const Molecule3dDataOptions& o) {
  require_folder(o.path);
  const std::string lists_path = (std::filesystem::path(o.path) /
                                  text(names_of(o.split)[static_cast<size_t>(o.split)], "_split_inds.json"))
                                     .string();
  const SplitLists lists = read_split_lists(lists_path, {"train", "valid", "test"});
  const auto all = std::make_shared<StreamedFrames>(
      o.path, [path = o.path] { return open_molecule3d(path); }, layout_of(o), FrameCollector::Labels::needed,
      nullptr, how_read(o));
  const auto list = [&](const char* name, int64_t most) {
    return split_list(lists, name, most, all->size(), lists_path);
  };
  std::vector<std::vector<int64_t>> parts{list("train", o.train), list("valid", o.valid),
                                          list("test", o.test)};
  require_disjoint(parts, all->size(), lists_path);
  double nodes = 0;
  Splits splits;
  splits.train = listed<Subset>(all, std::move(parts[0]), nodes);
  splits.valid = listed<Subset>(all, std::move(parts[1]), nodes);
  splits.test = listed<Subset>(all, std::move(parts[2]), nodes);
  return splits;
}

Splits open_set(const Pcqm4mv2DataOptions& o) {
  require_folder(o.path);
  const Pcqm4mv2Files files(o.path, o.conformers);
  const auto all = std::make_shared<StreamedFrames>(
      o.path, [files] { return files.open(); }, layout_of(o), FrameCollector::Labels::needed, nullptr,
      how_read(o));
  const auto molecules = static_cast<int64_t>(files.gaps().size());
  std::vector<std::string> warnings;
  if (!files.has_geometries() && (o.mixture.relaxed > 0 || o.mixture.middle > 0)) {
    warnings.push_back(text(o.path,
                            ": data.pcqm4mv2.mixture has no effect, because there is no pcqm4m-v2-train.sdf, "
                            "whose geometries it takes"));
  }
  const auto list = [&](const char* name, int64_t most) {
    auto samples = split_list(files.splits(), name, most, molecules, files.splits_path());
    const auto ends = text("they end with molecule ", all->size() - 1);
    // Nobody who trains needs the conformers of the tests, which are the last rows of the published table.
    if (std::string_view(name) != "train" && most == 0 && !samples.empty() &&
        samples.front() >= all->size()) {
      warnings.push_back(
          text(o.path, ": the split ", name, " is left out, because there are no conformers of it: ", ends));
      samples.clear();
    }
    require<DataError>(samples.empty() || samples.back() < all->size(), o.path, ": the conformers of ", name,
                       " must all be there, ", ends);
    return samples;
  };
  std::vector<std::vector<int64_t>> parts{list("train", o.train), list("valid", o.valid),
                                          list("test-dev", o.test)};
  require_disjoint(parts, molecules, files.splits_path());
  // The table has no gaps of the tests as they were published.
  const bool answers = std::ranges::any_of(
      parts[2], [&](int64_t sample) { return !std::isnan(files.gaps()[static_cast<size_t>(sample)]); });
  const std::vector<std::string> measured{relaxed_column};
  const std::vector<std::string> asked = answers ? measured : std::vector<std::string>{relaxed_column, "gap"};
  double nodes = 0;
  const auto part = [&](std::vector<int64_t>& samples, const std::vector<std::string>& without) {
    return listed<ConformersPart>(all, std::move(samples), nodes, without, warnings, o.mixture);
  };
  Splits splits;
  splits.train = part(parts[0], {});
  splits.valid = part(parts[1], measured);
  splits.test = part(parts[2], asked);
  return splits;
}

}  // namespace weyl

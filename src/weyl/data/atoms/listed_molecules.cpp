// Molecule3D and PCQM4Mv2: molecules that stay on disk, with splits that are lists of indices.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/molecule3d.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/base/split_lists.h"

namespace weyl {
namespace {

/// Some molecules of a set whose label `conformers` has the places of each, with the labels of their schema alone. In training
/// a molecule is at one of its conformers, drawn with equal chances for each epoch; else at the first.
class ConformersPart : public Subset {
 public:
  using Subset::Subset;

  Batch batch(std::span<const int64_t> indices) const override {
    Batch batch = Subset::batch(indices);
    std::erase_if(batch.labels, [&](const auto& label) {
      return find_quantity(schema().labels, label.first) == nullptr;
    });
    return batch;
  }

  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> /*partners*/,
                  const Draw& draw) const override {
    Batch given = batch(indices);
    auto& points = std::get<Points>(given.input);
    const Tensor& all = given.labels.at(conformers_column);
    const int64_t count = all.size(1);
    const auto* from = all.const_data_ptr<double>();
    auto* to = points.positions.mutable_data_ptr<double>();
    for (size_t b = 0; b < indices.size(); ++b) {
      Stream stream(draw.seed, "conformer",
                    {static_cast<uint64_t>(draw.epoch), static_cast<uint64_t>(sample(indices[b]))});
      const int64_t drawn = stream.below(count);
      for (int64_t i = points.graphs.offsets[b]; i < points.graphs.offsets[b + 1]; ++i) {
        std::copy_n(from + 3 * (i * count + drawn), 3, to + 3 * i);
      }
    }
    return given;
  }
};

/// The part of a set that a list names; null for an empty one. `nodes` is the mean number of atoms of the training split,
/// 0: this is it.
template <class Part>
std::shared_ptr<const Dataset> listed(const std::shared_ptr<const Dataset>& all, std::vector<int64_t> samples,
                                      double& nodes, const std::vector<std::string>& without = {}) {
  if (samples.empty()) {
    return nullptr;
  }
  Schema schema = all->schema();
  std::erase_if(schema.labels, [&](const Quantity& q) { return std::ranges::find(without, q.name) != without.end(); });
  if (nodes == 0) {
    for (const int64_t sample : samples) {
      nodes += static_cast<double>(all->tokens(sample)) / static_cast<double>(samples.size());
    }
  }
  schema.interface.typical_nodes = nodes;
  return std::make_shared<Part>(all, std::move(samples), std::move(schema));
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
  const std::string lists_path =
      (std::filesystem::path(o.path) / text(names_of(o.split)[static_cast<size_t>(o.split)], "_split_inds.json")).string();
  const SplitLists lists = read_split_lists(lists_path);
  const auto all = std::make_shared<StreamedFrames>(
      o.path, [path = o.path] { return open_molecule3d(path); }, layout_of(o), FrameCollector::Labels::needed);
  const auto list = [&](const char* name, int64_t most) { return split_list(lists, name, most, all->size(), lists_path); };
  std::vector<std::vector<int64_t>> parts{list("train", o.train), list("valid", o.valid), list("test", o.test)};
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
      o.path, [files] { return files.open(); }, layout_of(o), FrameCollector::Labels::needed);
  const auto molecules = static_cast<int64_t>(files.gaps().size());
  const auto list = [&](const char* name, int64_t most) {
    auto samples = split_list(files.splits(), name, most, molecules, files.splits_path());
    if (!samples.empty() && samples.front() >= all->size()) {
      samples.clear();  // the conformers end before them
    }
    require<DataError>(samples.empty() || samples.back() < all->size(), o.path, ": the conformers of ", name,
                       " must all be there, they end with molecule ", all->size() - 1);
    return samples;
  };
  std::vector<std::vector<int64_t>> parts{list("train", o.train), list("valid", o.valid), list("test-dev", o.test)};
  require_disjoint(parts, molecules, files.splits_path());
  // The table has no gaps of the tests as they were published.
  const bool answers = std::ranges::any_of(
      parts[2], [&](int64_t sample) { return !std::isnan(files.gaps()[static_cast<size_t>(sample)]); });
  const std::vector<std::string> measured{relaxed_column};
  const std::vector<std::string> asked =
      answers ? measured : std::vector<std::string>{relaxed_column, "gap"};
  double nodes = 0;
  Splits splits;
  splits.train = listed<ConformersPart>(all, std::move(parts[0]), nodes);
  splits.valid = listed<ConformersPart>(all, std::move(parts[1]), nodes, measured);
  splits.test = listed<ConformersPart>(all, std::move(parts[2]), nodes, asked);
  return splits;
}

}  // namespace weyl

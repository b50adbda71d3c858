#include "weyl/app/new_config_data.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <vector>

#include "weyl/algebra/lattice/neighbours.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/sets/molecules.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// Neighbours of a few points of one graph, on average.
double neighbours_of(const Points& points, double radius) {
  const Tensor places = points.positions.to(at::kDouble).contiguous();
  const int64_t n = places.size(0), asked = std::min<int64_t>(n, 8);
  NeighbourSearch search{.positions = places.const_data_ptr<double>(), .atoms = n, .radius = radius};
  Tensor cell, periodic;
  if (points.cell.defined() && points.pbc.defined()) {
    cell = points.cell.to(at::kDouble).contiguous();
    periodic = points.pbc.contiguous();
    search.cell = cell.const_data_ptr<double>();
    std::copy_n(periodic.const_data_ptr<bool>(), 3, search.periodic.begin());
  }
  std::vector<int64_t> some, counts;
  for (int64_t s = 0; s < asked; ++s) {
    some.push_back(s * n / asked);
  }
  // A model takes no more of an atom: ops/edges/neighbour_limits.cpp.
  search.most_edges = 10'000 * static_cast<double>(n);
  if (count_neighbours(search, some, counts) != NeighbourFault::none) {
    return n == 0 ? 0 : expected_edges(search) / static_cast<double>(n);
  }
  const auto near = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  return asked == 0 ? 0 : near / static_cast<double>(asked);
}

}  // namespace

double mean_neighbours(const Dataset& data, double radius) {
  const int64_t graphs = std::min<int64_t>(data.size(), 16);
  double sum = 0;
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t index = g * data.size() / graphs;
    sum += neighbours_of(std::get<Points>(data.batch({&index, 1}).input), radius);
  }
  return graphs == 0 ? 0 : sum / static_cast<double>(graphs);
}

void count_samples(FoundData& found, const Splits& splits, const std::string& path) {
  require<DataError>(splits.train != nullptr && splits.train->size() > 0, path,
                     ": must have samples for training, got none");
  const Dataset& train = *splits.train;
  found.samples = train.size();
  found.dimension = train.schema().interface.dimension;
  double sum = 0;
  for (int64_t i = 0; i < train.size(); ++i) {
    sum += static_cast<double>(train.tokens(i));
    found.most_tokens = std::max(found.most_tokens, train.tokens(i));
  }
  found.mean_tokens = sum / static_cast<double>(train.size());
}

FoundData look_at_data(const std::string& path) {
  require<DataError>(fs::exists(path), path, ": there is no such file or folder");
  const bool in_splits = fs::is_directory(path) && !frames_of_split(path, "train").empty();
  if (in_splits || FrameFiles::takes(path, {})) {
    return look_at_frames(path);
  }
  if (PoseFiles::takes(path, {})) {
    return look_at_trajectory(path);
  }
  const bool folder = fs::is_directory(path);
  using Look = FoundData (*)(const std::string&);
  const Look of_files[] = {look_at_shape_file, look_at_clouds};
  // Clouds before digits, whose archives have the same names; trajectories before the images that lie beside them.
  const Look of_folders[] = {look_at_tensors, look_at_clouds, look_at_trajectories, look_at_grids};
  for (const Look look : folder ? std::span<const Look>(of_folders) : std::span<const Look>(of_files)) {
    if (FoundData found = look(path); !found.tasks.empty()) {
      return found;
    }
  }
  if (!folder) {
    refuse_file(path);
  }
  refuse_folder(path);
}

}  // namespace weyl

#include "weyl/data/atoms/molecular_graph.h"

#include <algorithm>

namespace weyl {

std::array<Quantity, 3> graph_features() {
  return {Quantity{.name = "degree", .level = Level::node, .channels = degree_channels},
          {.name = "bond", .level = Level::pair, .channels = bond_channels},
          {.name = "path", .level = Level::pair, .channels = path_channels}};
}

void append_graph(const AtomsFrame& frame, std::vector<double>& degrees, std::vector<double>& pairs) {
  const auto n = static_cast<size_t>(frame.size());
  constexpr auto width = static_cast<size_t>(bond_channels + path_channels);
  std::vector<std::vector<size_t>> bonded(n);
  const size_t first = pairs.size();
  pairs.resize(first + n * n * width, 0);
  const auto row = [&](size_t i, size_t j) {
    return pairs.begin() + static_cast<ptrdiff_t>(first + (i * n + j) * width);
  };
  for (const Bond& bond : frame.bonds) {
    const auto i = static_cast<size_t>(bond.first), j = static_cast<size_t>(bond.second);
    bonded[i].push_back(j);
    bonded[j].push_back(i);
    const int kind = bond.order >= 1 && bond.order <= 4 ? bond.order - 1 : 4;
    row(i, j)[kind] = row(j, i)[kind] = 1;
  }
  for (size_t i = 0; i < n; ++i) {
    const size_t begin = degrees.size();
    degrees.resize(begin + degree_channels, 0);
    degrees[begin + std::min<size_t>(bonded[i].size(), degree_channels - 1)] = 1;
    // Breadth first: `reached` atoms of one distance follow those of the distance before.
    std::vector<int64_t> distance(n, -1);
    std::vector<size_t> reached{i};
    distance[i] = 0;
    for (size_t at = 0; at < reached.size(); ++at) {
      for (const size_t j : bonded[reached[at]]) {
        if (distance[j] < 0) {
          distance[j] = distance[reached[at]] + 1;
          reached.push_back(j);
          row(i, j)[bond_channels + std::min(distance[j], path_channels) - 1] = 1;
        }
      }
    }
  }
}

}  // namespace weyl

#include "weyl/study/random_molecules.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/random_tensor.h"
#include "weyl/study/random_tokens.h"

namespace weyl {
namespace {

constexpr double volume_of_atom = 10, least_distance = 0.9;  // Angstrom^3, Angstrom

/// Writes the places of one molecule (nodes, 3), uniform in a ball, drawn again where too near to another.
void place_atoms(double* x, int64_t nodes, Stream& stream) {
  const double radius = std::cbrt(volume_of_atom * static_cast<double>(nodes) * 3 / (4 * std::numbers::pi));
  for (int64_t i = 0; i < nodes;) {
    double* own = x + 3 * i;
    double square = 0;
    for (int64_t a = 0; a < 3; ++a) {
      own[a] = radius * (2 * stream.uniform() - 1);
      square += own[a] * own[a];
    }
    bool free = square < radius * radius;
    for (int64_t j = 0; j < i && free; ++j) {
      const double* other = x + 3 * j;
      const double apart = std::hypot(own[0] - other[0], own[1] - other[1], own[2] - other[2]);
      free = apart >= least_distance;
    }
    i += free ? 1 : 0;
  }
}

/// The types of organic molecules; none where the schema does not name its elements.
std::vector<int64_t> organic_types(const Interface& interface) {
  std::vector<int64_t> found;
  for (const std::string_view symbol : {"H", "C", "N", "O"}) {
    const auto at = std::find(interface.elements.begin(), interface.elements.end(), symbol);
    if (at != interface.elements.end()) {
      found.push_back(at - interface.elements.begin());
    }
  }
  return found;
}

}  // namespace

bool learns_a_potential(const Task& task, const Schema& schema) {
  const std::vector<Quantity> labels = task.labels();
  return schema.carrier() == Carrier::points && schema.interface.dimension == 3 && !labels.empty() &&
         std::ranges::all_of(labels, [](const Quantity& q) {
           return q.name == "energy" || q.name == "forces" || q.name == "stress";
         });
}

std::shared_ptr<const Dataset> random_molecules(Schema schema, int64_t graphs, int64_t nodes, uint64_t seed) {
  require<ConfigError>(schema.carrier() == Carrier::points && schema.interface.dimension == 3,
                       "random molecules: must be points in three dimensions, got ",
                       name_of(schema.carrier()), " in ", schema.interface.dimension);
  Batch batch = random_tokens(schema, graphs, nodes, seed);
  auto& points = std::get<Points>(batch.input);
  Stream places(seed, "random molecules: positions");
  for (int64_t g = 0; g < graphs; ++g) {
    place_atoms(points.positions.data_ptr<double>() + 3 * nodes * g, nodes, places);
  }
  Stream types(seed, "random molecules: types");
  const std::vector<int64_t> organic = organic_types(schema.interface);
  for (int64_t i = 0; i < points.nodes() && !organic.empty(); ++i) {
    points.types.data_ptr<int64_t>()[i] = organic[types.below(static_cast<int64_t>(organic.size()))];
  }
  Stream labels(seed, "random molecules: labels");
  schema.labels = {{.name = "energy", .level = Level::graph, .extensive = true},
                   {.name = "forces", .kind = Kind::vector}};
  batch.labels = {{"energy", normal_tensor({graphs, 1}, labels)},
                  {"forces", normal_tensor({points.nodes(), 1, 3}, labels)}};
  return std::make_shared<InMemory>(std::move(batch), std::move(schema));
}

}  // namespace weyl

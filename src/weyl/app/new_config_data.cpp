#include "weyl/app/new_config_data.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/data/files/formats.h"
#include "weyl/data/sets/molecules.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

using Vector = std::array<double, 3>;

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The translations that bring images of a cell within `radius`; of no cell none but zero.
std::vector<Vector> periodic_images(const std::array<Vector, 3>& cell, const std::array<bool, 3>& periodic,
                                    double radius) {
  const double volume = std::abs(dot(cell[0], cross(cell[1], cell[2])));
  std::array<int64_t, 3> most{0, 0, 0};
  for (size_t k = 0; k < 3; ++k) {
    if (periodic[k] && volume > 0) {
      const Vector area = cross(cell[(k + 1) % 3], cell[(k + 2) % 3]);
      const double height = volume / std::sqrt(dot(area, area));
      most[k] = std::min<int64_t>(20, static_cast<int64_t>(std::ceil(radius / height)) + 1);
    }
  }
  std::vector<Vector> images;
  for (int64_t a = -most[0]; a <= most[0]; ++a) {
    for (int64_t b = -most[1]; b <= most[1]; ++b) {
      for (int64_t c = -most[2]; c <= most[2]; ++c) {
        Vector image{};
        for (size_t d = 0; d < 3; ++d) {
          image[d] = static_cast<double>(a) * cell[0][d] + static_cast<double>(b) * cell[1][d] +
                     static_cast<double>(c) * cell[2][d];
        }
        images.push_back(image);
      }
    }
  }
  return images;
}

/// Neighbours of the first few points of one graph of positions (n, 3), on average.
double neighbours_of(const Points& points, double radius) {
  const Tensor places = points.positions.to(at::kDouble).contiguous();
  const int64_t n = places.size(0), asked = std::min<int64_t>(n, 8);
  const double* x = places.const_data_ptr<double>();
  std::array<Vector, 3> cell{};
  std::array<bool, 3> periodic{false, false, false};
  if (points.cell.defined() && points.pbc.defined()) {
    const Tensor lattice = points.cell.to(at::kDouble).contiguous(), turns = points.pbc.contiguous();
    for (size_t k = 0; k < 3; ++k) {
      periodic[k] = turns.const_data_ptr<bool>()[k];
      for (size_t d = 0; d < 3; ++d) {
        cell[k][d] = lattice.const_data_ptr<double>()[3 * k + d];
      }
    }
  }
  int64_t near = 0;
  for (const Vector& image : periodic_images(cell, periodic, radius)) {
    const bool itself = dot(image, image) == 0;
    for (int64_t s = 0; s < asked; ++s) {
      const int64_t i = s * n / asked;
      for (int64_t j = 0; j < n; ++j) {
        double square = 0;
        for (size_t d = 0; d < 3; ++d) {
          square +=
              std::pow(x[3 * j + static_cast<int64_t>(d)] + image[d] - x[3 * i + static_cast<int64_t>(d)], 2);
        }
        near += square < radius * radius && !(itself && i == j) ? 1 : 0;
      }
    }
  }
  return asked == 0 ? 0 : static_cast<double>(near) / static_cast<double>(asked);
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

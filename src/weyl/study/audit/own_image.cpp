#include "weyl/study/audit/own_image.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "weyl/carriers/layout.h"

namespace weyl {
namespace {

constexpr double equal_to = 1e-5;  // of the largest number of its kind

bool claims(const Symmetry& symmetry, Claim::Of of) {
  return std::ranges::any_of(symmetry.exact, [of](const Claim& claim) { return claim.of == of; });
}

/// The tensors of one sample by what their rows belong to.
struct Parts {
  std::vector<Tensor> of_nodes, of_pairs, of_sample;
};

Parts parts_of(const Input& input) {
  Parts parts;
  if (const auto* grid = std::get_if<Grid>(&input)) {
    parts.of_sample = {grid->values};
  } else if (const auto* poses = std::get_if<Poses>(&input)) {
    parts.of_nodes = {poses->elements, poses->scalars};
  } else {
    const auto& points = std::get<Points>(input);
    each_tensor(points, [&](const PointsTensor& t, const Tensor& x) {
      (t.level == Level::node ? parts.of_nodes : (t.level == Level::pair ? parts.of_pairs : parts.of_sample))
          .push_back(x);
    });
    if (points.objects.count() > 0) {  // nodes change places within their object
      parts.of_nodes.push_back(points.objects.index);
    }
  }
  return parts;
}

Tensor wide_rows(const Tensor& x) {
  return x.to(at::kCPU, at::kDouble).reshape({x.size(0), -1});
}

/// The tensors of a sample and of its image as numbers of which those that differ by 1 at most are equal. Of many rows it is
/// their extent that counts, not how far from the origin they are, but for what float64 rounds there.
std::pair<Tensor, Tensor> comparable(const Tensor& a, const Tensor& b) {
  constexpr double rounded_to = 0x1p-40;
  const Tensor x = wide_rows(a), y = wide_rows(b);
  const auto largest = [&](const Tensor& origin) {
    return std::max((x - origin).abs().max().item<double>(), (y - origin).abs().max().item<double>());
  };
  const double size = largest(at::zeros({}, x.options())),
               extent = x.size(0) > 1 ? largest(x.mean(0, true)) : size;
  const double unit = size > 0 ? std::max(equal_to * extent, rounded_to * size) : 1;
  return {x / unit, y / unit};
}

bool equal_numbers(const Tensor& a, const Tensor& b) {
  if (!a.defined() || a.numel() == 0) {
    return true;
  }
  const auto [x, y] = comparable(a, b);
  return (x - y).abs().max().item<double>() <= 1;
}

/// For each row of the image the row of the sample with the same numbers, each used once; nothing where there is none.
std::optional<Tensor> order_of(const Parts& sample, const Parts& image) {
  std::vector<Tensor> a, b;
  for (size_t i = 0; i < sample.of_nodes.size(); ++i) {
    if (sample.of_nodes[i].defined() && sample.of_nodes[i].numel() > 0) {
      const auto [own, other] = comparable(sample.of_nodes[i], image.of_nodes[i]);
      a.push_back(own);
      b.push_back(other);
    }
  }
  if (a.empty()) {
    return at::empty({0}, at::kLong);
  }
  const Tensor x = at::cat(a, 1).contiguous(), y = at::cat(b, 1).contiguous();
  const int64_t rows = x.size(0), width = x.size(1);
  const auto *px = x.const_data_ptr<double>(), *py = y.const_data_ptr<double>();
  Tensor order = at::empty({rows}, at::kLong);
  std::vector<bool> used(static_cast<size_t>(rows), false);
  for (int64_t i = 0; i < rows; ++i) {
    int64_t k = 0;
    const auto same = [&](int64_t row) {
      return std::equal(py + i * width, py + (i + 1) * width, px + row * width,
                        [](double one, double other) { return std::abs(one - other) <= 1; });
    };
    while (k < rows && (used[static_cast<size_t>(k)] || !same(k))) {
      ++k;
    }
    if (k == rows) {
      return std::nullopt;
    }
    used[static_cast<size_t>(k)] = true;
    order.data_ptr<int64_t>()[i] = k;
  }
  return order;
}

/// Whether one sample and an image are the same numbers, up to the order of nodes where `permuted`.
bool are_equal(const Batch& sample, const Batch& image, bool permuted) {
  const Parts a = parts_of(sample.input), b = parts_of(image.input);
  for (size_t i = 0; i < a.of_sample.size(); ++i) {
    if (!equal_numbers(a.of_sample[i], b.of_sample[i])) {
      return false;
    }
  }
  if (a.of_nodes.empty()) {
    return true;
  }
  std::optional<Tensor> order;
  if (permuted) {
    order = order_of(a, b);
    if (!order) {
      return false;
    }
  } else {
    for (size_t i = 0; i < a.of_nodes.size(); ++i) {
      if (!equal_numbers(a.of_nodes[i], b.of_nodes[i])) {
        return false;
      }
    }
  }
  for (size_t i = 0; i < a.of_pairs.size(); ++i) {
    if (a.of_pairs[i].defined()) {
      const int64_t n = sample.tokens();
      const Tensor rows =
          order ? (order->unsqueeze(1) * n + order->unsqueeze(0)).flatten() : at::arange(n * n, at::kLong);
      if (!equal_numbers(at::index_select(a.of_pairs[i].cpu(), 0, rows), b.of_pairs[i])) {
        return false;
      }
    }
  }
  return true;
}

/// Arrows (A, n, D) of the nodes of one sample: positions, and each vector feature.
Tensor arrows_of(const Points& points) {
  std::vector<Tensor> arrows;
  if (points.placed) {
    arrows.push_back(points.positions.to(at::kCPU, at::kDouble).unsqueeze(0));
  }
  if (points.vectors.defined()) {
    arrows.push_back(points.vectors.to(at::kCPU, at::kDouble).transpose(0, 1));
  }
  return arrows.empty() ? Tensor() : at::cat(arrows, 0);
}

/// The proper orthonormal frame (D, D), rows, that begins with `a` and, in space, goes on in the plane of `a` and `b`.
Tensor frame_of(const Tensor& a, const Tensor& b) {
  const Tensor x = a / a.norm();
  if (a.size(0) == 2) {
    return at::stack({x, at::stack({-x[1], x[0]})});
  }
  const Tensor normal = at::linalg_cross(x, b), z = normal / normal.norm();
  return at::stack({x, at::linalg_cross(z, x), z});
}

/// Some arrow across `a`, in space.
Tensor across(const Tensor& a) {
  return at::eye(3, a.options())[a.abs().argmin().item<int64_t>()];
}

/// Calls `fits` with the rotations (D, D) that bring the longest arrow of a sample, and the one farthest off its line, to
/// arrows of the image that are alike, until it returns true.
template <class F>
bool any_alignment(const Points& sample, const Points& image, const F& fits) {
  const Tensor from = arrows_of(sample), to = arrows_of(image);
  if (!from.defined() || from.numel() == 0 || sample.dimension() == 1) {
    return false;
  }
  const int64_t D = from.size(2), nodes = from.size(1);
  const Tensor lengths = from.norm(2, 2).flatten();
  const int64_t first = lengths.argmax().item<int64_t>();
  const double longest = lengths[first].item<double>(), near = equal_to * longest;
  if (longest == 0) {
    return false;
  }
  const Tensor a = from.view({-1, D})[first];
  Tensor off;  // distance of each arrow's head from the line of the first
  if (D == 3) {
    off = at::linalg_cross(from.view({-1, 3}), (a / longest).expand({from.size(0) * nodes, 3})).norm(2, 1);
  }
  const bool line = D == 2 || off.max().item<double>() <= near;
  const int64_t second = line ? first : off.argmax().item<int64_t>();
  const Tensor b = from.view({-1, D})[second];
  const Tensor own = frame_of(a, D == 3 && line ? across(a) : b);
  const Tensor heads = to[first / nodes], others = to[second / nodes];
  const Tensor alike = ((heads.norm(2, 1) - longest).abs() <= near).nonzero().flatten();
  for (int64_t i = 0; i < alike.size(0); ++i) {
    const Tensor c = heads[alike[i].item<int64_t>()];
    if (line) {
      if (fits(at::matmul(frame_of(c, D == 3 ? across(c) : c).t(), own))) {
        return true;
      }
      continue;
    }
    const Tensor same = (at::matmul(others, c) - (a * b).sum()).abs() <= near * longest;
    const Tensor pairs = same.logical_and((others.norm(2, 1) - b.norm()).abs() <= near).nonzero().flatten();
    for (int64_t k = 0; k < pairs.size(0); ++k) {
      if (fits(at::matmul(frame_of(c, others[pairs[k].item<int64_t>()]).t(), own))) {
        return true;
      }
    }
  }
  return false;
}

/// The same for one sample.
bool is_own_image(const Batch& sample, const Batch& image, const Symmetry& symmetry, const Schema& schema) {
  const bool permuted = claims(symmetry, Claim::Of::permutations);
  if (are_equal(sample, image, permuted)) {
    return true;
  }
  const auto fits = [&](const Motions& motions) {
    return are_equal(transform(sample, motions, schema), image, permuted);
  };
  for (const Claim& claim : symmetry.exact) {
    if (claim.of != Claim::Of::finite) {
      continue;
    }
    const int64_t D = claim.finite->dimension();
    for (int64_t g = 0; g < claim.finite->order(); ++g) {
      const auto element = claim.finite->element(g);
      const Tensor linear = at::empty({1, D, D}, at::kDouble);
      std::copy(element.begin(), element.end(), linear.data_ptr<double>());
      if (fits({linear, {}})) {
        return true;
      }
    }
  }
  const auto* points = std::get_if<Points>(&sample.input);
  if (points != nullptr &&
      (claims(symmetry, Claim::Of::rotations) || claims(symmetry, Claim::Of::rotoreflections))) {
    return any_alignment(*points, std::get<Points>(image.input),
                         [&](const Tensor& turn) { return fits({turn.unsqueeze(0), {}}); });
  }
  return false;
}

}  // namespace

bool are_own_images(const Batch& samples, const Batch& moved, const Symmetry& symmetry,
                    const Schema& schema) {
  for (int64_t b = 0; b < samples.count(); ++b) {
    if (!is_own_image(take(samples, {&b, 1}, schema), take(moved, {&b, 1}, schema), symmetry, schema)) {
      return false;
    }
  }
  return true;
}

}  // namespace weyl

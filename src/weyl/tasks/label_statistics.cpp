#include "weyl/tasks/label_statistics.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/linalg_pinv.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <string>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/core/units.h"

namespace weyl {

Tensor saved_numbers(const NamedTensors& state, const char* task, const char* name,
                     std::initializer_list<int64_t> shape) {
  std::string wanted;
  for (const int64_t n : shape) {
    wanted += (wanted.empty() ? "" : ", ") + (n < 0 ? "any" : std::to_string(n));
  }
  const auto found = state.find(name);
  const Tensor x = found == state.end() ? Tensor() : found->second;
  const bool fits =
      x.defined() && x.is_floating_point() && x.numel() > 0 &&
      std::ranges::equal(x.sizes(), shape, [](int64_t n, int64_t m) { return m < 0 || n == m; });
  require<DataError>(fits, "task ", task, ": state must hold the numbers '", name, "' of shape (", wanted,
                     "), got ", x.defined() ? text(x.scalar_type(), " ", x.sizes()) : "none");
  const Tensor numbers = x.to(at::kCPU, at::kDouble);
  require<DataError>(at::isfinite(numbers).all().item<bool>(), "task ", task, ": '", name,
                     "' must be finite");
  return numbers;
}

namespace {

// Squares of singular values of the compositions below this share of the largest are rounding.
constexpr double kDependent = 1e-12;

}  // namespace

Tensor composition_of(const Input& input, int64_t types) {
  const auto* points = std::get_if<Points>(&input);
  if (std::holds_alternative<Grid>(input)) {
    const auto& values = std::get<Grid>(input).values;
    return at::ones({values.size(0), 1}, values.options().dtype(at::kDouble));
  }
  const Segments& graphs = graphs_of(input);
  if (points == nullptr || types == 0) {
    Tensor sizes = at::empty({graphs.count(), 1}, at::kDouble);
    for (int64_t g = 0; g < graphs.count(); ++g) {
      sizes.mutable_data_ptr<double>()[g] = static_cast<double>(graphs.size(g));
    }
    return to_device(sizes, graphs.index.device());
  }
  require(points->types.defined(), "references: the input has no types");
  const Tensor cell = graphs.index * types + points->types;
  return at::zeros({graphs.count() * types}, cell.options().dtype(at::kDouble))
      .index_add_(0, cell, at::ones_like(cell, cell.options().dtype(at::kDouble)))
      .view({graphs.count(), types});
}

double unit_factor_of(const std::string& output, const Interface& from, const Interface& to) {
  const std::string a = unit_of(from.outputs, output), b = unit_of(to.outputs, output);
  return a == b || a.empty() || b.empty() ? 1 : unit_factor(a, b);
}

Tensor for_types(const Tensor& references, int64_t types) {
  std::vector<int64_t> shape = references.sizes().vec();
  const int64_t known = shape.back();
  require(types >= known, "references: there must be ", known, " types at least, got ", types);
  shape.back() = types - known;
  return types == known ? references.clone()
                        : at::cat({references, at::zeros(shape, references.options())}, -1);
}

void require_seen(const char* task, const Tensor& composition, const Tensor& seen,
                  const std::vector<std::string>& elements) {
  require(composition.size(1) == seen.size(0), task, ": the state is of ", seen.size(0),
          " types, the model of ", composition.size(1));
  const Tensor unseen = (composition.sum(0) > 0) & (seen.to(composition.device()) == 0);
  if (unseen.any().item<bool>()) {
    const int64_t type = unseen.nonzero()[0].item<int64_t>();
    const bool named = static_cast<size_t>(type) < elements.size();
    throw ShapeError(text(task, ": a node is of type ", type,
                          named ? text(" (", elements[static_cast<size_t>(type)], ")") : std::string(),
                          ", of which the training data had none"));
  }
}

Tensor trained_counts(const std::vector<bool>& trained, int64_t types) {
  Tensor counts = at::ones({types}, at::kDouble);
  for (int64_t t = 0; std::ssize(trained) == types && t < types; ++t) {
    counts.mutable_data_ptr<double>()[t] = trained[static_cast<size_t>(t)] ? 1 : 0;
  }
  return counts;
}

ReferenceFit::ReferenceFit(Reference reference, int64_t types)
    : reference_(reference), types_(std::max<int64_t>(types, 1)) {
  const int64_t columns = reference == Reference::mean ? 1 : types_;
  gram_ = at::zeros({columns, columns}, at::kDouble);
  moment_ = at::zeros({columns}, at::kDouble);
}

void ReferenceFit::add(const Tensor& composition, const Tensor& values) {
  require(composition.dim() == 2 && composition.size(1) == types_ && values.dim() == 1 &&
              values.size(0) == composition.size(0),
          "references: need compositions (B, ", types_, ") and values (B), got ", composition.sizes(),
          " and ", values.sizes());
  const Tensor known = at::isnan(values).logical_not().nonzero().squeeze(1);
  Tensor c = composition.index_select(0, known);
  const Tensor y = values.index_select(0, known);
  if (reference_ == Reference::mean) {
    c = c.sum(1, true);
  }
  gram_ += at::matmul(c.t(), c);
  moment_ += at::matmul(c.t(), y);
}

void ReferenceFit::hold(const std::map<int64_t, double>& values) {
  require(reference_ == Reference::elements, "references: one number for all types cannot be held");
  for (const auto& [type, value] : values) {
    require(type >= 0 && type < types_, "references: type ", type, " is not one of 0 .. ", types_ - 1);
  }
  held_ = values;
}

Tensor ReferenceFit::solution() const {
  const auto least_squares = [](const Tensor& gram, const Tensor& moment) {
    return at::matmul(at::linalg_pinv(gram, 0.0, kDependent, /*hermitian=*/true), moment);
  };
  if (held_.empty()) {
    const Tensor e = least_squares(gram_, moment_);
    return reference_ == Reference::mean ? e.expand({types_}).clone() : e;
  }
  Tensor e = at::zeros({types_}, at::kDouble), fitted = at::ones({types_}, at::kBool);
  for (const auto& [type, value] : held_) {
    e.mutable_data_ptr<double>()[type] = value;
    fitted.mutable_data_ptr<bool>()[type] = false;
  }
  const Tensor free = fitted.nonzero().squeeze(1);
  if (free.numel() > 0) {
    const Tensor left = moment_ - at::matmul(gram_, e);
    e.index_copy_(
        0, free,
        least_squares(gram_.index_select(0, free).index_select(1, free), left.index_select(0, free)));
  }
  return e;
}

}  // namespace weyl

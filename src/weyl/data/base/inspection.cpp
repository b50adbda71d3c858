#include "weyl/data/base/inspection.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/full.h>
#include <ATen/ops/where.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/data/base/coincident.h"
#include "weyl/data/base/sample_checks.h"

namespace weyl {
namespace {

constexpr int64_t kChunk = 512;  // samples at a time

void add_columns(Summaries& to, const Tensor& tensor, const std::vector<Columns>& columns) {
  for (const auto& c : columns) {
    to.add(c.quantity->name, c.quantity->unit, tensor.slice(1, c.begin, c.end));
  }
}

void add_tensor(Summaries& to, const PointsTensor& of, const Tensor& tensor, const Interface& interface) {
  using Holds = PointsTensor::Holds;
  switch (of.holds) {
    case Holds::positions:
    case Holds::cell:
      to.add(std::string(of.name), interface.length_unit, tensor);
      break;
    case Holds::types:
    case Holds::pbc:
      to.add(std::string(of.name), "", tensor);
      break;
    case Holds::scalars:
    case Holds::pairs:
      add_columns(to, tensor, scalar_columns(interface, of.level));
      break;
    case Holds::vectors:
      add_columns(to, tensor, vector_columns(interface, of.level));
      break;
    case Holds::multivectors:
      add_columns(to, tensor, multivector_columns(interface, of.level));
      break;
    case Holds::input:
      to.add(std::string(of.name), unit_of(interface.features, of.name), tensor);
      break;
  }
}

void add_inputs(Summaries& to, const Input& input, const Schema& schema) {
  const Interface& interface = schema.interface;
  if (const auto* p = std::get_if<Points>(&input)) {
    each_tensor(*p,
                [&](const PointsTensor& of, const Tensor& tensor) { add_tensor(to, of, tensor, interface); });
  } else if (const auto* p = std::get_if<Poses>(&input)) {
    to.add("elements", "", p->elements);
    if (const int64_t n = dimension_of(p->group); matrix_size(p->group) > n && p->elements.size(1) > n) {
      to.add("translations", schema.interface.length_unit, p->elements.slice(1, 0, n).select(2, n));
    }
    add_columns(to, p->scalars, scalar_columns(interface, Level::node));
  } else {
    to.add("values", "", std::get<Grid>(input).values);
  }
}

/// Counts samples of one kind and remembers the first.
struct Count {
  int64_t count = 0, first = -1;
  void add(int64_t sample) {
    if (count++ == 0) {
      first = sample;
    }
  }
  void warn(std::vector<std::string>& warnings, const char* what) const {
    if (count > 0) {
      warnings.push_back(
          text(count, count == 1 ? " sample " : " samples ", what, ", the first is sample ", first));
    }
  }
};

struct Suspects {
  Count empty, coincident_nodes, flat;

  void look(const Input& input, int64_t first_sample) {
    if (std::holds_alternative<Grid>(input)) {
      return;
    }
    const auto& graphs = graphs_of(input);
    for (int64_t g = 0; g < graphs.count(); ++g) {
      if (graphs.size(g) == 0) {
        empty.add(first_sample + g);
      }
    }
    const auto* points = std::get_if<Points>(&input);
    if (points == nullptr) {
      return;
    }
    const Tensor x = points->positions.to(at::kDouble).contiguous();
    const int64_t dimension = points->dimension();
    for (int64_t g = 0; g < graphs.count(); ++g) {
      const double* begin = x.const_data_ptr<double>() + graphs.offsets[g] * dimension;
      if (points->placed &&
          has_coincident({begin, static_cast<size_t>(graphs.size(g) * dimension)}, dimension)) {
        coincident_nodes.add(first_sample + g);
      }
    }
    if (points->cell.defined() && points->pbc.defined()) {
      const Tensor volume = cell_volumes(*points);
      const Tensor periodic = points->pbc.all(1);
      for (int64_t g = 0; g < graphs.count(); ++g) {
        if (periodic[g].item<bool>() && volume[g].item<double>() < 1e-12) {
          flat.add(first_sample + g);
        }
      }
    }
  }
};

/// Adds the samples of one more chunk.
void look_at_group(GroupSummary& to, const Poses& poses) {
  to.group = poses.group;
  const Tensor off = distances_to_group(poses.group, poses.elements);
  for (int64_t g = 0; g < poses.count(); ++g) {
    const int64_t begin = poses.graphs.offsets[g], end = poses.graphs.offsets[g + 1];
    double worst = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double distance = off.const_data_ptr<double>()[i];
      to.off += distance > kOffGroup ? 1 : 0;
      worst = std::max(worst, distance);
    }
    to.residual = std::max(to.residual, worst);
    if (std::isfinite(worst)) {
      const double margin = least_chart_margin(poses.group, poses.elements.slice(0, begin, end));
      to.least_margin = std::min(to.least_margin, margin);
      to.outside += margin > 0 ? 0 : 1;
    }
  }
}

bool is_too_large(const Dataset& data, int64_t sample) {
  const Interface& interface = data.schema().interface;
  return interface.grid && !interface.features.empty() &&
         data.tokens(sample) > most_inspected / std::max<int64_t>(interface.features[0].channels, 1);
}

/// What the header of a grid says of its values and labels.
void add_shapes(Summaries& fields, Summaries& labels, const Dataset& data, int64_t sample) {
  std::vector<int64_t> shape{1, data.schema().interface.features[0].channels};
  const Lattice lattice = data.lattice(sample);
  shape.insert(shape.end(), lattice.cells.begin(), lattice.cells.end());
  fields.add_unread("values", "", shape);
  shape[1] = 1;
  for (const Quantity& q : data.schema().labels) {
    labels.add_unread(q.name, q.unit, shape);
  }
}

void look_at_axes(std::optional<VolumeSummary>& to, const Dataset& data, int64_t sample) {
  const std::string axes = data.axes(sample);
  if (axes.empty()) {
    return;
  }
  if (!to) {
    to.emplace();
    to->unit = data.schema().interface.length_unit;
  }
  ++to->axes[axes];
  const auto [cells, spacing] = data.lattice(sample);
  std::string name = case_name(data, sample);
  to->each.push_back(
      {name.empty() ? sample_name(data, sample) : std::move(name), cells, spacing, axes, {}, {}});
  to->channels = data.schema().channel_names;
  if (const auto names = data.schema().category_names.find("mask");
      names != data.schema().category_names.end()) {
    to->classes = names->second;
  }
  if (const auto* numbered = dynamic_cast<const NumberedClasses*>(&data)) {
    to->numbers = numbered->class_numbers();
  }
  for (size_t d = 0; d < 3; ++d) {
    to->least_spacing[d] = std::min(to->least_spacing[d], spacing[d]);
    to->most_spacing[d] = std::max(to->most_spacing[d], spacing[d]);
  }
}

/// Raw values of each channel and cells of each class of a volume that was read alone.
void look_at_values(VolumeSummary::Volume& to, const Batch& batch, const Schema& schema) {
  const Tensor values = std::get<Grid>(batch.input).values[0];
  for (int64_t c = 0; c < values.size(0); ++c) {
    to.values.push_back({values[c].min().item<double>(), values[c].max().item<double>()});
  }
  const Quantity* label = find_quantity(schema.labels, "mask");
  if (const auto mask = batch.labels.find("mask"); label != nullptr && mask != batch.labels.end()) {
    const Tensor cells = mask->second.flatten(), labelled = cells.masked_select(cells.ge(0));
    const Tensor counts = at::bincount(labelled, {}, label->categories).contiguous();
    to.class_cells.assign(counts.const_data_ptr<int64_t>(),
                          counts.const_data_ptr<int64_t>() + counts.size(0));
  }
}

void warn(std::vector<std::string>& warnings, const GroupSummary& found) {
  const std::string name(name_of(found.group));
  if (found.off > 0) {
    warnings.push_back(text("elements: ", found.off, found.off == 1 ? " matrix is" : " matrices are", " off ",
                            name, " by more than ", kOffGroup, ", the worst by ", found.residual));
  }
  if (found.outside > 0) {
    warnings.push_back(text("elements: ", found.outside, found.outside == 1 ? " sample has" : " samples have",
                            " relative poses outside the chart of the logarithm of ", name));
  }
}

}  // namespace

Inspection inspect(const Dataset& data, const std::string& split, Duplicates* seen) {
  const Schema& schema = data.schema();
  SampleChecks checks(data, split, schema.labels, seen);
  Inspection result;
  result.carrier = schema.carrier();
  result.samples = data.size();
  Summaries fields, labels;
  Suspects suspects;
  Count unread;
  int64_t tokens = 0;
  // Samples that are files of their own may be large, and of different sizes.
  const int64_t chunk = data.size() > 0 && !data.source(0).empty() ? 1 : kChunk;
  for (int64_t begin = 0; begin < data.size(); begin += chunk) {
    std::vector<int64_t> samples(std::min(chunk, data.size() - begin));
    std::iota(samples.begin(), samples.end(), begin);
    for (const int64_t s : samples) {
      const int64_t n = data.tokens(s);
      result.least_tokens = s == 0 ? n : std::min(result.least_tokens, n);
      result.most_tokens = std::max(result.most_tokens, n);
      tokens += n;
      look_at_axes(result.volumes, data, s);
    }
    if (chunk == 1 && is_too_large(data, begin)) {
      unread.add(begin);
      add_shapes(fields, labels, data, begin);
      checks.skip();
      continue;
    }
    const Batch batch = data.batch(samples);
    add_inputs(fields, batch.input, schema);
    for (const auto& q : schema.labels) {
      labels.add(q.name, q.unit, batch.labels.at(q.name));
    }
    suspects.look(batch.input, begin);
    checks.add(batch);
    if (chunk == 1 && result.volumes) {
      look_at_values(result.volumes->each.back(), batch, schema);
    }
    if (const auto* poses = std::get_if<Poses>(&batch.input)) {
      if (!result.group) {
        result.group = GroupSummary{poses->group, data.mended(), data.mended() > 0, 0, INFINITY, 0};
      }
      look_at_group(*result.group, *poses);
    }
  }
  result.mean_tokens = data.size() > 0 ? static_cast<double>(tokens) / static_cast<double>(data.size()) : 0;
  result.fields = fields.done();
  result.labels = labels.done();
  result.warnings = data.schema().warnings;
  if (data.size() == 0) {
    result.warnings.emplace_back("there are no samples");
  }
  for (const auto& f : result.fields) {
    if (f.missing > 0) {
      result.warnings.push_back(text(f.name, ": ", f.missing, " values are not finite"));
    }
  }
  for (const auto& f : result.labels) {
    const int64_t all = std::accumulate(f.shape.begin(), f.shape.end(), int64_t{1}, std::multiplies<>());
    if (f.missing > 0) {
      result.warnings.push_back(text("label ", f.name, ": ", f.missing, " of ", all, " values are missing"));
    }
    if (all - f.missing > 1 && f.min == f.max) {
      result.warnings.push_back(text("label ", f.name, ": is constant, ", f.min));
    }
  }
  if (result.group) {
    warn(result.warnings, *result.group);
  }
  unread.warn(result.warnings,
              text("of more than ", most_inspected, " values, known by the header alone").c_str());
  suspects.empty.warn(result.warnings, "without nodes");
  suspects.coincident_nodes.warn(result.warnings, "with two nodes at one place");
  suspects.flat.warn(result.warnings, "with a periodic cell without volume");
  std::ranges::move(checks.lines(), std::back_inserter(result.warnings));
  if (!split.empty() && data.size() == 1) {
    result.warnings.push_back(warning_about_size(split, data.size(), "sample"));
  }
  return result;
}

bool VolumeSummary::differ() const {
  return std::ranges::any_of(each, [&](const Volume& v) {
    return v.cells != each[0].cells || !same_spacing(v.spacing, each[0].spacing) || v.axes != each[0].axes;
  });
}

void Summaries::add(const std::string& name, const std::string& unit, const Tensor& values) {
  if (!values.defined()) {
    return;
  }
  FieldSummary& found = grow(name, unit, values.sizes().vec());
  found.read = true;
  constexpr int64_t kPart = int64_t{1} << 22;  // values at a time: they are looked at as float64
  const Tensor flat = values.reshape({-1});
  for (int64_t begin = 0; begin < flat.numel(); begin += kPart) {
    const Tensor x = flat.slice(0, begin, std::min(begin + kPart, flat.numel())).to(at::kDouble);
    const Tensor finite = x.isfinite();
    found.missing += x.numel() - finite.sum().item<int64_t>();
    found.min =
        std::min(found.min, x.where(finite, at::full({}, INFINITY, at::kDouble)).min().item<double>());
    found.max =
        std::max(found.max, x.where(finite, at::full({}, -INFINITY, at::kDouble)).max().item<double>());
  }
}

void Summaries::add_unread(const std::string& name, const std::string& unit,
                           const std::vector<int64_t>& shape) {
  grow(name, unit, shape);
}

FieldSummary& Summaries::grow(const std::string& name, const std::string& unit,
                              const std::vector<int64_t>& shape) {
  const auto [place, added] = places_.emplace(name, all_.size());
  if (added) {
    all_.push_back({name, shape, unit});
    all_.back().shape[0] = 0;
    all_.back().min = INFINITY;
    all_.back().max = -INFINITY;
    all_.back().read = false;
  }
  FieldSummary& found = all_[place->second];
  found.shape[0] += shape[0];
  for (size_t d = 1; d < std::min(found.shape.size(), shape.size()); ++d) {
    found.shape[d] = found.shape[d] == shape[d] ? found.shape[d] : 0;
  }
  return found;
}

std::vector<FieldSummary> Summaries::done() {
  for (auto& f : all_) {
    if (f.min > f.max) {
      f.min = f.max = f.read ? 0 : NAN;
    }
  }
  return std::move(all_);
}

}  // namespace weyl

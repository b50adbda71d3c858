#include "weyl/data/tensor_format.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/data/layout.h"
#include "weyl/data/tensor_schema.h"

namespace weyl {
namespace {

constexpr double kOnGroup = 1e-3;  // how far a pose may be from its group: float16 exporters exist

std::string shape_text(const Tensor& t) {
  std::string result;
  for (const int64_t n : t.sizes()) {
    result += (result.empty() ? "" : ", ") + std::to_string(n);
  }
  return "(" + result + ")";
}

/// The tensors of one file, checked as they are asked for.
class Reader {
 public:
  Reader(const SafetensorsFile& file, bool finite) : file_(file), finite_(finite) {}

  const std::string& path() const { return file_.path(); }
  bool has(const std::string& name) const { return file_.contains(name); }
  const auto& metadata() const { return file_.header().metadata; }

  template <class... Parts>
  void check(bool holds, const std::string& name, const Parts&... parts) const {
    require<DataError>(holds, path(), ": ", name, ": ", parts...);
  }

  Tensor any(const std::string& name) const {
    check(has(name), name, "is absent");
    return load_tensor(file_, name);
  }

  /// Half precision becomes float32: models compute in float32 or float64.
  Tensor real(const std::string& name, int64_t axes, const char* shape) const {
    Tensor t = any(name);
    check(t.is_floating_point(), name, "must be of a floating-point type, got ",
          c10::toString(t.scalar_type()));
    check(t.dim() == axes, name, "must be ", shape, ", got ", shape_text(t));
    if (t.scalar_type() != at::kDouble) {
      t = t.to(at::kFloat);
    }
    check(!finite_ || t.numel() == 0 || t.isfinite().all().item<bool>(), name,
          "must be finite, some values are not");
    return t;
  }

  Tensor whole(const std::string& name) const {
    const Tensor t = any(name);
    check(t.scalar_type() == at::kLong, name, "must be int64, got ", c10::toString(t.scalar_type()));
    return t;
  }

  /// Offsets over `rows` rows.
  Segments segments(const std::string& name, int64_t rows) const {
    const Tensor t = whole(name);
    check(t.dim() == 1 && t.size(0) >= 1, name, "must be (segments + 1), got ", shape_text(t));
    const auto* first = t.const_data_ptr<int64_t>();
    std::vector<int64_t> offsets(first, first + t.size(0));
    check(offsets.front() == 0, name, "must begin with 0, got ", offsets.front());
    const auto drop = std::adjacent_find(offsets.begin(), offsets.end(), std::greater<>());
    check(drop == offsets.end(), name, "must not decrease, entry ", drop - offsets.begin() + 1, " does");
    check(offsets.back() == rows, name, "must end with the number of rows, ", rows, ", got ", offsets.back());
    return Segments::of_offsets(std::move(offsets));
  }

  /// A quantity that stands under its own name.
  Tensor named(const Quantity& q, const Input& input, bool label) const {
    Tensor t = any(q.name);
    const auto shape = shape_of(q, input);
    if (t.dim() == 1 && shape.size() == 2 && shape[1] == 1) {
      t = t.unsqueeze(1);  // (B) for one number each
    }
    if (t.dim() == 2 && shape.size() == 3 && shape[1] == 1) {
      t = t.unsqueeze(1);  // (B, D) for one vector each
    }
    std::string expected;
    for (const int64_t n : shape) {
      expected += (expected.empty() ? "" : ", ") + std::to_string(n);
    }
    check(t.sizes() == at::IntArrayRef(shape), q.name, "must be (", expected, "), got ", shape_text(t));
    if (q.kind == Kind::category) {
      check(t.scalar_type() == at::kLong, q.name, "must be int64, got ", c10::toString(t.scalar_type()));
      return t;
    }
    check(t.is_floating_point(), q.name, "must be of a floating-point type, got ",
          c10::toString(t.scalar_type()));
    check(label || !finite_ || t.numel() == 0 || t.isfinite().all().item<bool>(), q.name,
          "must be finite, some values are not");
    return label || t.scalar_type() == at::kDouble ? t.to(at::kDouble) : t.to(at::kFloat);
  }

 private:
  const SafetensorsFile& file_;
  bool finite_;
};

bool columns_of(const Interface& interface, Level level, bool vectors) {
  return !(vectors ? vector_columns(interface, level) : scalar_columns(interface, level)).empty();
}

Points read_points(const Reader& file, const Interface& interface) {
  Points p;
  p.positions = file.real("positions", 2, "(N, D)");
  file.check(p.dimension() == interface.dimension, "positions", "must have ", interface.dimension,
             " columns, got ", p.dimension());
  p.graphs = file.segments("offsets", p.positions.size(0));
  if (interface.types > 0) {
    p.types = file.whole("types");
    if (p.types.dim() == 2) {
      file.check(p.types.size(1) == 1, "types", "must have one column, got ", p.types.size(1));
      p.types = p.types.squeeze(1);
    }
    file.check(p.types.dim() == 1 && p.types.size(0) == p.nodes(), "types", "must be (", p.nodes(), "), got ",
               shape_text(p.types));
    file.check(p.nodes() == 0 || (p.types.ge(0) & p.types.lt(interface.types)).all().item<bool>(), "types",
               "must be 0 .. ", interface.types - 1, ", got one outside");
  }
  if (columns_of(interface, Level::node, false)) {
    p.scalars = file.real("scalars", 2, "(N, S)");
  }
  if (columns_of(interface, Level::node, true)) {
    p.vectors = file.real("vectors", 3, "(N, V, D)");
  }
  if (columns_of(interface, Level::pair, false)) {
    p.pairs = file.real("pairs", 2, "(sum n^2, E)");
  }
  if (file.has("object_offsets")) {
    p.objects = file.segments("object_offsets", p.nodes());
  }
  if (file.has("cell")) {
    p.cell = file.real("cell", 3, "(B, 3, 3)");
  }
  if (file.has("pbc")) {
    p.pbc = file.any("pbc");
  }
  return p;
}

LieGroup group_named(const Reader& file) {
  const auto found = file.metadata().find("group");
  file.check(found != file.metadata().end(), "metadata group", "is absent");
  for (int64_t g = 0; g < 6; ++g) {
    if (found->second == lie_group_names[g]) {
      return static_cast<LieGroup>(g);
    }
  }
  file.check(false, "metadata group", "must be so2, se2, so3, se3, aff2 or aff3, got '", found->second, "'");
  return {};
}

void check_on_group(const Reader& file, const Poses& poses, int64_t m) {
  if (poses.nodes() == 0) {
    return;
  }
  const int64_t n = dimension_of(poses.group);
  const Tensor g = poses.elements.to(at::kDouble);
  if (m > n) {
    const Tensor last = at::eye(m, at::kDouble)[n];
    file.check((g.select(1, n) - last).abs().max().item<double>() < kOnGroup, "elements",
               "the last row of every matrix must be 0 .. 0 1");
  }
  if (poses.group == LieGroup::aff2 || poses.group == LieGroup::aff3) {
    return;
  }
  const Tensor r = g.slice(1, 0, n).slice(2, 0, n);
  const Tensor off = (at::matmul(r, r.transpose(1, 2)) - at::eye(n, at::kDouble)).abs().amax({1, 2});
  const Tensor bad = off.gt(kOnGroup).nonzero();
  file.check(bad.size(0) == 0, "elements", "must be rotations, element ",
             bad.size(0) ? bad[0].item<int64_t>() : 0, " is not orthogonal");
}

Poses read_poses(const Reader& file, const Interface& interface) {
  Poses p;
  p.group = group_named(file);
  const int64_t m = matrix_size(p.group);
  p.elements = file.real("elements", 3, "(N, m, m)");
  file.check(p.elements.size(1) == m && p.elements.size(2) == m, "elements", "must be (N, ", m, ", ", m,
             "), got ", shape_text(p.elements));
  p.graphs = file.segments("offsets", p.elements.size(0));
  if (columns_of(interface, Level::node, false)) {
    p.scalars = file.real("scalars", 2, "(N, S)");
  }
  check_on_group(file, p, m);
  return p;
}

Grid read_grid(const Reader& file) {
  Grid grid;
  grid.values = file.any("values");
  file.check(grid.values.dim() == 4 || grid.values.dim() == 5, "values",
             "must be (B, C, H, W) or (B, C, X, Y, Z), got ", shape_text(grid.values));
  grid.values = file.real("values", grid.values.dim(), "");
  if (file.has("spacing")) {
    const Tensor spacing = file.real("spacing", 1, "(D)").to(at::kDouble);
    file.check(spacing.size(0) == grid.values.dim() - 2, "spacing", "must be (", grid.values.dim() - 2,
               "), got ", shape_text(spacing));
    for (int64_t k = 0; k < spacing.size(0); ++k) {
      grid.spacing[k] = spacing[k].item<double>();
      file.check(grid.spacing[k] > 0, "spacing", "must be positive, got ", grid.spacing[k]);
    }
  }
  return grid;
}

Carrier carrier_of(const Reader& file) {
  const bool points = file.has("positions"), poses = file.has("elements"), grid = file.has("values");
  require<DataError>(points + poses + grid == 1, file.path(),
                     ": must hold one of positions (points), elements (poses) and values (grid), holds ",
                     points + poses + grid);
  return points ? Carrier::points : poses ? Carrier::poses : Carrier::grid;
}

TensorFile read(const Reader& file, Schema schema) {
  TensorFile result;
  Batch& batch = result.batch;
  if (schema.carrier == Carrier::points) {
    batch.input = read_points(file, schema.interface);
  } else if (schema.carrier == Carrier::poses) {
    batch.input = read_poses(file, schema.interface);
  } else {
    batch.input = read_grid(file);
  }
  if (auto* points = std::get_if<Points>(&batch.input)) {
    for (const auto& q : schema.interface.features) {
      if (q.level == Level::graph) {
        points->of_graphs[q.name] = file.named(q, batch.input, false);
      } else if (q.level == Level::object) {
        file.check(file.has("object_offsets"), "object_offsets", "is absent, but '", q.name,
                   "' is of object level");
        points->of_objects[q.name] = file.named(q, batch.input, false);
      }
    }
  }
  std::vector<Quantity> labels;
  for (const auto& q : schema.labels) {
    if (file.has(q.name)) {
      labels.push_back(q);
      batch.labels[q.name] = file.named(q, batch.input, true);
    }
  }
  schema.labels = std::move(labels);
  schema.interface.outputs.clear();
  const int64_t count = batch.count();
  schema.interface.typical_nodes =
      count > 0 && batch.tokens() > 0 ? static_cast<double>(batch.tokens()) / static_cast<double>(count) : 1;
  try {
    require_consistent(batch, schema);
  } catch (const ShapeError& error) {
    throw DataError(file.path() + ": " + error.what());
  }
  result.schema = std::move(schema);
  return result;
}

}  // namespace

TensorFile read_tensor_file(const std::string& path, const Schema& wanted) {
  const SafetensorsFile file(path);
  const Reader reader(file, true);
  const Carrier found = carrier_of(reader);
  require<DataError>(found == wanted.carrier, path, ": must hold ",
                     carrier_names[static_cast<int>(wanted.carrier)], ", holds ",
                     carrier_names[static_cast<int>(found)]);
  return read(reader, wanted);
}

TensorFile read_tensor_file(const std::string& path) {
  const SafetensorsFile file(path);
  const Reader reader(file, false);
  return read(reader, implied_schema(file, carrier_of(reader)));
}

void write_tensor_file(const std::string& path, const Batch& batch, const Schema& schema,
                       std::map<std::string, std::string> metadata) {
  NamedTensors tensors;
  const auto add = [&](const std::string& name, const Tensor& t) {
    if (t.defined()) {
      require<DataError>(tensors.emplace(name, t).second, path, ": two tensors are named '", name, "'");
    }
  };
  const auto offsets = [](const Segments& s) {
    Tensor t = at::empty({static_cast<int64_t>(s.offsets.size())}, at::kLong);
    std::copy(s.offsets.begin(), s.offsets.end(), t.mutable_data_ptr<int64_t>());
    return t;
  };
  require_consistent(batch, schema);
  if (const auto* p = std::get_if<Points>(&batch.input)) {
    add("positions", p->positions);
    add("offsets", offsets(p->graphs));
    add("types", p->types);
    add("scalars", p->scalars);
    add("vectors", p->vectors);
    add("pairs", p->pairs);
    add("object_offsets", p->objects.count() > 0 ? offsets(p->objects) : Tensor());
    add("cell", p->cell);
    add("pbc", p->pbc);
    for (const auto& [name, t] : p->of_graphs) {
      add(name, t);
    }
    for (const auto& [name, t] : p->of_objects) {
      add(name, t);
    }
  } else if (const auto* p = std::get_if<Poses>(&batch.input)) {
    add("elements", p->elements);
    add("offsets", offsets(p->graphs));
    add("scalars", p->scalars);
    metadata["group"] = lie_group_names[static_cast<int>(p->group)];
  } else {
    const auto& grid = std::get<Grid>(batch.input);
    add("values", grid.values);
    const std::vector<double> spacing(grid.spacing.begin(), grid.spacing.begin() + grid.values.dim() - 2);
    add("spacing", at::tensor(spacing, at::kDouble));
  }
  for (const auto& [name, t] : batch.labels) {
    add(name, t);
  }
  metadata["format"] = "weyl.tensors";
  save_tensors(path, tensors, metadata);
}

}  // namespace weyl

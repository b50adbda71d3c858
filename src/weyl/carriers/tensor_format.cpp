#include "weyl/carriers/tensor_format.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "weyl/carriers/consistency.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/tensor_file.h"

namespace weyl {

std::string shape_text(const Tensor& t) {
  std::string result;
  for (const int64_t n : t.sizes()) {
    result += (result.empty() ? "" : ", ") + std::to_string(n);
  }
  return "(" + result + ")";
}

Tensor TensorReader::any(const std::string& name) const {
  check(has(name), name, "is absent");
  return file_ != nullptr ? load_tensor(*file_, name) : tensors_->at(name);
}

Tensor TensorReader::real(const std::string& name, int64_t axes, const char* shape) const {
  Tensor t = any(name);
  check(t.is_floating_point(), name, "must be of a floating-point type, got ",
        c10::toString(t.scalar_type()));
  check(t.dim() == axes, name, "must be ", shape, ", got ", shape_text(t));
  if (t.scalar_type() != at::kDouble) {
    t = t.to(at::kFloat);
  }
  if (finite_ && t.numel() > 0) {
    const Tensor odd = t.isfinite().logical_not().reshape({t.size(0), -1}).any(1);
    check(!odd.any().item<bool>(), name, "must be finite, some values are not, the first of row ",
          odd.to(at::kInt).argmax().item<int64_t>());
  }
  return t;
}

Tensor TensorReader::whole(const std::string& name) const {
  const Tensor t = any(name);
  check(t.scalar_type() == at::kLong, name, "must be int64, got ", c10::toString(t.scalar_type()));
  return t;
}

Segments TensorReader::segments(const std::string& name, int64_t rows) const {
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

Tensor TensorReader::named(const Quantity& q, const Input& input, bool label) const {
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

namespace {

bool is_real(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32 ||
         type == ElementType::f64;
}

/// How many rows quantities of each level have; -1: there are none of it.
struct RowCounts {
  int64_t graphs, nodes, objects;
};

/// A label of the level whose rows it has (where several have as many, of graphs before nodes before objects), of the
/// kind that its axes tell; nothing when none fits. `m`: of the matrices of poses, else 0.
std::optional<Quantity> label(const std::string& name, const TensorEntry& entry, const RowCounts& rows,
                              int64_t dimension, int64_t m) {
  const auto& shape = entry.shape;
  if (shape.empty() || (shape[0] != rows.graphs && shape[0] != rows.nodes && shape[0] != rows.objects)) {
    return std::nullopt;
  }
  Quantity q;
  q.name = name;
  q.level = shape[0] == rows.graphs ? Level::graph : shape[0] == rows.nodes ? Level::node : Level::object;
  q.channels = shape.size() > 1 ? shape[1] : 1;
  if (m > 0 && shape.size() == 3 && shape[1] == m && shape[2] == m && is_real(entry.type)) {
    q.kind = Kind::element;
    q.channels = 1;
  } else if (shape.size() == 3 && shape[2] == dimension && is_real(entry.type)) {
    q.kind = Kind::vector;
  } else if (m == 0 && dimension == 3 && shape.size() == 3 && is_real(entry.type) &&
             shape[2] == components(Kind::multivector, dimension)) {
    q.kind = Kind::multivector;
  } else if (shape.size() == 4 && shape[2] == dimension && shape[3] == dimension && is_real(entry.type)) {
    q.kind = Kind::symmetric_tensor;
  } else if (shape.size() <= 2 && is_real(entry.type)) {
    q.kind = Kind::scalar;
  } else if (shape.size() <= 2 && entry.type == ElementType::i64) {
    q.kind = Kind::category;
  } else {
    return std::nullopt;
  }
  return q.channels >= 1 ? std::optional(q) : std::nullopt;
}

/// The names of tensors that belong to carriers; those of features and labels are others.
std::set<std::string> carrier_fields() {
  std::set<std::string> names{"offsets", "object_offsets", "elements", "values", "spacing"};
  each_tensor(Points{}, [&](const PointsTensor& of, const Tensor&) { names.emplace(of.name); });
  return names;
}

}  // namespace

Schema implied_schema(const SafetensorsFile& file, Carrier carrier) {
  static const std::set<std::string> fields = carrier_fields();
  Schema schema;
  int64_t matrix = 0;  // m of the elements of poses
  const auto shape = [&](const char* name) {
    return file.contains(name) ? file.entry(name).shape : std::vector<int64_t>();
  };
  const auto feature = [&](const char* name, Level level, Kind kind) {
    const auto found = shape(name);
    if (found.size() >= 2 && found[1] > 0) {
      schema.interface.features.push_back({name, level, kind, found[1]});
    }
  };
  if (carrier == Carrier::grid) {
    const auto values = shape("values");
    schema.interface.dimension = static_cast<int64_t>(values.size()) - 2;
    if (values.size() > 2) {
      schema.interface.features = {{"values", Level::node, Kind::scalar, values[1]}};
    }
  } else {
    const auto positions = shape("positions"), elements = shape("elements");
    feature("scalars", Level::node, Kind::scalar);
    if (carrier == Carrier::points) {
      schema.interface.dimension = positions.size() == 2 ? positions[1] : 3;
      feature("vectors", Level::node, Kind::vector);
      feature("multivectors", Level::node, Kind::multivector);
      feature("pairs", Level::pair, Kind::scalar);
      if (file.contains("types") && file.entry("types").type == ElementType::i64) {
        const Tensor types = load_tensor(file, "types");
        schema.interface.types =
            types.numel() > 0 ? std::max<int64_t>(types.max().item<int64_t>(), 0) + 1 : 1;
      }
    } else {
      const auto group = file.header().metadata.find("group");
      schema.interface.dimension =
          group != file.header().metadata.end() && group->second.ends_with('2') ? 2 : 3;
      matrix = elements.size() == 3 ? elements[1] : 0;
    }
  }
  const auto offsets = shape("offsets"), objects = shape("object_offsets"), values = shape("values");
  const int64_t graphs = carrier == Carrier::grid ? (values.empty() ? 0 : values[0])
                         : offsets.empty()        ? 0
                                                  : offsets[0] - 1;
  const auto nodes = shape(carrier != Carrier::points   ? "elements"
                           : file.contains("positions") ? "positions"
                                                        : "multivectors");
  const RowCounts rows{graphs, nodes.empty() ? -1 : nodes[0],
                       carrier == Carrier::points && !objects.empty() ? objects[0] - 1 : -1};
  for (const auto& [name, entry] : file.header().tensors) {
    if (!fields.contains(name)) {
      if (const auto q = label(name, entry, rows, schema.interface.dimension, matrix)) {
        schema.labels.push_back(*q);
      }
    }
  }
  return schema;
}

namespace {

constexpr double kOnGroup = 1e-4;  // how far a pose may be from its group: what models take

/// (N) int64, in the file (N, 1) too.
Tensor read_types(const TensorReader& file, int64_t nodes, int64_t types) {
  Tensor t = file.whole("types");
  if (t.dim() == 2) {
    file.check(t.size(1) == 1, "types", "must have one column, got ", t.size(1));
    t = t.squeeze(1);
  }
  file.check(t.dim() == 1 && t.size(0) == nodes, "types", "must be (", nodes, "), got ", shape_text(t));
  file.check(nodes == 0 || (t.ge(0) & t.lt(types)).all().item<bool>(), "types", "must be 0 .. ", types - 1,
             ", got one outside");
  return t;
}

/// (N, D); zeros where the file has none and needs none.
Tensor read_positions(const TensorReader& file, const Interface& interface) {
  if (!file.has("positions")) {
    const bool vectors = !vector_columns(interface, Level::node).empty();
    const bool multivectors = !multivector_columns(interface, Level::node).empty();
    file.check(!vectors, "positions", "is absent, but the vectors need it");
    file.check(!file.has("cell"), "positions", "is absent, but the cell needs it");
    file.check(multivectors, "positions",
               "is absent, and no multivectors are declared, which would do without");
    const Tensor x = file.real("multivectors", 3, "(N, M, 16)");
    return at::zeros({x.size(0), interface.dimension}, x.options());
  }
  Tensor positions = file.real("positions", 2, "(N, D)");
  file.check(positions.size(1) == interface.dimension, "positions", "must have ", interface.dimension,
             " columns, got ", positions.size(1));
  return positions;
}

Points read_points(const TensorReader& file, const Interface& interface) {
  Points p;
  p.positions = read_positions(file, interface);
  p.placed = file.has("positions");
  p.graphs = file.segments("offsets", p.positions.size(0));
  if (file.has("object_offsets")) {
    p.objects = file.segments("object_offsets", p.nodes());
  }
  // Before the others: what is wrong with them is said also where something else is absent.
  if (const auto columns = multivector_columns(interface, Level::node); !columns.empty()) {
    p.multivectors = file.real("multivectors", 3, "(N, M, 16)");
    const std::array<int64_t, 3> shape{p.nodes(), columns.back().end, 16};
    file.check(p.multivectors.sizes() == at::IntArrayRef(shape), "multivectors", "must be (", shape[0], ", ",
               shape[1], ", ", shape[2], "), got ", shape_text(p.multivectors));
  }
  each_tensor(p, [&](const PointsTensor& of, Tensor& tensor) {
    using Holds = PointsTensor::Holds;
    const bool declared = shape_of(of, p, interface).has_value();
    const std::string name(of.name);
    switch (of.holds) {
      case Holds::positions:  // read above: they say how many rows there are
      case Holds::multivectors:
      case Holds::input:  // none is there yet
        break;
      case Holds::types:
        tensor = declared ? read_types(file, p.nodes(), interface.types) : Tensor();
        break;
      case Holds::scalars:
        tensor = declared ? file.real(name, 2, "(N, S)") : Tensor();
        break;
      case Holds::vectors:
        tensor = declared ? file.real(name, 3, "(N, V, D)") : Tensor();
        break;
      case Holds::pairs:
        tensor = declared ? file.real(name, 2, "(sum n^2, E)") : Tensor();
        break;
      case Holds::cell:
        tensor = file.has(name) ? file.real(name, 3, "(B, 3, 3)") : Tensor();
        break;
      case Holds::pbc:
        tensor = file.has(name) ? file.any(name) : Tensor();
        break;
    }
  });
  return p;
}

LieGroup group_named(const TensorReader& file) {
  const auto found = file.metadata().find("group");
  file.check(
      found != file.metadata().end(), "metadata group",
      "is absent; of arrays of NumPy `weyl data convert poses.npz poses.safetensors group=se3` says it");
  const auto name = std::find(std::begin(lie_group_names), std::end(lie_group_names), found->second);
  file.check(name != std::end(lie_group_names), "metadata group",
             "must be so2, se2, so3, se3, aff2 or aff3, got ", quote(found->second));
  return static_cast<LieGroup>(name - std::begin(lie_group_names));
}

/// `place(row)` says what a row belongs to.
template <class Place>
void check_on_group(const TensorReader& file, const std::string& name, LieGroup group, const Tensor& elements,
                    const Place& place) {
  const Tensor off = distances_to_group(group, elements);
  for (int64_t i = 0; i < off.size(0); ++i) {
    const double distance = off.const_data_ptr<double>()[i];
    if (!std::isfinite(distance)) {
      const bool finite = at::isfinite(elements[i]).all().item<bool>();
      file.check(false, name, "must be of ", name_of(group), ", matrix ", i, " is ",
                 !finite           ? "not finite"
                 : is_rigid(group) ? "a reflection"
                                   : "singular",
                 place(i));
    }
    file.check(distance <= kOnGroup, name, "must be of ", name_of(group), ", matrix ", i, " is off it by ",
               distance, place(i));
  }
}

Poses read_poses(const TensorReader& file, const Interface& interface) {
  Poses p;
  p.group = group_named(file);
  file.check(!interface.group || *interface.group == p.group, "metadata group", "must be ",
             interface.group ? name_of(*interface.group) : "", ", that of the model, got ", name_of(p.group));
  const int64_t m = matrix_size(p.group);
  p.elements = file.real("elements", 3, "(N, m, m)");
  file.check(p.elements.size(1) == m && p.elements.size(2) == m, "elements", "must be (N, ", m, ", ", m,
             "), got ", shape_text(p.elements));
  p.graphs = file.segments("offsets", p.elements.size(0));
  if (!scalar_columns(interface, Level::node).empty()) {
    p.scalars = file.real("scalars", 2, "(N, S)");
  }
  if (file.finite()) {  // for inspection what is off is counted, not refused
    check_on_group(file, "elements", p.group, p.elements, [&](int64_t row) {
      const int64_t sample = p.graphs.index[row].item<int64_t>();
      return text(", token ", row - p.graphs.offsets[sample], " of sample ", sample);
    });
  }
  return p;
}

Grid read_grid(const TensorReader& file) {
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

Carrier carrier_of_file(const TensorReader& file) {
  const bool poses = file.has("elements"), grid = file.has("values");
  const bool points = file.has("positions") || (file.has("multivectors") && !poses && !grid);
  require<DataError>(
      points + poses + grid == 1, file.path(),
      ": must hold one of positions or multivectors (points), elements (poses) and values (grid), holds ",
      points + poses + grid);
  return points ? Carrier::points : poses ? Carrier::poses : Carrier::grid;
}

TensorFile read(const TensorReader& file, Schema schema) {
  TensorFile result;
  Batch& batch = result.batch;
  switch (carrier_of_file(file)) {
    case Carrier::points:
      batch.input = read_points(file, schema.interface);
      break;
    case Carrier::poses:
      batch.input = read_poses(file, schema.interface);
      schema.interface.group = std::get<Poses>(batch.input).group;
      schema.interface.dimension = dimension_of(*schema.interface.group);
      break;
    case Carrier::grid:
      batch.input = read_grid(file);
      schema.interface.grid = true;
      break;
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
      const Tensor& label = batch.labels[q.name] = file.named(q, batch.input, true);
      if (q.kind == Kind::element && file.finite()) {  // no element is a missing one
        const LieGroup group = std::get<Poses>(batch.input).group;
        const int64_t m = matrix_size(group);
        check_on_group(file, q.name, group, label.reshape({-1, m, m}), [](int64_t) { return ""; });
      }
    }
  }
  schema.labels = std::move(labels);
  if (const auto unit = file.metadata().find("length_unit"); unit != file.metadata().end()) {
    schema.interface.length_unit = unit->second;
  }
  if (const auto unit = file.metadata().find("time_unit"); unit != file.metadata().end()) {
    for (Quantity& feature : schema.interface.features) {
      feature.unit = feature.name == "time" ? unit->second : feature.unit;
    }
  }
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

namespace {

TensorFile read_wanted(const TensorReader& reader, const Schema& wanted) {
  const Carrier found = carrier_of_file(reader);
  require<DataError>(found == wanted.carrier(), reader.path(), ": must hold ", name_of(wanted.carrier()),
                     ", holds ", name_of(found));
  return read(reader, wanted);
}

}  // namespace

TensorFile read_tensor_file(const std::string& path, const Schema& wanted) {
  const SafetensorsFile file(path);
  return read_wanted(TensorReader(file, true), wanted);
}

TensorFile read_tensors(const NamedTensors& tensors, const Schema& wanted, const std::string& where) {
  std::map<std::string, std::string> metadata;
  if (wanted.interface.group) {
    metadata["group"] = lie_group_names[static_cast<int>(*wanted.interface.group)];
  }
  return read_wanted(TensorReader(tensors, std::move(metadata), where), wanted);
}

Interface with_carrier_of(const std::string& path, Interface interface) {
  if (interface.group || interface.grid) {
    return interface;
  }
  const SafetensorsFile file(path);
  const TensorReader reader(file, true);
  const Carrier carrier = carrier_of_file(reader);
  interface.grid = carrier == Carrier::grid;
  if (carrier == Carrier::poses) {
    interface.group = group_named(reader);
  }
  return interface;
}

TensorFile read_tensor_file(const std::string& path, Values values) {
  const SafetensorsFile file(path);
  const TensorReader reader(file, values == Values::checked);
  return read(reader, implied_schema(file, carrier_of_file(reader)));
}

void write_tensor_file(const std::string& path, const Batch& batch, const Schema& schema,
                       std::map<std::string, std::string> metadata, Existing existing) {
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
    // Zeros that stand for no positions are none in the file either, unless something in it needs them.
    const bool placed = p->placed || p->vectors.defined() || p->cell.defined();
    each_tensor(*p, [&](const PointsTensor& of, const Tensor& tensor) {
      if (placed || of.holds != PointsTensor::Holds::positions) {
        add(std::string(of.name), tensor);
      }
    });
    add("offsets", offsets(p->graphs));
    add("object_offsets", p->objects.count() > 0 ? offsets(p->objects) : Tensor());
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
  if (!schema.interface.length_unit.empty()) {
    metadata["length_unit"] = schema.interface.length_unit;
  }
  save_tensors(path, tensors, metadata, existing);
}

}  // namespace weyl

#include "weyl/carriers/tensor_schema.h"

#include <set>

#include "weyl/carriers/points_tensors.h"
#include "weyl/core/tensor_file.h"

namespace weyl {
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

}  // namespace weyl

#include "weyl/carriers/consistency.h"

#include <ATen/ops/max.h>
#include <ATen/ops/min.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string axes_text(at::IntArrayRef shape) {
  std::string result = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    result += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return result + ")";
}

std::string text_of(Kind kind, Level level) {
  return text(kind_names[static_cast<int>(kind)], " of ", level_names[static_cast<int>(level)], " level");
}

class Checker {
 public:
  Checker(const Input& input, const Interface& interface, Undeclared undeclared, std::string_view where)
      : input_(input), interface_(interface), undeclared_(undeclared), where_(where) {}

  void check() const {
    const Carrier carrier = carrier_of(interface_);
    require(carrier_of(input_) == carrier, where_, where_.empty() ? "input: must be " : "must be ",
            name_of(carrier), ", got ", name_of(carrier_of(input_)));
    switch (carrier) {
      case Carrier::points:
        check_points(std::get<Points>(input_));
        break;
      case Carrier::poses:
        check_poses(std::get<Poses>(input_));
        break;
      case Carrier::grid:
        check_grid(std::get<Grid>(input_));
        break;
    }
  }

 private:
  template <class... Parts>
  void must(bool holds, std::string_view name, const Parts&... parts) const {
    require(holds, where_, name, ": ", parts...);
  }

  void shaped(const Tensor& tensor, at::IntArrayRef shape, std::string_view name) const {
    must(tensor.defined(), name, "must be ", axes_text(shape), ", absent");
    must(tensor.sizes() == shape, name, "must be ", axes_text(shape), ", got ", axes_text(tensor.sizes()));
  }

  void floating(const Tensor& tensor, std::string_view name) const {
    must(tensor.is_floating_point(), name, "must be of a floating-point type, got ", tensor.scalar_type());
  }

  void typed(const Tensor& tensor, at::ScalarType type, const char* words, std::string_view name) const {
    must(tensor.scalar_type() == type, name, "must be ", words, ", got ", tensor.scalar_type());
  }

  void check_points(const Points& points) const {
    const int64_t D = interface_.dimension;
    shaped(points.graphs.index, {points.nodes()}, "graphs.index");
    check_features();
    check_objects(points);
    each_tensor(points,
                [&](const PointsTensor& of, const Tensor& tensor) { check_tensor(of, tensor, points); });
    for (const auto& q : interface_.features) {
      const bool of_graph = q.level == Level::graph;
      if (of_graph || q.level == Level::object) {
        must(of_graph || points.objects.rows() == points.nodes(), "object input", "'", q.name,
             "' belongs to objects, and the input has none");
        must((of_graph ? points.of_graphs : points.of_objects).contains(q.name),
             of_graph ? "graph input" : "object input", "'", q.name, "' is declared but absent");
      }
    }
    must(D == 3 || !points.cell.defined(), "cell", "needs three dimensions, got ", D);
  }

  void check_tensor(const PointsTensor& of, const Tensor& tensor, const Points& points) const {
    using Holds = PointsTensor::Holds;
    const bool input = of.holds == Holds::input;
    const std::string name =
        !input ? std::string(of.name)
               : text(of.level == Level::graph ? "graph" : "object", " input '", of.name, "'");
    const auto shape = shape_of(of, points, interface_);
    if (!shape) {
      must(undeclared_ == Undeclared::ignored || !tensor.defined(), name, "is not declared");
      return;
    }
    if ((of.holds == Holds::cell || of.holds == Holds::pbc) && !tensor.defined()) {
      return;
    }
    shaped(tensor, *shape, name);
    if (of.holds == Holds::types) {
      typed(tensor, at::kLong, "int64", name);
      check_types(tensor);
    } else if (of.holds == Holds::pbc) {
      typed(tensor, at::kBool, "bool", name);
    } else if (const auto* q = input ? find_quantity(interface_.features, of.name) : nullptr;
               q != nullptr && q->kind == Kind::category) {
      typed(tensor, at::kLong, "int64", name);
    } else {
      floating(tensor, name);
    }
  }

  /// On a device the look-up itself checks: no need to wait for it here.
  void check_types(const Tensor& types) const {
    if (types.numel() > 0 && types.is_cpu()) {
      const int64_t low = types.min().item<int64_t>(), high = types.max().item<int64_t>();
      must(low >= 0 && high < interface_.types, "types", "must be 0 .. ", interface_.types - 1, ", got ", low,
           " .. ", high);
    }
  }

  void check_features() const {
    const int64_t D = interface_.dimension;
    for (const auto& q : interface_.features) {
      const std::string name = text("feature '", q.name, "'");
      const bool columns = q.level == Level::node || q.level == Level::pair;
      must(q.channels >= 1, name, "channels must be at least 1, got ", q.channels);
      must(q.kind != Kind::axial_vector || D > 1, name, "an axial vector needs 2 or 3 dimensions, got ", D);
      must(q.kind != Kind::multivector || D == 3, name, "a multivector needs three dimensions, got ", D);
      const bool of_node = is_vector(q.kind, D) || q.kind == Kind::multivector;
      must(!columns || is_number(q.kind, D) || (of_node && q.level == Level::node), name, "a ",
           level_names[static_cast<int>(q.level)], " feature cannot be a ",
           kind_names[static_cast<int>(q.kind)]);
    }
  }

  void check_objects(const Points& points) const {
    const auto& objects = points.objects;
    if (objects.count() == 0) {
      return;
    }
    must(objects.rows() == points.nodes(), "objects", "must hold all ", points.nodes(), " nodes, got ",
         objects.rows());
    for (int64_t s = 0; s < objects.count(); ++s) {
      must(objects.size(s) > 0, "objects", "must not be empty, object ", s, " is");
    }
    size_t o = 0;
    for (const int64_t boundary : points.graphs.offsets) {
      while (o + 1 < objects.offsets.size() && objects.offsets[o] < boundary) {
        ++o;
      }
      must(objects.offsets[o] == boundary, "objects", "must lie inside one graph, one spans node ", boundary);
    }
  }

  void check_poses(const Poses& poses) const {
    const LieGroup group = *interface_.group;
    const int64_t nodes = poses.nodes(), m = matrix_size(group);
    must(poses.group == group, "poses", "must be of ", name_of(group), ", got ", name_of(poses.group));
    must(interface_.dimension == dimension_of(group), "poses", name_of(group), " acts on ",
         dimension_of(group), " dimensions, the interface has ", interface_.dimension);
    shaped(poses.elements, {nodes, m, m}, "elements");
    floating(poses.elements, "elements");
    shaped(poses.graphs.index, {nodes}, "graphs.index");
    int64_t columns = 0;
    for (const auto& q : interface_.features) {
      must(q.level == Level::node && (q.kind == Kind::scalar || q.kind == Kind::pseudoscalar),
           text("feature '", q.name, "'"), "of poses must be a scalar of node level, got a ",
           text_of(q.kind, q.level));
      columns += q.channels;
    }
    if (columns > 0) {
      shaped(poses.scalars, {nodes, columns}, "scalars");
      floating(poses.scalars, "scalars");
    } else {
      must(undeclared_ == Undeclared::ignored || !poses.scalars.defined(), "scalars", "is not declared");
    }
  }

  void check_grid(const Grid& grid) const {
    const int64_t axes = interface_.dimension + 2;
    const Tensor& x = grid.values;
    must(x.defined() && x.dim() == axes, "values", "must have axes (B, C, ", interface_.dimension,
         " of space), got ", x.defined() ? x.dim() : 0, " axes");
    floating(x, "values");
    int64_t channels = 0;
    for (const auto& q : interface_.features) {
      channels += q.channels * components(q.kind, interface_.dimension);
    }
    must(x.size(1) == channels, "values", "must have ", channels, " channels, got ", x.size(1));
  }

  const Input& input_;
  const Interface& interface_;
  Undeclared undeclared_;
  std::string_view where_;
};

void check_label(const Quantity& q, const Tensor& label, const Input& input) {
  const auto shape = shape_of(q, input);
  require(label.sizes() == at::IntArrayRef(shape), "label '", q.name, "': must be ", axes_text(shape),
          ", got ", axes_text(label.sizes()));
  const bool category = q.kind == Kind::category;
  require(label.scalar_type() == (category ? at::kLong : at::kDouble), "label '", q.name, "': must be ",
          category ? "int64" : "float64", ", got ", label.scalar_type());
}

}  // namespace

void require_input(const Input& input, const Interface& interface, Undeclared undeclared,
                   std::string_view where) {
  Checker(input, interface, undeclared, where).check();
}

void require_consistent(const Batch& batch, const Schema& schema) {
  require_input(batch.input, schema.interface, Undeclared::refused);
  std::set<std::string_view> declared;
  for (const auto& q : schema.labels) {
    declared.insert(q.name);
    const auto found = batch.labels.find(q.name);
    require(found != batch.labels.end(), "label: '", q.name, "' is declared but absent");
    check_label(q, found->second, batch.input);
  }
  for (const auto& [name, tensor] : batch.labels) {
    require(declared.contains(name), "label: '", name, "' is not declared");
  }
}

}  // namespace weyl

#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>

#include "weyl/app/exit_codes.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/data/dataset.h"
#include "weyl/data/layout.h"

namespace weyl {
namespace {

constexpr int64_t chunk = 2048;  // samples at a time

// What one field shows over the whole set.
struct Field {
  std::string name, unit;
  std::vector<int64_t> shape;  // rows first, then of one row
  double min = std::numeric_limits<double>::infinity(), max = -min;
  int64_t missing = 0;

  void add(const Tensor& values) {
    const Tensor v = values.detach().to(at::kDouble).contiguous();
    if (shape.empty()) {
      shape = v.sizes().vec();
      shape[0] = 0;
    }
    shape[0] += v.size(0);
    const double* x = v.data_ptr<double>();
    for (int64_t i = 0; i < v.numel(); ++i) {
      if (std::isnan(x[i])) {
        ++missing;
      } else {
        min = std::min(min, x[i]);
        max = std::max(max, x[i]);
      }
    }
  }

  Json json() const {
    Json sizes = Json::array();
    for (const int64_t n : shape) {
      sizes.add(n);
    }
    return Json::object()
        .set("name", name)
        .set("shape", sizes)
        .set("unit", unit)
        .set("min", min)
        .set("max", max)
        .set("missing", missing);
  }
};

class FieldTable {
 public:
  void add(const std::string& name, const std::string& unit, const Tensor& values) {
    if (!values.defined()) {
      return;
    }
    for (Field& field : fields) {
      if (field.name == name) {
        field.add(values);
        return;
      }
    }
    fields.push_back({name, unit, {}});
    fields.back().add(values);
  }
  std::vector<Field> fields;
};

void add_points(const Points& points, const Schema& schema, FieldTable& to) {
  to.add("positions", "", points.positions);
  to.add("types", "", points.types);
  for (const Level level : {Level::node, Level::pair}) {
    const Tensor& scalars = level == Level::node ? points.scalars : points.pairs;
    for (const Columns& c : scalar_columns(schema.interface, level)) {
      if (scalars.defined()) {
        to.add(c.quantity->name, c.quantity->unit, scalars.slice(1, c.begin, c.end));
      }
    }
  }
  for (const Columns& c : vector_columns(schema.interface, Level::node)) {
    if (points.vectors.defined()) {
      to.add(c.quantity->name, c.quantity->unit, points.vectors.slice(1, c.begin, c.end));
    }
  }
  for (const Quantity& q : schema.interface.features) {
    for (const Named* named : {&points.of_graphs, &points.of_objects}) {
      if (const auto found = named->find(q.name); found != named->end()) {
        to.add(q.name, q.unit, found->second);
      }
    }
  }
  to.add("cell", "", points.cell);
}

void add_inputs(const Batch& batch, const Schema& schema, FieldTable& to) {
  if (const auto* points = std::get_if<Points>(&batch.input)) {
    add_points(*points, schema, to);
  } else if (const auto* poses = std::get_if<Poses>(&batch.input)) {
    to.add("elements", "", poses->elements);
    to.add("scalars", "", poses->scalars);
  } else {
    to.add("values", "", std::get<Grid>(batch.input).values);
  }
}

}  // namespace

int run(const DataInspectCommand& command) {
  const auto data = open_file(command.path, DataOptions{});
  const Schema& schema = data->schema();
  int64_t fewest = std::numeric_limits<int64_t>::max(), most = 0, total = 0;
  FieldTable inputs, labels;
  for (int64_t begin = 0; begin < data->size(); begin += chunk) {
    std::vector<int64_t> indices(static_cast<size_t>(std::min(chunk, data->size() - begin)));
    std::iota(indices.begin(), indices.end(), begin);
    for (const int64_t i : indices) {
      const int64_t n = data->tokens(i);
      fewest = std::min(fewest, n);
      most = std::max(most, n);
      total += n;
    }
    const Batch batch = data->batch(indices);
    add_inputs(batch, schema, inputs);
    for (const Quantity& q : schema.labels) {
      if (const auto found = batch.labels.find(q.name); found != batch.labels.end()) {
        labels.add(q.name, q.unit, found->second);
      }
    }
  }
  const bool any = data->size() > 0;
  std::vector<std::string> warnings;
  if (!any) {
    warnings.emplace_back("there are no samples");
  }
  if (any && fewest == 0) {
    warnings.emplace_back("there are samples without tokens");
  }
  for (const FieldTable* group : {&inputs, &labels}) {
    for (const Field& f : group->fields) {
      if (f.missing > 0) {
        warnings.push_back(text(f.name, ": ", f.missing, " values are missing (NaN)"));
      }
      if (std::isinf(f.min) && f.missing == 0 && f.shape[0] > 0 && f.max == f.min) {
        warnings.push_back(f.name + ": holds infinite values");
      }
      if (f.min == f.max && f.shape[0] > 1) {
        warnings.push_back(text(f.name, ": is constant, ", f.min));
      }
    }
  }
  if (labels.fields.empty()) {
    warnings.emplace_back("there are no labels to train on");
  }

  Json json = Json::object();
  json.set("carrier", carrier_names[static_cast<size_t>(schema.carrier)]);
  json.set("samples", data->size());
  json.set("tokens",
           Json::object()
               .set("min", any ? fewest : 0)
               .set("mean", any ? static_cast<double>(total) / static_cast<double>(data->size()) : 0.0)
               .set("max", most));
  Json fields = Json::array(), named = Json::array(), told = Json::array();
  for (const Field& f : inputs.fields) {
    fields.add(f.json());
  }
  for (const Field& f : labels.fields) {
    named.add(f.json());
  }
  for (const std::string& warning : warnings) {
    told.add(warning);
  }
  json.set("fields", fields).set("labels", named).set("warnings", told);
  if (command.talk.json) {
    std::cout << json.dump() << "\n";
    return exit_done;
  }
  std::cout << data->size() << " samples of " << carrier_names[static_cast<size_t>(schema.carrier)] << ", ";
  if (any && fewest == most) {
    std::cout << most << " tokens each\n";
  } else {
    std::cout << (any ? fewest : 0) << " to " << most << " tokens\n";
  }
  for (const auto& [title, group] :
       {std::pair<const char*, const FieldTable*>{"field", &inputs}, {"label", &labels}}) {
    for (const Field& f : group->fields) {
      std::string shape;
      for (const int64_t n : f.shape) {
        shape += text(shape.empty() ? "" : " x ", n);
      }
      std::cout << title << "  " << f.name << "  (" << shape << ")" << (f.unit.empty() ? "" : " " + f.unit)
                << "  " << f.min << " to " << f.max
                << (f.missing > 0 ? text(", ", f.missing, " missing") : "") << "\n";
    }
  }
  for (const std::string& warning : warnings) {
    std::cout << "warning  " << warning << "\n";
  }
  return exit_done;
}

}  // namespace weyl

#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/data/inspect.h"

namespace weyl {
namespace {

Json to_json(const FieldSummary& field) {
  Json shape = Json::array();
  for (const int64_t n : field.shape) {
    shape.add(n);
  }
  return Json::object()
      .set("name", field.name)
      .set("shape", shape)
      .set("unit", field.unit)
      .set("min", field.min)
      .set("max", field.max)
      .set("missing", field.missing);
}

Json to_json(const Inspection& found) {
  Json fields = Json::array(), labels = Json::array(), warnings = Json::array();
  for (const FieldSummary& field : found.fields) {
    fields.add(to_json(field));
  }
  for (const FieldSummary& field : found.labels) {
    labels.add(to_json(field));
  }
  for (const std::string& warning : found.warnings) {
    warnings.add(warning);
  }
  Json json = Json::object();
  json.set("carrier", carrier_names[static_cast<size_t>(found.carrier)])
      .set("samples", found.samples)
      .set("tokens", Json::object()
                         .set("min", found.least_tokens)
                         .set("mean", found.mean_tokens)
                         .set("max", found.most_tokens))
      .set("fields", fields)
      .set("labels", labels)
      .set("warnings", warnings);
  if (const auto& g = found.group) {  // null where a number is infinite: no element, no pair
    json.set("group", Json::object()
                          .set("name", name_of(g->group))
                          .set("residual", g->residual)
                          .set("mended", g->mended)
                          .set("off", g->off)
                          .set("least_chart_margin", g->least_margin)
                          .set("outside_chart", g->outside));
  }
  return json;
}

void print(const Inspection& found, const std::string& name) {
  std::cout << (name.empty() ? "" : name + ": ") << found.samples << " samples of "
            << carrier_names[static_cast<size_t>(found.carrier)] << ", " << found.least_tokens;
  if (found.most_tokens != found.least_tokens) {
    std::cout << " to " << found.most_tokens;
  }
  std::cout << " tokens each\n";
  for (const auto& [title, list] : {std::pair{"field", &found.fields}, {"label", &found.labels}}) {
    for (const FieldSummary& f : *list) {
      std::string shape;
      for (const int64_t n : f.shape) {
        shape += text(shape.empty() ? "" : " x ", n);
      }
      std::cout << "  " << title << "  " << f.name << "  (" << shape << ")"
                << (f.unit.empty() ? "" : " " + f.unit) << "  " << f.min << " to " << f.max
                << (f.missing > 0 ? text(", ", f.missing, " missing") : "") << "\n";
    }
  }
  if (const auto& g = found.group) {
    std::cout << "  group  " << name_of(g->group) << "  matrices off it by at most " << g->residual
              << (g->mended ? " in the file, put onto it as they are read" : "")
              << ", least margin of the chart of the logarithm " << g->least_margin << "\n";
  }
  for (const std::string& warning : found.warnings) {
    std::cout << "  warning  " << warning << "\n";
  }
}

}  // namespace

int run(const DataInspectCommand& command) {
  // A folder is several sets: one object holds the first (train) at its top, and all of them under `splits`.
  Json json, splits = Json::object();
  for (const auto& [name, data] : open_for_inspection(command.path)) {
    const Inspection found = inspect(*data);
    if (!command.talk.json) {
      print(found, name);
      continue;
    }
    if (!json.is_object()) {
      json = to_json(found);
    }
    if (!name.empty()) {
      splits.set(name, to_json(found));
    }
  }
  if (command.talk.json) {
    if (!splits.members().empty()) {
      json.set("splits", splits);
    }
    std::cout << json.dump() << "\n";
  }
  return exit_done;
}

}  // namespace weyl

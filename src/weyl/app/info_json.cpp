#include "weyl/app/info_json.h"

#include "weyl/carriers/quantity_json.h"
#include "weyl/config/options_json.h"
#include "weyl/core/check.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

std::string of(const Json& json, std::string_view key) {
  const Json* value = json.find(key);
  return value != nullptr ? value->string_or("") : "";
}

double number_of(const Json* json) {
  return json != nullptr ? json->number_or(0) : 0;
}

// 1,234,567
std::string grouped(double count) {
  std::string digits = std::to_string(static_cast<long long>(count));
  for (auto i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<size_t>(i), 1, ',');
  }
  return digits;
}

std::string quantities(const Json* list) {
  std::string line;
  for (const Json& q : list != nullptr ? list->items() : std::vector<Json>{}) {
    const double channels = number_of(q.find("channels"));
    line += (line.empty() ? "" : ", ") + of(q, "name") + " (" + of(q, "level") + " " + of(q, "kind") +
            (channels > 1 ? " x" + short_number(channels) : "") +
            (of(q, "unit").empty() ? "" : ", " + of(q, "unit")) + ")";
  }
  return line.empty() ? "none" : line;
}

std::string names(const Json* list) {
  std::string line;
  for (const Json& name : list != nullptr ? list->items() : std::vector<Json>{}) {
    line += (line.empty() ? "" : ", ") + name.string_or("");
  }
  return line.empty() ? "none" : line;
}

void row(std::string& out, std::string_view name, const std::string& value) {
  out += std::string(name) + std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') + value + "\n";
}

Json list_of(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) {
    list.add(name);
  }
  return list;
}

}  // namespace

Json info_json(const ModelSummary& s, const Recipe& recipe) {
  Json parts = Json::array();
  for (const auto& [name, count] : s.parts) {
    parts.add(Json::object().set("name", name).set("parameters", count));
  }
  Json json = Json::object();
  json.set("system", s.system)
      .set("parameters", s.parameters)
      .set("parameters_real", s.parameters_real)
      .set("parts", parts)
      .set("dtype", s.dtype)
      .set("carrier", s.carrier)
      .set("symmetry",
           Json::object().set("exact", list_of(s.exact)).set("approximate", list_of(s.approximate)))
      .set("inputs", quantities_json(s.interface.features))
      .set("outputs", quantities_json(s.interface.outputs))
      .set("options", options_json([model = recipe.model](Fields& f) mutable { fields(f, model); }))
      .set("flops_per_token", Json::object()
                                  .set("forward", s.flops_forward)
                                  .set("train", s.flops_train)
                                  .set("nominal", s.flops_nominal))
      .set("format_version", s.format_version);
  if (s.interface.group) {
    json.set("group", name_of(*s.interface.group));
  }
  if (!s.interface.elements.empty()) {
    json.set("elements", list_of(s.interface.elements));
  }
  if (!s.trained_on.empty()) {
    json.set("trained_on", Json::parse(to_json_text(s.trained_on), "trained_on"));
  }
  if (!s.task.empty()) {
    json.set("task", s.task);
    if (const auto notes = notes_of(recipe.task); !notes.empty()) {
      json.set("notes", list_of(notes));
    }
  }
  if (s.step > 0) {
    Json training = Json::object().set("step", s.step).set("epoch", s.epoch);
    if (!s.metric.empty()) {
      training.set("metric", s.metric).set("value", s.value).set("unit", s.unit);
    }
    json.set("training", training);
  }
  return json;
}

std::string info_text(const Json& d) {
  std::string out;
  row(out, "system", of(d, "system"));
  row(out, "parameters",
      grouped(number_of(d.find("parameters"))) + " (" + grouped(number_of(d.find("parameters_real"))) +
          " stored real numbers)");
  if (const Json* parts = d.find("parts")) {
    for (const Json& part : parts->items()) {
      row(out, "  " + of(part, "name"), grouped(number_of(part.find("parameters"))));
    }
  }
  row(out, "dtype", of(d, "dtype"));
  row(out, "carrier", of(d, "carrier") + (of(d, "group").empty() ? "" : " of " + of(d, "group")));
  if (const Json* symmetry = d.find("symmetry")) {
    row(out, "exact", names(symmetry->find("exact")));
    row(out, "approximate", names(symmetry->find("approximate")));
  }
  row(out, "inputs", quantities(d.find("inputs")));
  row(out, "outputs", quantities(d.find("outputs")));
  if (const Json* elements = d.find("elements")) {
    constexpr size_t most = 20;  // more are the table's, from its beginning
    const auto& all = elements->items();
    row(out, "elements",
        all.size() <= most
            ? names(elements)
            : text(all.front().string_or(""), " .. ", all.back().string_or(""), " (", all.size(), ")"));
  }
  if (const Json* facts = d.find("trained_on")) {
    row(out, "trained on", description(sample_facts(facts->dump(), "trained_on")));
  }
  if (const Json* flops = d.find("flops_per_token")) {
    row(out, "flops/token",
        short_number(number_of(flops->find("forward"))) + " forward, " +
            short_number(number_of(flops->find("train"))) + " train, " +
            grouped(number_of(flops->find("nominal"))) + " nominal");
  }
  if (const Json* training = d.find("training")) {
    row(out, "trained",
        grouped(number_of(training->find("step"))) + " steps, " + of(*training, "metric") + " " +
            short_number(number_of(training->find("value"))) + " " + of(*training, "unit"));
  }
  if (const Json* notes = d.find("notes")) {
    for (const Json& note : notes->items()) {
      row(out, "note", note.string_or(""));
    }
  }
  row(out, "format", short_number(number_of(d.find("format_version"))));
  return out;
}

}  // namespace weyl

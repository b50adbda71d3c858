#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/data/convert.h"
#include "weyl/data/data_warnings.h"
#include "weyl/data/inspect.h"

namespace weyl {

int run(const DataConvertCommand& command) {
  const Converted converted = convert(command.in, command.out, command.options);
  warn_each(converted.warnings);
  if (!converted.left_out.empty()) {
    std::string names;
    for (const std::string& name : converted.left_out) {
      names += (names.empty() ? "" : ", ") + printable(name);
    }
    warn(command.out + " leaves out " + names);
  }
  Json list = Json::array();
  for (const std::string& file : converted.files) {
    list.add(file);
    if (!command.output.json) {
      std::cout << file << "\n";
    }
  }
  if (command.output.json) {
    std::cout << Json::object().set("files", list).dump() << "\n";
  }
  return exit_done;
}

int run(const DataSplitCommand& command) {
  const SplitIndices parts =
      split_file(command.path, command.out, {command.train, command.valid, command.seed}, command.options);
  Json warnings = Json::array();
  for (const std::string& line : warnings_about_parts(command.out, parts)) {
    warn(line);
    warnings.add(line);
  }
  const auto count = [](const std::vector<int64_t>& part) { return static_cast<int64_t>(part.size()); };
  if (command.output.json) {
    std::cout << Json::object()
                     .set("out", command.out)
                     .set("train", count(parts.train))
                     .set("valid", count(parts.valid))
                     .set("test", count(parts.test))
                     .set("warnings", warnings)
                     .dump()
              << "\n";
  } else {
    std::cout << command.out << ": " << count(parts.train) << " train, " << count(parts.valid) << " valid, "
              << count(parts.test) << " test\n";
  }
  return exit_done;
}

namespace {

Json field_json(const FieldSummary& field) {
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

std::string name_at(const std::vector<std::string>& names, size_t k) {
  return k < names.size() && !names[k].empty() ? names[k] : std::to_string(k);
}

/// What the files' masks have for a class.
int64_t number_at(const VolumeSummary& of, size_t k) {
  return k < of.numbers.size() ? of.numbers[k] : static_cast<int64_t>(k);
}

Json volumes_json(const VolumeSummary& of) {
  Json all = Json::array();
  for (const VolumeSummary::Volume& v : of.each) {
    Json cells = Json::array(), spacing = Json::array(), values = Json::array(), classes = Json::array();
    for (size_t d = 0; d < v.cells.size(); ++d) {
      cells.add(v.cells[d]);
      spacing.add(v.spacing[d]);
    }
    for (size_t c = 0; c < v.values.size(); ++c) {
      values.add(Json::object()
                     .set("modality", name_at(of.channels, c))
                     .set("min", v.values[c][0])
                     .set("max", v.values[c][1]));
    }
    for (size_t k = 0; k < v.class_cells.size(); ++k) {
      const bool named = k < of.classes.size() && !of.classes[k].empty();
      classes.add(Json::object()
                      .set("class", named ? of.classes[k] : text(number_at(of, k)))
                      .set("number", number_at(of, k))
                      .set("voxels", v.class_cells[k]));
    }
    all.add(Json::object()
                .set("name", v.name)
                .set("cells", cells)
                .set("spacing", spacing)
                .set("axes", v.axes)
                .set("values", values)
                .set("classes", classes));
  }
  return all;
}

/// Modalities and classes over all volumes, and each volume where their grids differ.
void print_volumes(const VolumeSummary& of) {
  const size_t channels = of.each.empty() ? 0 : of.each[0].values.size(),
               classes = of.each.empty() ? 0 : of.each[0].class_cells.size();
  for (size_t c = 0; c < channels; ++c) {
    std::array<double, 2> lowest{INFINITY, -INFINITY}, highest = lowest;
    for (const auto& v : of.each) {
      if (c < v.values.size()) {
        lowest = {std::min(lowest[0], v.values[c][0]), std::max(lowest[1], v.values[c][0])};
        highest = {std::min(highest[0], v.values[c][1]), std::max(highest[1], v.values[c][1])};
      }
    }
    const auto range = [](const std::array<double, 2>& x) {
      return x[0] == x[1] ? text(x[0]) : text(x[0], " .. ", x[1]);
    };
    std::cout << "  modality  " << name_at(of.channels, c) << "  from " << range(lowest) << " to "
              << range(highest) << (lowest[0] == lowest[1] && highest[0] == highest[1] ? "" : ", by volume")
              << "\n";
  }
  for (size_t k = 0; k < classes; ++k) {
    int64_t in = 0, with = 0;
    double least = 1, most = 0;
    for (const auto& v : of.each) {
      int64_t all = 0;
      for (const int64_t n : v.class_cells) {
        all += n;
      }
      if (k < v.class_cells.size() && all > 0) {
        const double share = static_cast<double>(v.class_cells[k]) / static_cast<double>(all);
        least = std::min(least, share);
        most = std::max(most, share);
        in += v.class_cells[k] > 0 ? 1 : 0;
        ++with;
      }
    }
    const auto percent = [](double x) { return std::round(1e4 * x) / 100; };
    std::cout << "  class  " << number_at(of, k) << " " << (k < of.classes.size() ? of.classes[k] : "")
              << "  in " << in << " of " << with << " masks, " << percent(least) << " to " << percent(most)
              << " % of the voxels\n";
  }
  constexpr size_t kMost = 40;
  for (size_t i = 0; of.differ() && i < of.each.size(); ++i) {
    const auto& v = of.each[i];
    if (i == kMost) {
      std::cout << "  and " << of.each.size() - kMost << " volumes more; --json has all\n";
      break;
    }
    std::cout << "  volume  " << v.name << "  " << v.cells[0] << " x " << v.cells[1] << " x " << v.cells[2]
              << "  at " << v.spacing[0] << " x " << v.spacing[1] << " x " << v.spacing[2]
              << (of.unit.empty() ? "" : " " + of.unit) << "  " << v.axes << "\n";
  }
}

Json inspection_json(const Inspection& found) {
  Json fields = Json::array(), labels = Json::array(), warnings = Json::array();
  for (const FieldSummary& field : found.fields) {
    fields.add(field_json(field));
  }
  for (const FieldSummary& field : found.labels) {
    labels.add(field_json(field));
  }
  for (const std::string& warning : found.warnings) {
    warnings.add(warning);
  }
  Json json = Json::object();
  json.set("carrier", name_of(found.carrier))
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
  if (const auto& v = found.volumes) {
    Json least = Json::array(), most = Json::array(), axes = Json::object();
    for (size_t d = 0; d < 3; ++d) {
      least.add(v->least_spacing[d]);
      most.add(v->most_spacing[d]);
    }
    for (const auto& [codes, count] : v->axes) {
      axes.set(codes, count);
    }
    json.set("spacing", Json::object().set("min", least).set("max", most).set("unit", v->unit))
        .set("axes", axes)
        .set("volumes", volumes_json(*v));
  }
  return json;
}

void print_inspection(const Inspection& found, const std::string& name) {
  std::cout << (name.empty() ? "" : name + ": ") << found.samples << " samples of " << name_of(found.carrier)
            << ", " << found.least_tokens;
  if (found.most_tokens != found.least_tokens) {
    std::cout << " to " << found.most_tokens;
  }
  std::cout << " tokens each\n";
  for (const auto& [title, list] : {std::pair{"field", &found.fields}, {"label", &found.labels}}) {
    for (const FieldSummary& f : *list) {
      std::string shape;
      for (size_t d = 0; d < f.shape.size(); ++d) {  // 0 behind the first: samples differ along this axis
        const bool differs = d > 0 && f.shape[d] == 0;
        shape.append(d == 0 ? "" : " x ").append(differs ? "any" : std::to_string(f.shape[d]));
      }
      std::cout << "  " << title << "  " << f.name << "  (" << shape << ")"
                << (f.unit.empty() ? "" : " " + f.unit) << "  ";
      if (f.read) {
        std::cout << f.min << " to " << f.max;
      } else {
        std::cout << "not read";
      }
      std::cout << (f.missing > 0 ? text(", ", f.missing, " missing") : "") << "\n";
    }
  }
  if (const auto& g = found.group) {
    std::cout << "  group  " << name_of(g->group) << "  matrices off it by at most " << g->residual
              << (g->mended ? " in the file, put onto it as they are read" : "")
              << ", least margin of the chart of the logarithm " << g->least_margin << "\n";
  }
  if (const auto& v = found.volumes) {
    const auto by = [](const std::array<double, 3>& x) { return text(x[0], " x ", x[1], " x ", x[2]); };
    std::cout << "  spacing  " << by(v->least_spacing)
              << (v->least_spacing == v->most_spacing ? "" : " to " + by(v->most_spacing))
              << (v->unit.empty() ? "" : " " + v->unit) << ", read as RAS\n  axes  ";
    std::string axes;
    for (const auto& [codes, count] : v->axes) {
      axes += text(axes.empty() ? "" : ", ", codes, " in ", count, count == 1 ? " file" : " files");
    }
    std::cout << axes << "\n";
    print_volumes(*v);
  }
  for (const std::string& warning : found.warnings) {
    std::cout << "  warning  " << warning << "\n";
  }
}

Json field_json(const FrameFieldSummary& field) {
  Json shape = Json::array();
  for (const int64_t n : field.shape) {
    shape.add(n);
  }
  Json json = Json::object();
  json.set("name", field.name)
      .set("level", level_names[static_cast<size_t>(field.level)])
      .set("shape", shape)
      .set("unit", field.unit)
      .set("frames", field.frames)
      .set("min", field.min)
      .set("max", field.max)
      .set("missing", field.missing);
  if (!field.texts.empty()) {
    Json texts = Json::object();
    for (const auto& [said, count] : field.texts) {
      texts.set(said, count);
    }
    json.set("texts", texts).set("more_texts", field.more_texts);
  }
  return json;
}

double mean_atoms(const FrameInspection& found) {
  return static_cast<double>(found.atoms) / static_cast<double>(std::max<int64_t>(found.frames, 1));
}

Json inspection_json(const FrameInspection& found) {
  Json fields = Json::array(), labels = Json::array(), warnings = Json::array(), elements = Json::object();
  for (const auto& field : found.fields) {
    fields.add(field_json(field));
  }
  for (const auto& field : found.labels) {
    labels.add(field_json(field));
  }
  for (const std::string& warning : found.warnings) {
    warnings.add(warning);
  }
  for (const auto& [z, count] : found.elements) {
    elements.set(std::string(element_symbol(z)), count);
  }
  Json json = Json::object();
  json.set("carrier", name_of(Carrier::points))
      .set("samples", found.frames)
      .set("tokens", Json::object()
                         .set("min", found.least_atoms)
                         .set("mean", mean_atoms(found))
                         .set("max", found.most_atoms))
      .set("elements", elements)
      .set("cells", found.cells)
      .set("periodic", found.periodic)
      .set("fields", fields)
      .set("labels", labels)
      .set("warnings", warnings);
  if (found.shortest) {
    json.set("shortest_distance", *found.shortest).set("shortest_distance_at", found.shortest_where);
  }
  return json;
}

void print_inspection(const FrameInspection& found, const std::string& name) {
  const auto precision = std::cout.precision(9);  // total energies are large, their differences small
  std::cout << (name.empty() ? "" : name + ": ") << found.frames << " frames of " << found.least_atoms;
  if (found.most_atoms != found.least_atoms) {
    std::cout << " to " << found.most_atoms;
  }
  std::cout << " atoms, " << mean_atoms(found) << " on average; " << found.periodic
            << " periodic\n  elements ";
  for (const auto& [z, count] : found.elements) {
    std::cout << " " << element_symbol(z) << " " << count;
  }
  std::cout << "\n";
  for (const auto& [title, list] : {std::pair{"field", &found.fields}, {"label", &found.labels}}) {
    for (const FrameFieldSummary& f : *list) {
      std::cout << "  " << title << "  " << printable(f.name) << (f.level == Level::node ? " of atoms" : "");
      for (size_t d = 0; d < f.shape.size(); ++d) {
        std::cout << (d == 0 ? "  " : " x ") << f.shape[d];
      }
      std::cout << "  " << f.frames << "/" << found.frames << " frames";
      if (f.texts.empty()) {
        std::cout << "  " << f.min << " to " << f.max << (f.unit.empty() ? "" : text(" ", printable(f.unit)));
      }
      std::cout << (f.missing > 0 ? text(", ", f.missing, " not finite") : "");
      std::string texts;
      for (const auto& [said, count] : f.texts) {
        texts += text(texts.empty() ? "  " : ", ", quote(said, 30), " ", count);
      }
      std::cout << texts << (f.more_texts ? ", and others" : "") << "\n";
    }
  }
  if (found.shortest) {
    std::cout << "  shortest distance  " << *found.shortest << "  " << found.shortest_where << "\n";
  }
  for (const std::string& warning : found.warnings) {
    std::cout << "  warning  " << warning << "\n";
  }
  std::cout.precision(precision);
}

}  // namespace

int run(const DataInspectCommand& command) {
  // A folder is several sets: one object holds the first (train) at its top, and all of them under `splits`.
  Json json, splits = Json::object();
  const auto report = [&](const std::string& name, const auto& found) {
    if (!command.output.json) {
      print_inspection(found, name);
      return;
    }
    if (!json.is_object()) {
      json = inspection_json(found);
    }
    if (!name.empty()) {
      splits.set(name, inspection_json(found));
    }
  };
  inspect_path(command.path, [&](const std::string& split, const AnyInspection& any) {
    std::visit([&](const auto& found) { report(split, found); }, any);
  });
  if (command.output.json) {
    if (!splits.members().empty()) {
      json.set("splits", splits);
    }
    std::cout << json.dump() << "\n";
  }
  return exit_done;
}

}  // namespace weyl

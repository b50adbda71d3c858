#include "weyl/train/loop/start_from.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "weyl/carriers/dataset_facts.h"
#include "weyl/config/options_json.h"
#include "weyl/core/check.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"
#include "weyl/saved/each_batch.h"
#include "weyl/train/loop/changes_on_resume.h"
#include "weyl/train/loop/loading.h"

namespace weyl {
namespace {

// "layers", "layers.0", ... and the names themselves.
std::vector<std::string> prefixes_of(const Module& model) {
  std::set<std::string> all;
  for (const Parameter& p : model.parameters()) {
    for (size_t dot = p.name.find('.'); dot != std::string::npos; dot = p.name.find('.', dot + 1)) {
      all.insert(p.name.substr(0, dot));
    }
    all.insert(p.name);
  }
  return {all.begin(), all.end()};
}

// The parts of a model, for those who have named none of them.
std::string parts_of(const Module& model) {
  std::string parts;
  for (const auto& [name, count] : model.parts()) {
    parts += (parts.empty() ? "" : ", ") + name;
  }
  return parts;
}

}  // namespace

void freeze_parameters(Module& model, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    if (model.freeze(prefix) == 0) {
      const std::string near = nearest(prefix, prefixes_of(model));
      throw ConfigError(text("train.freeze: must be the beginnings of names of parameters, up to a dot, got ",
                             quote(prefix), near.empty() ? "" : " (did you mean " + near + "?)",
                             "; the model has ", parts_of(model)));
    }
  }
  const auto all = model.parameters();
  require<ConfigError>(
      prefixes.empty() ||
          std::any_of(all.begin(), all.end(), [](const auto& p) { return p.trainable && !p.frozen; }),
      "train.freeze: must leave some parameter to be trained, and leaves none");
}

namespace {

using Lines = std::vector<std::string>;

// "layers.0" of "layers.0.attention.weight", "head" of "head.weight".
std::string part_of(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) {
    return name;
  }
  size_t end = dot + 1;
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) {
    ++end;
  }
  const bool numbered = end > dot + 1 && (end == name.size() || name[end] == '.');
  return name.substr(0, numbered ? end : dot);
}

// "layers.0 (12), head.weight": names that stand alone in their part as they are.
std::string by_part(const Lines& names) {
  std::map<std::string, Lines> parts;
  for (const std::string& name : names) {
    parts[part_of(name)].push_back(name);
  }
  std::string all;
  for (const auto& [part, of_part] : parts) {
    all += all.empty() ? "" : ", ";
    all +=
        of_part.size() == 1 ? printable(of_part.front()) : text(printable(part), " (", of_part.size(), ")");
  }
  return all;
}

// So end the keys of what training alone does: what it leaves out at random, what it keeps.
constexpr std::array<std::string_view, 6> of_training{".platonic.recompute", ".dropout",
                                                      ".attention_dropout",  ".drop_path",
                                                      ".drop_path_by",       ".drop_path_grows"};

void compare(const Json& theirs, const Json& ours, const std::string& key, const std::string& where,
             Lines& lines) {
  if (is_way_of_working(key) ||
      std::ranges::any_of(of_training, [&](std::string_view end) { return key.ends_with(end); })) {
    return;
  }
  if (!theirs.is_object() || !ours.is_object()) {
    if (theirs.dump() != ours.dump()) {
      lines.push_back(text("train.from: ", key, " is ", printable(theirs.dump()), " in ", where, ", ",
                           printable(ours.dump()), " in the config: the same weights give something else"));
    }
    return;
  }
  std::set<std::string> keys;
  for (const Json* json : {&theirs, &ours}) {
    for (const auto& [name, value] : json->members()) {
      keys.insert(name);
    }
  }
  for (const std::string& name : keys) {
    const Json *a = theirs.find(name), *b = ours.find(name);
    compare(a != nullptr ? *a : Json(), b != nullptr ? *b : Json(), key + "." + name, where, lines);
  }
}

Lines differences_of_options(ModelOptions theirs, ModelOptions ours, const std::string& where) {
  const auto json = [](ModelOptions& options) {
    return options_json([&](Fields& f) { fields(f, options); });
  };
  Lines lines;
  compare(json(theirs), json(ours), "model", where, lines);
  return lines;
}

std::string told(const Quantity& q) {
  std::string words = text("'", printable(q.name), "' (", level_names[static_cast<int>(q.level)], " ",
                           kind_names[static_cast<int>(q.kind)]);
  words += q.channels == 1 ? "" : text(" x ", q.channels);
  words += q.unit.empty() ? "" : ", " + printable(q.unit);
  words += q.extensive ? ", extensive" : "";
  return words + ")";
}

// `what`: "feature", or "output", of which other units are reckoned with (Task::keep).
Lines differences_of(const std::vector<Quantity>& theirs, const std::vector<Quantity>& ours,
                     const std::string& what, const std::string& where) {
  const auto same = [&](Quantity a, const Quantity& b) {
    a.unit = what == "output" ? b.unit : a.unit;
    return a == b;
  };
  Lines lines;
  for (size_t i = 0; i < std::max(theirs.size(), ours.size()); ++i) {
    const Quantity* a = i < theirs.size() ? &theirs[i] : nullptr;
    const Quantity* b = i < ours.size() ? &ours[i] : nullptr;
    if (a == nullptr || b == nullptr || !same(*a, *b)) {
      lines.push_back(text("train.from: ", what, " ", i + 1, " is ", a != nullptr ? told(*a) : "none", " in ",
                           where, ", ", b != nullptr ? told(*b) : "none", " here"));
    }
  }
  return lines;
}

// Copies what two tensors have in common that differ in one dimension, by further types: types stand first, or it
// counts pairs of types. False where they differ otherwise.
bool take_types(const Tensor& into, const Tensor& from, int64_t types, int64_t more) {
  if (into.dim() != from.dim()) {
    return false;
  }
  int64_t along = -1;
  for (int64_t d = 0; d < into.dim(); ++d) {
    if (into.size(d) != from.size(d)) {
      if (along >= 0) {
        return false;
      }
      along = d;
    }
  }
  if (along < 0) {
    return false;
  }
  const int64_t old = from.size(along), now = into.size(along);
  if (old == types * types && now == more * more) {
    into.unflatten(along, {more, more})
        .narrow(along, 0, types)
        .narrow(along + 1, 0, types)
        .copy_(from.unflatten(along, {types, types}));
    return true;
  }
  if (old < types || now - old != more - types) {
    return false;
  }
  into.narrow(along, 0, types).copy_(from.narrow(along, 0, types));
  into.narrow(along, more, old - types).copy_(from.narrow(along, types, old - types));
  return true;
}

// The model's outputs of graphs on all samples, in their order, (B, c) float64.
Named outputs_of(Model& model, const std::shared_ptr<const Dataset>& data, const BatchOptions& batches) {
  const at::NoGradGuard quiet;
  const bool training = model.training();
  model.train(false);
  std::map<std::string, std::vector<Tensor>> parts;
  int64_t done = 0;
  each_batch(model, data, batches, Form::ready, [&](const Batch& batch) {
    const Named outputs = model(batch.input);
    for (const Quantity& q : model.interface.outputs) {
      if (q.level == Level::graph && q.kind == Kind::scalar) {
        parts[q.name].push_back(outputs.at(q.name).detach().to(at::kCPU, at::kDouble));
      }
    }
    done += batch.count();
  });
  model.train(training);
  require(done == data->size(), "train.from: the model must have seen ", data->size(), " samples, got ",
          done);
  Named all;
  for (const auto& [name, tensors] : parts) {
    all[name] = at::cat(tensors);
  }
  return all;
}

std::string name_of_type(const Interface& interface, int64_t type) {
  const auto i = static_cast<size_t>(type);
  return i < interface.elements.size() ? interface.elements[i] : text("type ", type);
}

// Types of which a task's training set has nodes and that of an earlier one had none.
std::string not_seen(const Task& before, const Task& task, const Interface& interface) {
  const NamedTensors then = before.state(), now = task.state();
  Lines unseen;
  if (const auto a = then.find("seen"), b = now.find("seen"); a != then.end() && b != now.end()) {
    for (int64_t type = 0; type < std::min(a->second.numel(), b->second.numel()); ++type) {
      if (b->second[type].item<double>() > 0 && !(a->second[type].item<double>() > 0)) {
        unseen.push_back(name_of_type(interface, type));
      }
    }
  }
  return joined_printable(unseen);
}

}  // namespace

void require_same_system(const SavedModel& source, const ModelOptions& options, const std::string& where) {
  const std::string theirs = system_name(source.recipe.model), ours = system_name(options);
  require<ConfigError>(theirs == ours, "train.from: ", where,
                       ": must be a model of the system that the config names, ", ours, ", got ", theirs);
}

Interface interface_from(const SavedModel& source, const Interface& data, const std::string& where) {
  const Interface& theirs = source.interface;
  const std::string begin = text("train.from: ", where, ": ");
  require<ConfigError>(carrier_of(theirs) == carrier_of(data), begin, "must be a model of ",
                       name_of(carrier_of(data)), ", as the data are, got one of ",
                       name_of(carrier_of(theirs)));
  require<ConfigError>(theirs.dimension == data.dimension, begin, "must be a model in ", data.dimension,
                       " dimensions, as the data are, got one in ", theirs.dimension);
  require<ConfigError>(theirs.group == data.group, begin, "must be a model of poses of the group ",
                       data.group ? name_of(*data.group) : "", ", got one of ",
                       theirs.group ? name_of(*theirs.group) : "");
  const std::string apart = units_apart(theirs, data);
  require<ConfigError>(apart.empty(), begin, apart);
  if (!theirs.elements.empty() && !data.elements.empty()) {
    const bool begins = data.elements.size() >= theirs.elements.size() &&
                        std::equal(theirs.elements.begin(), theirs.elements.end(), data.elements.begin());
    require<ConfigError>(begins, begin,
                         "the data's elements must be the model's, in its order, and after them those "
                         "that it lacks: it has ",
                         joined_printable(theirs.elements), ", the data ", joined_printable(data.elements),
                         " (the option `elements` of the data set says which, and in which order)");
  }
  Interface ours = data;
  ours.typical_nodes = theirs.typical_nodes;
  return ours;
}

Taken take_weights(Model& model, const SavedModel& source, const ModelOptions& options,
                   const std::string& where) {
  Taken taken;
  const Interface &theirs = source.interface, &ours = model.interface;
  const Lines of_options = differences_of_options(source.recipe.model, options, where);
  const Lines of_features = differences_of(theirs.features, ours.features, "feature", where);
  const Lines of_outputs = differences_of(theirs.outputs, ours.outputs, "output", where);
  // Only then does another shape come from types alone.
  const bool same = of_options.empty() && of_features.empty() && of_outputs.empty() && theirs.types > 0;
  const bool alike = same && ours.types > theirs.types;
  const bool fewer = same && ours.types < theirs.types;  // and nobody knows which of the model's they are
  NamedTensors left;
  for (const Parameter& p : source.model->parameters()) {
    left[p.name] = p.tensor.detach();
  }
  Lines missing, misshaped, extended;
  int64_t count = 0;
  const auto parameters = model.parameters();
  {
    const at::NoGradGuard quiet;
    for (const Parameter& p : parameters) {
      const auto found = left.find(p.name);
      if (found == left.end()) {
        missing.push_back(p.name);
        continue;
      }
      const Tensor from = found->second.to(p.tensor.device(), p.tensor.scalar_type()),
                   into = p.tensor.detach();
      left.erase(found);
      if (from.sizes() == into.sizes()) {
        into.copy_(from);
        ++count;
      } else if (alike && take_types(into, from, theirs.types, ours.types)) {
        extended.push_back(p.name);
        ++count;
      } else {
        misshaped.push_back(p.name);
        taken.warnings.push_back(text("train.from: ", printable(p.name), " is ", from.sizes(), " in ", where,
                                      ", and not the ", into.sizes(), " of this model: it starts at random"));
      }
    }
  }
  constexpr size_t most = 8;
  if (fewer && !misshaped.empty()) {
    taken.warnings = {text(
        "train.from: ", where, " has ", theirs.types, " types of nodes, the data ", ours.types,
        ", and no names say which of them: what belongs to types starts at random: ", by_part(misshaped))};
  } else if (misshaped.size() > most) {
    taken.warnings = {
        text("train.from: of another shape in ", where, ", so they start at random: ", by_part(misshaped))};
  }
  Lines unused;
  for (const auto& [name, tensor] : left) {
    unused.push_back(name);
  }
  if (count == 0) {
    Lines own, others;
    for (const Parameter& p : parameters) {
      own.push_back(p.name);
    }
    for (const Parameter& p : source.model->parameters()) {
      others.push_back(p.name);
    }
    throw ConfigError(text("train.from: ", where,
                           ": must have some parameter that fits by name and shape, got none: it has ",
                           by_part(others), "; this model has ", by_part(own)));
  }
  model.train(model.training());  // drops what was computed from the old values
  taken.line = text("weights of ", where, ": took ", count, " of ", parameters.size(), " parameters");
  if (!missing.empty()) {
    taken.warnings.push_back(
        text("train.from: not in ", where, ", so they start at random: ", by_part(missing)));
  }
  if (!unused.empty()) {
    taken.warnings.push_back(text("train.from: of ", where, " this model has no use for: ", by_part(unused)));
  }
  if (!extended.empty()) {
    Lines added;
    for (int64_t type = theirs.types; type < ours.types; ++type) {
      added.push_back(name_of_type(ours, type));
    }
    taken.warnings.push_back(text("train.from: ", where, " has no ", joined_printable(added),
                                  ": what belongs to them starts at random, in ", by_part(extended)));
  }
  for (const Lines* lines : {&of_options, &of_features, &of_outputs}) {
    taken.warnings.insert(taken.warnings.end(), lines->begin(), lines->end());
  }
  taken.whole = missing.empty() && misshaped.empty();
  return taken;
}

std::vector<std::string> refit(Task& task, Model& model, const Recipe& recipe, const SavedModel& source,
                               const Taken& taken, const std::shared_ptr<const Dataset>& train,
                               const std::string& where) {
  Lines lines;
  const NamedTensors state = task.state();
  const bool scaled = state.contains("scale") || state.contains("scales");
  if (!taken.whole) {
    if (scaled) {
      lines.push_back(
          text("train.from: not all of this model is from ", where,
               ": scales and references are fitted to the data as of a model that starts at random"));
    }
    return lines;
  }
  std::unique_ptr<Task> plain;  // of weights whose outputs are the predictions
  if (source.task == nullptr) {
    Schema of_source = train->schema();
    of_source.interface = source.interface;
    plain = make_task(recipe.task);
    plain->adopt(of_source, {});
  }
  const Task& before = source.task != nullptr ? *source.task : *plain;
  if (source.task != nullptr) {
    const std::string unseen = not_seen(before, task, model.interface);
    if (!unseen.empty()) {
      lines.push_back(text("train.from: ", where, " was trained without ", unseen,
                           ": its weights for them are as they were drawn"));
    }
  }
  if (!task.keep(before, source.interface, model.interface)) {
    if (scaled) {
      lines.push_back(
          text("train.from: ", where,
               " was scaled for another task: scales and references are fitted to the data anew"));
    }
    return lines;
  }
  for (const Quantity& q : model.interface.outputs) {
    const Quantity* theirs = find_quantity(source.interface.outputs, q.name);
    if (theirs != nullptr && theirs->unit.empty() != q.unit.empty()) {
      lines.push_back(text("train.from: the unit of '", printable(q.name), "' is not known ",
                           q.unit.empty() ? "of the data" : "of " + where, ", it is taken to be ",
                           printable(q.unit.empty() ? theirs->unit : q.unit)));
    }
  }
  task.refer(*train, outputs_of(model, train, evaluate_options(recipe.train, "training data")));
  return lines;
}

}  // namespace weyl

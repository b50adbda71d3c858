#include "weyl/train/preflight/label_features.h"

#include <algorithm>
#include <cctype>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/atoms/potential_keys.h"

namespace weyl {
namespace {

/// A label, the keys under which files have it, and the option that names it.
struct Learned {
  std::string name;
  std::vector<std::string> keys;
  std::string option;
};

std::vector<std::string> names_of_labels(const TaskOptions& options) {
  if (std::holds_alternative<ForceFieldOptions>(options.task)) {
    return {"energy", "forces", "stress"};
  }
  if (const auto* property = std::get_if<PropertyOptions>(&options.task)) {
    return property->targets;
  }
  if (std::holds_alternative<RigidMotionOptions>(options.task)) {
    return {"displacement", "turn"};
  }
  if (const auto* relaxation = std::get_if<RelaxationOptions>(&options.task)) {
    return {"relaxed", "displacement", relaxation->target};
  }
  return std::holds_alternative<TrajectoryOptions>(options.task) ? std::vector<std::string>{"displacement"}
         : std::holds_alternative<CompletionOptions>(options.task)
             ? std::vector<std::string>{"element", "flank"}
         : std::holds_alternative<PoseCorrectionOptions>(options.task) ||
                 std::holds_alternative<RegistrationOptions>(options.task)
             ? std::vector<std::string>{"pose"}
         : std::holds_alternative<ClassificationOptions>(options.task) ? std::vector<std::string>{"class"}
                                                                       : std::vector<std::string>{"mask"};
}

std::string option_of(const TaskOptions& options) {
  return std::visit(
      [](const auto& o) {
        using Options = std::decay_t<decltype(o)>;
        return text("task.", Options::name_in_config,
                    std::is_same_v<Options, PropertyOptions>     ? ".targets"
                    : std::is_same_v<Options, RelaxationOptions> ? ".target"
                                                                 : "");
      },
      options.task);
}

/// The usual keys of what has a usual name.
std::vector<std::string> usual_keys(const std::string& label) {
  std::vector<std::string> keys;
  const auto add = [&](const auto& usual) { keys.insert(keys.end(), usual.begin(), usual.end()); };
  if (label == "energy") {
    add(energy_keys);
    add(other_energy_keys);
  } else if (label == "forces") {
    add(forces_keys);
  } else if (label == "stress") {
    add(stress_keys);
  }
  return keys;
}

/// Shorter names in another case are another thing: a charge q and a quadrupole Q, a velocity v and a volume V.
constexpr size_t kWord = 3;

/// Letters in lower case, and digits: "DFT-Energy" is "dft_energy".
std::string plain(const std::string& key) {
  std::string result;
  for (const char c : key) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

void require_none(const std::vector<std::string>& features, const std::string& where,
                  const std::vector<Learned>& labels, const std::string& task) {
  for (const std::string& feature : features) {
    for (const Learned& label : labels) {
      const auto same = [&](const std::string& key) {
        return key == feature || (plain(key).size() >= kWord && plain(key) == plain(feature));
      };
      require<ConfigError>(
          !same(label.name) && std::ranges::none_of(label.keys, same), where, ": ", quote(feature),
          " must not be a feature, because ", task, " learns ", quote(label.name),
          label.option.empty() ? std::string() : " (" + label.option + ")",
          same(label.name) ? "" : ", of which it is another name", ": the model would be told the answer");
    }
  }
}

}  // namespace

void require_features_are_no_labels(const Recipe& recipe) {
  const std::string task = option_of(recipe.task);
  std::vector<Learned> labels;
  const auto* molecules = std::get_if<MoleculesDataOptions>(&recipe.data.set);
  for (const std::string& name : names_of_labels(recipe.task)) {
    Learned label{name, usual_keys(name), ""};
    if (molecules != nullptr) {
      const std::string given = name == "energy"   ? molecules->energy
                                : name == "forces" ? molecules->forces
                                : name == "stress" ? molecules->stress
                                                   : "";
      if (!given.empty()) {
        label.keys.push_back(given);
        label.option = text("data.molecules.", name, " = ", quote(given));
      }
    }
    labels.push_back(std::move(label));
  }
  if (molecules != nullptr) {
    require_none(molecules->features, "data.molecules.features", labels, task);
    std::vector<std::string> states;
    for (const FrameState& state : molecules->states) {
      states.push_back(state.key);
    }
    require_none(states, "data.molecules.states", labels, task);
  }
  if (recipe.interface && std::holds_alternative<TensorsDataOptions>(recipe.data.set)) {
    std::vector<std::string> features;
    for (const Quantity& q : recipe.interface->features) {
      features.push_back(q.name);
    }
    require_none(features, "interface.features", labels, task);
  }
}

void require_features_are_no_labels(std::span<const Quantity> features, std::span<const Quantity> labels,
                                    const std::string& task) {
  std::vector<std::string> names;
  for (const Quantity& q : features) {
    names.push_back(q.name);
  }
  std::vector<Learned> learned;
  for (const Quantity& q : labels) {
    learned.push_back({q.name, {}, ""});
  }
  require_none(names, "data: features", learned, "task " + task);
}

}  // namespace weyl

#include "weyl/data/options.h"

#include "weyl/config/unused_options.h"

namespace weyl {

void fields(Fields& f, DataOptions& o) {
  f.also_called("set", {"name", "type", "dataset", "data_set"});
  f.variant("set", o.set, "the data set");
  f("folds", o.folds,
    "parts that training and validation samples together are cut into, for cross-validation, or the number of "
    "those that the files list themselves (splits_final.json); 0: none",
    {0, 1000});
  f("fold", o.fold, "the part that is the validation split, 0 .. folds - 1; the others are for training",
    {0, 999});
}

std::optional<Folds> folds_of(const DataOptions& options) {
  const Folds folds{options.folds, options.fold};
  if (folds.count == 0) {
    return {};
  }
  require_fold(folds);
  return folds;
}

ListedFolds listed_folds(const DataOptions& options) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { listed_folds(o); }) {
          return listed_folds(o);
        } else {
          return ListedFolds{};
        }
      },
      options.set);
}

const std::string& path_of(const DataOptions& options) {
  return std::visit([](const auto& o) -> const std::string& { return o.path; }, options.set);
}

DataOptions moved_to(DataOptions options, const std::string& path) {
  std::visit([&](auto& o) { o.path = path; }, options.set);
  return options;
}

DataOptions know_classes(DataOptions options, const std::vector<std::string>& names) {
  std::visit(
      [&](auto& o) {
        if constexpr (requires { o.known_classes; }) {
          o.known_classes = names;
        }
      },
      options.set);
  return options;
}

DataOptions know_states(DataOptions options, const std::map<std::string, std::vector<int64_t>>& values) {
  if (auto* molecules = std::get_if<MoleculesDataOptions>(&options.set)) {
    for (FrameState& state : molecules->states) {
      const auto known = values.find(state.key);
      state.known = known != values.end() ? known->second : std::vector<int64_t>();
    }
  }
  return options;
}

DataOptions count_classes(DataOptions options, std::string_view label, int64_t categories) {
  std::visit(
      [&](auto& o) {
        if constexpr (requires { o.point_classes; }) {
          int64_t& classes = label == "mask" ? o.point_classes : o.classes;
          classes = classes == 0 ? categories : classes;
        } else if constexpr (requires { o.classes; }) {
          o.classes = o.classes == 0 ? categories : o.classes;
        }
      },
      options.set);
  return options;
}

DataOptions of_any_classes(DataOptions options) {
  std::visit(
      [](auto& o) {
        if constexpr (requires { o.target; }) {
          o.classes = o.target == ImageTarget::mask ? o.classes : 0;  // of masks they are those of pixels
        } else if constexpr (requires { o.point_label; }) {
          o.classes = o.class_input ? o.classes : 0;  // an input is known
          o.point_label.clear();
        } else if constexpr (requires { o.known_classes; }) {
          o.classes = 0;
        }
      },
      options.set);
  return options;
}

DataOptions all_of(DataOptions options, const std::string& path) {
  std::visit(
      [](auto& o) {
        if constexpr (requires { o.train = o.valid = o.test = 0; }) {
          o.train = o.valid = o.test = 0;
        }
        if constexpr (requires { o.fractions; }) {
          o.fractions = {0, 0, 1};
        }
        if constexpr (requires { o.order; }) {
          o.order = SplitOrder::weyl;  // on which nothing depends
        }
        if constexpr (requires { o.train_fraction; }) {
          o.train_fraction = o.valid_fraction = 0;
        }
        if constexpr (requires { o.stream; }) {
          o.stream = false;  // of whatever format it is: who opens it says what to keep
        }
        if constexpr (requires { o.held_out; }) {
          o.held_out.clear();
        }
        if constexpr (requires { o.prepared; }) {
          o.prepared.clear();  // which is of the set's own cases
        }
      },
      options.set);
  options.folds = options.fold = 0;
  return moved_to(std::move(options), path);
}

AskedSet asked(const DataOptions& options) {
  return std::visit([](const auto& o) { return AskedSet(o); }, options.set);
}

void require_effects(const DataOptions& options) {
  std::visit(
      [](const auto& o) {
        if constexpr (requires { require_effects(o); }) {
          require_effects(o);
        }
      },
      options.set);
  const Conditional fold[] = {{"fold", options.folds > 0, "with folds = 0"}};
  refuse_unused("data", options, DataOptions{options.set}, fold);
}

PartCounts declared_samples(const DataOptions& options) {
  if (options.folds > 0) {  // of what the files have
    return {};
  }
  return std::visit(
      [](const auto& o) -> PartCounts {
        if constexpr (requires { declared_samples(o); }) {
          return declared_samples(o);
        } else if constexpr (requires { PartCounts{o.train, o.valid, o.test}; }) {
          return {o.train, o.valid, o.test};
        } else {
          return {};
        }
      },
      options.set);
}

}  // namespace weyl

#include "weyl/train/preflight/input_check.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/nan_to_num.h>
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include "weyl/carriers/crop.h"
#include "weyl/carriers/multivector_motion.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/random_tensor.h"
#include "weyl/models/features.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/steerable/steerable.h"
#include "weyl/train/preflight/input_changes.h"

namespace weyl {
namespace {

constexpr int64_t samples_compared = 64;

bool rows_are_equal(const Tensor& x) {
  return !x.defined() || x.eq(x.narrow(0, 0, 1)).all().item<bool>();
}

struct Graphs {
  int64_t all = 0, alike = 0;
};

void look_at(const Points& points, const Interface& interface, Graphs& graphs) {
  const auto [scalars, vectors] = input_values(points, interface);
  for (int64_t g = 0; g < points.count(); ++g) {
    const int64_t begin = points.graphs.offsets[static_cast<size_t>(g)], size = points.graphs.size(g);
    const auto of_graph = [&](const Tensor& x) { return x.defined() ? x.narrow(0, begin, size) : x; };
    if (size < 2 || rows_are_equal(of_graph(points.positions))) {
      continue;  // nothing to be seen
    }
    ++graphs.all;
    graphs.alike += rows_are_equal(of_graph(scalars)) && rows_are_equal(of_graph(vectors)) ? 1 : 0;
  }
}

}  // namespace

std::string note_on_alike_nodes(const ModelOptions& model, const Interface& interface, const Dataset& train) {
  const auto* options = model.system.get_if<platonic::Options>();
  if (options == nullptr || !platonic::needs_unlike_nodes(platonic::resolved(*options, interface))) {
    return "";
  }
  const at::NoGradGuard constants;
  Graphs graphs;
  const int64_t looked_at = std::min(train.size(), samples_compared);
  for (int64_t i = 0; i < looked_at; ++i) {
    const int64_t sample = i * train.size() / looked_at;
    const Batch batch = train.batch({&sample, 1});
    if (const auto* points = std::get_if<Points>(&batch.input)) {
      look_at(*points, interface, graphs);
    }
  }
  if (graphs.alike == 0) {
    return "";
  }
  return text("in ", graphs.alike, " of ", graphs.all,
              " training samples that were looked at all nodes are alike: there softmax attention sees no "
              "geometry, whatever its weights, since every weighted mean of equal values is that value; ",
              "model.platonic.rope_on_values = true, attention = \"linear\", ape or position_vector = true "
              "see it");
}

std::string note_on_empty_tokens(const Model& model, const TrainOptions& options, const Dataset& train) {
  const auto* net = dynamic_cast<const steerable::Net*>(&model);
  if (net == nullptr || !net->options.encoder.skip_empty || train.schema().carrier() != Carrier::grid) {
    return "";
  }
  const at::NoGradGuard constants;
  constexpr int64_t kSamples = 4, kCrops = 4;  // which may be read from files for it
  const int64_t looked_at = std::min(train.size(), kSamples), crops = options.crop.empty() ? 1 : kCrops;
  for (int64_t i = 0; i < looked_at; ++i) {
    const int64_t sample = i * train.size() / looked_at;
    const Batch whole = train.batch({&sample, 1});
    Stream stream(static_cast<uint64_t>(options.seed), "empty tokens", {static_cast<uint64_t>(i)});
    for (int64_t c = 0; c < crops; ++c) {
      const Batch part =
          options.crop.empty()
              ? whole
              : cropped(whole,
                        random_crop(whole, options.crop, options.crop_foreground, train.schema(), stream),
                        train.schema());
      try {
        const Tensor attending = net->attending(std::get<Grid>(part.input));
        if (!attending.defined() || !attending.all().item<bool>()) {
          return "";
        }
      } catch (const ShapeError&) {
        return "";  // training will tell it with the name of the sample
      }
    }
  }
  return text("model.steerable.encoder.skip_empty = true has no effect on the ", looked_at, " of ",
              train.size(),
              " training samples that were looked at: each token sees a cell that is not exactly background, "
              "the median of its channel on the border");
}

namespace {

// Of float64, whose rounding is a thousand times smaller; the second for outputs that are zero but for it.
constexpr double relative_change = 1e-11, absolute_change = 1e-13;
constexpr double hardly = 1e-6;  // a few roundings of float32
// A forward pass costs so many multiply-adds at most (each counts two), or so many tokens.
constexpr double most_flops = 1e9;
constexpr int64_t most_tokens = 256, most_cells = 1 << 15, fewest_tokens = 8;

/// Building a model draws from torch's generator of the CPU, on which dropout of the run and its bits depend.
class KeptGenerator {
 public:
  KeptGenerator() : generator_(at::detail::getDefaultCPUGenerator()) {
    const std::scoped_lock lock(generator_.mutex());
    state_ = generator_.get_state();
  }
  ~KeptGenerator() {
    const std::scoped_lock lock(generator_.mutex());
    generator_.set_state(state_);
  }
  KeptGenerator(const KeptGenerator&) = delete;
  KeptGenerator& operator=(const KeptGenerator&) = delete;

 private:
  at::Generator generator_;
  Tensor state_;
};

/// An output without the place that it is counted from.
Tensor without_place(const Tensor& value, const Quantity& q, const Input& input) {
  if (const auto* points = std::get_if<Points>(&input)) {
    if (has_place(q) && q.level != Level::pair) {
      const Tensor place = origin_of(*points, q.level);
      return q.kind == Kind::vector ? value - place.unsqueeze(1) : translated_multivectors(value, -place);
    }
  } else if (const auto* poses = std::get_if<Poses>(&input)) {
    if (q.kind == Kind::element && q.level == Level::node) {
      return at::matmul(at::linalg_inv(poses->elements), value);
    }
  }
  return value;
}

/// The largest change of a number, relative to the largest number; 0 where it is rounding.
double change_of(const Tensor& before, const Tensor& after) {
  if (before.numel() == 0 || before.sizes() != after.sizes()) {
    return 0;
  }
  const auto largest = [](const Tensor& x) { return at::nan_to_num(x, 0, 0, 0).abs().max().item<double>(); };
  const double change = largest(after - before), size = std::max(largest(before), largest(after));
  return change > relative_change * size + absolute_change ? change / size : 0;
}

class Looker {
 public:
  Looker(Model& model, const Task* task, const Input& samples) : model_(model) {
    for (const Quantity& q : model.interface.outputs) {
      if (q.kind != Kind::category) {
        raw_.push_back(q);
        check_.outputs.push_back({.name = q.name});
      }
    }
    before_ = evaluate(samples);
    if (!before_ || task == nullptr || std::holds_alternative<Grid>(samples)) {
      return;  // predictions of grids are made of windows, a label for each of their cells
    }
    for (const Quantity& q : task->predictions(model.interface)) {
      if (q.kind != Kind::category) {
        predicted_.push_back(q);
      }
    }
    task_ = task;
    auto with_predictions = evaluate(samples);
    if (!with_predictions) {
      task_ = nullptr;
      return;
    }
    before_ = std::move(with_predictions);
    for (size_t i = 0; i < predicted_.size(); ++i) {
      // What is nowhere a number, as the stress of samples without a volume, is not there and so not constant.
      const bool absent = !(*before_)[raw_.size() + i].isfinite().any().item<bool>();
      check_.outputs.push_back(
          {.name = "prediction." + predicted_[i].name, .predicted = true, .anything = absent});
    }
  }

  InputCheck look(const Input& samples, uint64_t seed) {
    if (!before_) {
      return {};
    }
    check_.neighbours = has_neighbours(samples);
    for (const Change& change : changes_of(samples, model_.interface)) {
      Stream stream(seed, "sight " + change.what);
      std::vector<double> seen(check_.outputs.size(), 0);
      bool tested = false;
      const auto little = [&](double moved) { return moved <= (change.of_place ? hardly : 0); };
      for (int64_t draw = 0; draw < draws_of_a_change && std::ranges::any_of(seen, little); ++draw) {
        const Input changed_samples = change.make(stream, draw);
        if (const auto after = evaluate(changed_samples)) {
          tested = true;
          check_.neighbours = check_.neighbours || has_neighbours(changed_samples);
          for (size_t i = 0; i < seen.size(); ++i) {
            seen[i] = std::max(seen[i], change_of((*before_)[i], (*after)[i]));
          }
        }
      }
      note(change, seen, tested);
    }
    return check_;
  }

 private:
  /// The outputs, then the predictions; nothing when the model does not take the input: an element out of a chart, or
  /// what training will tell with the name of the sample.
  std::optional<std::vector<Tensor>> evaluate(const Input& input) {
    const at::NoGradGuard no_grad;
    std::vector<Tensor> values;
    const auto append = [&](const Named& named, const std::vector<Quantity>& quantities) {
      for (const Quantity& q : quantities) {
        const auto found = named.find(q.name);
        require(found != named.end(), "input check: '", q.name, "' must be given, as it is declared");
        values.push_back(without_place(found->second.detach().to(at::kDouble), q, input));
      }
    };
    try {
      append(model_(input), raw_);
      if (task_ != nullptr) {
        append(task_->predict(model_, {input, {}}), predicted_);
      }
    } catch (const Error&) {
      return std::nullopt;
    }
    return values;
  }

  /// An edge may be that of a node with itself.
  bool has_neighbours(const Input& input) const {
    const auto* points = std::get_if<Points>(&input);
    const std::vector<int64_t> edges = points != nullptr ? model_.edges(*points) : std::vector<int64_t>{};
    return edges.empty() || std::accumulate(edges.begin(), edges.end(), int64_t{0}) > points->nodes();
  }

  void note(const Change& change, const std::vector<double>& seen, bool tested) {
    bool any = false;
    for (size_t i = 0; i < seen.size(); ++i) {
      InputCheck::Output& output = check_.outputs[i];
      const bool moved = seen[i] > 0;
      output.places |= change.of_place && moved;
      output.by_places = change.of_place ? std::max(output.by_places, seen[i]) : output.by_places;
      output.anything |= moved;
      any |= moved && !output.predicted;
    }
    if (tested && change.of_place) {
      check_.places = change.what;
    } else if (tested && !any) {
      check_.without_effect.push_back(change.what);
    }
  }

  Model& model_;
  const Task* task_ = nullptr;  // once its predictions are asked for
  std::vector<Quantity> raw_, predicted_;
  std::optional<std::vector<Tensor>> before_;
  InputCheck check_;
};

int64_t tokens_for(const Model& model) {
  const bool grid = carrier_of(model.interface) == Carrier::grid;
  const double affordable = most_flops / std::max(1.0, model.work_of_token().forward);
  return std::clamp(static_cast<int64_t>(affordable), fewest_tokens, grid ? most_cells : most_tokens);
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    out += (out.empty() ? "'" : ", '") + name + "'";
  }
  return out;
}

std::string how_moved(const std::string& places) {
  return places == "values"
             ? "the values of training samples change at random"
             : text("the ", places, " of training samples are moved at random, not as a whole");
}

/// ConfigError where a model is without_effect, and the lines for what it may be on purpose.
std::vector<std::string> judged(const InputCheck& check, const ModelOptions& options) {
  std::vector<std::string> raw, same_in_other_places, constant, constant_predictions, lines;
  for (const InputCheck::Output& o : check.outputs) {
    if (o.predicted) {
      if (!o.anything) {
        constant_predictions.push_back(o.name.substr(o.name.find('.') + 1));
      }
      continue;
    }
    raw.push_back(o.name);
    if (!o.anything) {
      constant.push_back(o.name);
    } else if (!o.places) {
      same_in_other_places.push_back(o.name);
    }
  }
  if (check.places.empty() || raw.empty()) {
    return {};  // samples without geometry: nothing can be asked
  }
  const std::optional<std::string> why = options.system.blinding();
  const std::string where = why && !why->empty() ? *why + "; as it is, "
                                                 : text("model.", options.system.name(), ": must see the ",
                                                        check.places, ", but with these options ");
  const bool none_sees = constant.size() + same_in_other_places.size() == raw.size();
  // A program's own system that says nothing of places may be one that reads features alone.
  const bool may_be_on_purpose = !why && constant.size() < raw.size();
  require<ConfigError>(!none_sees || may_be_on_purpose, where, "no output (", listed(raw), ") changes when ",
                       how_moved(check.places),
                       check.neighbours ? "" : ": no two nodes of theirs are within its cut-off");
  require<ConfigError>(constant.empty(), where, "output ", listed(constant),
                       " is constant: nothing that the model is told changes it");
  for (const std::string& name : same_in_other_places) {
    lines.push_back(text("output '", name, "' does not change when ", how_moved(check.places)));
  }
  for (const InputCheck::Output& o : check.outputs) {
    if (!o.predicted && o.places && o.by_places < hardly) {
      lines.push_back(text("output '", o.name, "' hardly changes when ", how_moved(check.places), ": by ",
                           o.by_places,
                           " of itself, hardly more than float32 rounds; features that tell nodes apart "
                           "(normals, types) or another system help"));
    }
  }
  for (const std::string& name : constant_predictions) {
    lines.push_back(text("prediction '", name, "' is constant: nothing that the model is told changes it"));
  }
  for (const std::string& what : check.without_effect) {
    lines.push_back(what == "types"
                        ? "the types of nodes have no effect: no output of the model changes with them, "
                          "whatever its weights"
                        : text(what,
                               " has no effect: no output of the model changes with it, "
                               "whatever its weights"));
  }
  return lines;
}

}  // namespace

void draw_zeros(Model& model, uint64_t seed) {
  const at::NoGradGuard no_grad;
  uint64_t index = 0;
  for (const Parameter& p : model.parameters()) {
    Stream stream(seed, "sight weights", {index++});
    if (!p.trainable || p.tensor.numel() == 0 || p.tensor.ne(0).any().item<bool>()) {
      continue;
    }
    const double size = p.tensor.dim() > 1 ? 1 / std::sqrt(static_cast<double>(p.tensor.size(-1))) : 0.3;
    p.tensor.copy_(size * normal_tensor(p.tensor.sizes().vec(), stream));
  }
  model.train(false);
}

InputCheck input_check_of(Model& model, const Task* task, const Input& samples, uint64_t seed) {
  return Looker(model, task, samples).look(samples, seed);
}

std::vector<std::string> check_input(const SavedModel& saved, const TrainOptions& options,
                                     const Dataset& train, const Systems& systems) {
  const auto seed = static_cast<uint64_t>(options.seed);
  const KeptGenerator kept;
  const BuildOn build_on(at::kCPU, at::kDouble);
  const std::shared_ptr<Model> copy = build(saved.recipe.model, saved.interface, systems);
  draw_zeros(*copy, seed);
  const Input samples = check_samples(train, options.crop, tokens_for(*copy));
  std::vector<std::string> lines =
      judged(input_check_of(*copy, saved.task.get(), samples, seed), saved.recipe.model);
  if (std::string line = note_on_alike_nodes(saved.recipe.model, saved.interface, train); !line.empty()) {
    lines.push_back(std::move(line));
  }
  if (std::string line = note_on_empty_tokens(*copy, options, train); !line.empty()) {
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace weyl

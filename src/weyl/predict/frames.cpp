#include "weyl/predict/frames.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/atoms/frame_checks.h"
#include "weyl/data/atoms/frame_collector.h"
#include "weyl/data/atoms/molecular_graph.h"
#include "weyl/data/atoms/oc20.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/stress_tensor.h"
#include "weyl/parallel/ranks.h"
#include "weyl/saved/each_batch.h"
#include "weyl/saved/ensemble.h"

namespace weyl {
namespace {

/// Of frames the stress is always asked for.
const Asked kAsked{.stress = true};

/// What is written: a prediction and the factor to the file's units.
struct Written {
  Quantity quantity;
  double factor = 1;
  std::string unit;
  bool operator==(const Written&) const = default;
};

/// Whether a prediction is a place of its node, or a way from it, in a unit that is known.
bool moves(const Quantity& q) {
  return q.kind == Kind::vector && (q.role == Role::offset || q.role == Role::point) && !q.unit.empty();
}

/// The unit that each prediction has in the file: that of its energies and lengths, that which it or the layout
/// says of its forces and stress, that of a value of the same name, of places that of lengths, or else its own.
std::vector<Written> written(const std::vector<Quantity>& quantities, const FrameUnits& units,
                             const FrameReader& reader) {
  std::vector<Written> result;
  for (const Quantity& q : quantities) {
    if (q.level != Level::graph && q.level != Level::node) {
      continue;
    }
    const std::string name = without_deviation(quantities, q.name);
    const std::string said(reader.unit_of(name));
    const std::string to = name == "energy"   ? units.energy
                           : name == "forces" ? units.forces
                           : name == "stress" ? units.stress
                           : !said.empty()    ? said
                           : moves(q)         ? units.length
                                              : q.unit;
    result.push_back({q, q.unit.empty() || q.unit == to ? 1 : unit_factor(q.unit, to), to});
  }
  return result;
}

/// What numbers in other units than eV and Angstrom must say.
void say_units(AtomsFrame& frame, const FrameUnits& units) {
  const bool plain =
      same_unit(units.energy, energy_unit_of_models) && same_unit(units.length, length_unit_of_models);
  const bool forces = !same_unit(units.forces, force_unit_of(units)),
             stress = !same_unit(units.stress, stress_unit_of(units));
  const auto say = [&](std::string_view key, const std::string& unit) {
    frame.set(FrameValue{std::string(key), {}, std::vector{unit}});
  };
  if (!plain || forces || stress) {
    say(energy_unit_key, units.energy);
    say(length_unit_key, units.length);
  }
  if (forces) {
    say(force_unit_key, units.forces);
  }
  if (stress) {
    say(stress_unit_key, units.stress);
  }
}

/// Rows [begin, end) of a prediction as a column of a frame, or its row `begin` as a value.
void put(AtomsFrame& frame, const Written& what, const Tensor& values, int64_t begin, int64_t end,
         const std::string& where) {
  const Quantity& q = what.quantity;
  const Tensor rows = values.slice(0, begin, end).reshape({-1}).contiguous();
  FrameValues all;
  if (q.kind == Kind::category) {
    const auto* x = rows.const_data_ptr<int64_t>();
    all = std::vector<int64_t>(x, x + rows.numel());
  } else {
    const auto* x = rows.const_data_ptr<double>();
    std::vector<double> reals(x, x + rows.numel());
    // A frame without a volume has no stress.
    const bool none = q.kind == Kind::symmetric_tensor && std::isnan(reals.front());
    for (double& r : reals) {
      r *= what.factor;
      require<DataError>(none || std::isfinite(r), where, ": '", q.name,
                         "' must be finite, got NaN or infinity (--dtype float64 may help)");
    }
    if (none) {
      return;
    }
    all = std::move(reals);
  }
  const std::string name = std::string(prediction_prefix) + q.name;
  if (q.level == Level::node) {
    frame.set(AtomColumn{name, rows.numel() / (end - begin), std::move(all)});
    return;
  }
  // A number, or a row of them: ASE reads nine in quotes as a matrix, and rows in brackets as a text.
  const auto count = static_cast<int64_t>(count_of(all));
  frame.set(FrameValue{name, count == 1 ? std::vector<int64_t>{} : std::vector{count}, std::move(all)});
}

bool is_graph_feature(const Quantity& q) {
  const auto all = graph_features();
  return std::ranges::find(all, q) != all.end();
}

/// What frames can tell a model: elements, places, cells, numbers and states of whole frames, and bonds.
void require_of_frames(const Predictor& predictor, const FrameLayout& layout) {
  const Interface& interface = predictor.interface();
  require<ConfigError>(
      carrier_of(interface) == Carrier::points && interface.dimension == 3 && !interface.elements.empty(),
      "frames of atoms need a model of points whose types are elements; give a .safetensors file");
  for (const Quantity& q : interface.features) {
    const bool state = std::ranges::find(layout.states, q.name, &FrameState::key) != layout.states.end();
    const bool of_bonds = layout.graph && is_graph_feature(q);
    require<ConfigError>(
        state || of_bonds || (q.level == Level::graph && q.kind == Kind::scalar && q.channels == 1),
        "frames of atoms cannot tell the model its feature '", q.name, "'; give a .safetensors file");
  }
}

/// Whether forces, vectors of the nodes, are an output of the model, not a derivative.
bool gives_forces(const Interface& model) {
  const Quantity* q = find_quantity(model.outputs, "forces");
  return q != nullptr && q->level == Level::node && q->kind == Kind::vector;
}

/// The frames that wait for their predictions, and what is known of all.
class WaitingFrames {
 public:
  /// `slabs`: the options of slabs, where frames are such; else null.
  WaitingFrames(const Predictor& predictor, FrameLayout layout, const FrameReader& reader,
                const Oc20DataOptions* slabs, std::function<void(const std::string&)> warn, bool shared)
      : predictor_(predictor),
        slab_options_(slabs),
        outputs_(predictor.outputs(kAsked)),
        warn_(std::move(warn)),
        shared_(shared),
        direct_(predictor.task() != nullptr && gives_forces(predictor.interface())),
        reader_(reader),
        layout_(layout),
        doubts_{.axes = predictor.without_axes()},
        collector_(std::move(layout), reader, FrameCollector::Labels::none) {}

  /// A frame as it may wait: as a slab, where frames are such, and its tokens.
  struct Looked {
    std::optional<Slab> slab;
    int64_t tokens = 0;
  };
  /// The frame that the reader gave last.
  Looked look_at(const AtomsFrame& frame) {
    if (slab_options_ == nullptr) {
      return {{}, frame.size()};
    }
    Slab slab = slab_of(frame, reader_);
    require_elements(slab, predictor_.interface(), reader_.where());
    if (const std::string doubt = slabs_told_ || !warn_ ? "" : doubt_of(slab); !doubt.empty()) {
      warn_(text(reader_.where(), ": ", doubt));
      slabs_told_ = true;
    }
    const int64_t tokens = slab_tokens(slab, slab_options_->image_radius);
    return {std::move(slab), tokens};
  }
  void add(const AtomsFrame& frame, Looked looked) {
    const std::string where = reader_.where();
    if (looked.slab) {
      slabs_.push_back(*std::move(looked.slab));
    } else {
      collector_.add(frame);
    }
    const FrameUnits units = units_of(layout_, reader_);
    std::vector<Written> columns = written(outputs_, units, reader_);
    require<DataError>(written_.empty() || (units == units_ && columns == written_), where,
                       ": must be in the units of the frames before it: one file has one unit for all");
    units_ = units;
    written_ = std::move(columns);
    tokens_ += looked.tokens;
    frames_.push_back(frame);
    wheres_.push_back(where);
  }
  /// Whether a frame may wait with the others; alone it always may.
  bool has_room_for(const Looked& looked) const {
    const PredictorOptions& most = predictor_.options();
    return frames_.empty() || (static_cast<int64_t>(frames_.size()) < most.batch &&
                               tokens_ + looked.tokens <= most.batch_tokens);
  }
  int64_t size() const { return static_cast<int64_t>(frames_.size()); }
  /// What is to be said of all frames at the end, of all ranks on the first.
  std::vector<std::string> warnings(const std::shared_ptr<Ranks>& ranks) {
    std::vector<std::string> all;
    if (ranks != nullptr) {
      doubts_.collect(*ranks);
      all.push_back(doubts_.said);
    }
    all.push_back(doubts_.axes.warning());
    std::erase(all, "");
    return all;
  }
  /// The frames that wait are another rank's.
  void pass_on() {
    if (slab_options_ == nullptr) {
      collector_.take();
    }
    forget();
  }

  /// Gives each frame, with its predictions, to `use`.
  void flush(const std::function<void(const AtomsFrame&)>& use) {
    if (frames_.empty()) {
      return;
    }
    const auto [batch, schema] = slab_options_ != nullptr ? take_slabs() : collector_.take();
    std::vector<int64_t> all(frames_.size());
    std::iota(all.begin(), all.end(), int64_t{0});
    try {
      int64_t first = 0;
      for (const Batch& part :
           within_edges(predictor_.model(), batch, schema, predictor_.options().batch_edges)) {
        predict(part, first);
        first += part.count();
      }
    } catch (const ShapeError& error) {
      for (const int64_t i : all) {  // which one was it
        try {
          predict(take(batch, {&i, 1}, schema), i);
        } catch (const ShapeError& alone) {
          throw DataError(text(wheres_[static_cast<size_t>(i)], ": ", alone.what()));
        }
      }
      throw;
    }
    for (AtomsFrame& frame : frames_) {
      bonds_to_value(frame);
      write_out_stresses(frame, layout_.stress_order, layout_.stress);
      say_units(frame, units_);
      if (layout_.compression && frame.value("weyl_stress") != nullptr) {
        frame.set(FrameValue{"weyl_stress_sign", {}, std::vector<std::string>{"positive under tension"}});
      }
      if (layout_.gradients && frame.column("weyl_forces") != nullptr) {
        frame.set(FrameValue{"weyl_forces_sign", {}, std::vector<std::string>{"minus the gradient"}});
      }
      if (direct_) {
        frame.set(FrameValue{"weyl_forces_kind", {}, std::vector<std::string>{"direct, not conservative"}});
      }
      use(frame);
    }
    forget();
  }

 private:
  void forget() {
    given_ += size();
    frames_.clear();
    slabs_.clear();
    wheres_.clear();
    tokens_ = 0;
  }
  FrameCollector::Frames take_slabs() const {
    Schema schema;
    schema.interface = predictor_.interface();
    Batch batch = slab_batch(slabs_, slab_options_->image_radius, schema.interface);
    batch.labels.clear();
    return {std::move(batch), std::move(schema)};
  }
  /// Puts the predictions for a batch into the frames from `first` on.
  void predict(const Batch& batch, int64_t first) {
    if (warn_ && doubts_.said.empty()) {
      doubts_.said = predictor_.data_warning(batch.input);
      doubts_.said_of = given_ + first;
      if (!doubts_.said.empty() && !shared_) {
        warn_(doubts_.said);
      }
    }
    const Named values = predictor_(batch.input, kAsked);
    doubts_.axes.add(batch.input, given_ + first,
                     [&](int64_t i) { return wheres_[static_cast<size_t>(i - given_)]; });
    const auto& offsets = std::get<Points>(batch.input).graphs.offsets;
    for (const Written& what : written_) {
      const auto found = values.find(what.quantity.name);
      require(found != values.end(), "predict: the model must give the output '", what.quantity.name,
              "' it declares");
      const bool number = what.quantity.kind != Kind::category;
      const Tensor value = found->second.detach().to(at::kCPU, number ? at::kDouble : at::kLong);
      for (int64_t g = 0; g < batch.count(); ++g) {
        const auto i = static_cast<size_t>(first + g);
        const bool nodes = what.quantity.level == Level::node;
        // Behind the atoms of a slab stand its images.
        put(frames_[i], what, value, nodes ? offsets[g] : g, nodes ? offsets[g] + frames_[i].size() : g + 1,
            wheres_[i]);
      }
    }
  }

  const Predictor& predictor_;
  const Oc20DataOptions* slab_options_;  // null: frames are no slabs
  std::vector<Slab> slabs_;
  const std::vector<Quantity> outputs_;
  std::function<void(const std::string&)> warn_;
  bool shared_;              // among ranks, which say at the end what they have found
  bool slabs_told_ = false;  // whether a doubt of a slab has been said
  bool direct_;
  const FrameReader& reader_;
  FrameLayout layout_;
  SampleDoubts doubts_;
  FrameCollector collector_;
  FrameUnits units_;
  std::vector<Written> written_;
  std::vector<AtomsFrame> frames_;
  std::vector<std::string> wheres_;
  int64_t tokens_ = 0;  // of the frames that wait
  int64_t given_ = 0;   // frames that no longer wait
};

/// A layout of the units alone that overrides say: the others are those of the files that the model was trained on.
FrameLayout units_said(const FrameLayout& layout, const std::vector<std::string>& overrides) {
  const auto said = [&](const char* key, const std::string& unit) {
    const std::string begin = text(layout.option, ".", key, "=");
    const bool named =
        std::ranges::any_of(overrides, [&](const std::string& item) { return item.starts_with(begin); });
    return named ? unit : std::string();
  };
  return {.option = layout.option,
          .energy_unit = said("energy_unit", layout.energy_unit),
          .length_unit = said("length_unit", layout.length_unit),
          .force_unit = said("force_unit", layout.force_unit),
          .stress_unit = said("stress_unit", layout.stress_unit)};
}

}  // namespace

PredictedFrames predict_frames(FilePredictor& predictor, FrameReader& reader,
                               const std::function<void(const AtomsFrame&)>& use, const FrameCalls& calls) {
  const DataOptions& data = predictor.subject().recipe.data;
  const auto* slabs = std::get_if<Oc20DataOptions>(&data.set);
  const FrameLayout layout = as_told(layout_of(asked(data)), predictor.interface());
  if (slabs == nullptr) {
    require_of_frames(predictor, layout);
  }
  reader.name_types(layout.elements);
  WaitingFrames waiting(predictor, layout, reader, slabs, calls.warn, calls.ranks != nullptr);
  PredictedFrames result;
  bool warned = !calls.warn, units_told = !calls.warn;
  const std::vector<Quantity> outputs = predictor.outputs(kAsked);
  const auto predicts = [&](const char* name) { return find_quantity(outputs, name) != nullptr; };
  AtomsFrame frame;
  const int64_t ranks = count_of(calls.ranks);
  int64_t batches = 0;
  const auto flush = [&] {
    const int64_t more = waiting.size();
    if (calls.ranks == nullptr || batches % ranks == calls.ranks->rank()) {
      waiting.flush(use);
    } else {
      waiting.pass_on();
    }
    result.count += more;
    if (more > 0 && calls.progress) {
      calls.progress(result.count);
    }
    if (++batches % ranks == 0 && calls.ranks != nullptr) {
      calls.round();
      result.stopped = calls.ranks->total(calls.stop && calls.stop() ? 1 : 0) > 0;
    }
  };
  while (true) {
    result.stopped = calls.ranks == nullptr ? calls.stop && calls.stop() : result.stopped;
    if (result.stopped || !reader.next(frame)) {
      break;
    }
    if (!warned) {
      const std::string warning = overlap_warning(frame, reader.where(), units_of(layout, reader).length);
      if (!warning.empty()) {
        calls.warn(warning);
        warned = true;
      }
    }
    if (!units_told && !reader.unread_units().empty()) {
      const std::string warning =
          unread_units_warning(units_said(layout, calls.overrides), reader.unread_units(),
                               units_of(layout, reader), predicts("forces"), predicts("stress"));
      if (!warning.empty()) {
        calls.warn(text(reader.where(), ": ", warning));
      }
      units_told = true;
    }
    WaitingFrames::Looked looked = waiting.look_at(frame);
    if (!waiting.has_room_for(looked)) {
      flush();
    }
    waiting.add(frame, std::move(looked));
  }
  if (!result.stopped) {
    flush();
  }
  if (calls.ranks != nullptr && !result.stopped && batches % ranks != 0) {
    calls.round();
  }
  for (const std::string& warning : waiting.warnings(calls.ranks)) {
    if (calls.warn) {
      calls.warn(warning);
    }
  }
  result.units = units_of(layout, reader);
  return result;
}

}  // namespace weyl

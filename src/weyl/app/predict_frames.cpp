#include "weyl/app/predict_frames.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <chrono>
#include <cmath>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/progress.h"
#include "weyl/app/signals.h"
#include "weyl/app/subject.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/frame_collector.h"
#include "weyl/data/atoms/shortest_distance.h"
#include "weyl/data/formats/extended_xyz.h"
#include "weyl/data/formats/potential_keys.h"
#include "weyl/data/sets/molecules.h"

namespace weyl {
namespace {

constexpr const char* kPrefix = "weyl_";

/// What is written: a prediction and the factor to the file's units.
struct Written {
  Quantity quantity;
  double factor = 1;
  std::string unit;
  bool operator==(const Written&) const = default;
};

/// The unit that each prediction has in the file: that of its energies and lengths, that of a value of the
/// same name, or else its own.
std::vector<Written> written(const std::vector<Quantity>& quantities, const FrameUnits& units,
                             const FrameReader& reader) {
  std::vector<Written> result;
  for (const Quantity& q : quantities) {
    if (q.level != Level::graph && q.level != Level::node) {
      continue;
    }
    const std::string said(reader.unit_of(q.name));
    const std::string to = q.name == "energy"   ? units.energy
                           : q.name == "forces" ? units.energy + "/(" + units.length + ")"
                           : q.name == "stress" ? units.energy + "/(" + units.length + ")^3"
                           : said.empty()       ? q.unit
                                                : said;
    result.push_back({q, q.unit.empty() || q.unit == to ? 1 : unit_factor(q.unit, to), to});
  }
  return result;
}

/// What numbers in other units than eV and Angstrom must say.
void say_units(AtomsFrame& frame, const FrameUnits& units) {
  if (same_unit(units.energy, energy_unit_of_models) && same_unit(units.length, length_unit_of_models)) {
    return;
  }
  frame.set(FrameValue{std::string(energy_unit_key), {}, std::vector{units.energy}});
  frame.set(FrameValue{std::string(length_unit_key), {}, std::vector{units.length}});
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
    // Of a frame without a volume there is no stress.
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
  const std::string name = kPrefix + q.name;
  if (q.level == Level::node) {
    frame.set(AtomColumn{name, rows.numel() / (end - begin), std::move(all)});
    return;
  }
  // A number, or a row of them: ASE reads nine in quotes as a matrix, and rows in brackets as a text.
  const auto count = static_cast<int64_t>(count_of(all));
  frame.set(FrameValue{name, count == 1 ? std::vector<int64_t>{} : std::vector{count}, std::move(all)});
}

class FramePredictor {
 public:
  FramePredictor(const Subject& subject, FrameLayout layout, const FrameReader& reader,
                 const std::vector<Quantity>& quantities, bool direct)
      : subject_(subject),
        direct_(direct),
        reader_(reader),
        layout_(layout),
        quantities_(quantities),
        collector_(std::move(layout), reader, FrameCollector::Labels::none) {}

  void add(const AtomsFrame& frame, std::string where) {
    collector_.add(frame);
    const FrameUnits units = units_of(layout_, reader_);
    std::vector<Written> columns = written(quantities_, units, reader_);
    require<DataError>(written_.empty() || (units == units_ && columns == written_), where,
                       ": must be in the units of the frames before it: one file has one unit for all");
    units_ = units;
    written_ = std::move(columns);
    frames_.push_back(frame);
    wheres_.push_back(std::move(where));
  }
  int64_t waiting() const { return static_cast<int64_t>(frames_.size()); }

  void flush(ExtendedXyzWriter& out) {
    if (frames_.empty()) {
      return;
    }
    const auto [batch, schema] = collector_.take();
    std::vector<int64_t> all(frames_.size());
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<int64_t>(i);
    }
    try {
      predict(batch, all);
    } catch (const ShapeError& error) {
      for (const int64_t i : all) {  // which one was it
        try {
          predict(weyl::take(batch, {&i, 1}, schema), {&i, 1});
        } catch (const ShapeError& alone) {
          throw DataError(text(wheres_[static_cast<size_t>(i)], ": ", alone.what()));
        }
      }
      throw;
    }
    for (AtomsFrame& frame : frames_) {
      bonds_to_value(frame);
      say_units(frame, units_);
      if (direct_) {
        frame.set(FrameValue{"weyl_forces_kind", {}, std::vector<std::string>{"direct, not conservative"}});
      }
      out.write(frame);
    }
    frames_.clear();
    wheres_.clear();
  }

 private:
  void predict(const Batch& given, std::span<const int64_t> which) {
    const at::NoGradGuard no_grad;
    Model& model = *subject_.model;
    const Batch batch = to(given, model.device(), model.dtype());
    const Named values = subject_.task != nullptr ? subject_.task->predict(model, batch) : model(batch.input);
    const auto& offsets = std::get<Points>(given.input).graphs.offsets;
    for (const Written& what : written_) {
      const auto found = values.find(what.quantity.name);
      require(found != values.end(), "predict: the model must give the output '", what.quantity.name,
              "' it declares");
      const bool number = what.quantity.kind != Kind::category;
      const Tensor value = found->second.detach().to(at::kCPU, number ? at::kDouble : at::kLong);
      for (size_t g = 0; g < which.size(); ++g) {
        const auto i = static_cast<size_t>(which[g]);
        const bool nodes = what.quantity.level == Level::node;
        const auto row = static_cast<int64_t>(g);
        put(frames_[i], what, value, nodes ? offsets[g] : row, nodes ? offsets[g + 1] : row + 1, wheres_[i]);
      }
    }
  }

  const Subject& subject_;
  bool direct_;  // whether forces are an output of the model
  const FrameReader& reader_;
  FrameLayout layout_;
  std::vector<Quantity> quantities_;
  FrameCollector collector_;
  FrameUnits units_;
  std::vector<Written> written_;
  std::vector<AtomsFrame> frames_;
  std::vector<std::string> wheres_;
};

/// A gradient gives the stress of periodic frames as well as forces, whatever was trained.
void give_stress(Subject& subject) {
  auto* options = std::get_if<ForceFieldOptions>(&subject.recipe.task.task);
  if (subject.task == nullptr || options == nullptr || options->forces != ForceSource::gradient ||
      options->stress) {
    return;
  }
  options->stress = true;
  options->stress_weight = 0;
  auto task = make_task(subject.recipe.task);
  if (const NamedTensors state = subject.task->state(); !state.empty()) {
    task->load(state);
  }
  subject.task = std::move(task);
}

}  // namespace

bool is_frames_out(const std::string& path) {
  const std::string name = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
  return name.ends_with(".xyz") || name.ends_with(".extxyz");
}

int predict_frames(const PredictCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  require<ConfigError>(!command.gradient && !command.probabilities,
                       command.gradient ? "--gradient" : "--probabilities",
                       ": needs --out with a .safetensors file");
  Subject subject = load_subject(command.model, device_of(command.machine), dtype_of(command.machine.dtype));
  const Interface& interface = subject.model->interface;
  require<ConfigError>(
      subject.schema.carrier() == Carrier::points && interface.dimension == 3 && !interface.elements.empty(),
      "--out: frames of atoms need a model of points whose types are elements; give a .safetensors "
      "file, got '",
      command.out, "'");
  for (const Quantity& q : interface.features) {
    require<ConfigError>(q.level == Level::graph && q.kind == Kind::scalar && q.channels == 1,
                         "--out: frames of atoms cannot tell the model its feature '", q.name,
                         "'; give a .safetensors file");
  }
  say_notes(subject.task.get());
  give_stress(subject);
  const auto* field = std::get_if<ForceFieldOptions>(&subject.recipe.task.task);
  const bool direct = subject.task != nullptr && field != nullptr && field->forces == ForceSource::direct;
  for (const Parameter& p : subject.model->parameters()) {
    p.tensor.requires_grad_(false);
  }
  const FrameLayout layout = as_told(layout_of(subject.recipe.data), interface);
  const auto reader = open_frames(frames_path(command.data));
  FramePredictor predictor(subject, layout, *reader,
                           subject.task != nullptr ? subject.task->predictions(interface) : interface.outputs,
                           direct);
  ExtendedXyzWriter out(command.out);
  Progress progress("predict", 0, Progress::style_for_stderr(command.talk.quiet));
  int64_t samples = 0;
  AtomsFrame frame;
  catch_signals();
  bool warned = false;
  while (reader->next(frame)) {
    const std::string warning =
        warned ? "" : overlap_warning(frame, reader->where(), units_of(layout, *reader).length);
    if (!warning.empty()) {
      progress.clear();
      warn(warning);
      warned = true;
    }
    if (stop_requested()) {
      progress.clear();
      say(text("interrupted after ", samples, " frames: ", command.out, " is not written"));
      return exit_interrupted;
    }
    predictor.add(frame, reader->where());
    ++samples;
    if (predictor.waiting() >= command.batch) {
      predictor.flush(out);
      progress.update(samples);
    }
  }
  predictor.flush(out);
  out.commit();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (command.talk.json) {
    std::cout << Json::object().set("samples", samples).set("seconds", seconds).set("out", command.out).dump()
              << "\n";
  } else {
    const FrameUnits units = units_of(layout, *reader);
    std::cout << command.out << "\n";
    say(text(samples, " frames in ", clock_text(seconds), "; energies in ", units.energy, ", lengths in ",
             units.length));
  }
  return exit_done;
}

}  // namespace weyl

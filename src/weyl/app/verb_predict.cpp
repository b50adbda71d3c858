#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/info_json.h"
#include "weyl/app/log.h"
#include "weyl/app/predict_folder.h"
#include "weyl/app/predict_frames.h"
#include "weyl/app/progress.h"
#include "weyl/app/subject.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/version.h"

namespace weyl {
namespace {

using Parts = std::map<std::string, std::vector<Tensor>>;

// Where an output belongs beside its own name: graph_scalars (B,.), node_vectors (N,.,D), ...
std::string family_of(const Quantity& q, Carrier carrier = Carrier::points) {
  if (carrier == Carrier::grid && q.level == Level::node) {
    return q.kind == Kind::scalar ? "values" : "";
  }
  const bool vector = q.kind == Kind::vector || q.kind == Kind::axial_vector;
  if (q.kind == Kind::element && q.level == Level::graph) {
    return "elements";
  }
  if (q.kind == Kind::category) {
    return "";
  }
  if ((q.level != Level::graph && q.level != Level::node) || q.kind == Kind::symmetric_tensor ||
      q.kind == Kind::element) {
    return "";
  }
  return std::string(level_names[static_cast<size_t>(q.level)]) + (vector ? "_vectors" : "_scalars");
}

// Families hold what the model itself gives, in its order; a task may say the same thing in other words as
// well. Elements of a Lie group are the task's.
void gather(const Named& values, const std::vector<Quantity>& quantities, const Interface& interface,
            Parts& parts) {
  std::map<std::string, std::vector<Tensor>> families;
  for (const Quantity& q : quantities) {
    const auto found = values.find(q.name);
    require(found != values.end(), "predict: the model must give the output '", q.name, "' it declares");
    const Tensor value = found->second.detach().cpu();
    // A graph without a volume has no stress, which NaN says.
    const bool none = q.level == Level::graph && q.kind == Kind::symmetric_tensor;
    require(none || at::isfinite(value).all().item<bool>(), "output '", q.name,
            "' must be finite, got NaN or infinity (larger inputs may need --dtype float64)");
    const bool column = interface.group && q.level == Level::node && value.dim() == 2 && value.size(1) == 1;
    parts[q.name].push_back(column ? value.squeeze(1)
                                   : value);  // one number a pose is (N), as in docs/cli.md
    const bool own = find_quantity(interface.outputs, q.name) != nullptr;
    // Of a grid what its cells are said to be is the task's: logits are of windows.
    const Carrier carrier = interface.grid ? Carrier::grid : Carrier::points;
    const std::string family = family_of(q, carrier);
    if ((own || q.kind == Kind::element || family == "values") && !family.empty()) {
      families[family].push_back(value);
    }
  }
  for (const auto& [family, tensors] : families) {
    if (find_quantity(quantities, family) == nullptr) {
      parts[family].push_back(at::cat(tensors, 1));
    }
  }
}

// d(sum of the model's own graph scalars)/d(positions), (N, D): a task may predict under no gradient, or say
// the same thing in other words as well.
Tensor gradient_of(Model& model, const Input& input, const Tensor& positions) {
  const at::AutoGradMode mode(true);
  const Named values = model(input);
  Tensor sum;
  for (const Quantity& q : model.interface.outputs) {
    if (family_of(q) == "graph_scalars") {
      const Tensor part = values.at(q.name).sum();
      sum = sum.defined() ? sum + part : part;
    }
  }
  require<ConfigError>(sum.defined(),
                       "--gradient: the model must have a scalar output at graph level, but has none");
  require<ConfigError>(sum.requires_grad(),
                       "--gradient: the model's scalar outputs must depend on the positions, but do not");
  const auto gradients = torch::autograd::grad({sum}, {positions}, {}, false, false, true);
  return gradients[0].defined() ? gradients[0].detach().cpu() : at::zeros_like(positions).cpu();
}

}  // namespace

int run(const PredictCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  const bool one_file = command.out.ends_with(".safetensors");
  if (!one_file && std::filesystem::path(command.out).extension().empty()) {
    return predict_folder(command);
  }
  if (is_frames_out(command.out)) {
    return predict_frames(command);
  }
  require<ConfigError>(
      one_file,
      "--out: must be a .safetensors file or, for images and volumes, a folder, for atoms an "
      ".xyz or .extxyz file, got '",
      command.out, "'");
  require<ConfigError>(!command.probabilities, "--probabilities: a .safetensors file always holds them");
  // Asked before the work, not after it.
  const auto folder = std::filesystem::absolute(command.out).parent_path();
  const bool writable = access(folder.c_str(), W_OK) == 0;
  require<DataError>(writable, command.out, ": cannot write: ", std::strerror(errno));
  const Subject subject =
      load_subject(command.model, device_of(command.machine), dtype_of(command.machine.dtype));
  say_notes(subject.task.get());
  const auto data = open_for_prediction(subject, command.data);
  const std::vector<Quantity> quantities = subject.task != nullptr
                                               ? subject.task->predictions(subject.model->interface)
                                               : subject.model->interface.outputs;
  Progress progress("predict", data->size(), Progress::style_for_stderr(command.talk.quiet));
  Parts parts;
  int64_t samples = 0;
  // Weights need no gradient here: only the positions' is asked for.
  for (const Parameter& p : subject.model->parameters()) {
    p.tensor.requires_grad_(false);
  }
  const auto predict = [&](const Batch& given) {
    Batch batch = given;
    const at::NoGradGuard no_grad;
    Tensor positions;
    if (command.gradient) {
      auto* points = std::get_if<Points>(&batch.input);
      require<ConfigError>(points != nullptr, "--gradient: the data must be points");
      positions = points->positions = points->positions.detach().clone().requires_grad_(true);
    }
    const Named values = subject.task != nullptr ? subject.task->predict(*subject.model, batch)
                                                 : (*subject.model)(batch.input);
    gather(values, quantities, subject.model->interface, parts);
    if (command.gradient) {
      parts["gradient"].push_back(gradient_of(*subject.model, batch.input, positions));
    }
    samples += batch.count();
    progress.update(samples);
  };
  stream(command.data, *data, batch_of(subject, command.batch), *subject.model, predict);
  if (data->size() == 0) {  // no rows, and yet every output by its name and shape
    predict(to(data->batch({}), subject.model->device(), subject.model->dtype()));
  }
  NamedTensors tensors;
  for (const auto& [name, list] : parts) {
    for (const Tensor& part : list) {
      require<ConfigError>(part.sizes().slice(1) == list[0].sizes().slice(1), "--out: '", name,
                           "' of samples of different sizes do not go into one file: give a folder");
    }
    tensors[name] = at::cat(list, 0);
  }
  std::map<std::string, std::string> metadata{
      {"format", "weyl.predictions"},
      {"weyl_version", version()},
      {"model", std::filesystem::path(model_file(command.model)).filename().string()},
      {"outputs", quantities_json(quantities).dump()}};
  for (const std::string& note :
       subject.task != nullptr ? subject.task->notes() : std::vector<std::string>{}) {
    metadata["notes"] += (metadata["notes"].empty() ? "" : "\n") + note;
  }
  save_tensors(command.out, tensors, metadata);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (command.talk.json) {
    std::cout << Json::object().set("samples", samples).set("seconds", seconds).set("out", command.out).dump()
              << "\n";
  } else {
    std::cout << command.out << "\n";
    say(text(samples, " samples in ", clock_text(seconds)));
  }
  return exit_done;
}

}  // namespace weyl

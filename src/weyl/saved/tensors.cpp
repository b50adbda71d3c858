#include "weyl/saved/tensors.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "weyl/carriers/node_feature.h"
#include "weyl/carriers/quantity.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/version.h"

namespace weyl {
namespace {

/// Where an output belongs beside its own name; empty: nowhere.
std::string family_of(const Quantity& q, const Interface& interface) {
  if (interface.grid && q.level == Level::node) {
    return q.kind == Kind::scalar ? "values" : "";
  }
  if (q.kind == Kind::element) {
    return q.level == Level::graph ? "elements" : "";
  }
  const char* what = is_number(q.kind, interface.dimension)   ? "scalars"
                     : is_vector(q.kind, interface.dimension) ? "vectors"
                     : q.kind == Kind::multivector            ? "multivectors"
                                                              : "";
  return *what == 0 || q.level == Level::pair ? "" : text(level_names[static_cast<int>(q.level)], "_", what);
}

/// Where the rows of each sample's nodes begin and end, (B + 1).
Tensor offsets_of(const Dataset& data) {
  std::vector<int64_t> offsets{0};
  for (int64_t i = 0; i < data.size(); ++i) {
    offsets.push_back(offsets.back() + data.tokens(i));
  }
  return at::tensor(offsets, at::kLong);
}

/// The number of each sample in the whole set that it is a part of, (B); undefined: it is no part.
Tensor numbers_in_whole(const Dataset& data) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < data.size() && dynamic_cast<const Subset*>(&data) != nullptr; ++i) {
    const Dataset* whole = &data;
    int64_t number = i;
    for (const Subset* part; (part = dynamic_cast<const Subset*>(whole)) != nullptr; whole = &part->whole()) {
      number = part->sample(number);
    }
    numbers.push_back(number);
  }
  return numbers.empty() ? Tensor() : at::tensor(numbers, at::kLong);
}

Json samples_json(const Dataset& data) {
  int64_t least = 0, most = 0, all = 0;
  for (int64_t i = 0; i < data.size(); ++i) {
    const int64_t n = data.tokens(i);
    least = i == 0 ? n : std::min(least, n);
    most = std::max(most, n);
    all += n;
  }
  const double count = static_cast<double>(std::max<int64_t>(data.size(), 1));
  return Json::object()
      .set("carrier", name_of(data.schema().carrier()))
      .set("count", data.size())
      .set("least_tokens", least)
      .set("mean_tokens", static_cast<double>(all) / count)
      .set("most_tokens", most);
}

}  // namespace

// Families hold what the model itself gives, in its order; a task may say the same thing in other words as
// well. Elements of a Lie group are the task's.
void PredictionTensors::add(const Named& predictions) {
  const Interface& interface = predictor_.interface();
  std::map<std::string, std::vector<Tensor>> families;
  for (const Quantity& q : predictor_.outputs()) {
    const auto found = predictions.find(q.name);
    require(found != predictions.end(), "predict: the model must give the output '", q.name, "' it declares");
    const Tensor value = found->second.detach().cpu();
    // A graph without a volume has no stress, which NaN says.
    const bool none = q.level == Level::graph && q.kind == Kind::symmetric_tensor;
    require(none || at::isfinite(value).all().item<bool>(), "output '", q.name,
            "' must be finite, got NaN or infinity (larger inputs may need --dtype float64)");
    // One number a pose is (N), as docs/cli.md has it.
    const bool column = interface.group && q.level == Level::node && value.dim() == 2 && value.size(1) == 1;
    parts_[q.name].push_back(column ? value.squeeze(1) : value);
    // What the cells of a grid are said to be is the task's: logits are of windows.
    const std::string family = family_of(q, interface);
    const bool own = find_quantity(interface.outputs, q.name) != nullptr;
    if ((own || q.kind == Kind::element || family == "values") && !family.empty()) {
      families[family].push_back(value);
    }
  }
  for (const auto& [family, tensors] : families) {
    if (find_quantity(predictor_.outputs(), family) == nullptr) {
      parts_[family].push_back(at::cat(tensors, 1));
    }
  }
}

int64_t PredictionTensors::add_all(const std::shared_ptr<const Dataset>& data, const std::string& where,
                                   std::string_view gradient, const PredictorCalls& calls) {
  constexpr const char *of_gradient = "gradient", *of_atoms = "real";
  const auto predict = [&](const Batch& batch) {
    Named said = predictor_(batch);
    if (!gradient.empty()) {
      said[of_gradient] = predictor_.gradient(batch.input, gradient);
    }
    if (const auto* points = std::get_if<Points>(&batch.input)) {
      const Tensor real = real_nodes(*points, predictor_.interface());
      if (real.defined()) {
        said[of_atoms] = real.to(at::kLong);
      }
    }
    return said;
  };
  const auto use = [&](const Named& said) {
    add(said);
    if (!gradient.empty()) {
      parts_[of_gradient].push_back(said.at(of_gradient));
    }
    if (const auto real = said.find(of_atoms); real != said.end()) {
      parts_[of_atoms].push_back(real->second);
    }
  };
  const int64_t used = predictor_.each_predicted(data, where, predict, use, calls);
  if (data->size() == 0) {
    use(predict(data->batch({})));
  }
  if (data->schema().carrier() != Carrier::grid) {
    parts_["offsets"] = {offsets_of(*data)};
  }
  if (const Tensor numbers = numbers_in_whole(*data); numbers.defined()) {
    parts_["samples"] = {numbers};
  }
  return used;
}

NamedTensors PredictionTensors::done() const {
  NamedTensors tensors;
  for (const auto& [name, list] : parts_) {
    for (const Tensor& part : list) {
      require<ConfigError>(part.sizes().slice(1) == list[0].sizes().slice(1), "'", name,
                           "' of samples of different sizes do not go into one file: give a folder");
    }
    tensors[name] = at::cat(list, 0);
  }
  return tensors;
}

std::map<std::string, std::string> prediction_metadata(const Predictor& predictor, const std::string& models,
                                                       const Dataset& data) {
  std::map<std::string, std::string> metadata{{"format", predictions_format},
                                              {"weyl_version", version()},
                                              {"model", models},
                                              {"outputs", quantities_json(predictor.outputs()).dump()},
                                              {"samples", samples_json(data).dump()}};
  for (const std::string& note : predictor.notes()) {
    metadata["notes"] += (metadata["notes"].empty() ? "" : "\n") + note;
  }
  return metadata;
}

}  // namespace weyl

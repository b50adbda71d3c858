#include "weyl/saved/ensemble.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr const char* kDeviation = "_std";
constexpr const char* kProbabilities = "probabilities";

std::string list_of(const std::vector<Quantity>& quantities) {
  std::string line;
  for (const Quantity& q : quantities) {
    line += text(line.empty() ? "" : ", ", q.name, " (", level_names[static_cast<size_t>(q.level)], " ",
                 kind_names[static_cast<size_t>(q.kind)], " x", q.channels,
                 q.unit.empty() ? "" : ", " + q.unit, ")");
  }
  return line.empty() ? "none" : line;
}

std::string list_of_names(const std::vector<std::string>& names) {
  return names.empty() ? "none" : joined(names);
}

}  // namespace

std::vector<Quantity> ensemble_outputs(const std::vector<Quantity>& outputs) {
  std::vector<Quantity> all;
  for (const Quantity& q : outputs) {
    require<ConfigError>(q.kind != Kind::element, "several models: output '", q.name,
                         "' is an element of a Lie group, of which no mean is taken; give one model");
    all.push_back(q);
    if (q.kind != Kind::category) {
      all.push_back(q);
      all.back().name += kDeviation;
    }
  }
  return all;
}

void EnsembleMean::add(const Named& member) {
  ++members_;
  const auto n = static_cast<double>(members_);
  for (const Quantity& q : outputs_) {
    if (q.kind == Kind::category) {
      continue;
    }
    const auto found = member.find(q.name);
    require(found != member.end(), "predict: the model must give the output '", q.name, "' it declares");
    Moments& m = moments_[q.name];
    if (members_ == 1) {
      m.mean = found->second.to(at::kDouble, false, /*copy=*/true);
      m.square = at::zeros_like(m.mean);
      continue;
    }
    const Tensor off = found->second - m.mean;  // Welford 1962
    m.mean.add_(off, 1 / n);
    m.square.addcmul_(off, off, (n - 1) / n);
  }
}

Named EnsembleMean::done(const Task* task) {
  Named result;
  for (auto& [name, m] : moments_) {
    result[name] = m.mean;
    result[name + kDeviation] = m.square.div_(static_cast<double>(members_)).sqrt_();
  }
  moments_.clear();
  for (const Quantity& q : outputs_) {
    if (q.kind == Kind::category) {
      const auto p = result.find(kProbabilities);
      require<ConfigError>(p != result.end(), "several models: classes '", q.name,
                           "' need the models' probabilities, but there are none; give one model");
      result[q.name] =
          task != nullptr ? task->likeliest(p->second) : at::argmax(p->second, 1, /*keepdim=*/true);
    }
  }
  return result;
}

std::string without_deviation(const std::vector<Quantity>& outputs, const std::string& name) {
  const std::string ending = kDeviation;
  if (!name.ends_with(ending)) {
    return name;
  }
  const std::string base = name.substr(0, name.size() - ending.size());
  return find_quantity(outputs, base) != nullptr ? base : name;
}

void require_same_inputs_and_outputs(const SavedModel& first, const std::vector<Quantity>& first_outputs,
                                     const std::string& a, const SavedModel& second,
                                     const std::vector<Quantity>& second_outputs, const std::string& b) {
  const auto same = [&](const std::string& what, const std::string& x, const std::string& y) {
    require<ConfigError>(x == y, "several models must have the same ", what, ", but ", a, " has ", x, " and ",
                         b, " has ", y);
  };
  const Interface &x = first.model->interface, &y = second.model->interface;
  same("carrier", std::string(name_of(carrier_of(x))), std::string(name_of(carrier_of(y))));
  same("dimension", std::to_string(x.dimension), std::to_string(y.dimension));
  same("group", x.group ? std::string(name_of(*x.group)) : "none",
       y.group ? std::string(name_of(*y.group)) : "none");
  same("number of types", std::to_string(x.types), std::to_string(y.types));
  same("elements", list_of_names(x.elements), list_of_names(y.elements));
  same("unit of length", x.length_unit, y.length_unit);
  same("features", list_of(x.features), list_of(y.features));
  same("outputs", list_of(first_outputs), list_of(second_outputs));
  const auto origin = [](const SavedModel& saved) -> std::string {
    return through_derivatives(saved.task.get()) ? "derivatives of the energy"
                                                 : "no derivatives of the energy";
  };
  same("kind of forces", origin(first), origin(second));
  same("classes", list_of_names(names_of_classes(first.recipe.task, {})),
       list_of_names(names_of_classes(second.recipe.task, {})));
}

void require_same_data(const SampleFacts& first, const std::string& a, const SampleFacts& second,
                       const std::string& b) {
  const std::string apart = disagreement(first, second);
  require<ConfigError>(apart.empty(), "several models must be of the same kind of data, but of ", a, " and ",
                       b, " ", apart);
}

}  // namespace weyl

#include "weyl/study/audit/placements.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/placed_samples.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

using Direction = std::array<double, 3>;

Direction direction(Stream& stream) {
  Direction way{};
  double square = 0;
  while (square < 1e-12) {
    square = 0;
    for (double& x : way) {
      x = stream.normal();
      square += x * x;
    }
  }
  for (double& x : way) {
    x /= std::sqrt(square);
  }
  return way;
}

/// By Rodrigues' formula, row-major.
std::array<double, 9> turn_about(const Direction& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const std::array<double, 9> cross{0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0};
  std::array<double, 9> r{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      r[3 * i + j] = (i == j ? c : 0) + s * cross[3 * i + j] + (1 - c) * axis[i] * axis[j];
    }
  }
  return r;
}

/// How one sample is turned and shifted in all rows.
struct Ways {
  Direction axis, shift;
  std::array<double, 9> uniform;
  double angle = 0;
};

struct Row {
  std::string name;
  std::function<Placement(const Ways&)> of;
};

std::vector<Row> rows(bool points) {
  std::vector<Row> all{{"as it is", [](const Ways&) { return Placement{}; }}};
  for (const int degrees : {5, 10, 20, 45, 90}) {
    all.push_back({text("turned ", degrees), [degrees](const Ways& w) {
                     return Placement{turn_about(w.axis, degrees * std::numbers::pi / 180), {}};
                   }});
  }
  all.push_back({"turned uniformly", [](const Ways& w) { return Placement{w.uniform, {}}; }});
  if (points) {
    for (size_t axis = 0; axis < 3; ++axis) {
      Direction about{};
      about[axis] = 1;
      all.push_back({text("turned about ", std::string_view("xyz").substr(axis, 1)),
                     [about](const Ways& w) { return Placement{turn_about(about, w.angle), {}}; }});
    }
    return all;
  }
  for (const double cells : {0.5, 1.0, 2.0, 3.0, 4.0}) {
    all.push_back({text("shifted ", cells), [cells](const Ways& w) {
                     Placement p;
                     std::ranges::transform(w.shift, p.shift.begin(), [&](double x) { return cells * x; });
                     return p;
                   }});
  }
  return all;
}

std::vector<Ways> draw_ways(int64_t samples, uint64_t seed) {
  std::vector<Ways> ways;
  Stream stream(seed, "placements"), angles(seed, "placement angles");
  for (int64_t i = 0; i < samples; ++i) {
    Ways w{direction(stream), direction(stream), {}, 2 * std::numbers::pi * angles.uniform()};
    const Tensor uniform = random_rotations(1, 3, false, stream).linear.contiguous();
    std::copy_n(uniform.const_data_ptr<double>(), 9, w.uniform.begin());
    ways.push_back(w);
  }
  return ways;
}

void require_placeable(const Dataset& data, const std::string& where) {
  require<DataError>(
      holds_points_in_space(data) || makes_anew(data), where,
      ": must be points in space, or volumes that the set makes of shapes, since only these can be turned and shifted before "
      "they become cells");
}

double quadratic_mean(const Tensor& x) {
  return std::sqrt(x.square().mean().item<double>());
}

}  // namespace

std::shared_ptr<const Dataset> turned_samples(const std::shared_ptr<const Dataset>& data,
                                              std::optional<int> about, uint64_t seed,
                                              const std::string& where) {
  require_placeable(*data, where);
  Direction axis{};
  axis[static_cast<size_t>(about.value_or(0))] = 1;
  return std::make_shared<PlacedSamples>(
      data, [about, axis, ways = draw_ways(data->size(), seed)](int64_t i) {
        const Ways& w = ways[static_cast<size_t>(i)];
        return Placement{about ? turn_about(axis, w.angle) : w.uniform, {}};
      });
}

Breakdown measured_when_placed(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                               const std::string& where, uint64_t seed, const PredictorCalls& calls) {
  require<ConfigError>(predictor.task() != nullptr, where, ": the model must have a task to be measured by");
  const std::vector<Quantity>& outputs = predictor.interface().outputs;
  const bool points = holds_points_in_space(*data);
  require<ConfigError>(
      std::ranges::all_of(outputs,
                          [&](const Quantity& q) {
                            return q.kind == Kind::scalar &&
                                   (q.level == Level::graph || (points && q.level == Level::node));
                          }),
      where,
      ": the model's outputs must be numbers of whole samples or of points, which turns and shifts leave as "
      "they are");
  require_placeable(*data, where);
  const std::vector<Ways> ways = draw_ways(data->size(), seed);
  Breakdown table{.by = "placement", .rows = {}};
  std::map<std::string, Tensor> as_it_is;
  const std::vector<Row> all = rows(points);
  for (size_t k = 0; k < all.size(); ++k) {
    const auto placed = std::make_shared<PlacedSamples>(
        data, [&](int64_t i) { return all[k].of(ways[static_cast<size_t>(i)]); });
    std::shared_ptr<Meter> meter = predictor.task()->meter(predictor.interface());
    std::map<std::string, std::vector<Tensor>> said;  // of the first rank, by all
    PredictorCalls part = calls;
    if (calls.progress) {
      part.progress = [&](int64_t done) {
        calls.progress((static_cast<int64_t>(k) * data->size() + done) / std::ssize(all));
      };
    }
    predictor.each_predicted(
        placed, where,
        [&](const Batch& batch) {
          const at::NoGradGuard no_grad;
          Named changes;
          const Named predictions = predictor(batch);
          meter->add(batch, predictions);
          std::vector<Tensor> of_batch;
          for (const Quantity& q : outputs) {
            if (const auto found = predictions.find(q.name); found != predictions.end()) {
              of_batch.push_back(found->second.detach().to(at::kCPU, at::kDouble));
            }
          }
          if (!of_batch.empty()) {  // a segmentation predicts probabilities alone
            changes["logits"] = at::cat(of_batch, 1);
          }
          Model& model = predictor.model();
          for (const auto& [name, lengths] :
               model.stage_lengths(to(batch, model.device(), model.dtype()).input)) {
            changes[name] = lengths.to(at::kDouble);
          }
          return changes;
        },
        [&](const Named& changes) {
          for (const auto& [name, values] : changes) {
            said[name].push_back(values);
          }
        },
        part);
    if (calls.ranks != nullptr) {
      meter = of_all_ranks(*calls.ranks, *predictor.task(), predictor.interface(), *meter);
    }
    Metrics metrics = meter->values();
    for (const auto& [name, batches] : said) {
      const Tensor now = at::cat(batches);
      const Tensor& then = as_it_is.try_emplace(name, now).first->second;
      const double spread = quadratic_mean(then - then.mean(0, true));
      if (spread >
          0) {  // of one shape, or outputs that are the same for all, there is nothing to compare with
        metrics["change_of_" + name] = {quadratic_mean(now - then) / spread, ""};
      }
    }
    table.rows.emplace_back(all[k].name, std::move(metrics));
  }
  return table;
}

}  // namespace weyl

#include "weyl/train/loop/changes_on_resume.h"

#include <cmath>
#include <cstdint>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"
#include "weyl/models/platonic/options.h"

namespace weyl {
namespace {

std::string_view linear_form_name(platonic::LinearForm form) {
  return platonic::names_of(form)[static_cast<size_t>(form)];
}

}  // namespace

bool is_way_of_working(std::string_view key) {
  return key == "model.platonic.linear";
}

std::string take_way_of_working(const ModelOptions& from, ModelOptions& into) {
  const auto* source = from.system.get_if<platonic::Options>();
  auto* target = into.system.get_if<platonic::Options>();
  if (source == nullptr || target == nullptr || source->linear == target->linear) {
    return "";
  }
  require<ConfigError>(source->linear != platonic::LinearForm::automatic,
                       "model.platonic.linear: must be dense or spectral of a run that goes on, got auto");
  const std::string line =
      text("linear maps are worked out as model.platonic.linear = \"", linear_form_name(source->linear),
           "\" from here on, they were \"", linear_form_name(target->linear),
           "\": the same function of the same weights, but the run ends with other bits");
  target->linear = source->linear;
  return line;
}

namespace {

std::string count_of(int64_t count, const char* unit) {
  return text(count, " ", unit, count == 1 ? "" : "s");
}

}  // namespace

bool is_budget(std::string_view key) {
  return key == "train.epochs" || key == "train.steps" || key == "train.flops" || key == "train.max_seconds";
}

void require_may_change(std::span<const std::string> overrides) {
  for (const std::string& override : overrides) {
    const std::string key = override.substr(0, override.find('='));
    require<ConfigError>(is_budget(key) || is_way_of_working(key),
                         "--resume takes the run as it is: only its budget (train.epochs, train.steps, "
                         "train.flops, train.max_seconds) may be changed, and the form of its linear maps "
                         "(model.platonic.linear), got '",
                         override, "'");
  }
}

bool same_budget(const TrainOptions& a, const TrainOptions& b) {
  return a.epochs == b.epochs && a.steps == b.steps && a.flops == b.flops && a.max_seconds == b.max_seconds;
}

void take_budget(const TrainOptions& from, TrainOptions& into) {
  into.epochs = from.epochs;
  into.steps = from.steps;
  into.flops = from.flops;
  into.max_seconds = from.max_seconds;
}

std::string budget_text(const TrainOptions& o) {
  std::string line;
  const auto add = [&](const std::string& part) { line += (line.empty() ? "" : " or ") + part; };
  if (o.epochs) {
    add(count_of(*o.epochs, "epoch"));
  }
  if (o.steps) {
    add(count_of(*o.steps, "step"));
  }
  if (o.flops) {
    add(short_number(*o.flops) + " FLOPs");
  }
  if (o.max_seconds) {
    add(short_number(*o.max_seconds) + " seconds");
  }
  return line;
}

std::string change_of_budget(const TrainOptions& before, const TrainOptions& after,
                             const Schedule::State& state, const Elapsed& now) {
  const std::string budget =
      text("the budget is now ", budget_text(after), ", it was ", budget_text(before), "; ");
  if (Schedule(after).finished(now)) {
    return budget + "the run is past it";
  }
  const auto name = std::string(names_of(after.schedule.name)[static_cast<size_t>(after.schedule.name)]);
  if (!follows_budget(after.schedule.name)) {
    return budget + text("the ", name, " schedule does not depend on it");
  }
  const auto rate = [&](const TrainOptions& options) {
    Schedule schedule(options);
    schedule.load(state);
    return short_number(options.optimiser.rate * schedule.factor(now));
  };
  return budget + text("the ", name, " schedule is stretched over it: the learning rate at step ", now.step,
                       " goes from ", rate(before), " to ", rate(after),
                       ", and the run ends with other bits than one that had this budget from its beginning");
}

std::string finished_text(const std::string& run, const TrainOptions& o, const Elapsed& now,
                          bool out_of_patience) {
  std::string done = text("step ", now.step);
  if (o.steps) {
    done += text(" of ", *o.steps);
  }
  if (o.epochs) {
    done += text(", ", short_number(now.epoch), " of ", count_of(*o.epochs, "epoch"));
  }
  if (o.flops) {
    done += text(", ", short_number(now.flops), " of ", short_number(*o.flops), " FLOPs");
  }
  if (o.max_seconds) {
    done += text(", ", short_number(now.seconds), " of ", short_number(*o.max_seconds), " seconds");
  }
  if (out_of_patience) {
    return text(run, " is finished: ", done, ", and ", count_of(o.patience.value_or(0), "validation"),
                " without improvement (train.patience), after which it does not go on");
  }
  // Twice the budget as an example, or twice what is spent where that is past it.
  const auto twice = [](auto budget, auto spent) { return 2 * (spent < 2 * budget ? budget : spent); };
  std::string more;
  if (o.epochs && now.epoch >= static_cast<double>(*o.epochs)) {
    more += text(" train.epochs=", twice(*o.epochs, static_cast<int64_t>(std::ceil(now.epoch))));
  }
  if (o.steps && now.step >= *o.steps) {
    more += text(" train.steps=", twice(*o.steps, now.step));
  }
  if (o.flops && now.flops >= *o.flops) {
    more += text(" train.flops=", short_number(twice(*o.flops, now.flops)));
  }
  if (o.max_seconds && now.seconds >= *o.max_seconds) {
    more += text(" train.max_seconds=", short_number(twice(*o.max_seconds, now.seconds)));
  }
  return text(run, " is finished: ", done, "; train on with, say: weyl train --resume ", run, more);
}

}  // namespace weyl

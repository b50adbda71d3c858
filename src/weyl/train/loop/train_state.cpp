#include "weyl/train/loop/train_state.h"

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/json.h"

namespace weyl {

std::string to_json(const TrainState& s) {
  Json json = Json::object();
  json.set("step", s.step).set("epoch", s.epoch).set("batch", s.batch);
  if (s.best) {
    json.set("best", s.best->value).set("best_left_out", s.best->left_out);
  }
  if (s.best_loss) {
    json.set("best_loss", *s.best_loss);
  }
  json.set("best_step", s.best_step).set("waited", s.waited);
  if (s.schedule.best) {
    json.set("schedule_best", s.schedule.best->value)
        .set("schedule_best_left_out", s.schedule.best->left_out);
  }
  if (s.unvalidated) {
    json.set("unvalidated", *s.unvalidated);
  }
  if (s.tokens) {
    json.set("tokens", *s.tokens);
  }
  return json.set("schedule_drops", s.schedule.drops)
      .set("schedule_waited", s.schedule.waited)
      .set("loss_sum", s.loss_sum)
      .set("gradient_norm_sum", s.gradient_norm_sum)
      .set("summed", s.summed)
      .set("metrics_bytes", s.metrics_bytes)
      .dump();
}

TrainState train_state(std::string_view source, const std::string& where) {
  const Json json = Json::parse(source, where);
  const auto number = [&](const char* key) {
    const Json* value = json.find(key);
    const double found = value != nullptr ? value->number_or(NAN) : NAN;
    require<DataError>(std::isfinite(found), where, ": must hold a number '", key, "'");
    return found;
  };
  const auto count = [&](const char* key) {
    const double found = number(key);
    require<DataError>(found >= 0 && found < 9e15 && found == std::floor(found), where, ": '", key,
                       "' must be a whole number from 0 on, got ", found);
    return static_cast<int64_t>(found);
  };
  const auto at_most = [&](const char* key, const char* other, int64_t limit) {
    const int64_t found = count(key);
    require<DataError>(found <= limit, where, ": '", key, "' must be at most '", other, "', ", limit,
                       ", got ", found);
    return found;
  };
  const auto not_negative = [&](const char* key) {
    const double found = number(key);
    require<DataError>(found >= 0, where, ": '", key, "' must not be negative, got ", found);
    return found;
  };
  const auto optional = [&](const char* key) {
    return json.find(key) != nullptr ? std::optional(number(key)) : std::nullopt;
  };
  const auto score = [&](const std::string& key) -> std::optional<Score> {
    const std::string left_out = key + "_left_out";  // older files have none
    if (json.find(key) == nullptr) {
      return {};
    }
    return Score{number(key.c_str()), json.find(left_out) != nullptr ? not_negative(left_out.c_str()) : 0};
  };
  TrainState s;
  s.step = count("step");
  s.epoch = at_most("epoch", "step", s.step);  // an epoch has a step at least
  s.batch = count("batch");
  s.best = score("best");
  s.best_loss = optional("best_loss");  // older files have none
  s.best_step = at_most("best_step", "step", s.step);
  s.waited = at_most("waited", "step", s.step);
  s.schedule = {at_most("schedule_drops", "step", s.step), score("schedule_best"),
                at_most("schedule_waited", "step", s.step)};
  s.loss_sum = number("loss_sum");
  s.gradient_norm_sum = not_negative("gradient_norm_sum");
  s.summed = at_most("summed", "step", s.step);
  s.unvalidated =
      json.find("unvalidated") != nullptr ? std::optional(not_negative("unvalidated")) : std::nullopt;
  s.tokens = json.find("tokens") != nullptr ? std::optional(count("tokens")) : std::nullopt;
  s.metrics_bytes = count("metrics_bytes");
  return s;
}

}  // namespace weyl

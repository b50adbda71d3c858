#include <cmath>
#include <string>

#include "weyl/study/scaling/study.h"

namespace weyl {
namespace {

template <class Items, class Make>
Json list_of(const Items& items, const Make& make) {
  Json list = Json::array();
  for (const auto& item : items) {
    list.add(make(item));
  }
  return list;
}

template <class T, class Make>
Json or_null(const std::optional<T>& item, const Make& make) {
  return item ? make(*item) : Json();
}

// Null where not even the value is known.
Json json_of(const Estimate& estimate) {
  return std::isnan(estimate.value) ? Json()
                                    : Json::object()
                                          .set("value", estimate.value)
                                          .set("low", estimate.low)
                                          .set("high", estimate.high);
}

Json json_of(const std::vector<LeftOut>& all) {
  return list_of(all, [](const LeftOut& left) {
    return Json::object().set("quantity", left.quantity).set("reason", left.reason);
  });
}

Json json_of(const AtBudget& at) {
  return Json::object()
      .set("budget", at.budget)
      .set("N", json_of(at.N))
      .set("D", json_of(at.D))
      .set("L", json_of(at.L))
      .set("outside", at.outside);
}

Json json_of(const IsoflopPoint& point) {
  return Json::object()
      .set("parameters", point.parameters)
      .set("tokens", point.tokens)
      .set("loss", point.loss)
      .set("runs", point.runs)
      .set("flops", point.flops);
}

Json json_of(const Isoflop& isoflop) {
  return Json::object()
      .set("budget", isoflop.budget)
      .set("flops", isoflop.flops)
      .set("kind", name_of(isoflop.kind))
      .set("points", list_of(isoflop.points, [](const IsoflopPoint& p) { return json_of(p); }))
      .set("minimum", or_null(isoflop.minimum,
                              [](const IsoflopPoint& p) {
                                return Json::object()
                                    .set("parameters", p.parameters)
                                    .set("tokens", p.tokens)
                                    .set("loss", p.loss);
                              }))
      .set("parabola", or_null(isoflop.parabola,
                               [](const auto& p) { return list_of(p, [](double c) { return Json(c); }); }));
}

Json json_of(const ComputeLaw& law) {
  return Json::object()
      .set("F", json_of(law.F))
      .set("gamma", json_of(law.gamma))
      .set("E", json_of(law.E))
      .set("envelope", law.envelope)
      .set("frontier", list_of(law.frontier, [](const ComputeLaw::Point& p) {
             return Json::object().set("flops", p.flops).set("loss", p.loss);
           }));
}

Json json_of(const RepetitionFit& fit) {
  return Json::object()
      .set("A", json_of(fit.A))
      .set("B", json_of(fit.B))
      .set("alpha", json_of(fit.alpha))
      .set("beta", json_of(fit.beta))
      .set("E", json_of(fit.E))
      .set("R", json_of(fit.R))
      .set("runs", fit.runs)
      .set("most_epochs", fit.most_epochs);
}

Json json_of(const HoldOut& out) {
  return Json::object()
      .set("budget", out.budget)
      .set("runs", out.runs)
      .set("fitted_runs", out.fitted_runs)
      .set("mean_error", out.mean_error)
      .set("worst_error", out.worst_error)
      .set("observed", out.observed)
      .set("predicted", out.predicted);
}

// What a fit from runs knows of itself; of given coefficients nothing.
void add_fit(Json& json, const SystemFit& system) {
  if (!system.fit) {
    return;
  }
  const PointFit& fit = *system.fit;
  json.set("E_free", fit.form.free_E)
      .set("delta", fit.form.delta)
      .set("choice", list_of(fit.tried,
                             [](const TriedForm& tried) {
                               return Json::object()
                                   .set("E_free", tried.form.free_E)
                                   .set("delta", tried.form.delta)
                                   .set("error", tried.error);
                             }))
      .set("residual", Json::object().set("mean", fit.mean_residual).set("worst", fit.worst_residual))
      .set("grid_check", or_null(system.grid_check, [](const GridCheck& check) {
             return Json::object().set("resamples", check.resamples).set("worst", check.worst);
           }));
}

Json json_of(const SystemFit& fit) {
  const auto points = [](const std::vector<AtBudget>& list) {
    return list_of(list, [](const AtBudget& at) { return json_of(at); });
  };
  Json json = Json::object();
  json.set("system", fit.system).set("runs", fit.runs);
  for (const auto& [name, estimate] :
       std::initializer_list<std::pair<const char*, const Estimate&>>{{"A", fit.A},
                                                                      {"B", fit.B},
                                                                      {"alpha", fit.alpha},
                                                                      {"beta", fit.beta},
                                                                      {"E", fit.E},
                                                                      {"a", fit.a},
                                                                      {"b", fit.b},
                                                                      {"gamma", fit.gamma},
                                                                      {"F", fit.F},
                                                                      {"G", fit.G}}) {
    json.set(name, json_of(estimate));
  }
  json.set("xi", or_null(fit.xi, [](double xi) { return Json(xi); }))
      .set("xi_from", fit.xi_from.empty() ? Json() : Json(fit.xi_from));
  add_fit(json, fit);
  json.set("budgets", points(fit.budgets))
      .set("curve", points(fit.curve))
      .set("isoflops", list_of(fit.isoflops, [](const Isoflop& isoflop) { return json_of(isoflop); }))
      .set("isoflop_law",
           or_null(fit.isoflop_law,
                   [](const IsoflopLaw& law) {
                     return Json::object().set("a", law.a).set("b", law.b).set("minima", law.minima);
                   }))
      .set("compute_law", or_null(fit.compute_law, [](const ComputeLaw& law) { return json_of(law); }))
      .set("repetition", or_null(fit.repetition, [](const RepetitionFit& r) { return json_of(r); }))
      .set("hold_out", or_null(fit.hold_out, [](const HoldOut& out) { return json_of(out); }))
      .set("left_out", json_of(fit.left_out))
      .set("notes", list_of(fit.notes, [](const std::string& note) { return Json(note); }));
  return json;
}

Json json_of(const SystemRatio& ratio) {
  const auto points = [](const std::vector<SystemRatio::Point>& list) {
    return list_of(list, [](const SystemRatio::Point& point) {
      return Json::object()
          .set("budget", point.budget)
          .set("loss", json_of(point.loss))
          .set("compute", json_of(point.compute));
    });
  };
  return Json::object()
      .set("system", ratio.system)
      .set("other", ratio.other)
      .set("budgets", points(ratio.budgets))
      .set("curve", points(ratio.curve))
      .set("left_out", json_of(ratio.left_out));
}

Json json_of(const ScalingRequest& asked) {
  return Json::object()
      .set("xi", list_of(asked.xi,
                         [](const auto& xi) {
                           return Json::object().set("system", xi.first).set("value", xi.second);
                         }))
      .set("budgets", list_of(asked.budgets, [](double budget) { return Json(budget); }))
      .set("epochs", or_null(asked.epochs, [](double epochs) { return Json(epochs); }))
      .set("hold_out", asked.hold_out);
}

}  // namespace

Json to_json(const ScalingStudy& study) {
  return Json::object()
      .set("file", study.file)
      .set("bootstraps", study.bootstraps)
      .set("confidence", 0.95)
      .set("seed", static_cast<int64_t>(study.seed))
      .set("asked", json_of(study.asked))
      .set("systems", list_of(study.systems, [](const SystemFit& fit) { return json_of(fit); }))
      .set("ratios", list_of(study.ratios, [](const SystemRatio& ratio) { return json_of(ratio); }))
      .set("refused", list_of(study.refused,
                              [](const RefusedLine& line) {
                                return Json::object().set("line", line.line).set("reason", line.reason);
                              }))
      .set("refused_systems", list_of(study.refused_systems, [](const LeftOut& left) {
             return Json::object().set("system", left.quantity).set("reason", left.reason);
           }));
}

}  // namespace weyl

#include "weyl/study/sweep/options.h"

#include <algorithm>
#include <set>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {

void fields(Fields& f, SweepPoint& p) {
  f("name", p.name, "of the model, in the table's column `size`");
  f("set", p.set, "overrides of the config, key=value");
  f("budgets", p.budgets, "those of the sweep that it is trained at; empty: all", {1e-3, 1e30});
}

void fields(Fields& f, SweepSystem& s) {
  f("name", s.name, "of the system, in the table's column `system`");
  f("config", s.config, "its config file; empty: the sweep's base");
  f("set", s.set, "overrides of its config, key=value: \"model.system=gatr\"");
  f("augment", s.augment, "train.augment of its runs; false: as its config says");
  f("sizes", s.sizes, "models of the scaling study's size n (gatr, transformer), called n1, n1.5, ...",
    {0.5, 1000});
  f("widths", s.widths, "widths of smaller models, called w8b2, ...", {1, 1e6});
  f("blocks", s.blocks, "their numbers of blocks, one for each width", {0, 1000});
  f("points", s.points, "models by any other overrides");
  f("largest", s.largest, "names of the models that are trained at the largest budget; empty: all");
  f("rates", s.rates, "learning rates of this system, in place of the sweep's", {1e-12, 1e3});
}

void fields(Fields& f, SweepOptions& o) {
  f("base", o.base,
    "config file (TOML) of data, task and training, of every system that names none of its own");
  f("set", o.set, "overrides of all configs, key=value");
  f("unit", o.unit, "of the budgets: nominal FLOPs, or seconds of training");
  f("budgets", o.budgets, "what each model may use, from small to large; each run has a schedule of its own",
    {1e-3, 1e30});
  f("epochs", o.epochs, "whether a run may see each sample once, or again and again");
  f("rates", o.rates, "learning rates, the usual one first; empty: that of the config", {1e-12, 1e3});
  f("rates_until", o.rates_until,
    "below this budget all rates are tried and the best kept, by validation; from it on the first alone; "
    "false: all at every budget",
    {1e-3, 1e30});
  f("seeds", o.seeds, "how many seeds each budget gets, or one number for all of them", {1, 1000});
  f("validations", o.validations,
    "in a run, evenly spread, of which the best gives the model that is tested; false: as "
    "train.evaluate_every says",
    {1, 1e6});
  f("patience", o.patience, "validations without improvement before a run stops early; false: it does not",
    {1, 1e6});
  f("loss", o.loss,
    "metric of the test data that is the table's loss; empty: the one that picks the best model");
  f("systems", o.systems, "what is compared");
}

namespace {

bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 60 && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                  c == '_' || c == '-' || c == '+';
         });
}

void require_name(const std::string& name, const std::string& where, std::set<std::string>& seen) {
  require<ConfigError>(
      is_file_name(name), where,
      ".name: must be letters, digits, '.', '_', '-' or '+', as files are called after it, got ",
      quote(name));
  require<ConfigError>(seen.insert(name).second, where, ".name: must be a name of its own, got ", quote(name),
                       " a second time");
}

void require_overrides(const std::vector<std::string>& overrides, const std::string& where) {
  for (const std::string& item : overrides) {
    const size_t equals = item.find('=');
    require<ConfigError>(equals != std::string::npos && equals > 0, where,
                         ".set: overrides are written key=value, got ", quote(item));
  }
}

/// Keys that the sweep itself sets in every run.
void require_free_keys(const std::vector<std::string>& overrides, const std::string& where) {
  for (const std::string& item : overrides) {
    const std::string key = item.substr(0, item.find('='));
    for (const char* own : {"train.flops", "train.max_seconds", "train.epochs", "train.steps", "train.seed",
                            "train.evaluate_every", "train.patience", "train.optimiser.rate"}) {
      require<ConfigError>(key != own, where, ".set: ", own,
                           " is the sweep's own (budgets, epochs, seeds, validations, patience, rates), got ",
                           quote(item));
    }
  }
}

/// The points of `sizes`, of `widths` and `blocks`, and the others, in this order.
void list_points(SweepSystem& s, const std::string& where) {
  require<ConfigError>(s.widths.size() == s.blocks.size(), where, ".blocks: must be as many as widths, ",
                       s.widths.size(), ", got ", s.blocks.size());
  std::vector<SweepPoint> points;
  for (const double n : s.sizes) {
    points.push_back({"n" + short_number(n), {"model.SYSTEM.size=" + short_number(n)}, {}});
  }
  for (size_t i = 0; i < s.widths.size(); ++i) {
    points.push_back({text("w", s.widths[i], "b", s.blocks[i]),
                      {text("model.SYSTEM.width=", s.widths[i]), text("model.SYSTEM.blocks=", s.blocks[i])},
                      {}});
  }
  points.insert(points.end(), s.points.begin(), s.points.end());
  s.points = std::move(points);
}

void check_system(SweepSystem& s, const SweepOptions& o, const std::string& where, bool has_base) {
  require<ConfigError>(has_base || !s.config.empty(), where,
                       ".config: must name a config file, as the sweep has no base, got nothing");
  list_points(s, where);
  require<ConfigError>(!s.points.empty(), where,
                       ": must have models, by sizes, by widths and blocks, or by points, got none");
  require_overrides(s.set, where);
  require_free_keys(s.set, where);
  std::set<std::string> names;
  for (size_t i = 0; i < s.points.size(); ++i) {
    const SweepPoint& p = s.points[i];
    const std::string at = text(where, ".points[", i, "]");
    require_name(p.name, at, names);
    require_overrides(p.set, at);
    require_free_keys(p.set, at);
    for (const double budget : p.budgets) {
      require<ConfigError>(std::ranges::find(o.budgets, budget) != o.budgets.end(), at,
                           ".budgets: must be some of the sweep's budgets, got ", short_number(budget));
    }
  }
  for (const std::string& name : s.largest) {
    require<ConfigError>(names.contains(name), where, ".largest: must be names of its models, got ",
                         quote(name));
  }
}

}  // namespace

SweepOptions read_sweep(const std::string& path) {
  SweepOptions o;
  read_config(path, {}, o);
  require<ConfigError>(!o.budgets.empty(), path, ": budgets: must be given, got none");
  for (size_t i = 1; i < o.budgets.size(); ++i) {
    require<ConfigError>(o.budgets[i - 1] < o.budgets[i], path, ": budgets: must rise, got ",
                         short_number(o.budgets[i]), " after ", short_number(o.budgets[i - 1]));
  }
  require<ConfigError>(o.seeds.size() == 1 || o.seeds.size() == o.budgets.size(), path,
                       ": seeds: must be one number, or one for each of the ", o.budgets.size(),
                       " budgets, got ", o.seeds.size());
  require<ConfigError>(
      o.unit == BudgetUnit::flops || o.epochs == SweepEpochs::repeat, path,
      ": epochs: must be \"repeat\" with unit = \"seconds\", since nobody knows before how many "
      "samples a run will see, got \"unique\"");
  require<ConfigError>(
      o.unit == BudgetUnit::flops || !o.validations, path,
      ": validations: has no effect with unit = \"seconds\", where train.evaluate_every counts, got ",
      o.validations.value_or(0));
  const bool many = o.rates.size() > 1 ||
                    std::ranges::any_of(o.systems, [](const SweepSystem& s) { return s.rates.size() > 1; });
  require<ConfigError>(!o.rates_until || many, path, ": rates_until: has no effect without two rates, got ",
                       short_number(o.rates_until.value_or(0)));
  require<ConfigError>(!o.systems.empty(), path, ": systems: must be given, [[systems]], got none");
  require_overrides(o.set, path);
  require_free_keys(o.set, path);
  std::set<std::string> names;
  for (size_t i = 0; i < o.systems.size(); ++i) {
    const std::string where = text(path, ": systems[", i, "]");
    require_name(o.systems[i].name, where, names);
    check_system(o.systems[i], o, where, !o.base.empty());
  }
  return o;
}

}  // namespace weyl

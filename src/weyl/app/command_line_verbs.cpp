#include "weyl/app/command_line_verbs.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "weyl/app/command_line_arguments.h"
#include "weyl/app/command_line_data.h"
#include "weyl/app/command_line_draft.h"
#include "weyl/core/check.h"
#include "weyl/train/budget.h"

namespace weyl {
namespace {

constexpr int64_t most_samples = int64_t{1} << 24;

Verb add_train(CLI::App& root) {
  const auto draft = begin<TrainCommand>(
      root, "train", "train a model as a config says, or go on with a run",
      examples({"train configs/nbody/platonic.toml",
                "train configs/nbody/platonic.toml train.epochs=5 model.platonic.group=icosahedron --out "
                "runs/ico",
                "train --resume runs/ico", "train --resume runs/ico train.epochs=10"},
               "Ctrl-C, SIGTERM and a hang-up save and exit 5: after the step, or when that takes longer, "
               "within seconds "
               "the state before it. A second Ctrl-C stops at once."));
  auto& [app, c] = draft;
  const auto seed = std::make_shared<std::optional<int64_t>>();
  add_config(app, c->config, /*required=*/false);
  app.add_option(
         "--resume", c->resume,
         "go on with the run in this folder; ends with the same bits as a run that was never stopped. Of "
         "its keys the budget alone may be changed: train.epochs, train.steps, train.max_seconds")
      ->type_name("RUN");
  app.add_flag("--data-changed", c->data_changed,
               "with --resume: go on though the data are no longer those that the run was trained on");
  add_out(app, c->out, "DIR", "run folder to make, default runs/<config>-<number>; never overwritten", false);
  add_machine(app, c->machine, "same as train.precision=...");
  add_seed(app, *seed, "same as train.seed=...");
  return draft.done([seed](TrainCommand& t) {
    if (!t.resume.empty() && t.config.path.find('=') != std::string::npos) {
      t.config.overrides.insert(t.config.overrides.begin(), std::move(t.config.path));
      t.config.path.clear();
    }
    require<ConfigError>(t.resume.empty() != t.config.path.empty(), "give either CONFIG or --resume RUN");
    if (!t.resume.empty()) {
      require<ConfigError>(t.out.empty() && !t.machine.dtype && !*seed,
                           "--resume takes the run as it is: no --out, --dtype or --seed");
      require_budget_only(t.config.overrides);
    }
    require<ConfigError>(!t.data_changed || !t.resume.empty(), "--data-changed goes with --resume RUN");
    if (t.machine.dtype) {
      t.config.overrides.push_back("train.precision=" + *t.machine.dtype);
    }
    if (*seed) {
      t.config.overrides.push_back("train.seed=" + std::to_string(**seed));
    }
  });
}

Verb add_eval(CLI::App& root) {
  const auto draft = begin<EvalCommand>(
      root, "eval", "measure a model on data with labels",
      examples({"eval runs/platonic-1", "eval model.safetensors --data data/nbody --split valid --json"}));
  auto& [app, c] = draft;
  add_model(app, c->model);
  add_data(app, c->data, "data folder or file, default that of the model's config");
  add_choice(app, "--split", c->split, {"train", "valid", "test"}, "which split, default test");
  add_batch(app, c->batch, c->batch_tokens);
  add_machine(app, c->machine, "default that of the file");
  return draft.done();
}

Verb add_predict(CLI::App& root) {
  const auto draft = begin<PredictCommand>(
      root, "predict", "write a model's predictions for a data file",
      examples({"predict runs/platonic-1 data/nbody/test.safetensors --out predicted.safetensors",
                "predict model.safetensors points.safetensors --out out.safetensors --gradient --dtype "
                "float64"}));
  auto& [app, c] = draft;
  add_model(app, c->model);
  add_path(app, "DATA", c->data, "a data file, or .safetensors with the carrier's fields by name");
  add_out(
      app, c->out, "FILE|FOLDER",
      "file to write (.safetensors); of images and volumes also a folder: a mask for each in the format of "
      "its own file, classes of whole samples in predictions.csv; of atoms also .xyz or .extxyz: the input's "
      "frames with weyl_energy, weyl_forces, ... beside what they have",
      true);
  add_force(app, c->force);
  app.add_flag("--probabilities", c->probabilities, "into a folder: also the probabilities of each class");
  app.add_flag("--gradient", c->gradient,
               "also the gradient of the sum of graph_scalars with respect to positions");
  add_batch(app, c->batch, c->batch_tokens);
  add_machine(app, c->machine, "default that of the file");
  return draft.done();
}

Verb add_audit(CLI::App& root) {
  const auto draft = begin<AuditCommand>(
      root, "audit", "check the symmetry that a model claims; exit 1 when it fails",
      examples({"audit runs/platonic-1",
                "audit configs/nbody/platonic.toml model.platonic.group=cyclic_3d_5 --samples 16 --json"}));
  auto& [app, c] = draft;
  add_subject(app, c->subject, "RUN|MODEL|CONFIG", "run folder, model file, or a config (untrained weights)");
  add_data(app, c->data, "data folder or file, default that of the config; without any, random tokens");
  add_number(app, "--samples", c->samples, 1, most_samples,
             "samples to check on, default 64; of large grids fewer");
  add_seed(app, c->seed, "of the random transformations, default 0");
  add_machine(app, c->machine, "check in this one only, default both");
  return draft.done();
}

Verb add_info(CLI::App& root) {
  const auto draft = begin<InfoCommand>(
      root, "info", "what a model is: parameters, symmetry, inputs, outputs, cost",
      examples({"info runs/platonic-1", "info configs/nbody/platonic.toml model.platonic.blocks=8 --json",
                "info --verify runs/platonic-1"}));
  auto& [app, c] = draft;
  add_subject(app, c->subject, "RUN|MODEL|CONFIG|FILE",
              "run folder, model file, config, or any .safetensors file");
  app.add_flag(
      "--verify", c->verify,
      "compare every byte of the file, or of all .safetensors files in the folder, with its checksum "
      "instead; exit 3 when one differs");
  return draft.done();
}

Verb add_import(CLI::App& root) {
  const auto draft =
      begin<ImportCommand>(root, "import", "turn an author's weights into a model file",
                           examples({"import authors.pt --config configs/mine.toml --out model.safetensors",
                                     "import et.ckpt --config configs/md17/et.paper.toml --energy-unit "
                                     "kcal/mol --out et.safetensors"}));
  auto& [app, c] = draft;
  add_path(app, "WEIGHTS", c->weights,
           "safetensors file, or a PyTorch zip checkpoint (read without executing anything)");
  app.add_option("--config", c->config.path,
                 "config that names the system, its options, and a data set or an [interface]; its task goes "
                 "with the weights")
      ->required()
      ->type_name("CONFIG");
  add_overrides(app, c->config.overrides, "overrides of the config: train.epochs=5 ...");
  add_out(app, c->out, "MODEL", "model file to write", true);
  add_force(app, c->force);
  app.add_option("--energy-unit", c->energy_unit,
                 "unit of the energies that the weights give (kcal/mol, Hartree, ...), default that of the "
                 "config's data; predictions are in that of the data")
      ->type_name("UNIT");
  add_dtype(app, c->dtype, "of the model file, default that of the weights");
  return draft.done();
}

Verb add_config_schema(CLI::App& config) {
  const auto draft = begin<ConfigSchemaCommand>(config, "schema", "the JSON schema of a config file",
                                                examples({"config schema > weyl.schema.json"}));
  auto& [app, c] = draft;
  app.add_flag("--markdown", c->markdown, "the reference page instead");
  return draft.done();
}

Verb add_config_explain(CLI::App& config) {
  const auto draft =
      begin<ConfigExplainCommand>(config, "explain", "what a key means, its type, range and default",
                                  examples({"config explain model.platonic.group"}));
  auto& [app, c] = draft;
  add_path(app, "KEY", c->key, "a key or a table: train.batch, model.platonic");
  return draft.done();
}

Verb add_config_check(CLI::App& config) {
  const auto draft = begin<ConfigCheckCommand>(
      config, "check", "read a config, print it resolved",
      examples({"config check configs/nbody/platonic.toml model.platonic.blocks=4"}));
  auto& [app, c] = draft;
  add_config(app, c->config);
  return draft.done();
}

// Moves the overrides that a greedy list option swallowed: `--compare a.toml train.batch=4`.
void move_overrides(std::vector<std::string>& from, std::vector<std::string>& to) {
  const auto is_override = [](const std::string& s) { return s.find('=') != std::string::npos; };
  std::copy_if(from.begin(), from.end(), std::back_inserter(to), is_override);
  std::erase_if(from, is_override);
}

Verb add_bench(CLI::App& root) {
  const auto draft = begin<BenchCommand>(
      root, "bench", "time a model: forward, train step, memory, share of the machine's peak",
      examples({"bench configs/bench/platonic.toml",
                "bench configs/nbody/platonic.toml --compare configs/nbody/transformer.toml"}));
  auto& [app, c] = draft;
  add_config(app, c->config);
  app.add_option("--compare", c->compare, "other configs, timed after it in the same run")
      ->type_name("CONFIG ...");
  add_number(app, "--repeats", c->repeats, 1, 1000, "timings of each, the median counts; default 9");
  add_machine(app, c->machine, "default that of the config");
  return draft.done([](BenchCommand& b) { move_overrides(b.compare, b.config.overrides); });
}

Verb add_plot(CLI::App& root) {
  const auto draft = begin<PlotCommand>(root, "plot", "draw a run's pictures again (gnuplot)",
                                        examples({"plot runs/platonic-1 --out pictures"}));
  auto& [app, c] = draft;
  add_path(app, "RUN", c->run, "run folder");
  add_out(app, c->out, "DIR", "folder for the pictures, default RUN/plots", false);
  return draft.done();
}

Verb add_doctor(CLI::App& root) {
  return begin<DoctorCommand>(root, "doctor", "versions, devices, optional programs",
                              examples({"doctor --json"}))
      .done();
}

}  // namespace

std::vector<Verb> add_verbs(CLI::App& root) {
  std::vector<Verb> verbs{add_train(root), add_eval(root), add_predict(root),
                          add_audit(root), add_info(root), add_import(root)};
  for (Verb& verb : add_data_verbs(root)) {
    verbs.push_back(std::move(verb));
  }
  CLI::App& config = add_group(
      root, "config", "the config's keys: schema, explanation, check",
      examples({"config explain train.batch", "config check configs/nbody/platonic.toml train.epochs=5"}));
  for (const auto add : {add_config_schema, add_config_explain, add_config_check}) {
    verbs.push_back(add(config));
  }
  for (const auto add : {add_bench, add_plot, add_doctor}) {
    verbs.push_back(add(root));
  }
  return verbs;
}

}  // namespace weyl

#include "weyl/app/command_line_verbs.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "weyl/app/command_line_arguments.h"
#include "weyl/app/command_line_data.h"
#include "weyl/app/command_line_draft.h"
#include "weyl/app/command_line_scale.h"
#include "weyl/core/check.h"
#include "weyl/train/budget.h"

namespace weyl {
namespace {

constexpr int64_t most_audited = int64_t{1} << 24;

Verb add_train(CLI::App& root) {
  const auto draft = begin<TrainCommand>(
      root, "train", "train a model as a config says, or go on with a run",
      examples({"train configs/nbody/platonic.toml",
                "train configs/nbody/platonic.toml train.epochs=5 model.platonic.group=icosahedron --out "
                "runs/ico",
                "train --resume runs/ico", "train --resume runs/ico train.epochs=10"},
               "Ctrl-C, SIGTERM and a hang-up save and exit 5: after the step, or when that takes longer, "
               "within seconds the state before it. A second Ctrl-C stops at once."));
  auto& [app, c] = draft;
  const auto seed = std::make_shared<std::optional<int64_t>>();
  add_config(app, c->config, /*required=*/false);
  app.add_option(
         "--resume", c->resume,
         "go on with the run in this folder; ends with the same bits as a run that was never stopped. Of "
         "its keys the budget alone may be changed: train.epochs, train.steps, train.flops, "
         "train.max_seconds; and the form of Platonic linear maps, model.platonic.linear")
      ->type_name("RUN");
  app.add_flag("--data-changed", c->data_changed,
               "with --resume: go on though the data are no longer those that the run was trained on");
  app.add_flag(
      "--strict", c->strict,
      "refuse what is only likely to be wrong: an option without effect, units that do not seem to fit, a feature "
      "that changes nothing");
  const auto plain = std::make_shared<bool>(false);
  add_switch(app, "--no-pictures", *plain,
             "draw nothing into the run's plots/ at its end: `weyl plot` does it later");
  add_out(app, c->out, "DIR", "run folder to make, default runs/<config>-<number>; never overwritten", false);
  add_machine(app, c->machine, "same as train.precision=...");
  add_seed(app, *seed, "same as train.seed=...");
  return draft.done([seed, plain](TrainCommand& t) {
    t.pictures = !*plain;
    if (!t.resume.empty() && t.config.path.find('=') != std::string::npos) {
      t.config.overrides.insert(t.config.overrides.begin(), std::move(t.config.path));
      t.config.path.clear();
    }
    require<ConfigError>(t.resume.empty() != t.config.path.empty(), "give either CONFIG or --resume RUN");
    if (!t.resume.empty()) {
      require<ConfigError>(t.out.empty() && !t.machine.dtype && !*seed,
                           "--resume takes the run as it is: no --out, --dtype or --seed");
      require_may_change(t.config.overrides);
    }
    require<ConfigError>(!t.data_changed || !t.resume.empty(), "--data-changed goes with --resume RUN");
    require<ConfigError>(!t.strict || t.resume.empty(), "--strict goes with CONFIG");
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
      examples({"eval runs/platonic-1", "eval model.safetensors --data data/nbody --split valid --json",
                "eval runs/boxes --rollout 24"}));
  auto& [app, c] = draft;
  add_model(app, c->model);
  add_data(app, c->data, "data folder or file, default that of the model's config");
  add_choice(app, "--split", c->split, {"train", "valid", "test"}, "which split, default test");
  add_rollout(
      app, c->rollout,
      "rigid bodies: go N steps, each from where the one before has left the bodies, and measure each");
  add_as_is(app, c->as_is);
  add_batch(app, c->batch, c->batch_tokens);
  add_machine(app, c->machine, "default that of the file");
  return draft.done();
}

Verb add_predict(CLI::App& root) {
  const auto draft = begin<PredictCommand>(
      root, "predict", "write a model's predictions for a data file",
      examples({"predict runs/platonic-1 data/nbody/test.safetensors --out predicted.safetensors",
                "predict runs/a runs/b runs/c frames.xyz --out predicted.xyz",
                "predict model.safetensors points.safetensors --out out.safetensors --gradient --dtype "
                "float64"}));
  auto& [app, c] = draft;
  const auto paths = std::make_shared<std::vector<std::string>>();
  app.add_option(
         "RUN|MODEL ... DATA", *paths,
         "run folders (their best checkpoints) or model files, of several the mean and the standard "
         "deviation "
         "(NAME_std) of each output; then a data file, or .safetensors with the carrier's fields by name")
      ->required()
      ->type_name("");
  add_out(
      app, c->out, "FILE|FOLDER",
      "file to write (.safetensors); of classes also a folder: those of whole samples in predictions.csv, of "
      "images and volumes a mask for each in the format of its own file; of atoms also .xyz or .extxyz: the "
      "input's frames with weyl_energy, weyl_forces, ... beside what they have; of poses with one missing "
      "also .tum or .kitti: the trajectory with it",
      true);
  add_force(app, c->force);
  add_as_is(app, c->as_is);
  app.add_flag("--probabilities", c->probabilities, "into a folder: also the probabilities of each class");
  app.add_flag("--gradient", c->gradient,
               "also the gradient of the sum of graph_scalars with respect to positions");
  add_rollout(app, c->rollout,
              "rigid bodies: go N steps, each from where the one before has left the bodies");
  add_batch(app, c->batch, c->batch_tokens);
  add_machine(app, c->machine, "default that of the file");
  return draft.done([paths](PredictCommand& p) {
    require<ConfigError>(paths->size() >= 2, "takes RUN|MODEL and then DATA, got ", paths->size(), " path");
    p.model = paths->front();
    p.data = paths->back();
    p.others.assign(paths->begin() + 1, paths->end() - 1);
  });
}

Verb add_audit(CLI::App& root) {
  const auto draft = begin<AuditCommand>(
      root, "audit", "check the symmetry that a model claims; exit 1 when it fails",
      examples({"audit runs/platonic-1",
                "audit configs/nbody/platonic.toml model.platonic.group=cyclic_3d_5 --samples 16 --json"}));
  auto& [app, c] = draft;
  add_subject(app, c->subject, "RUN|MODEL|CONFIG", "run folder, model file, or a config (untrained weights)");
  add_data(app, c->data, "data folder or file, default that of the config; without any, random tokens");
  add_number(app, "--samples", c->samples, 1, most_audited,
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
  app.add_flag("--strict", c->strict, "refuse options that have no effect, of which it warns else");
  return draft.done();
}

Verb add_config_new(CLI::App& config) {
  const auto draft = begin<ConfigNewCommand>(
      config, "new", "write a commented config that trains on your data",
      examples(
          {"config new --data frames.extxyz --out mine.toml", "config new --data data/images",
           "config new --data data/nbody --system geomformer"},
          "Everything is chosen from what the data hold and may be changed by hand; no file is replaced."));
  auto& [app, c] = draft;
  const auto path = std::make_shared<std::string>();
  app.add_option("PATH", *path, "the same as --data PATH")->type_name("");
  add_data(app, c->data, "data file or folder, of any format that `data inspect` lists");
  add_choice(app, "--task", c->task,
             {"force_field", "property", "classification", "segmentation", "completion", "trajectory",
              "rigid_motion"},
             "what is learned; needed where the data have labels for several");
  app.add_option("--system", c->system, "what learns, default the one that does best on such data")
      ->type_name("SYSTEM");
  add_out(app, c->out, "FILE", "config to write, default stdout", false);
  return draft.done([path](ConfigNewCommand& n) {
    require<ConfigError>(path->empty() || n.data.empty(), "takes --data PATH or PATH, got both");
    n.data = n.data.empty() ? *path : n.data;
    require<ConfigError>(!n.data.empty(), "needs --data PATH");
  });
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
                "bench configs/bench/platonic.toml --against model.platonic.linear=dense",
                "bench configs/nbody/platonic.toml --compare configs/nbody/transformer.toml"}));
  auto& [app, c] = draft;
  add_config(app, c->config);
  app.add_option("--compare", c->compare, "other configs, timed after it in the same run")
      ->type_name("CONFIG ...");
  app.add_option("--against", c->against,
                 "times the same config with this option of the model beside it, repeat by repeat; once for "
                 "each option")
      ->type_name("model.key=value")
      ->allow_extra_args(false);
  add_number(app, "--repeats", c->repeats, 1, 1000, "timings of each, the median counts; default 9");
  add_machine(app, c->machine, "default that of the config");
  return draft.done([](BenchCommand& b) {
    move_overrides(b.compare, b.config.overrides);
    for (const std::string& option : b.against) {  // the task, the batch and the threads are those of both
      require<ConfigError>(option.starts_with("model."),
                           "--against must be an option of the model (model.key=value), got ", option);
    }
  });
}

Verb add_compare(CLI::App& root) {
  const auto draft = begin<CompareCommand>(
      root, "compare", "set runs beside one another: parameters, seconds, FLOPs, metrics, learning curves",
      examples({"compare runs/platonic-1 runs/geomformer-1", "compare runs/* --out pictures --json"},
               "Runs on different test data are not compared: exit code 1."));
  auto& [app, c] = draft;
  add_paths(app, "RUN", c->runs, "run folders, two or more");
  add_out(app, c->out, "DIR", "folder for the picture of the learning curves; without it none is drawn",
          false);
  return draft.done([](const CompareCommand& command) {
    require<ConfigError>(command.runs.size() >= 2, "takes two runs or more, got ", command.runs.size());
  });
}

Verb add_plot(CLI::App& root) {
  const auto draft =
      begin<PlotCommand>(root, "plot", "draw a run's pictures again (gnuplot)",
                         examples({"plot runs/platonic-1 --out pictures", "plot runs/boxes --rollout 24"}));
  auto& [app, c] = draft;
  add_path(app, "RUN", c->run, "run folder");
  add_out(app, c->out, "DIR", "folder for the pictures, default RUN/plots", false);
  add_rollout(app, c->rollout,
              "rigid bodies: also films of N steps, each from where the one before has left the bodies "
              "(rollout_0, ...), of samples of the test split");
  add_machine(app, c->machine, "with --rollout; default that of the file");
  return draft.done([](const PlotCommand& p) {
    const bool runs = p.machine.device != "cpu" || p.machine.dtype || p.machine.threads != 0;
    require<ConfigError>(p.rollout > 0 || !runs, "--device, --dtype and --threads go with --rollout N");
  });
}

Verb add_completion(CLI::App& root) {
  const auto draft = begin<CompletionCommand>(
      root, "completion", "print the script with which a shell completes weyl's words",
      examples({"completion bash > ~/.local/share/bash-completion/completions/weyl",
                "completion zsh > ~/.zfunc/_weyl",
                "completion fish > ~/.config/fish/completions/weyl.fish"}));
  auto& [app, c] = draft;
  add_word(app, "SHELL", c->shell, {"bash", "zsh", "fish"}, "the shell");
  return draft.done([](const CompletionCommand& command) {
    require<ConfigError>(!command.talk.json, "the result is a script, which --json has no form for");
  });
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
      root, "config", "the config's keys: a new config, schema, explanation, check",
      examples({"config explain train.batch", "config check configs/nbody/platonic.toml train.epochs=5"}));
  for (const auto add : {add_config_new, add_config_schema, add_config_explain, add_config_check}) {
    verbs.push_back(add(config));
  }
  verbs.push_back(add_bench(root));
  for (Verb& verb : add_scale_verbs(root)) {
    verbs.push_back(std::move(verb));
  }
  for (const auto add : {add_compare, add_plot, add_completion, add_doctor}) {
    verbs.push_back(add(root));
  }
  return verbs;
}

}  // namespace weyl

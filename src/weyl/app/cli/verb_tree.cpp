#include "weyl/app/cli/verb_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "weyl/app/cli/arguments.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/format_words.h"
#include "weyl/makers/makers.h"
#include "weyl/train/loop/changes_on_resume.h"

namespace weyl {
namespace {

constexpr int64_t most_audited = int64_t{1} << 24;
constexpr const char* no_pictures_help =
    "draw nothing into the run's plots/ at its end: `weyl plot` does it later";

void add_ranks(CLI::App& app, int64_t& ranks, const std::string& parts) {
  add_whole(app, "--ranks", ranks, 1, 4096,
            "processes that work together on this host, " + parts +
                "; mpirun, srun and torchrun start their own, which meet at MASTER_ADDR");
}

Verb add_train(CLI::App& root) {
  const auto draft = begin<TrainCommand>(
      root, "train", "train a model as a config says, or go on with a run",
      examples({"train configs/nbody/platonic.toml",
                "train configs/nbody/platonic.toml model.platonic.group=icosahedron --out runs/ico",
                "train phantoms.toml data.folds=5 --fold 0 --out runs/fold-0", "train --resume runs/ico",
                "train --resume runs/ico train.epochs=10",
                "train configs/nbody/platonic.toml --ranks 4 --threads 1"},
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
  add_number(app, "--fold", c->fold, 0, 1000000,
             "same as data.fold=...: which of the data.folds parts validates, from 0");
  const auto plain = std::make_shared<bool>(false);
  add_switch(app, "--no-pictures", *plain, no_pictures_help);
  add_out(app, c->out, "DIR", "run folder to make, default runs/<config>-<number>; never overwritten", false);
  add_machine(app, c->machine, "same as train.precision=...");
  add_ranks(app, c->ranks, "each with a part of every batch: the same bits for the same number");
  add_seed(app, *seed, "same as train.seed=...");
  return draft.done([seed, plain](TrainCommand& t) {
    t.pictures = !*plain;
    if (!t.resume.empty() && t.config.path.find('=') != std::string::npos) {
      t.config.overrides.insert(t.config.overrides.begin(), std::move(t.config.path));
      t.config.path.clear();
    }
    require<ConfigError>(t.resume.empty() != t.config.path.empty(), "give either CONFIG or --resume RUN");
    if (!t.resume.empty()) {
      require<ConfigError>(t.out.empty() && !t.machine.dtype && !*seed && !t.fold,
                           "--resume takes the run as it is: no --out, --dtype, --seed or --fold");
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
    if (t.fold) {
      t.config.overrides.push_back("data.fold=" + std::to_string(*t.fold));
    }
  });
}

Verb add_crossval(CLI::App& root) {
  const auto draft = begin<CrossvalCommand>(
      root, "crossval",
      "train a model for each fold of the data, and measure each on the part that it has not seen",
      examples(
          {"crossval phantoms.toml --out runs/phantoms-cv",
           "crossval phantoms.toml --folds 3 train.epochs=5 --out runs/phantoms-cv",
           "predict runs/phantoms-cv data/phantoms/imagesTs --out masks"},
          "DIR gets a run folder fold-0, fold-1, ... each, cases.csv (the metrics of every case by the model that "
          "has not seen it) and\ncrossval.json. The same command goes on with one that was stopped or killed."));
  auto& [app, c] = draft;
  const auto plain = std::make_shared<bool>(false);
  add_config(app, c->config);
  add_number(app, "--folds", c->folds, 2, 1000,
             "same as data.folds=..., default that of the config, else as many as the data list "
             "(splits_final.json), else 5");
  add_switch(app, "--no-pictures", *plain, no_pictures_help);
  add_out(app, c->out, "DIR", "folder for the runs and the tables", true);
  add_machine(app, c->machine, "same as train.precision=...");
  return draft.done([plain](CrossvalCommand& command) {
    command.pictures = !*plain;
    if (command.machine.dtype) {
      command.config.overrides.push_back("train.precision=" + *command.machine.dtype);
    }
  });
}

/// Moves the keys of the task into a list of their own.
void take_task_keys(std::vector<std::string>& from, std::vector<std::string>& to) {
  const auto of_task = [](const std::string& item) { return item.starts_with("task."); };
  std::ranges::copy_if(from, std::back_inserter(to), of_task);
  std::erase_if(from, of_task);
}

Verb add_eval(CLI::App& root) {
  const auto draft = begin<EvalCommand>(
      root, "eval", "measure a model on data with labels, or a trajectory or masks against the true ones",
      examples({"eval runs/platonic-1", "eval model.safetensors --data data/nbody --split valid --json",
                "eval runs/phantoms --split valid --out cases", "eval runs/boxes --rollout 24",
                "eval runs/water --data other.xyz data.molecules.energy=REF_energy",
                "eval runs/solids task.classification.test_time_rotations.count=12",
                "eval runs/solids --rotate so3", "eval runs/solids --moved",
                "eval estimate.tum --data truth.tum",
                "eval masks --data data/phantoms task.segmentation.tolerance=2"}));
  auto& [app, c] = draft;
  add_model(app, c->model);
  add_overrides(
      app, c->overrides,
      "with --data: keys of the data set: data.molecules.energy=REF_energy ...; how the task predicts: "
      "task.segmentation.test_time_mirrors=true ...");
  add_data(app, c->data, "data folder or file, default that of the model's config; of results the truth");
  add_choice(app, "--split", c->split, {"train", "valid", "test"},
             "which split, default test; with --data only of a folder that has splits");
  add_out(
      app, c->out, "DIR",
      "also measure each case by itself: cases.csv, a row each, and, of masks that a model gives, pictures of the worst, the "
      "median and the best case",
      false);
  add_force(app, c->force);
  add_rollout(
      app, c->rollout,
      "rigid bodies: go N steps, each from where the one before has left the bodies, and measure each");
  add_choice(
      app, "--rotate", c->rotate, {"z", "so3"},
      "points in space and volumes of shapes: measure each sample turned by a rotation of its own, about the upward axis (z unless the set says another) or any");
  add_switch(
      app, "--moved", c->moved,
      "points in space and volumes of shapes: also a table of the same under turns by 5 to 90 degrees and by any angle, of "
      "points about x, y and z too; of volumes under shifts by 0.5 to 4 cells, each shape moved before it becomes cells");
  add_as_is(app, c->as_is, "; compare masks voxel by voxel, wherever their headers place them");
  add_batch(app, c->batch, c->batch_tokens);
  add_machine(app, c->machine, "default that of the file");
  add_ranks(app, c->ranks, "each with some of the batches");
  return draft.done([](EvalCommand& e) {
    take_task_keys(e.overrides, e.task_overrides);
    require<ConfigError>(e.overrides.empty() || !e.data.empty(),
                         "key=value goes with --data PATH, whose keys it says");
    require<ConfigError>(!e.force || !e.out.empty(), "--force goes with --out DIR");
    require<ConfigError>(e.rotate.empty() || !e.moved, "--moved has the rows of --rotate: one of both");
    require<ConfigError>(e.rotate.empty() || e.rollout == 0, "--rotate goes without --rollout");
  });
}

Verb add_predict(CLI::App& root) {
  const auto draft = begin<PredictCommand>(
      root, "predict", "write a model's predictions for a data file",
      examples({"predict runs/platonic-1 data/nbody/test.safetensors --out predicted.safetensors",
                "predict runs/a runs/b runs/c frames.xyz --out predicted.xyz",
                "predict runs/water bohr.xyz data.molecules.length_unit=Bohr --out predicted.xyz",
                "predict model.safetensors points.safetensors --out out.safetensors --gradient --dtype "
                "float64"}));
  auto& [app, c] = draft;
  const auto paths = std::make_shared<std::vector<std::string>>();
  app.add_option(
         "RUN|MODEL ... DATA", *paths,
         "run folders (their best checkpoints) or model files, of several the mean and the standard "
         "deviation "
         "(NAME_std) of each output, or the folder of a cross-validation, which stands for its runs; then a data file, or .safetensors with the carrier's fields by name; "
         "then keys of the data set, for a file that is read otherwise: data.molecules.length_unit=Bohr ..., and of how the "
         "task predicts: task.segmentation.test_time_mirrors=true ...")
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
  add_ranks(app, c->ranks, "each with some of the batches: the same file as of one");
  return draft.done([paths](PredictCommand& p) {
    const auto is_key = [](const std::string& item) {
      constexpr std::array tables{"data.", "task.", "model.", "train.",
                                  "interface."};  // refused but for the first two
      return item.find('=') != std::string::npos &&
             std::ranges::any_of(tables, [&](const char* table) { return item.starts_with(table); });
    };
    std::ranges::copy_if(*paths, std::back_inserter(p.overrides), is_key);
    std::erase_if(*paths, is_key);
    take_task_keys(p.overrides, p.task_overrides);
    require<ConfigError>(paths->size() >= 2, "takes RUN|MODEL and then DATA, got ", paths->size(), " path");
    p.model = paths->front();
    p.data = paths->back();
    p.others.assign(paths->begin() + 1, paths->end() - 1);
  });
}

Verb add_serve(CLI::App& root) {
  const auto draft = begin<ServeCommand>(
      root, "serve", "answer i-PI, or ASE, which ask for forces through a socket",
      examples(
          {"serve runs/water --template start.xyz --ipi unix:water",
           "serve runs/a runs/b runs/c --template start.xyz --ipi localhost:31415"},
          "i-PI sends neither elements nor charges: those of the template count, in its order. Ends when the "
          "other side does. docs/guide/engines.md."));
  auto& [app, c] = draft;
  add_paths(
      app, "RUN|MODEL", c->models,
      "run folders (their best checkpoints) or model files; of several the mean, and what each says as i-PI's "
      "`extra`");
  add_word_of_own(
      app, "--template", c->frame, "FRAME",
      "file of a frame with the elements, in the order of the atoms, the periodic directions and the charge; "
      "its positions do not count");
  add_word_of_own(
      app, "--ipi", c->ipi, "unix:NAME|HOST:PORT",
      "where i-PI listens: unix:NAME is /tmp/ipi_NAME, or NAME itself where it has a slash; without a host it "
      "is this machine");
  add_machine(app, c->machine, "default that of the file");
  return draft.done([](const ServeCommand& s) {
    require<ConfigError>(!s.frame.empty(), "needs --template FRAME");
    require<ConfigError>(!s.ipi.empty(), "needs --ipi unix:NAME or --ipi HOST:PORT");
  });
}

Verb add_audit(CLI::App& root) {
  const auto draft = begin<AuditCommand>(
      root, "audit", "check the symmetry that a model claims; exit 1 when it fails",
      examples({"audit runs/platonic-1",
                "audit configs/nbody/platonic.toml model.platonic.group=cyclic_3d_5 --samples 16 --json"},
               "What to do when it fails: docs/guide/audits.md."));
  auto& [app, c] = draft;
  add_subject(app, c->subject, "RUN|MODEL|CONFIG", "run folder, model file, or a config (untrained weights)");
  add_data(app, c->data, "data folder or file, default that of the config; without any, random tokens");
  add_number(app, "--samples", c->samples, 1, most_audited,
             "samples to check on, default 64; of large grids fewer");
  add_seed(app, c->seed, "of the random transformations, default 0");
  add_machine(app, c->machine, "check in this one only, default both");
  add_ranks(app, c->ranks, "each with some of the transformations");
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
      config, "check", "read a config, build its task and model without data, print it resolved",
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
             {"force_field", "property", "classification", "segmentation", "completion", "pose_correction",
              "registration", "trajectory", "rigid_motion"},
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
                "bench configs/nbody/platonic.toml --compare configs/nbody/transformer.toml",
                "bench configs/md/et.toml --engine --compare configs/md/painn.toml", "bench --ranks 2"}));
  auto& [app, c] = draft;
  add_config(app, c->config, /*required=*/false);
  app.add_option("--compare", c->compare, "other configs, timed after it in the same run")
      ->type_name("CONFIG ...");
  app.add_option("--against", c->against,
                 "times the same config with this option of the model beside it, repeat by repeat; once for "
                 "each option")
      ->type_name("model.key=value")
      ->allow_extra_args(false);
  add_switch(
      app, "--engine", c->engine,
      "of a potential: energy and forces of 21 and of 192 periodic atoms, as LAMMPS, ASE or i-PI ask for them, beside "
      "the same by autograd; on one thread, unless --threads says another number");
  add_number(app, "--repeats", c->repeats, 1, 1000, "timings of each, the median counts; default 9");
  add_machine(app, c->machine, "default that of the config");
  add_ranks(app, c->ranks,
            "in place of CONFIG: the sum of tensors over them, as trainings sum gradients, in GB/s");
  return draft.done([](BenchCommand& b) {
    require<ConfigError>(b.config.path.empty() == (b.ranks > 0), "give either CONFIG or --ranks N");
    require<ConfigError>(b.ranks == 0 || (b.ranks > 1 && b.compare.empty() && b.against.empty() && !b.engine),
                         "--ranks: must be 2 or more, and alone but for --repeats");
    move_overrides(b.compare, b.config.overrides);
    require<ConfigError>(!b.engine || b.against.empty(), "--engine takes no --against");
    for (const std::string& option : b.against) {  // the task, the batch and the threads are those of both
      require<ConfigError>(option.starts_with("model."),
                           "--against must be an option of the model (model.key=value), got ", option);
    }
  });
}

Verb add_compare(CLI::App& root) {
  const auto draft = begin<CompareCommand>(
      root, "compare", "set runs beside one another: parameters, seconds, FLOPs, metrics, learning curves",
      examples(
          {"compare runs/platonic-1 runs/geomformer-1", "compare runs/* --out pictures --json"},
          "Runs that differ by train.seed alone are one row, mean and standard deviation. Runs on different test "
          "data are not compared: exit code 1."));
  auto& [app, c] = draft;
  add_paths(app, "RUN", c->runs, "run folders, two or more");
  add_out(
      app, c->out, "DIR",
      "folder for the learning curves, compare.html and the table (.md, .csv, .tex); without it none are made",
      false);
  return draft.done([](const CompareCommand& command) {
    require<ConfigError>(command.runs.size() >= 2, "takes two runs or more, got ", command.runs.size());
  });
}

Verb add_plot(CLI::App& root) {
  const auto draft =
      begin<PlotCommand>(root, "plot", "draw a run's pictures again (gnuplot)",
                         examples({"plot runs/platonic-1 --out pictures", "plot runs/boxes --rollout 24",
                                   "plot runs/solids --attention 3"}));
  auto& [app, c] = draft;
  add_path(app, "RUN", c->run, "run folder");
  add_out(app, c->out, "DIR", "folder for the pictures, default RUN/plots", false);
  add_rollout(app, c->rollout,
              "rigid bodies: also films of N steps, each from where the one before has left the bodies "
              "(rollout_0, ...), of samples of the test split");
  add_number(
      app, "--attention", c->attention, 0, std::numeric_limits<int64_t>::max(),
      "images and volumes, steerable: also the attention of sample N of the test split, numbered from 0, over its slice "
      "with the most in it (attention_N.png): of each layer and head, and the mean of heads, the largest weight of each "
      "token");
  add_machine(app, c->machine, "with --rollout and --attention; default that of the file");
  return draft.done([](const PlotCommand& p) {
    const bool runs = p.machine.device != "cpu" || p.machine.dtype;
    require<ConfigError>(p.rollout > 0 || p.attention || !runs,
                         "--device and --dtype go with --rollout N or --attention N");
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
    require<ConfigError>(!command.output.json, "the result is a script, which --json has no form for");
  });
}

Verb add_doctor(CLI::App& root) {
  return begin<DoctorCommand>(root, "doctor", "versions, devices, optional programs",
                              examples({"doctor --json"}))
      .done();
}

}  // namespace

std::vector<Verb> add_verbs(CLI::App& root) {
  std::vector<Verb> verbs{add_train(root), add_crossval(root), add_eval(root), add_predict(root),
                          add_serve(root), add_audit(root),    add_info(root), add_import(root)};
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

namespace {

// A page of one maker's own: its options. Empty when there is no such maker.
std::string maker_help(const std::string& name) {
  for (const auto& [known, makes] : makers()) {
    if (known == name) {
      return text(makes, "\nUsage: weyl data make ", name, " --out PATH [key=value...]\n\n",
                  "Options (key=value):\n", describe_maker(name),
                  "\nThe flags are those of `weyl data make --help`.\n");
    }
  }
  return "";
}

Verb add_data_make(CLI::App& data) {
  std::vector<std::string> lines;
  std::string names;
  for (const auto& [name, makes] : makers()) {
    lines.push_back(name + std::string(name.size() < 16 ? 16 - name.size() : 1, ' ') + makes);
    names += (names.empty() ? "" : ", ") + name;
  }
  lines.emplace_back("The options of one: weyl data make MAKER --help");
  const auto draft = begin<DataMakeCommand>(
      data, "make", "make a data set",
      block("Makers:", lines) + examples({"data make nbody --out data/nbody",
                                          "data make nbody --out data/small train=300 valid=100 test=100",
                                          "data make pose_sequences --out data/se3 group=se3",
                                          "data make glyphs --out data/glyphs-any rotation=any",
                                          "data make molecules --out data/ethanol molecule=ethanol"}));
  auto& [app, c] = draft;
  add_path(app, "MAKER", c->maker, "what to make: " + names);
  add_overrides(app, c->overrides, "options of the maker");
  add_out(app, c->out, "PATH", "folder to write", true);
  add_threads(app, c->threads, "threads, default all cores; the data do not depend on it");
  Verb verb = draft.done();
  verb.help = [c = c] { return maker_help(c->maker); };
  return verb;
}

Verb add_data_inspect(CLI::App& data) {
  const auto draft =
      begin<DataInspectCommand>(data, "inspect", "fields, units, ranges, missing values, warnings",
                                block("Formats:", formats_for(FormatUse::inspect)) +
                                    examples({"data inspect data/nbody/train.safetensors --json"}));
  auto& [app, c] = draft;
  add_path(app, "PATH", c->path, "data file or folder");
  return draft.done();
}

Verb add_data_convert(CLI::App& data) {
  std::string footer = block("Conversions:", formats_for(FormatUse::convert));
  for (const auto& [holds, options] : conversion_options()) {
    footer += "Options (key=value) of " + holds + ":\n" + options + "\n";
  }
  const auto draft = begin<DataConvertCommand>(
      data, "convert", "from one format to another, chosen by the names",
      footer + examples({"data convert n_body_system/dataset data/nbody",
                         "data convert trajectory.txt poses.safetensors",
                         "data convert trajectory.txt poses.safetensors length=64 stride=32",
                         "data convert trajectory.txt gaps/train.safetensors length=8 hole=true",
                         "data convert rmd17_ethanol.npz ethanol.xyz to=eV"}));
  auto& [app, c] = draft;
  add_path(app, "IN", c->in, "data file or folder");
  add_path(app, "OUT", c->out, "file or folder to write");
  add_overrides(app, c->options, "options of the conversion");
  return draft.done();
}

Verb add_data_split(CLI::App& data) {
  const auto draft = begin<DataSplitCommand>(
      data, "split", "one file into train, valid and test, at random",
      block("Formats:", formats_for(FormatUse::split)) +
          examples({"data split all.safetensors --out data/mine --train 0.9 --valid 0.05",
                    "data split frames.extxyz --out data/mine",
                    "data split OUTCAR.xyz --out data/mine stress_order=vasp"}));
  auto& [app, c] = draft;
  add_path(app, "PATH", c->path, "data file");
  add_overrides(app, c->options, "of frames of atoms: options of their conversion (data convert --help)");
  add_out(app, c->out, "DIR", "folder to write", true);
  add_fraction(app, "--train", c->train, "fraction, default 0.8");
  add_fraction(app, "--valid", c->valid, "fraction, default 0.1; the rest is the test split");
  add_seed(app, c->seed, "of the random order, default 0");
  return draft.done([](DataSplitCommand& s) {
    require<ConfigError>(s.train + s.valid <= 1 + 1e-12,
                         "--train and --valid are fractions that sum to at most 1, got ", s.train + s.valid);
  });
}

}  // namespace

std::vector<Verb> add_data_verbs(CLI::App& root) {
  CLI::App& data =
      add_group(root, "data", "make, inspect, convert and split data",
                examples({"data make nbody --out data/nbody", "data inspect data/nbody/train.safetensors"}));
  return {add_data_make(data), add_data_inspect(data), add_data_convert(data), add_data_split(data)};
}

namespace {

constexpr int64_t most_jobs = 1024;

void add_jobs(CLI::App& app, int64_t& jobs) {
  add_number(app, "--jobs", jobs, 1, most_jobs,
             "trainings side by side, each a process with its threads; default 1");
}

Verb add_plan(CLI::App& scale) {
  const auto draft = begin<ScalePlanCommand>(
      scale, "plan", "the runs of a sweep: sizes, tokens, FLOPs, and the hours that they need here",
      examples({"scale plan configs/scaling/rigid.toml --jobs 2",
                "scale plan configs/scaling/rigid.paper.toml --steps 0"},
               "A few training steps of each model are timed, beside as many others as --jobs says."));
  auto& [app, c] = draft;
  add_path(app, "SWEEP", c->sweep, "sweep file (TOML)");
  add_jobs(app, c->jobs);
  add_number(app, "--steps", c->steps, 0, 1000,
             "steps timed of each model, default 5; 0: none, and no hours");
  add_machine(app, c->machine, "same as train.precision=... of every config");
  return draft.done();
}

Verb add_run(CLI::App& scale) {
  const auto draft = begin<ScaleRunCommand>(
      scale, "run", "train the runs of a sweep, and write their table, runs.csv",
      examples({"scale run configs/scaling/rigid.toml --out runs/rigid-sweep --jobs 2",
                "scale run configs/scaling/rigid.toml --out runs/rigid-sweep --shard 3/8"},
               "The same command goes on with a sweep that was stopped, or killed, and gives the same table "
               "but for the seconds. Ctrl-C ends the trainings, which save themselves; exit code 5."));
  auto& [app, c] = draft;
  add_path(app, "SWEEP", c->sweep, "sweep file (TOML)");
  add_out(app, c->out, "DIR", "folder of the sweep: runs.csv, and a run folder each in runs/", true);
  add_jobs(app, c->jobs);
  add_whole(
      app, "--ranks", c->ranks, 1, 4096,
      "processes of each training, as of `train --ranks`, for models that --jobs trainings of one process do not keep "
      "all cores busy with; default 1");
  add_word_of_own(app, "--shard", c->shard, "I/N",
                  "of N machines that share DIR this is the I-th, from 1: every N-th run is its own");
  add_switch(app, "--retry", c->retry, "runs that failed at an earlier start, too");
  add_machine(app, c->machine, "same as train.precision=... of every config");
  return draft.done();
}

}  // namespace

std::vector<Verb> add_sweep_verbs(CLI::App& scale) {
  return {add_plan(scale), add_run(scale)};
}

namespace {

constexpr const char* bootstraps_help =
    "resamples for intervals where a table is fitted here, default 10000; 0: none";

Verb add_scale_plot(CLI::App& scale) {
  const auto draft = begin<ScalePlotCommand>(
      scale, "plot", "draw isoflops, losses and best sizes over compute, ratios, data scaling: PNG and SVG",
      examples({"scale plot fit.json --out plots", "scale plot runs.csv data.csv --out plots",
                "scale plot fit.json data.csv --out plots"},
               "FIT.json is what `scale fit --out` wrote. Where none is given each table is fitted first.\n"
               "What cannot be drawn is left out with a line; pictures that are there are replaced."));
  auto& [app, c] = draft;
  add_paths(app, "INPUT", c->inputs, "RUNS.csv, FIT.json or a folder with runs.csv, one or more");
  add_bootstraps(app, c->bootstraps, bootstraps_help);
  add_out(app, c->out, "DIR", "folder for the pictures", true);
  return draft.done([](ScalePlotCommand& command) { require_enough_bootstraps(command.bootstraps); });
}

Verb add_scale_report(CLI::App& scale) {
  const auto draft = begin<ScaleReportCommand>(
      scale, "report", "one HTML file: tables, pictures, settings, machine, and the commands behind them",
      examples({"scale report runs/rigid-sweep --out report.html",
                "scale report runs.csv --fit fit.json --out report.html"},
               "The file needs no other and loads none. Its tables stand beside it as .md, .csv and .tex."));
  auto& [app, c] = draft;
  add_path(app, "RUNS", c->runs, "table of runs (RUNS.csv), or the folder of a sweep, which has runs.csv");
  add_word_of_own(app, "--fit", c->fit, "FIT.json",
                  "what `scale fit --out` wrote; without it the table is fitted, the largest budget held out "
                  "too");
  add_bootstraps(app, c->bootstraps, bootstraps_help);
  add_out(app, c->out, "FILE", "file to write", true);
  add_force(app, c->force);
  return draft.done([](ScaleReportCommand& command) {
    require_enough_bootstraps(command.bootstraps);
    require<ConfigError>(command.fit.empty() || command.fit.ends_with(".json"),
                         "--fit: must be a .json file of `weyl scale fit --out`, got ", command.fit);
    require<ConfigError>(!command.runs.ends_with(".json"),
                         "RUNS: must be a table of runs; a fit is given with --fit ", command.runs);
  });
}

}  // namespace

std::vector<Verb> add_scale_figure_verbs(CLI::App& scale) {
  return {add_scale_plot(scale), add_scale_report(scale)};
}

namespace {

double positive(const std::string& flag, const std::string& word) {
  const auto number = parse_real(word);
  require<ConfigError>(number && std::isfinite(*number) && *number > 0, flag,
                       ": must be a positive number, got ", quote(word));
  return *number;
}

// "gatr=61.2", the last equals sign parting the two.
void take_xi(const std::vector<std::string>& words, std::map<std::string, double>& xi) {
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    require<ConfigError>(equals != std::string::npos && equals > 0, "--xi: is written SYSTEM=VALUE, got ",
                         quote(word));
    const std::string system = word.substr(0, equals);
    const bool fresh = xi.emplace(system, positive("--xi " + system, word.substr(equals + 1))).second;
    require<ConfigError>(fresh, "--xi: ", quote(system), " is given twice");
  }
}

void take_budgets(const std::string& words, std::vector<double>& budgets) {
  for (size_t begin = 0; !words.empty() && begin <= words.size();) {
    const size_t end = std::min(words.find(',', begin), words.size());
    budgets.push_back(positive("--budgets", words.substr(begin, end - begin)));
    begin = end + 1;
  }
  require<ConfigError>(budgets.size() <= 1000, "--budgets: must be at most 1000, got ", budgets.size());
}

void settle(ScaleFitCommand& c) {
  require<ConfigError>(c.runs.empty() != c.coefficients.empty(),
                       "give either RUNS.csv or --coefficients FILE");
  require_enough_bootstraps(c.bootstraps);
  if (!c.coefficients.empty()) {
    require<ConfigError>(
        !c.hold_out && !c.bootstraps && !c.seed && !c.epochs,
        "--coefficients has no runs to fit: no --hold-out, --bootstraps, --seed or --epochs");
    require<ConfigError>(!c.budgets.empty(), "--coefficients needs --budgets C,C,...");
  }
}

Verb add_scale_fit(CLI::App& scale) {
  const auto draft = begin<ScaleFitCommand>(
      scale, "fit",
      "fit L = A N^-alpha + B D^-beta + E to runs, and what follows: best sizes, losses, ratios",
      examples(
          {"scale fit runs.csv", "scale fit runs.csv --hold-out --budgets 1e13,1e14 --out fit.json",
           "scale fit elsewhere.csv --xi gatr=61.2 --xi transformer=6 --json",
           "scale fit --coefficients configs/scaling/paper-coefficients.csv --budgets 1e16,1e17,1e18,1e19"},
          "RUNS.csv has columns system, parameters, tokens, loss and, where they are known, flops, "
          "budget, unique_tokens.\nRows that are none are reported with their lines, the rest is fitted."));
  auto& [app, c] = draft;
  const auto xi = std::make_shared<std::vector<std::string>>();
  const auto budgets = std::make_shared<std::string>(), epochs = std::make_shared<std::string>();
  add_path_if_any(app, "RUNS.csv", c->runs, "table of runs");
  add_word_of_own(app, "--budgets", *budgets, "C,C,...",
                  "training FLOPs at which best size, tokens and loss are wanted, default those of the runs");
  add_each(app, "--xi", *xi, "SYSTEM=VALUE",
           "FLOPs of a training per parameter and token, of a system whose runs have no flops; may be given "
           "again");
  add_switch(app, "--hold-out", c->hold_out,
             "also fit without the largest budget, and report the error on it");
  add_word_of_own(app, "--epochs", *epochs, "X",
                  "leave runs that saw their data more often than X times to the repetition form");
  add_bootstraps(app, c->bootstraps, "resamples for intervals, default 10000; 0: none");
  add_seed(app, c->seed, "of the resamples, default 0");
  add_threads(app, c->threads, "threads, default all cores; the result does not depend on them");
  add_word_of_own(
      app, "--coefficients", c->coefficients, "FILE",
      "derive all from given laws in place of runs: a CSV file with columns system, A, alpha, B, beta and, "
      "where they are, E, xi");
  add_out(app, c->out, "FILE", "also write the result of --json to this file", false);
  add_force(app, c->force);
  return draft.done([xi, budgets, epochs](ScaleFitCommand& fit) {
    take_xi(*xi, fit.xi);
    take_budgets(*budgets, fit.budgets);
    if (!epochs->empty()) {
      fit.epochs = positive("--epochs", *epochs);
      require<ConfigError>(*fit.epochs >= 1, "--epochs: must be at least 1, got ", *fit.epochs);
    }
    settle(fit);
  });
}

}  // namespace

std::vector<Verb> add_scale_verbs(CLI::App& root) {
  CLI::App& scale = add_group(
      root, "scale", "scaling laws: which system, at which size, for a given budget",
      examples({"scale plan configs/scaling/rigid.toml --jobs 2",
                "scale run configs/scaling/rigid.toml --out runs/rigid-sweep --jobs 2",
                "scale fit runs/rigid-sweep/runs.csv --out fit.json", "scale plot fit.json --out plots"}));
  std::vector<Verb> verbs = add_sweep_verbs(scale);
  verbs.push_back(add_scale_fit(scale));
  for (const Verb& verb : add_scale_figure_verbs(scale)) {
    verbs.push_back(verb);
  }
  return verbs;
}

}  // namespace weyl

#include "weyl/app/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <set>

#include "weyl/app/exit_codes.h"
#include "weyl/app/wrong_word.h"
#include "weyl/core/check.h"
#include "weyl/core/version.h"

namespace weyl {
namespace {

using Make = std::function<Command()>;

// One verb: its CLI11 app, and how to get the finished command out of it.
struct Verb {
  CLI::App* app;
  Make make;
};

void add_talk(CLI::App& app, Talk& talk, bool reports) {
  app.add_flag("-q,--quiet", talk.quiet, "no talk on stderr, errors excepted");
  if (reports) {
    app.add_flag("--json", talk.json, "print one JSON object on stdout and nothing else");
  }
}

// Without the text that CLI11 would add to the help: the type says it.
template <class T>
CLI::Validator in_range(T low, T high) {
  CLI::Validator range = CLI::Range(low, high);
  range.description("");
  return range;
}

CLI::Validator one_of(std::set<std::string> words) {
  CLI::Validator member = CLI::IsMember(std::move(words));
  member.description("");
  return member;
}

std::string check_device(const std::string& device) {
  const bool good =
      device == "cpu" || device == "cuda" ||
      (device.starts_with("cuda:") && device.size() > 5 && device.size() < 8 &&
       std::all_of(device.begin() + 5, device.end(), [](unsigned char c) { return std::isdigit(c); }));
  return good ? std::string() : "must be cpu, cuda or cuda:i, got '" + device + "'";
}

void add_dtype(CLI::App& app, std::optional<std::string>& dtype, const std::string& help) {
  app.add_option("--dtype", dtype, help)->check(one_of({"float32", "float64"}))->type_name("float32|float64");
}

void add_machine(CLI::App& app, Machine& machine, const std::string& dtype_help) {
  app.add_option("--device", machine.device, "where the model runs, default cpu")
      ->check(CLI::Validator(check_device, "", "device"))
      ->type_name("cpu|cuda[:i]");
  add_dtype(app, machine.dtype, dtype_help);
  app.add_option("--threads", machine.threads,
                 "threads, default all cores; results are reproducible at a given number")
      ->check(in_range(int64_t{1}, int64_t{1024}))
      ->type_name("N");
}

std::string check_override(const std::string& item) {
  const auto equals = item.find('=');
  return equals != std::string::npos && equals > 0 ? std::string()
                                                   : "overrides are written key=value, got '" + item + "'";
}

void add_overrides(CLI::App& app, std::vector<std::string>& overrides, const std::string& help) {
  app.add_option("key=value", overrides, help)
      ->check(CLI::Validator(check_override, "", "override"))
      ->type_name("");
}

constexpr const char* override_help = "overrides of the config: train.epochs=5 ...";

void add_seed(CLI::App& app, int64_t& seed, const std::string& help) {
  app.add_option("--seed", seed, help)->check(in_range(int64_t{0}, int64_t{1} << 53))->type_name("N");
}

// Moves the overrides that a greedy list option swallowed: `--compare a.toml train.batch=4`.
void move_overrides(std::vector<std::string>& from, std::vector<std::string>& to) {
  const auto is_override = [](const std::string& s) { return s.find('=') != std::string::npos; };
  std::copy_if(from.begin(), from.end(), std::back_inserter(to), is_override);
  std::erase_if(from, is_override);
}

Verb add_train(CLI::App& root) {
  auto c = std::make_shared<TrainCommand>();
  auto seed = std::make_shared<std::optional<int64_t>>();
  CLI::App& app = *root.add_subcommand("train", "train a model as a config says, or go on with a run");
  app.add_option("CONFIG", c->config.path, "config file (TOML)")->type_name("");
  add_overrides(app, c->config.overrides, override_help);
  app.add_option("--resume", c->resume,
                 "go on with the run in this folder; ends with the same bits as a run that was never stopped")
      ->type_name("RUN");
  app.add_option("-o,--out", c->out, "run folder to make, default runs/<config>-<number>; never overwritten")
      ->type_name("DIR");
  add_machine(app, c->machine, "same as train.precision=...");
  app.add_option("--seed", *seed, "same as train.seed=...")
      ->check(in_range(int64_t{0}, int64_t{1} << 53))
      ->type_name("N");
  add_talk(app, c->talk, true);
  app.footer(
      "Examples:\n"
      "  weyl train configs/nbody/platonic.toml\n"
      "  weyl train configs/nbody/platonic.toml train.epochs=5 model.platonic.group=icosahedron --out "
      "runs/ico\n"
      "  weyl train --resume runs/ico\n"
      "Ctrl-C finishes the step, saves and exits 5; a second one stops at once.");
  return {&app, [c, seed]() -> Command {
            if (c->resume.empty() == c->config.path.empty()) {
              throw ConfigError("give either CONFIG or --resume RUN");
            }
            if (!c->resume.empty() &&
                (!c->out.empty() || c->machine.dtype || *seed || !c->config.overrides.empty())) {
              throw ConfigError("--resume takes the run as it is: no overrides, --out, --dtype or --seed");
            }
            if (c->machine.dtype) {
              c->config.overrides.push_back("train.precision=" + *c->machine.dtype);
            }
            if (*seed) {
              c->config.overrides.push_back("train.seed=" + std::to_string(**seed));
            }
            return *c;
          }};
}

Verb add_eval(CLI::App& root) {
  auto c = std::make_shared<EvalCommand>();
  CLI::App& app = *root.add_subcommand("eval", "measure a model on data with labels");
  app.add_option("RUN|MODEL", c->model, "run folder (its best checkpoint) or model file")
      ->required()
      ->type_name("");
  app.add_option("--data", c->data, "data folder or file, default that of the model's config")
      ->type_name("PATH");
  app.add_option("--split", c->split, "which split, default test")
      ->check(one_of({"train", "valid", "test"}))
      ->type_name("train|valid|test");
  app.add_option("--batch", c->batch, "samples in memory at a time")
      ->check(in_range(int64_t{1}, int64_t{1} << 24))
      ->type_name("N");
  add_machine(app, c->machine, "default that of the file");
  add_talk(app, c->talk, true);
  app.footer(
      "Examples:\n  weyl eval runs/platonic-1\n  weyl eval model.safetensors --data data/nbody --split valid "
      "--json");
  return {&app, [c]() -> Command { return *c; }};
}

Verb add_predict(CLI::App& root) {
  auto c = std::make_shared<PredictCommand>();
  CLI::App& app = *root.add_subcommand("predict", "write a model's predictions for a data file");
  app.add_option("RUN|MODEL", c->model, "run folder (its best checkpoint) or model file")
      ->required()
      ->type_name("");
  app.add_option("DATA", c->data, "a data file, or .safetensors with the carrier's fields by name")
      ->required()
      ->type_name("");
  app.add_option("-o,--out", c->out, "file to write (.safetensors)")->required()->type_name("FILE");
  app.add_flag("--gradient", c->gradient,
               "also the gradient of the sum of graph_scalars with respect to positions");
  app.add_option("--batch", c->batch, "samples in memory at a time")
      ->check(in_range(int64_t{1}, int64_t{1} << 24))
      ->type_name("N");
  add_machine(app, c->machine, "default that of the file");
  add_talk(app, c->talk, true);
  app.footer(
      "Examples:\n  weyl predict runs/platonic-1 data/nbody/test.safetensors --out predicted.safetensors\n"
      "  weyl predict model.safetensors points.safetensors --out out.safetensors --gradient --dtype float64");
  return {&app, [c]() -> Command { return *c; }};
}

Verb add_audit(CLI::App& root) {
  auto c = std::make_shared<AuditCommand>();
  CLI::App& app =
      *root.add_subcommand("audit", "check the symmetry that a model claims; exit 1 when it fails");
  app.add_option("RUN|MODEL|CONFIG", c->subject.path,
                 "run folder, model file, or a config (untrained weights)")
      ->required()
      ->type_name("");
  add_overrides(app, c->subject.overrides, "with a CONFIG: override a key");
  app.add_option("--data", c->data,
                 "data folder or file, default that of the config; without any, random tokens")
      ->type_name("PATH");
  app.add_option("--samples", c->samples, "samples to check on, default 64")
      ->check(in_range(int64_t{1}, int64_t{1} << 24))
      ->type_name("N");
  add_seed(app, c->seed, "of the random transformations, default 0");
  add_machine(app, c->machine, "check in this one only, default both");
  add_talk(app, c->talk, true);
  app.footer(
      "Examples:\n  weyl audit runs/platonic-1\n"
      "  weyl audit configs/nbody/platonic.toml model.platonic.group=cyclic_3d_5 --samples 16 --json");
  return {&app, [c]() -> Command { return *c; }};
}

Verb add_info(CLI::App& root) {
  auto c = std::make_shared<InfoCommand>();
  CLI::App& app =
      *root.add_subcommand("info", "what a model is: parameters, symmetry, inputs, outputs, cost");
  app.add_option("RUN|MODEL|CONFIG|FILE", c->subject.path,
                 "run folder, model file, config, or any .safetensors file")
      ->required()
      ->type_name("");
  add_overrides(app, c->subject.overrides, "with a CONFIG: override a key");
  add_talk(app, c->talk, true);
  app.footer(
      "Examples:\n  weyl info runs/platonic-1\n  weyl info configs/nbody/platonic.toml "
      "model.platonic.blocks=8 --json");
  return {&app, [c]() -> Command { return *c; }};
}

Verb add_import(CLI::App& root) {
  auto c = std::make_shared<ImportCommand>();
  CLI::App& app = *root.add_subcommand("import", "turn an author's weights into a model file");
  app.add_option("WEIGHTS", c->weights,
                 "safetensors file, or a PyTorch zip checkpoint (read without executing anything)")
      ->required()
      ->type_name("");
  app.add_option("--config", c->config.path, "config that names the system, its options and the [interface]")
      ->required()
      ->type_name("CONFIG");
  add_overrides(app, c->config.overrides, override_help);
  app.add_option("-o,--out", c->out, "model file to write")->required()->type_name("MODEL");
  add_dtype(app, c->dtype, "of the model file, default that of the weights");
  add_talk(app, c->talk, true);
  app.footer("Examples:\n  weyl import authors.pt --config configs/mine.toml --out model.safetensors");
  return {&app, [c]() -> Command { return *c; }};
}

void add_data(CLI::App& root, std::vector<Verb>& verbs) {
  CLI::App& data = *root.add_subcommand("data", "make, inspect, convert and split data");
  data.require_subcommand(1);
  data.footer(
      "Examples:\n  weyl data make nbody --out data/nbody\n  weyl data inspect data/nbody/train.safetensors");
  {
    auto c = std::make_shared<DataMakeCommand>();
    CLI::App& app = *data.add_subcommand("make", "make a data set");
    app.add_option("MAKER", c->maker, "what to make: nbody")->required()->type_name("");
    add_overrides(app, c->overrides, "options of the maker");
    app.add_option("-o,--out", c->out, "folder to write")->required()->type_name("PATH");
    app.add_option("--threads", c->threads, "threads, default all cores; the data do not depend on it")
        ->check(in_range(int64_t{1}, int64_t{1024}))
        ->type_name("N");
    add_talk(app, c->talk, true);
    app.footer(
        "Examples:\n  weyl data make nbody --out data/nbody\n  weyl data make nbody --out data/small "
        "train=300 valid=100 test=100");
    verbs.push_back({&app, [c]() -> Command { return *c; }});
  }
  {
    auto c = std::make_shared<DataInspectCommand>();
    CLI::App& app = *data.add_subcommand("inspect", "fields, units, ranges, missing values, warnings");
    app.add_option("PATH", c->path, "data file or folder")->required()->type_name("");
    add_talk(app, c->talk, true);
    app.footer("Examples:\n  weyl data inspect data/nbody/train.safetensors --json");
    verbs.push_back({&app, [c]() -> Command { return *c; }});
  }
  {
    auto c = std::make_shared<DataConvertCommand>();
    CLI::App& app = *data.add_subcommand("convert", "from one format to another, chosen by the names");
    app.add_option("IN", c->in, "data file or folder")->required()->type_name("");
    app.add_option("OUT", c->out, "file or folder to write")->required()->type_name("");
    add_talk(app, c->talk, true);
    app.footer("Examples:\n  weyl data convert n_body_system/dataset data/nbody");
    verbs.push_back({&app, [c]() -> Command { return *c; }});
  }
  {
    auto c = std::make_shared<DataSplitCommand>();
    CLI::App& app = *data.add_subcommand("split", "one file into train, valid and test, at random");
    app.add_option("PATH", c->path, "data file")->required()->type_name("");
    app.add_option("-o,--out", c->out, "folder to write")->required()->type_name("DIR");
    app.add_option("--train", c->train, "fraction, default 0.8")->check(in_range(0.0, 1.0))->type_name("X");
    app.add_option("--valid", c->valid, "fraction, default 0.1; the rest is the test split")
        ->check(in_range(0.0, 1.0))
        ->type_name("X");
    add_seed(app, c->seed, "of the random order, default 0");
    add_talk(app, c->talk, true);
    app.footer("Examples:\n  weyl data split all.safetensors --out data/mine --train 0.9 --valid 0.05");
    verbs.push_back({&app, [c]() -> Command {
                       if (c->train + c->valid > 1 + 1e-12) {
                         throw ConfigError("--train and --valid are fractions that sum to at most 1, got " +
                                           text(c->train + c->valid));
                       }
                       return *c;
                     }});
  }
}

void add_config(CLI::App& root, std::vector<Verb>& verbs) {
  CLI::App& config = *root.add_subcommand("config", "the config's keys: schema, explanation, check");
  config.require_subcommand(1);
  config.footer(
      "Examples:\n  weyl config explain train.batch\n  weyl config check configs/nbody/platonic.toml "
      "train.epochs=5");
  {
    auto c = std::make_shared<ConfigSchemaCommand>();
    CLI::App& app = *config.add_subcommand("schema", "the JSON schema of a config file");
    app.add_flag("--markdown", c->markdown, "the reference page instead");
    add_talk(app, c->talk, true);
    app.footer("Examples:\n  weyl config schema > weyl.schema.json");
    verbs.push_back({&app, [c]() -> Command { return *c; }});
  }
  {
    auto c = std::make_shared<ConfigExplainCommand>();
    CLI::App& app = *config.add_subcommand("explain", "what a key means, its type, range and default");
    app.add_option("KEY", c->key, "a key or a table: train.batch, model.platonic")->required()->type_name("");
    add_talk(app, c->talk, true);
    app.footer("Examples:\n  weyl config explain model.platonic.group");
    verbs.push_back({&app, [c]() -> Command { return *c; }});
  }
  {
    auto c = std::make_shared<ConfigCheckCommand>();
    CLI::App& app = *config.add_subcommand("check", "read a config, print it resolved");
    app.add_option("CONFIG", c->config.path, "config file (TOML)")->required()->type_name("");
    add_overrides(app, c->config.overrides, override_help);
    add_talk(app, c->talk, true);
    app.footer("Examples:\n  weyl config check configs/nbody/platonic.toml model.platonic.blocks=4");
    verbs.push_back({&app, [c]() -> Command { return *c; }});
  }
}

Verb add_bench(CLI::App& root) {
  auto c = std::make_shared<BenchCommand>();
  CLI::App& app =
      *root.add_subcommand("bench", "time a model: forward, train step, memory, share of the machine's peak");
  app.add_option("CONFIG", c->config.path, "config file (TOML)")->required()->type_name("");
  add_overrides(app, c->config.overrides, override_help);
  app.add_option("--compare", c->compare, "other configs, interleaved in the same run")
      ->type_name("CONFIG ...");
  app.add_flag("--scattered", c->scattered,
               "also attention over all ordered pairs with scatters, as the authors' ragged code");
  app.add_option("--repeats", c->repeats, "timings of each, the median counts; default 9")
      ->check(in_range(int64_t{1}, int64_t{1000}))
      ->type_name("N");
  add_machine(app, c->machine, "default that of the config");
  add_talk(app, c->talk, true);
  app.footer(
      "Examples:\n  weyl bench configs/bench/platonic.toml\n  weyl bench configs/nbody/platonic.toml "
      "--compare configs/nbody/transformer.toml");
  return {&app, [c]() -> Command {
            move_overrides(c->compare, c->config.overrides);
            return *c;
          }};
}

Verb add_plot(CLI::App& root) {
  auto c = std::make_shared<PlotCommand>();
  CLI::App& app = *root.add_subcommand("plot", "draw a run's pictures again (gnuplot)");
  app.add_option("RUN", c->run, "run folder")->required()->type_name("");
  app.add_option("-o,--out", c->out, "folder for the pictures, default RUN/plots")->type_name("DIR");
  add_talk(app, c->talk, true);
  app.footer("Examples:\n  weyl plot runs/platonic-1 --out pictures");
  return {&app, [c]() -> Command { return *c; }};
}

Verb add_doctor(CLI::App& root) {
  auto c = std::make_shared<DoctorCommand>();
  CLI::App& app = *root.add_subcommand("doctor", "versions, devices, optional programs");
  add_talk(app, c->talk, true);
  app.footer("Examples:\n  weyl doctor --json");
  return {&app, [c]() -> Command { return *c; }};
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(std::function<bool(const CLI::App*)>{})) {
    names.push_back(sub->get_name());
  }
  return names;
}

Words words_of(const CLI::App& app) {
  Words words{app.get_name(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.flags.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      words.flags.push_back("-" + name);
    }
  }
  for (const CLI::App* sub : app.get_subcommands(std::function<bool(const CLI::App*)>{})) {
    words.verbs.push_back(words_of(*sub));
  }
  return words;
}

std::string one_line(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  while (!message.empty() && message.back() == ' ') {
    message.pop_back();
  }
  return message;
}

std::string path_of(const CLI::App& root) {
  std::string path = "weyl";
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    path += " " + app->get_name();
  }
  return path;
}

struct Tree {
  CLI::App root{std::string("weyl ") + version() + ": transformers that know the symmetry of their data",
                "weyl"};
  std::vector<Verb> verbs;

  Tree() {
    root.require_subcommand(1);
    root.get_formatter()->column_width(32);
    root.set_version_flag("--version", std::string("weyl ") + version());
    verbs.push_back(add_train(root));
    verbs.push_back(add_eval(root));
    verbs.push_back(add_predict(root));
    verbs.push_back(add_audit(root));
    verbs.push_back(add_info(root));
    verbs.push_back(add_import(root));
    add_data(root, verbs);
    add_config(root, verbs);
    verbs.push_back(add_bench(root));
    verbs.push_back(add_plot(root));
    verbs.push_back(add_doctor(root));
    root.footer(
        "First steps:\n"
        "  weyl data make nbody --out data/nbody\n"
        "  weyl train configs/nbody/platonic.toml --out runs/first\n"
        "  weyl audit runs/first\n"
        "Every verb has its own --help. Results go to stdout, talk to stderr.\n"
        "Exit codes: 0 done, 1 the result failed, 2 usage or config, 3 data or model file, 4 out of memory,\n"
        "5 interrupted and saved.");
  }
};

}  // namespace

Parsed parse_command_line(std::span<const std::string> arguments) {
  Tree tree;
  Parsed parsed;
  if (arguments.empty()) {
    parsed.exit_code = exit_usage;
    parsed.err = tree.root.help();
    return parsed;
  }
  const auto fail = [&](const std::string& message) {
    parsed.exit_code = exit_usage;
    parsed.err = one_line(message) + "\n";
    return parsed;
  };
  if (const std::string wrong = wrong_word(words_of(tree.root), arguments); !wrong.empty()) {
    return fail(wrong);
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    tree.root.parse(reversed);
    for (const Verb& verb : tree.verbs) {
      if (verb.app->parsed()) {
        parsed.command = verb.make();
      }
    }
  } catch (const CLI::CallForHelp&) {
    parsed.out = tree.root.help();
  } catch (const CLI::CallForVersion&) {
    parsed.out = std::string("weyl ") + version() + "\n";
  } catch (const CLI::ParseError& error) {
    return fail(path_of(tree.root) + ": " + error.what());
  } catch (const ConfigError& error) {
    return fail(path_of(tree.root) + ": " + error.what());
  }
  return parsed;
}

std::vector<std::string> verb_names() {
  return subcommand_names(Tree().root);
}

const Talk& talk_of(const Command& command) {
  return std::visit([](const auto& c) -> const Talk& { return c.talk; }, command);
}

}  // namespace weyl

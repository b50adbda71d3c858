#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace weyl {

/// What every verb takes.
struct OutputOptions {
  bool quiet = false;  // no messages on stderr but errors
  bool json = false;   // stdout holds one JSON object and nothing else
  int64_t threads =
      0;  // of a verb that has no number of them among its own arguments; 0: as many as the machine has
};

/// Where and how a model runs.
struct Machine {
  std::string device = "cpu";        // cpu, cuda, cuda:1
  std::optional<std::string> dtype;  // float32 or float64; absent: that of the file or config
  int64_t threads = 0;               // 0: as many as the machine has
};

/// A config file and what follows it: `train.epochs=5`.
struct ConfigArguments {
  std::string path;
  std::vector<std::string> overrides;
};

struct TrainCommand {
  OutputOptions output;
  Machine machine;
  ConfigArguments config;     // with --resume: no path, and overrides of the budget alone
  int64_t ranks = 0;          // processes that work together; 0: those that a starter has made, else this one
  std::string resume;         // a run folder
  bool data_changed = false;  // with --resume: its data may be others than they were
  bool strict = false;        // warnings before the first step are errors
  std::optional<int64_t> fold;  // of data.folds, that validates
  bool pictures = true;         // into the run's plots/, at its end
  std::string out;              // empty: runs/<name of the config>-<number>
};

struct CrossvalCommand {
  OutputOptions output;
  Machine machine;
  ConfigArguments config;
  std::optional<int64_t> folds;  // absent: data.folds, else the data's own, else 5
  bool pictures = true;          // of each run
  std::string out;
};

struct EvalCommand {
  OutputOptions output;
  Machine machine;
  int64_t ranks = 0;
  std::string model;                        // a run folder or a model file
  std::string data;                         // empty: as the model's own config says
  std::vector<std::string> overrides;       // of the keys of `data`'s set
  std::vector<std::string> task_overrides;  // of how the task predicts
  std::string split;                        // empty: the test split
  std::string out;                          // folder for the table and pictures of cases; empty: none
  bool force = false;                       // replace what is there
  int64_t rollout = 0;  // steps that are measured; 0: as many as the labels of the model's own data have
  bool as_is = false;   // data that contradict what the model was trained on
  std::string rotate;   // z or so3: of samples turned so; empty: as they are
  bool moved = false;   // also of samples that are turned and shifted before they become cells
  int64_t batch = 256;
  std::optional<int64_t> batch_tokens;
};

struct PredictCommand {
  OutputOptions output;
  Machine machine;
  int64_t ranks = 0;
  std::string model, data, out;
  std::vector<std::string> others;          // models that predict with the first
  std::vector<std::string> overrides;       // of the keys of `data`'s set
  std::vector<std::string> task_overrides;  // of how the task predicts
  bool force = false;                       // replace what is there, inputs excepted
  bool as_is = false;                       // data that contradict what the model was trained on
  bool gradient = false;                    // d(sum of graph_scalars)/d(positions)
  bool probabilities = false;               // into a folder: of each class too
  int64_t rollout = 0;                      // steps that predictions go; 0: as the config says
  int64_t batch = 256;
  std::optional<int64_t> batch_tokens;
};

struct ServeCommand {
  OutputOptions output;
  Machine machine;
  std::vector<std::string> models;  // of several: a committee
  std::string frame;                // whose elements, periods and charge those of all structures are
  std::string ipi;                  // where to connect: unix:NAME or HOST:PORT
};

struct AuditCommand {
  OutputOptions output;
  Machine machine;
  int64_t ranks = 0;
  ConfigArguments subject;  // run folder, model file or config
  std::string data;
  int64_t samples = 64;
  int64_t seed = 0;
};

struct InfoCommand {
  OutputOptions output;
  ConfigArguments subject;
  bool verify = false;  // compare every byte with its checksum
};

struct ImportCommand {
  OutputOptions output;
  std::string weights;
  ConfigArguments config;
  std::string out;
  bool force = false;       // replace what is there, inputs excepted
  std::string energy_unit;  // of the weights; empty: that of the config
  std::optional<std::string> dtype;
};

struct DataMakeCommand {
  OutputOptions output;
  std::string maker, out;
  std::vector<std::string> overrides;
  int64_t threads = 0;
};

struct DataInspectCommand {
  OutputOptions output;
  std::string path;
};

struct DataConvertCommand {
  OutputOptions output;
  std::string in, out;
  std::vector<std::string> options;  // of a trajectory of poses: format, length, stride
};

struct DataSplitCommand {
  OutputOptions output;
  std::string path, out;
  std::vector<std::string> options;  // of frames: those of the conversion
  double train = 0.8, valid = 0.1;   // fractions; the rest is the test split
  int64_t seed = 0;
};

struct ConfigSchemaCommand {
  OutputOptions output;
  bool markdown = false;
};

struct ConfigExplainCommand {
  OutputOptions output;
  std::string key;
};

struct ConfigCheckCommand {
  OutputOptions output;
  ConfigArguments config;
  bool strict = false;  // warnings are errors
};

struct ConfigNewCommand {
  OutputOptions output;
  std::string data, task, system;  // empty task or system: the one that fits
  std::string out;                 // empty: stdout
};

struct BenchCommand {
  OutputOptions output;
  Machine machine;
  ConfigArguments config;
  int64_t ranks = 0;                          // of which sums are timed, in place of a config; 0: none
  std::vector<std::string> compare, against;  // other configs; overrides of another side
  bool engine = false;                        // energy and forces alone, as other programs ask for them
  int64_t repeats = 9;
};

struct ScalePlanCommand {
  OutputOptions output;
  Machine machine;
  std::string sweep;
  int64_t jobs = 1;   // trainings side by side
  int64_t steps = 5;  // timed of each model; 0: none
};

struct ScaleRunCommand {
  OutputOptions output;
  Machine machine;
  std::string sweep, out;
  int64_t jobs = 1, ranks = 1;  // trainings side by side; processes of each
  std::string shard;            // "2/8"; empty: all runs
  bool retry = false;           // runs that failed before, too
};

struct CompareCommand {
  OutputOptions output;
  std::vector<std::string> runs;
  std::string out;  // empty: no picture
};

struct PlotCommand {
  OutputOptions output;
  Machine machine;
  std::string run, out;
  int64_t rollout = 0;               // steps of new films; 0: none are made
  std::optional<int64_t> attention;  // the sample whose attention is drawn
};

struct ScaleFitCommand {
  OutputOptions output;
  std::string runs, coefficients;  // one of the two
  std::map<std::string, double> xi;
  std::vector<double> budgets;
  bool hold_out = false;
  std::optional<double> epochs;  // runs that saw their data more often are left to the repetition form
  std::optional<int64_t> bootstraps, seed, threads;
  std::string out;  // empty: stdout alone
  bool force = false;
};

struct ScalePlotCommand {
  OutputOptions output;
  std::vector<std::string> inputs;  // tables of runs and fits
  std::optional<int64_t> bootstraps;
  std::string out;
};

struct ScaleReportCommand {
  OutputOptions output;
  std::string runs;  // a table, or a folder with runs.csv
  std::string fit;   // empty: the table is fitted
  std::optional<int64_t> bootstraps;
  std::string out;
  bool force = false;
};

struct CompletionCommand {
  OutputOptions output;
  std::string shell;  // bash, zsh or fish
};

struct DoctorCommand {
  OutputOptions output;
};

using Command = std::variant<TrainCommand, CrossvalCommand, EvalCommand, PredictCommand, ServeCommand,
                             AuditCommand, InfoCommand, ImportCommand, DataMakeCommand, DataInspectCommand,
                             DataConvertCommand, DataSplitCommand, ConfigSchemaCommand, ConfigExplainCommand,
                             ConfigCheckCommand, ConfigNewCommand, BenchCommand, CompareCommand, PlotCommand,
                             ScaleFitCommand, ScalePlanCommand, ScaleRunCommand, ScalePlotCommand,
                             ScaleReportCommand, CompletionCommand, DoctorCommand>;

/// What the arguments came to: a command, or an answer (help, version, a usage error) with its exit code.
struct Parsed {
  std::optional<Command> command;
  int exit_code = 0;
  std::string out, err;  // for stdout and stderr
};

/// Parses the arguments after the program's name. Both executables use it, so they cannot disagree. A usage
/// error is one line that names the nearest verb or flag, exit code 2.
Parsed parse_command_line(std::span<const std::string> arguments);

/// The verbs that exist, in the order of the help page.
std::vector<std::string> verb_names();

const OutputOptions& output_of(const Command& command);

/// What can be said after a verb: its flags ("--out", "-o") and the verbs below it.
struct Words {
  std::string name;
  std::vector<std::string> flags;
  std::vector<Words> verbs;
};

/// The first argument that is no verb or flag where it stands, as a message that names the nearest one:
/// "weyl train: unknown flag '--devise'; did you mean '--device'?". Empty when there is none.
std::string wrong_word(const Words& program, std::span<const std::string> arguments);

}  // namespace weyl

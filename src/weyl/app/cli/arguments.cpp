#include "weyl/app/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr int64_t most_samples = int64_t{1} << 24, largest_seed = int64_t{1} << 53;
constexpr int64_t most_threads = 1024, most_tokens = int64_t{1} << 40;
constexpr int64_t most_bootstraps = 1'000'000;
constexpr int64_t fewest_bootstraps = 100;  // 2.5 % of them are still some

// Without the text that CLI11 would add to the help: the type says it.
template <class T>
CLI::Validator number_within(T low, T high) {
  CLI::Validator range = CLI::Range(low, high);
  range.description("");
  return range;
}

CLI::Validator word_among(const std::vector<std::string>& words) {
  CLI::Validator member = CLI::IsMember(words);
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

std::string check_override(const std::string& item) {
  const auto equals = item.find('=');
  return equals != std::string::npos && equals > 0 ? std::string()
                                                   : "overrides are written key=value, got '" + item + "'";
}

template <class T>
void add_whole(CLI::App& app, const std::string& flag, T& number, int64_t low, int64_t high,
               const std::string& help) {
  app.add_option(flag, number, help)->check(number_within(low, high))->type_name("N");
}

}  // namespace

void add_overrides(CLI::App& app, std::vector<std::string>& overrides, const std::string& help) {
  app.add_option("key=value", overrides, help)
      ->check(CLI::Validator(check_override, "", "override"))
      ->type_name("");
}

void add_config(CLI::App& app, ConfigArguments& config, bool required) {
  app.add_option("CONFIG", config.path, "config file (TOML)")->required(required)->type_name("");
  add_overrides(app, config.overrides, "overrides of the config: train.epochs=5 ...");
}

void add_subject(CLI::App& app, ConfigArguments& subject, const std::string& name, const std::string& help) {
  add_path(app, name, subject.path, help);
  add_overrides(app, subject.overrides, "with a CONFIG: override a key");
}

void add_path(CLI::App& app, const std::string& name, std::string& path, const std::string& help) {
  app.add_option(name, path, help)->required()->type_name("");
}

void add_path_if_any(CLI::App& app, const std::string& name, std::string& path, const std::string& help) {
  app.add_option(name, path, help)->type_name("");
}

void add_paths(CLI::App& app, const std::string& name, std::vector<std::string>& paths,
               const std::string& help) {
  app.add_option(name, paths, help)->required()->type_name("");
}

void add_model(CLI::App& app, std::string& model) {
  add_path(app, "RUN|MODEL", model, "run folder (its best checkpoint) or model file");
}

void add_out(CLI::App& app, std::string& out, const std::string& type, const std::string& help,
             bool required) {
  app.add_option("-o,--out", out, help)->required(required)->type_name(type);
}

void add_force(CLI::App& app, bool& force) {
  app.add_flag("--force", force, "replace a file that is there already; never one that this call reads");
}

void add_as_is(CLI::App& app, bool& as_is, const std::string& also) {
  app.add_flag(
      "--as-is", as_is,
      "take data though their spacing or the names of their channels or classes contradict what the model "
      "was trained on" +
          also);
}

void add_rollout(CLI::App& app, int64_t& steps, const std::string& help) {
  constexpr int64_t most_steps = 100000;
  add_whole(app, "--rollout", steps, 1, most_steps, help);
}

void add_data(CLI::App& app, std::string& data, const std::string& help) {
  app.add_option("--data", data, help)->type_name("PATH");
}

void add_number(CLI::App& app, const std::string& flag, int64_t& number, int64_t low, int64_t high,
                const std::string& help) {
  add_whole(app, flag, number, low, high, help);
}

void add_number(CLI::App& app, const std::string& flag, std::optional<int64_t>& number, int64_t low,
                int64_t high, const std::string& help) {
  add_whole(app, flag, number, low, high, help);
}

void add_switch(CLI::App& app, const std::string& flag, bool& on, const std::string& help) {
  app.add_flag(flag, on, help);
}

void add_word_of_own(CLI::App& app, const std::string& flag, std::string& word, const std::string& type,
                     const std::string& help) {
  app.add_option(flag, word, help)->type_name(type);
}

void add_each(CLI::App& app, const std::string& flag, std::vector<std::string>& words,
              const std::string& type, const std::string& help) {
  app.add_option(flag, words, help)->allow_extra_args(false)->type_name(type);
}

void add_fraction(CLI::App& app, const std::string& flag, double& fraction, const std::string& help) {
  app.add_option(flag, fraction, help)->check(number_within(0.0, 1.0))->type_name("X");
}

void add_choice(CLI::App& app, const std::string& flag, std::string& choice,
                const std::vector<std::string>& words, const std::string& help) {
  app.add_option(flag, choice, help)->check(word_among(words))->type_name(joined(words, "|"));
}

void add_word(CLI::App& app, const std::string& name, std::string& word,
              const std::vector<std::string>& words, const std::string& help) {
  app.add_option(name, word, help)->required()->check(word_among(words))->type_name(joined(words, "|"));
}

void add_batch(CLI::App& app, int64_t& batch, std::optional<int64_t>& tokens) {
  add_whole(app, "--batch", batch, 1, most_samples, "samples at a time, at most");
  add_whole(app, "--batch-tokens", tokens, 1, most_tokens,
            "tokens (nodes, cells) at a time, at most, default 65536; a larger sample goes alone");
}

void add_seed(CLI::App& app, int64_t& seed, const std::string& help) {
  add_whole(app, "--seed", seed, 0, largest_seed, help);
}

void add_seed(CLI::App& app, std::optional<int64_t>& seed, const std::string& help) {
  add_whole(app, "--seed", seed, 0, largest_seed, help);
}

void add_bootstraps(CLI::App& app, std::optional<int64_t>& bootstraps, const std::string& help) {
  add_whole(app, "--bootstraps", bootstraps, 0, most_bootstraps, help);
}

void require_enough_bootstraps(const std::optional<int64_t>& bootstraps) {
  require<ConfigError>(!bootstraps || *bootstraps == 0 || *bootstraps >= fewest_bootstraps,
                       "--bootstraps: must be 0 or at least ", fewest_bootstraps, ", got ",
                       bootstraps.value_or(0));
}

void add_threads(CLI::App& app, int64_t& threads, const std::string& help) {
  add_whole(app, "--threads", threads, 1, most_threads, help);
}

void add_threads(CLI::App& app, std::optional<int64_t>& threads, const std::string& help) {
  add_whole(app, "--threads", threads, 1, most_threads, help);
}

void add_dtype(CLI::App& app, std::optional<std::string>& dtype, const std::string& help) {
  const std::vector<std::string> words{"float32", "float64"};
  app.add_option("--dtype", dtype, help)->check(word_among(words))->type_name(joined(words, "|"));
}

void add_machine(CLI::App& app, Machine& machine, const std::string& dtype_help) {
  app.add_option("--device", machine.device, "where the model runs, default cpu")
      ->check(CLI::Validator(check_device, "", "device"))
      ->type_name("cpu|cuda[:i]");
  add_dtype(app, machine.dtype, dtype_help);
  add_threads(app, machine.threads,
              "threads; default: what model and batch are worth, up to all cores (OMP_NUM_THREADS: that "
              "many); results are reproducible at a given number");
}

void add_output(CLI::App& app, OutputOptions& output) {
  if (app.get_option_no_throw("--threads") == nullptr) {
    add_threads(app, output.threads,
                "threads at most, default all cores; the result does not depend on them");
  }
  app.add_flag("-q,--quiet", output.quiet, "no messages on stderr, errors excepted");
  app.add_flag("--json", output.json, "print one JSON object on stdout and nothing else");
}

CLI::App& add_verb(CLI::App& parent, const char* name, const char* what, const std::string& footer) {
  CLI::App& app = *parent.add_subcommand(name, what);
  app.footer(footer);
  return app;
}

CLI::App& add_group(CLI::App& root, const char* name, const char* what, const std::string& footer) {
  CLI::App& group = add_verb(root, name, what, footer);
  group.require_subcommand(1);
  return group;
}

std::string examples(const std::vector<std::string>& lines, const std::string& last) {
  std::string footer = "Examples:";
  for (const std::string& line : lines) {
    footer += "\n  weyl " + line;
  }
  return footer + (last.empty() ? "" : "\n" + last);
}

std::string block(const std::string& title, const std::vector<std::string>& lines) {
  std::string page = title;
  for (const std::string& line : lines) {
    page += "\n  " + line;
  }
  return page + "\n\n";
}

}  // namespace weyl

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/app/cli/command_line.h"
#include "weyl/app/cli/verb_tree.h"

namespace CLI {
class App;
}

namespace weyl {

/// Arguments that several verbs take, so that each has one name, one check and one explanation. They stand on
/// a help page in the order in which they are added.

/// CONFIG [key=value ...]
void add_config(CLI::App& app, ConfigArguments& config, bool required = true);
/// What a verb looks at, RUN|MODEL|CONFIG or the like, and overrides for a CONFIG.
void add_subject(CLI::App& app, ConfigArguments& subject, const std::string& name, const std::string& help);
void add_overrides(CLI::App& app, std::vector<std::string>& overrides, const std::string& help);
/// A path that must be given, by its place: RUN|MODEL, DATA, PATH.
void add_path(CLI::App& app, const std::string& name, std::string& path, const std::string& help);
/// The same where it may be left away.
void add_path_if_any(CLI::App& app, const std::string& name, std::string& path, const std::string& help);
/// One or more paths, by their place.
void add_paths(CLI::App& app, const std::string& name, std::vector<std::string>& paths,
               const std::string& help);
/// RUN|MODEL, a trained model.
void add_model(CLI::App& app, std::string& model);

/// --out, a place to write to.
void add_out(CLI::App& app, std::string& out, const std::string& type, const std::string& help,
             bool required);
/// --force, of a verb that replaces no file without it.
void add_force(CLI::App& app, bool& force);
/// --as-is, of a verb that puts a model to work on data; `also`: what more it does there.
void add_as_is(CLI::App& app, bool& as_is, const std::string& also = "");
/// --rollout, of a model that goes on from its own predictions.
void add_rollout(CLI::App& app, int64_t& steps, const std::string& help);
/// --data, in place of the data that a config names.
void add_data(CLI::App& app, std::string& data, const std::string& help);

/// A flag with a whole number from `low` to `high`.
void add_number(CLI::App& app, const std::string& flag, int64_t& number, int64_t low, int64_t high,
                const std::string& help);
void add_number(CLI::App& app, const std::string& flag, std::optional<int64_t>& number, int64_t low,
                int64_t high, const std::string& help);
/// A flag without a value.
void add_switch(CLI::App& app, const std::string& flag, bool& on, const std::string& help);
/// A flag with a value of a form of its own, which the verb reads.
void add_word_of_own(CLI::App& app, const std::string& flag, std::string& word, const std::string& type,
                     const std::string& help);
/// The same, of a flag that may be given again.
void add_each(CLI::App& app, const std::string& flag, std::vector<std::string>& words,
              const std::string& type, const std::string& help);
/// A flag with a fraction of 1.
void add_fraction(CLI::App& app, const std::string& flag, double& fraction, const std::string& help);
/// A flag with one of a few words.
void add_choice(CLI::App& app, const std::string& flag, std::string& choice,
                const std::vector<std::string>& words, const std::string& help);

/// One of a few words, by its place.
void add_word(CLI::App& app, const std::string& name, std::string& word,
              const std::vector<std::string>& words, const std::string& help);

/// --batch, for verbs that only read their samples.
void add_batch(CLI::App& app, int64_t& batch, std::optional<int64_t>& tokens);
void add_seed(CLI::App& app, int64_t& seed, const std::string& help);
void add_seed(CLI::App& app, std::optional<int64_t>& seed, const std::string& help);
/// --bootstraps, of a verb that fits laws; when all is parsed: ConfigError where there are too few for an interval.
void add_bootstraps(CLI::App& app, std::optional<int64_t>& bootstraps, const std::string& help);
void require_enough_bootstraps(const std::optional<int64_t>& bootstraps);
void add_threads(CLI::App& app, int64_t& threads, const std::string& help);
void add_threads(CLI::App& app, std::optional<int64_t>& threads, const std::string& help);
void add_dtype(CLI::App& app, std::optional<std::string>& dtype, const std::string& help);

/// --device, --dtype, --threads.
void add_machine(CLI::App& app, Machine& machine, const std::string& dtype_help);
/// --quiet, --json, and --threads where the verb has added none: every verb.
void add_output(CLI::App& app, OutputOptions& output);

/// A verb in the making: its arguments are added to `app` and fill `c`.
template <class C>
struct Draft {
  CLI::App& app;
  std::shared_ptr<C> c = std::make_shared<C>();

  /// `settle` checks what the arguments say together, or changes it.
  Verb done(const std::function<void(C&)>& settle = {}) const {
    add_output(app, c->output);
    return {&app, [c = c, settle]() -> Command {
              if (settle) {
                settle(*c);
              }
              return *c;
            }};
  }
};

/// A verb below `parent`; `footer` ends its help page.
CLI::App& add_verb(CLI::App& parent, const char* name, const char* what, const std::string& footer);

/// A verb of verbs: `weyl data`.
CLI::App& add_group(CLI::App& root, const char* name, const char* what, const std::string& footer);

template <class C>
Draft<C> begin(CLI::App& parent, const char* name, const char* what, const std::string& footer) {
  return {add_verb(parent, name, what, footer)};
}

/// The examples that end a help page, without `weyl`; `last` follows them.
std::string examples(const std::vector<std::string>& lines, const std::string& last = {});

/// A part of a help page: its title, and its lines.
std::string block(const std::string& title, const std::vector<std::string>& lines);

}  // namespace weyl

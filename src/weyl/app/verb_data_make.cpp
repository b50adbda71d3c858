#include <algorithm>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/progress.h"
#include "weyl/app/signals.h"
#include "weyl/app/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/data/makers/nbody.h"
#include "weyl/data/makers/pose_sequences.h"

namespace weyl {
namespace {

bool make(const NbodyMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_nbody(o, folder, hooks);
}
bool make(const PoseSequencesMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_pose_sequences(o, folder, hooks);
}

std::string what(const NbodyMakerOptions& o) {
  return text("simulations of ", o.particles, " particles");
}
std::string what(const PoseSequencesMakerOptions& o) {
  return text("sequences of ", name_of(o.group));
}

template <class Options>
int run_maker(const DataMakeCommand& command) {
  catch_signals();
  Options options;
  options.threads = command.threads;
  const std::string name = Options::name_in_config;
  read_toml_text("", "weyl data make " + name, command.overrides, [&](Fields& f) { fields(f, options); });
  Progress progress(name, options.train + options.valid + options.test,
                    Progress::style_for_stderr(command.talk.quiet));
  JobHooks hooks;
  hooks.report = [&](int64_t done, int64_t total) {
    progress.set_total(total);
    progress.update(done);
  };
  hooks.stop = stop_requested;
  const bool made = make(options, command.out, hooks);
  progress.clear();
  if (!made) {
    say("stopped; nothing was written");
    return exit_interrupted;
  }
  if (command.talk.json) {
    std::cout << Json::object()
                     .set("out", command.out)
                     .set("train", options.train)
                     .set("valid", options.valid)
                     .set("test", options.test)
                     .dump()
              << "\n";
  } else {
    std::cout << command.out << "\n";
    say(text(options.train, " train, ", options.valid, " valid, ", options.test, " test ", what(options)));
  }
  return exit_done;
}

}  // namespace

int run(const DataMakeCommand& command) {
  const std::vector<std::string> makers{NbodyMakerOptions::name_in_config,
                                        PoseSequencesMakerOptions::name_in_config};
  const std::string near = nearest(command.maker, makers);
  require<ConfigError>(
      std::count(makers.begin(), makers.end(), command.maker) == 1, "data make: there is no maker '",
      command.maker, "'; ",
      near.empty() ? "there are " + makers[0] + " and " + makers[1] : "did you mean '" + near + "'?");
  return command.maker == makers[0] ? run_maker<NbodyMakerOptions>(command)
                                    : run_maker<PoseSequencesMakerOptions>(command);
}

}  // namespace weyl

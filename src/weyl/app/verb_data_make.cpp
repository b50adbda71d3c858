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

namespace weyl {

int run(const DataMakeCommand& command) {
  const std::vector<std::string> makers{NbodyMakerOptions::name_in_config};
  if (command.maker != makers.front()) {
    const std::string near = nearest(command.maker, makers);
    throw ConfigError(text("data make: there is no maker '", command.maker, "'; ",
                           near.empty() ? "there is nbody" : "did you mean 'nbody'?"));
  }
  catch_signals();
  NbodyMakerOptions options;
  options.threads = command.threads;
  read_toml_text("", "weyl data make nbody", command.overrides, [&](Fields& f) { fields(f, options); });
  Progress progress("nbody", options.train + options.valid + options.test,
                    Progress::style_for_stderr(command.talk.quiet));
  JobHooks hooks;
  hooks.report = [&](int64_t done, int64_t total) {
    progress.set_total(total);
    progress.update(done);
  };
  hooks.stop = stop_requested;
  const bool made = make_nbody(options, command.out, hooks);
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
    say(text(options.train, " train, ", options.valid, " valid, ", options.test, " test simulations of ",
             options.particles, " particles"));
  }
  return exit_done;
}

}  // namespace weyl

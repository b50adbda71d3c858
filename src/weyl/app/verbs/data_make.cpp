#include <chrono>
#include <iostream>
#include <string>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/makers/makers.h"

namespace weyl {

int run(const DataMakeCommand& command) {
  const MakerPlan plan = plan_of_maker(command.maker, command.overrides, command.threads);
  catch_signals(plan.goes_on ? "the same command goes on from the parts that are done"
                             : "every file that is there is whole");
  Json json = Json::object();
  json.set("out", command.out);
  std::string said;
  int64_t total = 0;
  for (const auto& [split, count] : plan.counts) {
    json.set(split, count);
    said += text(said.empty() ? "" : ", ", count, split == "count" ? "" : " " + split);
    total += count;
  }
  Progress progress(command.maker, total, Progress::style_for_stderr(command.output.quiet));
  JobHooks hooks;
  hooks.report = [&](int64_t done, int64_t all) {
    progress.set_total(all);
    progress.update(done);
  };
  hooks.stop = stop_requested;
  const auto start = std::chrono::steady_clock::now();
  const bool made = plan.make(command.out, hooks);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (!made) {
    say(plan.goes_on ? "stopped; the same command goes on from here" : "stopped; nothing was written");
    return exit_interrupted;
  }
  json.set("seconds", seconds);
  if (command.output.json) {
    std::cout << json.dump() << "\n";
  } else {
    std::cout << command.out << "\n";
    say(text(said, " ", plan.what, " in ", clock_text(seconds)));
  }
  return exit_done;
}

}  // namespace weyl

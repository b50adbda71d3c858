#include "weyl/app/command_line_sweep.h"

#include "weyl/app/command_line_draft.h"

namespace weyl {
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

}  // namespace weyl

#include "weyl/data/makers/nbody.h"

#include <span>

#include "weyl/core/check.h"
#include "weyl/core/new_files.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/makers/nbody_simulation.h"

namespace weyl {

void fields(Fields& f, NbodyMakerOptions& o) {
  f("particles", o.particles, "charged particles in a simulation", {2, 1000});
  f("train", o.train, "training simulations: the first of the stream", {0, 10000});
  f("valid", o.valid, "validation simulations: those from 10,000 on", {0, 2000});
  f("test", o.test, "test simulations: those from 12,000 on", {0, 1e6});
  f("seed", o.seed, "of the stream of random numbers", {0, 4294967295.0});
  f("steps", o.steps, "time steps of 0.001 in a simulation", {1, 1e8});
  f("every", o.every, "time steps between two frames", {1, 1e8});
  f("speed", o.speed, "of every particle at the start", {0, 1e3});
  f("threads", o.threads, "threads that simulate; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const NbodyMakerOptions& o) {
  return {.what = text("simulations of ", o.particles, " particles"),
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_nbody, o)};
}

namespace {

constexpr int64_t kFirstValid = 10000, kFirstTest = 12000;

void require_nbody_options(const NbodyMakerOptions& o) {
  require<ConfigError>(o.particles >= 2, "nbody: particles must be at least 2, got ", o.particles);
  require<ConfigError>(o.every >= 1 && o.steps % o.every == 0,
                       "nbody: steps must be a multiple of every, got ", o.steps, " and ", o.every);
  require<ConfigError>(frames_of(o) >= 1, "nbody: steps must be at least two times every, got ", o.steps,
                       " and ", o.every);
}

void write_simulations(const NbodyMakerOptions& o, const NbodyJob& job, const char* split,
                       const std::string& path) {
  const auto& r = job.result;
  const auto bytes = [](const std::vector<double>& x) { return std::as_bytes(std::span(x)); };
  const TensorBytes tensors[] = {
      {"positions", ElementType::f64, {r.simulations, r.frames, r.particles, 3}, bytes(r.positions)},
      {"velocities", ElementType::f64, {r.simulations, r.frames, r.particles, 3}, bytes(r.velocities)},
      {"charges", ElementType::f64, {r.simulations, r.particles}, bytes(r.charges)}};
  write_safetensors(
      path, tensors,
      {{"format", "weyl.nbody"},
       {"format_version", "1"},
       {"split", split},
       {"generator", "charged particles in free space (EGNN benchmark), MT19937, numpy legacy draws"},
       {"seed", std::to_string(o.seed)},
       {"first_simulation", std::to_string(job.first)},
       {"particles", std::to_string(o.particles)},
       {"steps", std::to_string(o.steps)},
       {"every", std::to_string(o.every)},
       {"speed", text(o.speed)},
       {"time_step", "0.001"},
       {"frame_interval", text(kNbodyTimeStep * static_cast<double>(o.every))},
       {"units", "reduced: masses 1, charges +-1, strength of the Coulomb force 1"}},
      Existing::keep);
}

}  // namespace

NbodyTrajectories simulate_nbody(const NbodyMakerOptions& options, int64_t first, int64_t count,
                                 const JobHooks& hooks) {
  require_nbody_options(options);
  require<ConfigError>(first >= 0 && count >= 0, "nbody: simulations must be numbered from 0, got ", first,
                       " and ", count);
  NbodyJob job{first, count, {}};
  const bool whole = run_nbody(options, {&job, 1}, hooks);
  return whole ? std::move(job.result) : NbodyTrajectories{};
}

bool make_nbody(const NbodyMakerOptions& options, const std::string& folder, const JobHooks& hooks) {
  require_nbody_options(options);
  require<ConfigError>(
      options.train <= kFirstValid && options.valid <= kFirstTest - kFirstValid,
      "nbody: at most 10000 training and 2000 validation simulations, or splits would share some");
  std::vector<NbodyJob> jobs;
  std::vector<const char*> splits;
  NewFiles files;
  const auto add = [&](const char* split, int64_t first, int64_t count) {
    if (count > 0) {
      jobs.push_back({first, count, {}});
      splits.push_back(split);
      files.add_split(folder, split);
    }
  };
  add("train", 0, options.train);
  add("valid", kFirstValid, options.valid);
  add("test", kFirstTest, options.test);
  require<ConfigError>(!jobs.empty(), "nbody: train, valid and test are all 0, there is nothing to make");
  if (!run_nbody(options, jobs, hooks)) {
    return false;
  }
  files.write_each([&](size_t i) { write_simulations(options, jobs[i], splits[i], files.path(i)); });
  return true;
}

}  // namespace weyl

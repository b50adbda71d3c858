#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/progress.h"
#include "weyl/app/signals.h"
#include "weyl/app/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/nearest.h"
#include "weyl/data/makers/glyphs.h"
#include "weyl/data/makers/lesions.h"
#include "weyl/data/makers/molecules.h"
#include "weyl/data/makers/nbody.h"
#include "weyl/data/makers/phantoms.h"
#include "weyl/data/makers/pose_sequences.h"
#include "weyl/data/makers/solids.h"

namespace weyl {
namespace {

bool make(const GlyphsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_glyphs(o, folder, hooks);
}
bool make(const LesionsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_lesions(o, folder, hooks);
}
bool make(const MoleculesMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_molecules(o, folder, hooks);
}
bool make(const NbodyMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_nbody(o, folder, hooks);
}
bool make(const PoseSequencesMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_pose_sequences(o, folder, hooks);
}

bool make(const PhantomsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_phantoms(o, folder, hooks);
}
bool make(const SolidsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  return make_solids(o, folder, hooks);
}

std::string what(const GlyphsMakerOptions&) {
  return "images of digits (and a fifth as many as train for validation)";
}
std::string what(const LesionsMakerOptions& o) {
  return text("pictures of ", o.height, " x ", o.width, " pixels with masks");
}
std::string what(const MoleculesMakerOptions& o) {
  return text("frames of ", o.molecule, o.smiles, o.file, " by GFN2-xTB");
}
std::string what(const NbodyMakerOptions& o) {
  return text("simulations of ", o.particles, " particles");
}
std::string what(const PoseSequencesMakerOptions& o) {
  return text("sequences of ", name_of(o.group));
}
std::string what(const PhantomsMakerOptions& o) {
  return text("volumes of ", o.size[0], " x ", o.size[1], " x ", o.size[2], " voxels in four modalities");
}
std::string what(const SolidsMakerOptions& o) {
  return o.format == SolidsFormat::off ? "meshes of solids" : text("solids of ", o.points, " points");
}

using Counts = std::vector<std::pair<std::string, int64_t>>;

// The sizes that a maker's options have, by name.
template <class Options>
Counts counts_of(const Options& o) {
  Counts counts;
  if constexpr (requires { o.train; }) {
    counts.emplace_back("train", o.train);
  }
  if constexpr (requires { o.valid; }) {
    counts.emplace_back("valid", o.valid);
  }
  if constexpr (requires { o.test; }) {
    counts.emplace_back("test", o.test);
  }
  if constexpr (requires { o.count; }) {
    counts.emplace_back("count", o.count);
  }
  return counts;
}

Counts counts_of(const MoleculesMakerOptions& o) {
  if (o.train + o.valid == 0) {
    return {{"count", o.frames}};
  }
  return {{"train", o.train}, {"valid", o.valid}, {"test", o.frames - o.train - o.valid}};
}

// What a maker leaves behind when it is stopped.
template <class Options>
const char* stopped(const Options&) {
  return "stopped; nothing was written";
}
const char* stopped(const MoleculesMakerOptions&) {
  return "stopped; the same command goes on from here";
}

template <class Options>
int run_maker(const DataMakeCommand& command) {
  catch_signals();
  Options options;
  options.threads = command.threads;
  const std::string name = Options::name_in_config;
  read_toml_text("", "weyl data make " + name, command.overrides, [&](Fields& f) { fields(f, options); });
  const auto counts = counts_of(options);
  int64_t total = 0;
  for (const auto& [split, count] : counts) {
    total += count;
  }
  Progress progress(name, total, Progress::style_for_stderr(command.talk.quiet));
  JobHooks hooks;
  hooks.report = [&](int64_t done, int64_t all) {
    progress.set_total(all);
    progress.update(done);
  };
  hooks.stop = stop_requested;
  const auto start = std::chrono::steady_clock::now();
  const bool made = make(options, command.out, hooks);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (!made) {
    say(stopped(options));
    return exit_interrupted;
  }
  Json json = Json::object();
  json.set("out", command.out);
  std::string said;
  for (const auto& [split, count] : counts) {
    json.set(split, count);
    said += text(said.empty() ? "" : ", ", count, split == "count" ? "" : " " + split);
  }
  json.set("seconds", seconds);
  if (command.talk.json) {
    std::cout << json.dump() << "\n";
  } else {
    std::cout << command.out << "\n";
    say(text(said, " ", what(options), " in ", clock_text(seconds)));
  }
  return exit_done;
}

struct Maker {
  std::string name;
  int (*run)(const DataMakeCommand&);
};

template <class Options>
Maker maker() {
  return {Options::name_in_config, run_maker<Options>};
}

}  // namespace

int run(const DataMakeCommand& command) {
  const Maker makers[] = {maker<GlyphsMakerOptions>(),    maker<LesionsMakerOptions>(),
                          maker<MoleculesMakerOptions>(), maker<NbodyMakerOptions>(),
                          maker<PhantomsMakerOptions>(),  maker<PoseSequencesMakerOptions>(),
                          maker<SolidsMakerOptions>()};
  std::vector<std::string> names;
  std::string all;
  for (const Maker& m : makers) {
    if (m.name == command.maker) {
      return m.run(command);
    }
    all += (all.empty() ? "" : &m == std::end(makers) - 1 ? " and " : ", ") + m.name;
    names.push_back(m.name);
  }
  const std::string near = nearest(command.maker, names);
  throw ConfigError(text("data make: there is no maker '", command.maker, "'; ",
                         near.empty() ? "there are " + all : "did you mean '" + near + "'?"));
}

}  // namespace weyl

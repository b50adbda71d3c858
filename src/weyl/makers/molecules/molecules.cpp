#include "weyl/makers/molecules/molecules.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/makers/molecules/molecule_walker.h"
#include "weyl/makers/split_files.h"

namespace weyl {

void fields(Fields& f, MoleculesMakerOptions& o) {
  f("molecule", o.molecule, "by name: ethanol, aspirin, benzene, uracil, malonaldehyde, naphthalene, ...");
  f("smiles", o.smiles, "in its place: a SMILES, a conformer of which for each walker (needs RDKit)");
  f("file", o.file, "in its place: xyz, SDF, QM9 file, ..., each frame a start geometry");
  f("charge", o.charge, "of the molecule in e; not given: 0, or what smiles says", {-20, 20});
  f("unpaired", o.unpaired, "electrons; not given: 0, or what smiles says", {0, 20});
  f("sampling", o.sampling, "which geometries");
  f("frames", o.frames, "in all files", {1, 1e8});
  f("train", o.train, "frames for training", {0, 1e8});
  f("valid", o.valid, "frames for validation; the rest is for testing; train and valid 0: one file",
    {0, 1e8});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("temperature", o.temperature, "in K", {0, 1e5});
  f("time_step", o.time_step, "in fs", {1e-3, 10});
  f("friction", o.friction, "of the Langevin thermostat in 1/fs", {0, 1});
  f("stride", o.stride, "time steps from frame to frame", {1, 1e6});
  f("equilibration", o.equilibration, "time steps of each walker before its first frame", {0, 1e8});
  f("displacement", o.displacement, "standard deviation of each coordinate in A (sampling displaced)",
    {0, 1});
  f("relax", o.relax, "whether start geometries are relaxed first");
  f("walkers", o.walkers, "independent trajectories", {1, 1e5});
  f("accuracy", o.accuracy, "xtb's scale of all thresholds; less is tighter", {1e-4, 1e3});
  f("threads", o.threads, "threads that walk; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const MoleculesMakerOptions& o) {
  MakerPlan plan{.what = text("frames of ", o.molecule, o.smiles, o.file, " by GFN2-xTB"),
                 .counts = {{"count", o.frames}},
                 .make = std::bind_front(make_molecules, o),
                 .goes_on = true};
  if (o.train + o.valid > 0) {
    plan.counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.frames - o.train - o.valid}};
  }
  return plan;
}

namespace {

namespace fs = std::filesystem;

void require_sizes(const MoleculesMakerOptions& o) {
  require<ConfigError>(o.train + o.valid == 0 || o.train + o.valid < o.frames,
                       "molecules: frames must be more than train and valid, which are ", o.train, " and ",
                       o.valid, ", got ", o.frames, "; train=0 valid=0 makes one file");
  require<ConfigError>(o.walkers <= o.frames, "molecules: walkers must be at most frames, ", o.frames,
                       ", got ", o.walkers);
}

struct MoleculesPart {
  std::string path;
  std::vector<int64_t> frames;  // numbers among all
};

std::vector<MoleculesPart> parts_of(const MoleculesMakerOptions& o, const std::string& folder) {
  const auto path = [&](const char* name) { return (fs::path(folder) / name).string(); };
  if (o.train + o.valid == 0) {
    std::vector<int64_t> all(o.frames);
    std::iota(all.begin(), all.end(), 0);
    return {{path("all.extxyz"), std::move(all)}};
  }
  Stream stream(static_cast<uint64_t>(o.seed), "molecules split");
  const auto drawn = stream.permutation(o.frames);
  std::vector<MoleculesPart> parts;
  const auto add = [&](const char* name, int64_t first, int64_t last) {
    if (last > first) {
      parts.push_back({path(name), {drawn.begin() + first, drawn.begin() + last}});
    }
  };
  add("train.extxyz", 0, o.train);
  add("valid.extxyz", o.train, o.train + o.valid);
  add("test.extxyz", o.train + o.valid, o.frames);
  return parts;
}

/// All that the frames depend on: options and the geometry as given.
std::string fingerprint(const std::string& options, const MoleculeStart& start) {
  AtomsFrame frame;
  frame.numbers = start.numbers;
  frame.positions = start.positions;
  if (!start.isotopes.empty()) {
    frame.set(AtomColumn{std::string(isotopes_column), 1, start.isotopes});
  }
  std::string all = options;
  append_extended_xyz(all, frame);
  return all;
}

}  // namespace

bool make_molecules(const MoleculesMakerOptions& given, const std::string& folder, const JobHooks& hooks) {
  require_xtb();
  const MoleculesMakerOptions o = with_electrons(given);
  require_sizes(o);
  const auto parts = parts_of(o, folder);
  NewFiles files;
  for (const MoleculesPart& part : parts) {
    files.add(part.path);
  }
  files.add((fs::path(folder) / "molecules.toml").string());
  auto starts = molecule_starts(o, hooks.stop);
  if (hooks.stop && hooks.stop()) {
    return false;
  }
  require<ConfigError>(starts.size() <= static_cast<size_t>(o.walkers), "molecules: ", o.file, " has ",
                       starts.size(), " geometries; walkers must be at least as many, got ", o.walkers);
  MoleculesMakerOptions said = o;
  said.threads = 0;
  const std::string options = write_toml([&](Fields& f) { fields(f, said); });
  const std::string partial = parts_folder(folder);
  std::vector<std::unique_ptr<MoleculeWalker>> walkers;
  std::vector<std::string> prints;
  for (const auto& start : starts) {
    prints.push_back(fingerprint(options, start));
  }
  for (int64_t w = 0; w < o.walkers; ++w) {
    const size_t at = w % starts.size();
    walkers.push_back(std::make_unique<MoleculeWalker>(o, starts[at], w, partial, prints[at]));
  }
  make_folder(partial);
  int64_t total = 0;
  std::atomic<int64_t> done{0};
  for (const auto& walker : walkers) {
    total += walker->steps();
    done += walker->done();
  }
  JobHooks inner;
  inner.stop = hooks.stop;
  if (hooks.report) {
    inner.report = [&](int64_t, int64_t) { hooks.report(done, total); };
  }
  bool whole = true;
  if (o.relax && done < total) {
    whole = run_samples(static_cast<int64_t>(starts.size()), o.threads, inner,
                        [&](int64_t i, const auto& stopped) { relax_start(starts[i], o, stopped); });
  }
  whole = whole && run_samples(o.walkers, o.threads, inner, [&](int64_t w, const auto& stopped) {
            walkers[w]->run(stopped, [&] { ++done; });
          });
  if (!whole) {
    return false;
  }
  files.write_each([&](size_t at) {
    if (at == parts.size()) {
      write_file_atomically(files.path(at), options + "\n", Existing::keep);
      return;
    }
    ExtendedXyzWriter writer(files.path(at), Existing::keep);
    for (const int64_t i : parts[at].frames) {
      const int64_t w = ((i + 1) * o.walkers - 1) / o.frames;  // the walker whose range holds it
      writer.write(walkers[w]->frame(i - w * o.frames / o.walkers));
    }
    writer.commit();
  });
  std::error_code failure;
  fs::remove_all(partial, failure);
  return true;
}

}  // namespace weyl

#include "weyl/data/makers/molecule_walker.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/safetensors.h"
#include "weyl/dynamics/molecular_dynamics.h"
#include "weyl/dynamics/relaxation.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kBetweenFiles{10};
constexpr double kConformer = 0.005;  // eV/A
constexpr int64_t kConformerSteps = 5000;

bool is_trajectory(const MoleculesMakerOptions& o) {
  return o.sampling != MoleculeSampling::displaced;
}

void copy_tensor(const SafetensorsFile& file, const std::string& name, std::vector<double>& to,
                 size_t count) {
  const auto& entry = file.entry(name);
  require<DataError>(entry.type == ElementType::f64 && entry.end - entry.begin == count * sizeof(double),
                     file.path(), ": ", name, " must be ", count,
                     " float64 numbers; remove the folder to begin anew");
  const size_t before = to.size();
  to.resize(before + count);
  file.read(name, std::as_writable_bytes(std::span(to).subspan(before)));
}

}  // namespace

MoleculeWalker::MoleculeWalker(const MoleculesMakerOptions& options, const MoleculeStart& start,
                               int64_t index, std::string partial, std::string what)
    : o_(options),
      start_(start),
      index_(index),
      first_(index * options.frames / options.walkers),
      count_((index + 1) * options.frames / options.walkers - first_),
      partial_(std::move(partial)),
      what_(std::move(what)) {
  resume();
}

int64_t MoleculeWalker::steps() const {
  return is_trajectory(o_) ? o_.equilibration + count_ * o_.stride : count_;
}

std::string MoleculeWalker::path(int64_t first) const {
  return (fs::path(partial_) / text("walker-", index_, "-", first, ".safetensors")).string();
}

// A file holds frames and where the walker was afterwards; the next one begins with the frame after them. One
// without frames is the last: its place is taken by the next that is saved.
void MoleculeWalker::resume() {
  while (fs::exists(path(saved_))) {
    const SafetensorsFile file(path(saved_));
    const auto& metadata = file.header().metadata;
    const auto of = metadata.find("what"), step = metadata.find("step");
    require<DataError>(of != metadata.end() && step != metadata.end(), file.path(),
                       ": is no file of this maker; remove the folder to begin anew");
    require<ConfigError>(of->second == what_, partial_,
                         ": was begun with other options; give those, remove it, or choose another folder");
    const auto& shape = file.entry("frames").shape;
    const int64_t frames = shape.empty() ? -1 : shape[0];
    require<DataError>(frames >= 0 && saved_ + frames <= count_, file.path(),
                       ": has more frames than asked for; remove the folder to begin anew");
    copy_tensor(file, "frames", rows_, frames * row());
    positions_.clear();
    velocities_.clear();
    copy_tensor(file, "positions", positions_, 3 * start_.numbers.size());
    copy_tensor(file, "velocities", velocities_, 3 * start_.numbers.size());
    step_ = std::stoll(step->second);
    saved_ += frames;
    if (frames == 0) {
      break;
    }
  }
}

void MoleculeWalker::save() {
  const auto atoms = static_cast<int64_t>(start_.numbers.size());
  const int64_t frames = static_cast<int64_t>(rows_.size() / row()) - saved_;
  const auto bytes = [](std::span<const double> x) { return std::as_bytes(x); };
  const TensorBytes tensors[] = {{"frames",
                                  ElementType::f64,
                                  {frames, static_cast<int64_t>(row())},
                                  bytes(std::span(rows_).subspan(saved_ * row()))},
                                 {"positions", ElementType::f64, {atoms, 3}, bytes(positions_)},
                                 {"velocities", ElementType::f64, {atoms, 3}, bytes(velocities_)}};
  write_safetensors(path(saved_), tensors, {{"what", what_}, {"step", std::to_string(step_)}});
  saved_ += frames;
}

void MoleculeWalker::record(const SinglePoint& point, std::span<const double> positions) {
  rows_.insert(rows_.end(), positions.begin(), positions.end());
  rows_.insert(rows_.end(), point.forces.begin(), point.forces.end());
  rows_.insert(rows_.end(), point.charges.begin(), point.charges.end());
  rows_.push_back(point.energy);
  rows_.insert(rows_.end(), point.dipole.begin(), point.dipole.end());
}

void MoleculeWalker::displace() {
  Stream noise(static_cast<uint64_t>(o_.seed), "molecules displacement",
               {static_cast<uint64_t>(first_ + step_)});
  positions_ = start_.positions;
  for (double& x : positions_) {
    x += o_.displacement * noise.normal();
  }
}

void MoleculeWalker::run(const std::atomic<bool>& stopped, const std::function<void()>& on_step) {
  if (step_ == steps()) {
    return;
  }
  Xtb xtb(start_.numbers, xtb_options(o_));
  const EnergySurface surface = [&](std::span<const double> x) { return xtb(x); };
  auto last_saved = std::chrono::steady_clock::now();
  try {
    std::optional<MolecularDynamics> dynamics;
    if (is_trajectory(o_)) {
      const bool fresh = positions_.empty();
      dynamics.emplace(start_.masses, o_.time_step, surface, fresh ? start_.positions : positions_,
                       fresh ? std::vector<double>(start_.positions.size()) : velocities_);
      if (fresh) {
        Stream stream(static_cast<uint64_t>(o_.seed), "molecules velocities",
                      {static_cast<uint64_t>(index_)});
        dynamics->draw_velocities(o_.temperature, stream);
      }
    } else {
      velocities_.assign(start_.positions.size(), 0.0);
    }
    const auto keep = [&] {
      if (dynamics) {
        positions_ = dynamics->positions();
        velocities_ = dynamics->velocities();
      }
      save();
      last_saved = std::chrono::steady_clock::now();
    };
    while (step_ < steps() && !stopped) {
      if (!dynamics) {
        displace();
        record(surface(positions_), positions_);
      } else {
        if (o_.sampling == MoleculeSampling::nve && step_ >= o_.equilibration) {
          dynamics->verlet_step();
        } else {
          Stream noise(static_cast<uint64_t>(o_.seed), "molecules noise",
                       {static_cast<uint64_t>(index_), static_cast<uint64_t>(step_)});
          dynamics->langevin_step(o_.temperature, o_.friction, noise);
        }
        const int64_t sampled = step_ + 1 - o_.equilibration;
        if (sampled > 0 && sampled % o_.stride == 0) {
          if (o_.sampling == MoleculeSampling::conformers) {
            const auto at = relax(surface, dynamics->positions(), kConformer, kConformerSteps);
            record(at.point, at.positions);
          } else {
            record(dynamics->point(), dynamics->positions());
          }
        }
      }
      ++step_;
      on_step();
      if (std::chrono::steady_clock::now() - last_saved > kBetweenFiles) {
        keep();
      }
    }
    if (step_ > 0) {
      keep();
    }
  } catch (const DataError& error) {
    throw DataError(text("molecules: walker ", index_, ", step ", step_ + 1, ": ", error.what()));
  }
}

AtomsFrame MoleculeWalker::frame(int64_t i) const {
  const size_t atoms = start_.numbers.size();
  const auto values = std::span(rows_).subspan(i * row(), row());
  const auto part = [&](size_t first, size_t count) {
    const auto from = values.subspan(first, count);
    return std::vector<double>(from.begin(), from.end());
  };
  AtomsFrame frame;
  frame.numbers = start_.numbers;
  frame.positions = part(0, 3 * atoms);
  frame.set(AtomColumn{"forces", 3, part(3 * atoms, 3 * atoms)});
  frame.set(AtomColumn{"charges", 1, part(6 * atoms, atoms)});
  frame.set("energy", values[7 * atoms]);
  frame.set(FrameValue{"dipole", {3}, part(7 * atoms + 1, 3)});
  frame.set(FrameValue{"charge", {}, std::vector<int64_t>{o_.charge.value_or(0)}});
  frame.set(FrameValue{"config_type", {}, std::vector<std::string>{start_.name}});
  frame.set(FrameValue{"method", {}, std::vector<std::string>{"GFN2-xTB"}});
  frame.set(FrameValue{"walker", {}, std::vector<int64_t>{index_}});
  if (is_trajectory(o_)) {
    frame.set("time", static_cast<double>((i + 1) * o_.stride) * o_.time_step);
  }
  return frame;
}

}  // namespace weyl

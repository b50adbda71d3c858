#include "weyl/makers/molecules/molecule_walker.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/text_number.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/containers/text_lines.h"
#include "weyl/dynamics/molecular_dynamics.h"
#include "weyl/dynamics/relaxation.h"
#include "weyl/makers/molecules/smiles.h"

namespace weyl {
namespace {

struct Row {
  std::string_view name, atoms;  // symbols and places in A
};

// clang-format off
// Made by tools/molecule_table.py; sorted.
constexpr Row table[] = {
    {"acetic_acid",
     "C -1.438 -0.182 0.159 C 0.020 0.094 -0.004 O 0.546 1.190 -0.084 O 0.753 -1.033 -0.059 "
     "H -1.983 0.765 0.198 H -1.803 -0.761 -0.693 H -1.611 -0.723 1.093 H 1.673 -0.714 -0.165"},
    {"acetylene",
     "C 0.596 0.012 -0.071 C -0.596 -0.012 0.071 H 1.654 0.034 -0.196 H -1.654 -0.034 0.196"},
    {"alanine",
     "C -1.713 0.712 -0.597 C -0.696 -0.392 -0.343 N -1.123 -1.191 0.829 C 0.704 0.201 -0.133 "
     "O 1.188 1.159 -0.713 O 1.442 -0.480 0.776 H -1.448 1.285 -1.493 H -2.716 0.298 -0.751 "
     "H -1.758 1.418 0.240 H -0.640 -1.058 -1.211 H -0.344 -1.813 1.066 H -1.202 -0.571 1.636 "
     "H 2.300 -0.005 0.779"},
    {"ammonia",
     "N 0.000 -0.001 0.070 H -0.580 -0.736 -0.333 H -0.353 0.876 -0.311 H 0.929 -0.126 -0.329"},
    {"aspirin",
     "C 3.456 -0.179 0.425 C 2.113 -0.362 -0.215 O 1.898 -0.257 -1.415 O 1.187 -0.691 0.769 "
     "C -0.115 -0.792 0.270 C -0.592 -2.081 0.011 C -1.891 -2.253 -0.462 C -2.712 -1.144 -0.662 "
     "C -2.239 0.142 -0.384 C -0.933 0.334 0.094 C -0.432 1.695 0.419 O 0.643 1.985 0.912 "
     "O -1.321 2.659 0.111 H 4.178 0.138 -0.333 H 3.793 -1.124 0.858 H 3.399 0.598 1.193 "
     "H 0.048 -2.944 0.168 H -2.264 -3.252 -0.676 H -3.726 -1.279 -1.033 H -2.902 0.990 -0.541 "
     "H -0.861 3.489 0.358"},
    {"azobenzene",
     "C -4.464 0.434 -0.029 C -3.809 -0.663 -0.589 C -2.433 -0.818 -0.411 C -1.696 0.125 0.319 "
     "C -2.367 1.214 0.886 C -3.744 1.372 0.710 N -0.314 -0.021 0.541 N 0.311 -0.015 -0.543 "
     "C 1.694 -0.148 -0.320 C 2.557 0.858 -0.765 C 3.938 0.742 -0.587 C 4.468 -0.389 0.031 "
     "C 3.619 -1.406 0.468 C 2.239 -1.287 0.289 H -5.535 0.556 -0.166 H -4.369 -1.397 -1.161 "
     "H -1.926 -1.677 -0.843 H -1.809 1.944 1.466 H -4.253 2.225 1.151 H 2.147 1.739 -1.252 "
     "H 4.598 1.534 -0.933 H 5.542 -0.480 0.170 H 4.030 -2.291 0.947 H 1.581 -2.084 0.625"},
    {"benzene",
     "C 1.150 -0.789 0.011 C 1.258 0.601 -0.017 C 0.108 1.390 -0.028 C -1.150 0.789 -0.011 "
     "C -1.258 -0.601 0.017 C -0.108 -1.390 0.028 H 2.046 -1.404 0.019 H 2.239 1.070 -0.030 "
     "H 0.193 2.474 -0.049 H -2.046 1.404 -0.019 H -2.239 -1.070 0.030 H -0.193 -2.474 0.049"},
    {"carbon_dioxide",
     "O -1.405 0.000 0.000 C 0.000 0.000 0.000 O 1.405 0.000 0.000"},
    {"ethanol",
     "C -1.221 0.008 -0.426 C 0.187 -0.498 -0.193 O 0.906 0.466 0.561 H -1.204 0.962 -0.963 "
     "H -1.804 -0.713 -1.006 H -1.729 0.188 0.527 H 0.169 -1.440 0.364 H 0.701 -0.656 -1.146 "
     "H 1.803 0.113 0.694"},
    {"ethylene",
     "C 0.666 0.050 0.009 C -0.666 -0.050 -0.009 H 1.294 -0.833 -0.045 H 1.154 1.017 0.078 "
     "H -1.294 0.833 0.045 H -1.154 -1.017 -0.078"},
    {"formaldehyde",
     "C -0.613 0.006 -0.015 O 0.611 -0.006 0.015 H -1.192 0.943 -0.032 H -1.209 -0.921 -0.027"},
    {"hydrogen_peroxide",
     "O -0.619 -0.011 0.382 O 0.617 0.060 -0.381 H -1.161 -0.425 -0.315 H 1.191 -0.354 0.292"},
    {"malonaldehyde",
     "O -0.754 -1.151 0.745 C -0.992 0.044 0.885 C -0.248 1.092 0.155 C 0.731 0.787 -0.703 "
     "O 1.160 -0.477 -1.009 H -1.776 0.416 1.565 H -0.531 2.119 0.346 H 1.297 1.528 -1.255 "
     "H 0.624 -1.119 -0.490"},
    {"methane",
     "C 0.000 0.000 0.000 H -0.665 -0.809 -0.309 H -0.400 0.954 -0.350 H 0.075 0.015 1.090 "
     "H 0.991 -0.159 -0.431"},
    {"methanol",
     "C -0.700 0.166 0.102 O 0.648 -0.203 -0.124 H -0.889 0.218 1.177 H -1.354 -0.587 -0.345 "
     "H -0.896 1.136 -0.361 H 1.204 0.482 0.283"},
    {"naphthalene",
     "C 2.439 0.453 0.507 C 2.411 -0.745 -0.200 C 1.193 -1.274 -0.631 C -0.014 -0.609 -0.359 "
     "C -1.248 -1.127 -0.785 C -2.439 -0.453 -0.507 C -2.411 0.745 0.200 C -1.193 1.274 0.631 "
     "C 0.014 0.609 0.359 C 1.248 1.127 0.785 H 3.387 0.866 0.842 H 3.337 -1.270 -0.418 "
     "H 1.192 -2.211 -1.182 H -1.290 -2.062 -1.339 H -3.387 -0.866 -0.842 H -3.337 1.270 0.418 "
     "H -1.192 2.211 1.182 H 1.290 2.062 1.339"},
    {"paracetamol",
     "C -3.930 -0.333 0.667 C -2.455 -0.638 0.749 O -2.048 -1.590 1.405 N -1.697 0.243 -0.002 "
     "C -0.296 0.253 -0.158 C 0.247 1.246 -0.986 C 1.627 1.325 -1.192 C 2.467 0.412 -0.571 "
     "O 3.806 0.522 -0.798 C 1.949 -0.580 0.253 C 0.566 -0.657 0.458 H -4.435 -0.744 1.547 "
     "H -4.345 -0.788 -0.236 H -4.106 0.747 0.650 H -2.202 0.961 -0.506 H -0.391 1.972 -1.482 "
     "H 2.042 2.096 -1.834 H 4.261 -0.179 -0.303 H 2.594 -1.300 0.745 H 0.195 -1.443 1.109"},
    {"salicylic_acid",
     "O 2.457 -0.197 -0.974 C 1.498 0.581 -0.445 O 1.670 1.774 -0.256 C 0.248 -0.142 -0.124 "
     "C 0.121 -1.517 -0.368 C -1.070 -2.179 -0.057 C -2.137 -1.473 0.498 C -2.018 -0.105 0.743 "
     "C -0.831 0.558 0.434 O -0.802 1.900 0.708 H 3.210 0.410 -1.130 H 0.942 -2.084 -0.801 "
     "H -1.165 -3.245 -0.248 H -3.064 -1.987 0.740 H -2.849 0.447 1.176 H 0.075 2.257 0.451"},
    {"toluene",
     "C 2.444 -0.110 0.003 C 0.946 -0.043 -0.021 C 0.291 1.195 -0.021 C -1.104 1.257 -0.012 "
     "C -1.855 0.084 0.009 C -1.212 -1.153 0.024 C 0.182 -1.216 0.014 H 2.802 -0.111 1.037 "
     "H 2.881 0.745 -0.523 H 2.802 -1.016 -0.497 H 0.864 2.119 -0.030 H -1.604 2.222 -0.017 "
     "H -2.940 0.132 0.017 H -1.797 -2.069 0.046 H 0.670 -2.188 0.034"},
    {"uracil",
     "O 0.004 2.489 0.029 C 0.152 1.273 0.013 C 1.501 0.673 -0.012 C 1.611 -0.657 -0.029 "
     "N 0.500 -1.453 -0.024 C -0.780 -0.967 -0.001 O -1.756 -1.710 0.003 N -0.895 0.394 0.017 "
     "H 2.350 1.343 -0.015 H 2.573 -1.160 -0.048 H 0.587 -2.463 -0.037 H -1.826 0.779 0.033"},
    {"water",
     "O 0.000 0.067 0.000 H -0.764 -0.529 0.000 H 0.763 -0.531 0.000"},
};
// clang-format on

}  // namespace

std::vector<std::string> molecule_names() {
  std::vector<std::string> names;
  for (const Row& row : table) {
    names.emplace_back(row.name);
  }
  return names;
}

AtomsFrame molecule_by_name(const std::string& name) {
  std::string folded = name;
  for (char& c : folded) {
    c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto* row = std::ranges::find(table, std::string_view(folded), &Row::name);
  if (row == std::end(table)) {
    const auto names = molecule_names();
    const std::string near = nearest(folded, names);
    std::string all;
    for (const auto& known : names) {
      all += (all.empty() ? "" : ", ") + known;
    }
    throw ConfigError(
        text("molecules: there is no molecule ", quote(name), "; ",
             near.empty() ? "give file=PATH, or one of " + all : "did you mean '" + near + "'?"));
  }
  AtomsFrame frame;
  std::string_view rest = row->atoms;
  for (std::string_view symbol = take_word(rest); !symbol.empty(); symbol = take_word(rest)) {
    frame.numbers.push_back(atomic_number(symbol));
    for (int d = 0; d < 3; ++d) {
      frame.positions.push_back(parse_real(take_word(rest)).value());
    }
  }
  return frame;
}

namespace {

constexpr double kRelaxed = 0.005;  // eV/A
constexpr int64_t kRelaxationSteps = 5000;

MoleculeStart start_of(const AtomsFrame& frame, std::string name, const std::string& where,
                       const MoleculesMakerOptions& o) {
  require<ConfigError>(frame.size() >= 2, where, ": there must be at least 2 atoms, got ", frame.size());
  const Xtb checks(frame.numbers, xtb_options(o));  // elements and electrons
  MoleculeStart start{std::move(name), frame.numbers, {}, frame.positions, {}};
  if (const AtomColumn* said = frame.column(isotopes_column)) {
    const auto* isotopes = std::get_if<std::vector<int64_t>>(&said->values);
    require<DataError>(isotopes != nullptr && said->width == 1 && std::ranges::min(*isotopes) >= 0, where,
                       ": isotopes must be a mass number for each atom, or 0");
    start.isotopes = *isotopes;
  }
  for (size_t i = 0; i < frame.numbers.size(); ++i) {
    start.masses.push_back(isotope_mass(frame.numbers[i], start.isotopes.empty() ? 0 : start.isotopes[i]));
  }
  centre_masses(start.masses, start.positions);
  return start;
}

std::vector<MoleculeStart> starts_of_smiles(const MoleculesMakerOptions& o,
                                            const std::function<bool()>& stop) {
  AtomsFrame frame;
  frame.numbers = read_smiles(o.smiles).numbers;
  std::vector<MoleculeStart> starts;
  for (int64_t i = 0; i < o.walkers && !(stop && stop()); ++i) {
    Stream seeds(static_cast<uint64_t>(o.seed), "molecules conformer", {static_cast<uint64_t>(i)});
    frame.positions = conformer_of_smiles(o.smiles, seeds.bits());
    starts.push_back(start_of(frame, o.smiles, "molecules", o));
  }
  return starts;
}

std::vector<MoleculeStart> starts_of_file(const MoleculesMakerOptions& o) {
  std::vector<MoleculeStart> starts;
  const auto reader = open_frames(o.file);
  AtomsFrame frame;
  while (reader->next(frame)) {
    require<DataError>(frame.pbc == std::array<bool, 3>{}, reader->where(),
                       ": GFN2-xTB is for molecules, but the frame is periodic");
    const auto unit = reader->unit_of("pos");
    const double scale = unit.empty() ? 1 : unit_factor(unit, "Angstrom");
    for (double& x : frame.positions) {
      x *= scale;
    }
    std::string name = std::filesystem::path(o.file).stem().string();
    if (const auto* value = frame.value("config_type")) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(&value->values);
          texts && texts->size() == 1) {
        name = texts->front();
      }
    }
    starts.push_back(start_of(frame, std::move(name), reader->where(), o));
  }
  require<DataError>(!starts.empty(), o.file, ": must have a frame, has none");
  return starts;
}

}  // namespace

Xtb::Options xtb_options(const MoleculesMakerOptions& o) {
  return {static_cast<int>(o.charge.value_or(0)), static_cast<int>(o.unpaired.value_or(0)), o.accuracy};
}

MoleculesMakerOptions with_electrons(MoleculesMakerOptions o) {
  require<ConfigError>(!o.molecule.empty() + !o.smiles.empty() + !o.file.empty() == 1,
                       "molecules: give one of molecule=NAME (ethanol, aspirin, ...), smiles=TEXT and "
                       "file=PATH of an xyz file");
  std::optional<int64_t> charge, unpaired;  // said otherwise
  if (!o.smiles.empty()) {
    const auto said = read_smiles(o.smiles);
    charge = said.charge;
    unpaired = said.unpaired;
  }
  const auto settle = [&](std::optional<int64_t>& given, const std::optional<int64_t>& said, const char* key,
                          const char* what) {
    require<ConfigError>(!given || !said || *given == *said, "molecules: ", key, " must be ",
                         said.value_or(0), ", the ", what, " in smiles ", quote(o.smiles),
                         ", or left out, got ", given.value_or(0));
    given = given ? given : said.value_or(0);
  };
  settle(o.charge, charge, "charge", "sum of the charges");
  settle(o.unpaired, unpaired, "unpaired", "number of the radical electrons");
  return o;
}

std::vector<MoleculeStart> molecule_starts(const MoleculesMakerOptions& o,
                                           const std::function<bool()>& stop) {
  if (!o.file.empty()) {
    return starts_of_file(o);
  }
  if (!o.smiles.empty()) {
    return starts_of_smiles(o, stop);
  }
  return {start_of(molecule_by_name(o.molecule), o.molecule, "molecules", o)};
}

void relax_start(MoleculeStart& start, const MoleculesMakerOptions& o, const std::atomic<bool>& stopped) {
  try {
    Xtb xtb(start.numbers, xtb_options(o));
    auto relaxed = relax([&](std::span<const double> x) { return xtb(x); }, start.positions, kRelaxed,
                         kRelaxationSteps, [&] { return stopped.load(); });
    start.positions = std::move(relaxed.positions);
    centre_masses(start.masses, start.positions);
  } catch (const DataError& error) {
    throw DataError(text("molecules: the start geometry of ", start.name, ": ", error.what()));
  }
}

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
  if (!start_.isotopes.empty()) {
    frame.set(AtomColumn{std::string(isotopes_column), 1, start_.isotopes});
  }
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

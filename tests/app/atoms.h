#pragma once

// Potentials of atoms for tests of the program: frames with labels, their files, a config that learns them.
#include <cmath>

#include "tests/app/program.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/extended_xyz.h"

namespace weyl::atoms {

/// Frames of three or four atoms, O and H, in a Morse-like potential, by two kinds; energies of the elements
/// far larger than what binds.
inline std::vector<AtomsFrame> frames(int count, uint64_t seed) {
  Stream stream(seed, "test frames");
  std::vector<AtomsFrame> result;
  for (int i = 0; i < count; ++i) {
    AtomsFrame f;
    const size_t n = i % 2 == 0 ? 3 : 4;
    double energy = 0;
    for (size_t a = 0; a < n; ++a) {
      f.numbers.push_back(a == 0 ? 8 : 1);
      energy += a == 0 ? -2041.5 : -13.6;
      for (int d = 0; d < 3; ++d) {
        f.positions.push_back(1.2 * static_cast<double>(d == 0 ? a : 0) + 0.2 * stream.normal());
      }
    }
    std::vector<double> forces(3 * n, 0.0);
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = a + 1; b < n; ++b) {
        double r2 = 0;
        for (size_t d = 0; d < 3; ++d) {
          r2 += std::pow(f.positions[3 * a + d] - f.positions[3 * b + d], 2);
        }
        energy += -2 * std::exp(-r2);
        for (size_t d = 0; d < 3; ++d) {
          const double pull = 4 * std::exp(-r2) * (f.positions[3 * b + d] - f.positions[3 * a + d]);
          forces[3 * a + d] += pull;
          forces[3 * b + d] -= pull;
        }
      }
    }
    std::vector<std::string> tags;
    for (size_t a = 0; a < n; ++a) {
      tags.push_back("atom" + std::to_string(a));
    }
    f.set(AtomColumn{"tag", 1, tags});
    f.set(AtomColumn{"forces", 3, forces});
    f.set("energy", energy);
    f.set(FrameValue{"config_type", {}, std::vector<std::string>{n == 3 ? "small" : "large"}});
    result.push_back(f);
  }
  return result;
}

inline void write(const std::string& path, const std::vector<AtomsFrame>& all) {
  ExtendedXyzWriter out(path);
  for (const auto& f : all) {
    out.write(f);
  }
  out.commit();
}

inline std::vector<AtomsFrame> read(const std::string& path) {
  const auto in = open_frames(path);
  std::vector<AtomsFrame> all;
  for (AtomsFrame f; in->next(f);) {
    all.push_back(f);
  }
  return all;
}

inline const char* const config = R"(
[data]
set = "molecules"
[data.molecules]
path = "data"
elements = ["H", "O"]
[task]
name = "force_field"
[model]
system = "transformer"
[model.transformer]
width = 16
heads = 2
blocks = 1
[train]
steps = 60
batch = 16
average = 0.9
[train.optimiser]
rate = 3e-3
)";

/// A folder of data/ with splits of such frames, and c.toml.
inline std::string prepared(const std::string& name) {
  const std::string folder = scratch(name);
  std::filesystem::create_directories(folder + "/data");
  write(folder + "/data/train.xyz", frames(60, 1));
  write(folder + "/data/valid.xyz", frames(10, 2));
  write(folder + "/data/test.extxyz.gz", frames(20, 3));
  std::ofstream(folder + "/c.toml") << config;
  return folder;
}

}  // namespace weyl::atoms

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/options.h"

namespace weyl {

class Stream;

/// A slab with an adsorbate before it relaxes, and what is known of it after: in Angstrom and eV.
struct Slab {
  std::vector<int> numbers;
  std::vector<Vector3> positions, relaxed;  // (N); `relaxed` empty: not known
  std::vector<int> tags;                    // (N) 0 below the surface, 1 of the surface, 2 of the adsorbate
  std::vector<bool> free;                   // (N) whether an atom may move
  CellRows cell{};
  bool stacked = true;  // whether it is periodic along the third lattice vector, too
  std::optional<double> energy;

  int64_t size() const { return static_cast<int64_t>(numbers.size()); }
};

/// The slab that the frame which a reader gave last holds: the column `tags`; the lattice; and, where they are there, the
/// columns `fixed` (0 or 1; else atoms of tag 0 are) and `relaxed` (N, 3), and the value `energy`. `fixed` and `relaxed` may
/// also be values of as many rows as atoms, as rows of ASE's databases have them. Relaxed places are moved to the image
/// nearest to the initial ones. DataError naming file and frame: no tags, others than 0, 1 and 2, or 0 alone; no cell, or one without
/// a volume, or without periods along the first two vectors; columns of other shapes; numbers that are not finite.
Slab slab_of(const AtomsFrame& frame, const FrameReader& reader);

/// Why a slab is likely not what it is taken for, a sentence; empty: it is likely right. Its cell has no vacuum along
/// the third lattice vector, where it is stacked, or has it along another one: of each lattice vector the widest layer
/// between neighbouring atoms is looked at, across the other two. Its atoms lie in two parts with a vacuum between
/// them, as a slab has that was wrapped into its cell. No atom is of the adsorbate.
std::string doubt_of(const Slab& slab);

/// An image of an atom of a slab, moved by lattice vectors.
struct SlabImage {
  int64_t atom = 0;
  Vector3 shift{};
};
/// The images of atoms in the eight cells around along the first two lattice vectors that are nearer than `radius` to an atom of
/// the adsorbate. The adsorbate itself has none. (Graphormer-3D, Shi et al. 2022.) In the order of the cells, then the atoms.
std::vector<SlabImage> slab_images(const Slab& slab, double radius);

/// The tokens of a slab: its atoms and those images.
int64_t slab_tokens(const Slab& slab, double radius);

/// The slab as noisy nodes have it; `relaxed` stays. Nothing is drawn of atoms that are not free. ShapeError: a slab whose relaxed
/// places are not known.
void add_noise(Slab& slab, const NoisyNodes& noise, Stream& stream);

}  // namespace weyl

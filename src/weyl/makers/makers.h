#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weyl/makers/bodies/rigid_bodies.h"
#include "weyl/makers/images/glyphs.h"
#include "weyl/makers/images/lesions.h"
#include "weyl/makers/molecules/conformers.h"
#include "weyl/makers/molecules/molecules.h"
#include "weyl/makers/molecules/orbital_gaps.h"
#include "weyl/makers/particles/nbody.h"
#include "weyl/makers/particles/planets.h"
#include "weyl/makers/poses/pose_copies.h"
#include "weyl/makers/poses/pose_sequences.h"
#include "weyl/makers/poses/pose_windows.h"
#include "weyl/makers/shapes/parts.h"
#include "weyl/makers/shapes/solids.h"
#include "weyl/makers/slabs/slabs.h"
#include "weyl/makers/volumes/phantoms.h"

namespace weyl {

/// The makers of data sets, by their options, in the order of help pages. They are a library of their own, libweyl_makers, which
/// is linked to FreeType and opens Bullet, RDKit and xtb; what needs more than names and defaults opens it, and throws a
/// ConfigError where it cannot be opened. Each struct of options has
/// `name_in_config`, the name that `weyl data make` takes; `makes`, a line of help; `threads`; and beside it
/// the functions `fields` and `plan_of`. To add a maker: its files, and its place here.
using Maker =
    std::variant<ConformersMakerOptions, GlyphsMakerOptions, LesionsMakerOptions, MoleculesMakerOptions,
                 NbodyMakerOptions, OrbitalGapsMakerOptions, PartsMakerOptions, PhantomsMakerOptions,
                 PlanetsMakerOptions, PoseCopiesMakerOptions, PoseSequencesMakerOptions,
                 PoseWindowsMakerOptions, RigidBodiesMakerOptions, SlabsMakerOptions, SolidsMakerOptions>;

/// The makers' names, each with its line of help.
std::vector<std::pair<std::string, std::string>> makers();

/// The maker of a name with its defaults; nothing when there is none.
std::optional<Maker> find_maker(const std::string& name);

/// The same; ConfigError that names the nearest maker, or all of them, when there is none.
Maker maker_named(const std::string& name);

/// The options of a maker that there is, a line each (describe_keys).
std::string describe_maker(const std::string& name);

/// What a maker is about to do with options that are written as on the command line, "train=300". ConfigError as maker_named,
/// and for options that it does not take.
MakerPlan plan_of_maker(const std::string& name, const std::vector<std::string>& overrides, int64_t threads);

/// Versions of the libraries that some makers need; empty: not there.
struct MakersLibraries {
  std::string bullet, rdkit, xtb;
};
MakersLibraries makers_libraries();

}  // namespace weyl

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weyl/data/makers/glyphs.h"
#include "weyl/data/makers/lesions.h"
#include "weyl/data/makers/molecules.h"
#include "weyl/data/makers/nbody.h"
#include "weyl/data/makers/phantoms.h"
#include "weyl/data/makers/planets.h"
#include "weyl/data/makers/pose_sequences.h"
#include "weyl/data/makers/rigid_bodies.h"
#include "weyl/data/makers/solids.h"

namespace weyl {

/// The makers of data sets, by their options, in the order of help pages. Each struct of options has
/// `name_in_config`, the name that `weyl data make` takes; `makes`, a line of help; `threads`; and beside it
/// the functions `fields` and `plan_of`. To add a maker: its files, and its place here.
using Maker = std::variant<GlyphsMakerOptions, LesionsMakerOptions, MoleculesMakerOptions, NbodyMakerOptions,
                           PhantomsMakerOptions, PlanetsMakerOptions, PoseSequencesMakerOptions,
                           RigidBodiesMakerOptions, SolidsMakerOptions>;

/// The makers' names, each with its line of help.
std::vector<std::pair<std::string, std::string>> makers();

/// The maker of a name with its defaults; nothing when there is none.
std::optional<Maker> find_maker(const std::string& name);

/// The same; ConfigError that names the nearest maker, or all of them, when there is none.
Maker maker_named(const std::string& name);

}  // namespace weyl

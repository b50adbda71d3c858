#pragma once

namespace weyl::platonic {

/// One of every family, both small and large orders, and every solid group.
inline constexpr const char* kNamedGroups[] = {
    "trivial",         "tetrahedron",  "tetrahedron_full", "octahedron",
    "octahedron_full", "icosahedron",  "icosahedron_full", "octahedron_reflections",
    "flop_3d_1",       "flop_3d_2",    "flop_3d_3",        "cyclic_3d_2",
    "cyclic_3d_5",     "cyclic_3d_12", "dihedral_3d_2",    "dihedral_3d_3",
    "dihedral_3d_6",   "trivial_2",    "flop_2d_1",        "flop_2d_2",
    "cyclic_2",        "cyclic_3",     "cyclic_4",         "cyclic_6",
    "cyclic_20",       "dihedral_2",   "dihedral_3",       "dihedral_4",
    "dihedral_6",      "dihedral_20"};

}  // namespace weyl::platonic

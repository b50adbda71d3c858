#include "weyl/data/atoms/options.h"

#include "weyl/config/unused_options.h"

namespace weyl {
namespace {

constexpr const char* without_fractions = "beside train, valid and test, which count";

template <class Options>
void frame_counts(Fields& f, Options& o) {
  f("elements", o.elements,
    "chemical symbols of the types, in their order; none: 100 types, one for each atomic number");
  f("train", o.train, "training frames; with valid and test 0: the fraction", {0, 1e9});
  f("valid", o.valid, "validation frames; with train and test 0: the fraction", {0, 1e9});
  f("test", o.test, "test frames; 0: the rest, or with train and valid 0 the fraction", {0, 1e9});
  f("fractions", o.fractions, "of the frames: training, validation, test", {0, 1});
  f("seed", o.seed, "of the random split", {0, 9.2e18});
}

/// Frames are divided by counts where one of train and valid is given, else by fractions.
template <class Options>
void refuse_frames(const Options& o) {
  const std::string table = std::string("data.") + Options::name_in_config;
  std::vector<Conditional> options{
      {"fractions", o.train == 0 && o.valid == 0 && o.test == 0, without_fractions}};
  if constexpr (requires { o.order; }) {
    constexpr int64_t seeds = int64_t{1} << 32;
    options.push_back({"seed", o.order != SplitOrder::file, "with order = \"file\""});
    require<ConfigError>(o.order != SplitOrder::numpy || o.seed < seeds, table,
                         ".seed: must be below 2^32 with order = \"numpy\", got ", o.seed);
  }
  refuse_unused(table, o, Options{}, options);
}

}  // namespace

void fields(Fields& f, FrameProperty& o) {
  f("key", o.key, "of the value or the column in the files, and the label's name; must be given");
  f("unit", o.unit, "of the label; files that say another are converted, of others it is taken as theirs");
  f("extensive", o.extensive, "grows with the number of atoms");
  f("norm", o.norm,
    "the files have three numbers, a vector such as a dipole moment, and the label is its length");
  f("level", o.level, "a value of the frame, or a column with a row for each atom");
  f("kind", o.kind,
    "one number; a vector of three; a symmetric tensor of nine, row by row (polarisability): how it turns with the frame");
}

void fields(Fields& f, MoleculesDataOptions& o) {
  f("path", o.path,
    "file of frames (extended xyz, .npz, SDF, ...), to be split, or a folder with files train, valid and "
    "test");
  f("energy", o.energy,
    "key of the energy; none: the one there is of energy, REF_energy, dft_energy, DFT_energy, ref_energy");
  f("forces", o.forces,
    "column of the forces; none: the one there is of forces, REF_forces, dft_forces, DFT_forces, ref_forces, "
    "force");
  f("stress", o.stress,
    "key of the stress, 9 numbers or 6 (see stress_order); a key with `virial` in it is minus stress "
    "times volume; none: the one there is of the usual ones");
  f("energy_unit", o.energy_unit,
    "of the files; none: what their format says, else eV. Labels and predictions are in eV");
  f("length_unit", o.length_unit,
    "of the files; none: what their format says, else Angstrom. The model's positions are in Angstrom");
  f("force_unit", o.force_unit,
    "of the files' forces, where it is not their energy by their length: Hartree/Bohr beside eV and "
    "Angstrom, ...; none: what their format says, else energy_unit/length_unit. Labels are in eV/Angstrom");
  f("stress_unit", o.stress_unit,
    "of the files' stress (GPa, kbar, ...), or of the virial that `stress` names (eV); none: what their "
    "format says, else energy_unit/length_unit^3. Labels are in eV/Angstrom^3");
  f("force_sign", o.force_sign,
    "what the column of forces holds: forces, or the gradient of the energy, minus the forces");
  f("stress_sign", o.stress_sign,
    "when the files' pressures are positive: tension, as the labels, (1/volume) dE/dstrain, and ASE's; "
    "compression, or vasp, which is the same: as VASP prints them");
  f("stress_order", o.stress_order,
    "of stresses of six numbers: voigt, xx yy zz yz xz xy, as ASE has them and where nothing is said; vasp, xx yy "
    "zz xy yz zx, as VASP prints them. Nine numbers have no order");
  f("features", o.features, "keys of frames that the model is told of, one number each: charge, spin, ...");
  f("states", o.states,
    "whole numbers of frames, such as charge and spin multiplicity, of each value of which the model learns "
    "an embedding; a frame without one, or with another value, is an error");
  f("properties", o.properties, "values of frames that become labels, for task property");
  f("config_type", o.config_type, "key of the kind of a frame, of which `eval` makes a table");
  f("missing", o.missing,
    "frames without a label that others have: refused, or left out of that part of the loss");
  f("stream", o.stream,
    "frames stay on disk, and each batch reads its own: for data larger than the memory, of formats that are read in "
    "any order: .aselmdb, and texts that are not packed");
  f("order", o.order,
    "of the frames of one file, of which the first are for training, the next for validation: that of our "
    "random numbers, of numpy's RandomState(seed).permutation (isolated atoms are for training), or of the file");
  frame_counts(f, o);
}

void require_effects(const MoleculesDataOptions& o) {
  refuse_frames(o);
}

void fields(Fields& f, Md17DataOptions& o) {
  f("path", o.path, ".npz file of MD17 or rMD17");
  frame_counts(f, o);
}

void require_effects(const Md17DataOptions& o) {
  refuse_frames(o);
}

void fields(Fields& f, Qm9DataOptions& o) {
  f("path", o.path, "folder of QM9's .xyz files, or a .tar of them; or gdb9.sdf with gdb9.sdf.csv beside it");
  f("exclude", o.exclude,
    "text whose lines begin with the index of a molecule to leave out; none: uncharacterized.txt beside the "
    "molecules, if it is there");
  f("inputs", o.inputs,
    "what the model is told of an atom: its element; or pyg, 97 numbers by which the Platonic Transformer's "
    "public code has it, of molecules with bonds (gdb9.sdf)");
  f("order", o.order,
    "of the molecules, of which the first are for training, the next for validation: that of our random "
    "numbers, of numpy's RandomState(seed).permutation, as public code often has it (seed 42 there), or of "
    "the files");
  frame_counts(f, o);
}

void require_effects(const Qm9DataOptions& o) {
  require<ConfigError>(o.inputs == AtomInputs::elements || o.elements.empty(),
                       "data.qm9.elements: has no effect with inputs = \"pyg\"");
  refuse_frames(o);
}

namespace {

template <class Options>
void listed_counts(Fields& f, Options& o) {
  f("graph", o.graph,
    "the model is also told of the bonds: how many each atom has, of which kind those of a pair are, and how many lie "
    "between them");
  f("elements", o.elements,
    "chemical symbols of the types, in their order; none: 100 types, one for each atomic number");
  f("train", o.train, "training molecules, the first of the list; 0: all", {0, 1e9});
  f("valid", o.valid, "validation molecules, likewise", {0, 1e9});
  f("test", o.test, "test molecules, likewise", {0, 1e9});
}

}  // namespace

void fields(Fields& f, Molecule3dDataOptions& o) {
  f("path", o.path,
    "folder of combined_mols_0_to_1000000.sdf and the other SDF files, properties.csv and the lists of the splits, "
    "random_split_inds.json and scaffold_split_inds.json");
  f("split", o.split, "which of the two lists: of random splits, or of splits by scaffold");
  listed_counts(f, o);
}

void fields(Fields& f, ConformerMixture& o) {
  f("relaxed", o.relaxed, "share of the training samples at the relaxed geometry with noise", {0, 1});
  f("middle", o.middle, "share midway between such a place and a conformer; the rest are conformers", {0, 1});
  f("noise", o.noise, "standard deviation of the noise of each coordinate, in Angstrom", {0, 10});
}

void require_effects(const Pcqm4mv2DataOptions& o) {
  require<ConfigError>(o.mixture.relaxed + o.mixture.middle <= 1 + 1e-12,
                       "data.pcqm4mv2.mixture: relaxed and middle must add up to at most 1, got ",
                       o.mixture.relaxed, " and ", o.mixture.middle);
  const Conditional noise{"noise", o.mixture.relaxed + o.mixture.middle > 0,
                          "with relaxed = 0 and middle = 0, no training sample near its relaxed geometry"};
  refuse_unused("data.pcqm4mv2.mixture", o.mixture, ConformerMixture{}, {&noise, 1});
}

void fields(Fields& f, Pcqm4mv2DataOptions& o) {
  f("path", o.path,
    "folder of data.csv.gz, split_dict.pt (or split_dict.json), pcqm4m-v2-train.sdf, and conformers.sdf, which `weyl data "
    "make conformers` writes");
  f("conformers", o.conformers,
    "of each molecule: in training one of them is drawn anew in each epoch, and predictions are averaged over all",
    {1, 1000});
  f("mixture", o.mixture, "where training samples stand, with their relaxed geometries at hand");
  listed_counts(f, o);
}

void fields(Fields& f, NoisyNodes& o) {
  f("probability", o.probability, "with which a structure is changed, in each epoch anew", {0, 1});
  f("deviation", o.deviation, "of the noise on each coordinate, in Angstrom", {0, 10});
}

void fields(Fields& f, Oc20DataOptions& o) {
  f("path", o.path,
    "folder of the files train, valid and test, each .aselmdb or extended xyz; or one such file, for testing");
  f("elements", o.elements,
    "chemical symbols of the types, in their order; none: 100 types, one for each atomic number");
  f("image_radius", o.image_radius,
    "images of atoms in the eight neighbouring cells along the surface become tokens of their own where they are "
    "nearer than this to an atom of the adsorbate, in Angstrom; 0: none",
    {0, 100});
  f("noisy_nodes", o.noisy_nodes,
    "training structures start between the initial and the relaxed one, with noise; none: always as given");
  f("train", o.train, "training structures, the first of the file; 0: all", {0, 1e9});
  f("valid", o.valid, "validation structures; 0: all", {0, 1e9});
  f("test", o.test, "test structures; 0: all", {0, 1e9});
}

}  // namespace weyl

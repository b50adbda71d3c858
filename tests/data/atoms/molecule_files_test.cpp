// QM9's files, MD17's arrays, DeePMD's folders, SDF, and what opens any of them;
// tools/goldens/molecule_fixtures.py wrote the files, with numpy, tarfile and RDKit.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <span>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/deepmd.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/atoms/molecule_npz.h"
#include "weyl/data/atoms/qm9.h"
#include "weyl/data/atoms/sdf.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/containers/npy.h"

namespace weyl {
namespace molecule_files_test {

TEST(Qm9, MethaneAndOddNumbers) {
  const auto frames = read(fixtures + "qm9");
  ASSERT_EQ(frames.size(), 2);
  const auto& methane = frames[0];
  EXPECT_EQ(methane.numbers, (std::vector{6, 1, 1, 1, 1}));
  EXPECT_EQ(methane.positions[1], 1.0858041578);
  EXPECT_EQ(std::get<Reals>(methane.column("mulliken")->values)[0], -0.535689);
  EXPECT_EQ(real(methane, "index"), 1);
  EXPECT_EQ(real(methane, "A"), 157.7118);
  EXPECT_EQ(real(methane, "U0"), -40.47893);
  EXPECT_EQ(real(methane, "H"), -40.475117);
  EXPECT_EQ(real(methane, "Cv"), 6.469);
  EXPECT_EQ(methane.value("frequencies")->shape, Integers{9});
  EXPECT_EQ(words(methane, "smiles"), "C");
  EXPECT_EQ(words(methane, "inchi_relaxed"), "InChI=1S/CH4/h1H");
  const auto& odd = frames[1];
  EXPECT_EQ(odd.positions[1], 6.3656e-5);
  EXPECT_EQ(odd.positions[2], -1.2e-5);
  EXPECT_EQ(odd.positions[5], 2.5);
  EXPECT_EQ(odd.positions[7], -1);
  EXPECT_EQ(real(odd, "gap"), 0.3796);
  EXPECT_EQ(words(odd, "smiles"), "C#N");
}

/// For any text of frames: wherever a gzip file ends too early, the message says where.
TEST(FrameFiles, CutGzipIsRefusedWithItsPlace) {
  const Folder folder;
  for (const std::string name : {"ase.xyz", "qm9/dsgdb9nsd_000001.xyz", "v2000.sdf"}) {
    const MappedFile whole(fixtures + name);
    const auto packed = gzip(whole.bytes(), "x");
    const std::string path = folder / (name.ends_with("sdf") ? "a.sdf.gz" : "a.xyz.gz");
    for (size_t size = 2; size < packed.size(); size += 7) {
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(size));
      const std::string message = message_of<DataError>([&] { read(path); });
      EXPECT_TRUE(message.starts_with(path + ": frame ")) << size << ": " << message;
      EXPECT_NE(message.find(": the gzip stream is truncated"), std::string::npos) << size << ": " << message;
    }
  }
}

TEST(Qm9, InArchivesOfEveryKind) {
  const auto frames = read(fixtures + "qm9");
  for (const char* name : {"qm9.tar", "qm9.tar.gz", "qm9.tar.bz2"}) {
    EXPECT_EQ(read(fixtures + name), frames) << name;
  }
  const auto reader = open_frames(fixtures + "qm9.tar.bz2");
  AtomsFrame frame;
  reader->next(frame);
  reader->next(frame);
  EXPECT_EQ(reader->where(), fixtures + "qm9.tar.bz2: qm9/dsgdb9nsd_000005.xyz: frame 1, line 1");
  EXPECT_EQ(reader->unit_of("alpha"), "Bohr^3");
  for (const auto& property : qm9_properties) {
    EXPECT_NO_THROW(parse_unit(property.unit)) << property.name;
  }
  EXPECT_EQ(reader->unit_of("pos"), "Angstrom");
  EXPECT_EQ(reader->unit_of("smiles"), "");
}

TEST(MoleculeNpz, NamesOfMd17AndRmd17) {
  const auto md17 = read(fixtures + "npz/md17.npz"), rmd17 = read(fixtures + "npz/rmd17.npz");
  ASSERT_EQ(md17.size(), 4);
  ASSERT_EQ(rmd17.size(), 4);
  for (const auto& frames : {md17, rmd17}) {
    EXPECT_EQ(frames[3].numbers, (std::vector{8, 1, 1}));
    EXPECT_EQ(frames[3].positions, (Reals{3.375, 3.5, 3.625, 3.75, 3.875, 4, 4.125, 4.25, 4.375}));
    EXPECT_EQ(real(frames[3], "energy"), -97003.123456789);
    ASSERT_NE(frames[3].column("forces"), nullptr);
    EXPECT_EQ(std::get<Reals>(frames[3].column("forces")->values)[1], -0.875);
  }
  EXPECT_EQ(words(md17[0], "name"), "water");
  EXPECT_EQ(words(md17[0], "theory"), "pbe+vdw-ts");
  EXPECT_EQ(md17[0].value("md5"), nullptr);
  EXPECT_EQ(real(rmd17[2], "old_indices"), 20);
  EXPECT_EQ(real(rmd17[2], "old_energies"), -97001.623456789);
  EXPECT_EQ(std::get<Reals>(rmd17[3].column("old_forces")->values)[1], -1.75);
}

TEST(MoleculeNpz, UnitsAreMd17sUnlessTheFileSays) {
  const auto md17 = open_frames(fixtures + "npz/md17.npz"), sgdml = open_frames(fixtures + "npz/sgdml.npz");
  EXPECT_EQ(md17->unit_of("energy"), "kcal/mol");
  EXPECT_EQ(md17->unit_of("forces"), "kcal/mol/Angstrom");
  EXPECT_EQ(sgdml->unit_of("energy"), "Hartree");
  EXPECT_EQ(sgdml->unit_of("forces"), "Hartree/Ang");
  const auto frames = frames_of(*sgdml);
  EXPECT_EQ(frames[1].positions[0], 1.125);
  EXPECT_EQ(frames[1].value("perms"), nullptr);
}

TEST(MoleculeNpz, OneAtomHasAnEnergyAndNoColumnOfIt) {
  const std::vector<NamedArray> arrays{{"z", array_of(std::vector<uint8_t>{2}, {1})},
                                       {"R", array_of(Reals{0, 0, 0, 1, 1, 1}, {2, 1, 3})},
                                       {"E", array_of(Reals{-2, -3}, {2, 1})}};
  const auto bytes = npz_bytes(arrays);
  MoleculeNpzReader reader(bytes, "x.npz", 1 << 20);
  const auto frames = frames_of(reader);
  EXPECT_EQ(real(frames.at(1), "energy"), -3);
  EXPECT_TRUE(frames[1].columns.empty());
}

/// With three atoms the shapes (2, 3) and (2, 3, 3) do not tell what belongs to atoms.
TEST(MoleculeNpz, NamesTellWhatIsOfThreeAtoms) {
  const auto of = [](const Integers& shape) {
    size_t count = 1;
    for (const int64_t n : shape) {
      count *= static_cast<size_t>(n);
    }
    Reals values(count);
    for (size_t i = 0; i < count; ++i) {
      values[i] = static_cast<double>(i);
    }
    return array_of(values, shape);
  };
  for (const int64_t n : {2, 3}) {
    std::vector<NamedArray> arrays{{"z", array_of(std::vector<uint8_t>(static_cast<size_t>(n), 1), {n})},
                                   {"R", of({2, n, 3})}};
    const Integers vector{2, 3}, tensor{2, 3, 3};
    for (const char* name : {"dipoles", "Dipole_moment", "D"}) {
      arrays.push_back({name, of(vector)});
    }
    for (const char* name : {"stress", "virials", "polarizability", "cells"}) {
      arrays.push_back({name, of(tensor)});
    }
    arrays.push_back({"charges", of({2, n})});
    arrays.push_back({"velocities", of({2, n, 3})});
    arrays.push_back({"atomic_dipoles", of({2, n, 3})});
    const auto bytes = npz_bytes(arrays);
    MoleculeNpzReader reader(bytes, "x.npz", 1 << 20);
    const auto frame = frames_of(reader).at(1);
    for (const char* name : {"dipoles", "Dipole_moment", "D"}) {
      ASSERT_NE(frame.value(name), nullptr) << name << " of " << n;
      EXPECT_EQ(frame.value(name)->shape, Integers{3}) << name;
      EXPECT_EQ(std::get<Reals>(frame.value(name)->values), (Reals{3, 4, 5})) << name;
    }
    for (const char* name : {"stress", "virials", "polarizability", "cells"}) {
      ASSERT_NE(frame.value(name), nullptr) << name << " of " << n;
      EXPECT_EQ(frame.value(name)->shape, (Integers{3, 3})) << name;
    }
    for (const auto& [name, width] : {std::pair{"charges", 1}, {"velocities", 3}, {"atomic_dipoles", 3}}) {
      ASSERT_NE(frame.column(name), nullptr) << name << " of " << n;
      EXPECT_EQ(frame.column(name)->width, width) << name;
    }
  }
}

TEST(MoleculeNpz, WrittenAndRead) {
  const Folder folder;
  const auto frames = read(fixtures + "npz/rmd17.npz");
  Rmd17Writer writer(folder / "a.npz", {});
  for (const auto& frame : frames) {
    writer.write(frame);
  }
  AtomsFrame other = frames[0];
  other.numbers[0] = 16;
  EXPECT_NE(message_of<DataError>([&] {
              writer.write(other);
            }).find("frame 5: an .npz of this kind holds one molecule"),
            std::string::npos);
  other = frames[0];
  other.columns.clear();
  EXPECT_NE(message_of<DataError>([&] { writer.write(other); }).find("three columns of numbers 'forces'"),
            std::string::npos);
  other = frames[0];
  other.values.clear();
  EXPECT_NE(message_of<DataError>([&] { writer.write(other); }).find("must have the number 'energy'"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npz"));
  writer.commit();
  const auto again = read(folder / "a.npz");
  ASSERT_EQ(again.size(), 4);
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(again[t].numbers, frames[t].numbers);
    EXPECT_EQ(again[t].positions, frames[t].positions);
    EXPECT_EQ(real(again[t], "energy"), real(frames[t], "energy"));
    EXPECT_EQ(*again[t].column("forces"), *frames[t].column("forces"));
  }
}

TEST(Deepmd, SetsFollowOneAnother) {
  const auto frames = read(fixtures + "deepmd");
  ASSERT_EQ(frames.size(), 4);
  const auto rmd17 = read(fixtures + "npz/rmd17.npz");
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(frames[t].numbers, (std::vector{8, 1, 1}));
    EXPECT_EQ(frames[t].positions, rmd17[t].positions);
    EXPECT_EQ(real(frames[t], "energy"), real(rmd17[t], "energy"));
    EXPECT_EQ(*frames[t].column("forces"), *rmd17[t].column("forces"));
    EXPECT_EQ(frames[t].cell, (std::array<double, 9>{10, 0, 0, 1, 11, 0, 0, 2, 12}));
    EXPECT_EQ(frames[t].pbc, (std::array{true, true, true}));
    EXPECT_EQ(frames[t].value("virial")->shape, Integers{9});
  }
  EXPECT_EQ(std::get<Reals>(frames[2].column("atom_ener")->values), (Reals{6, 7, 8}));
  EXPECT_EQ(std::get<Reals>(frames[3].column("atom_ener")->values), (Reals{0, 1, 2}));
  EXPECT_EQ(open_frames(fixtures + "deepmd")->unit_of("virial"), "eV");
}

const std::string reports = WEYL_SOURCE_DIR "/tests/fixtures/reports/";

TEST(Deepmd, MixedTypesAreThoseOfEachFrame) {
  const auto frames = read(reports + "14_D5_mixed");
  ASSERT_EQ(frames.size(), 20);
  for (size_t t = 0; t < 10; ++t) {
    EXPECT_EQ(frames[t].numbers, (std::vector{8, 1, 1})) << t;  // real_atom_types 1 0 0 of the map H O C
  }
  EXPECT_EQ(frames[10].numbers, (std::vector{1, 8, 1}));
  EXPECT_EQ(frames[10].value("real_atom_types"), nullptr);
}

TEST(Deepmd, TypesWithoutAMapAreNamedByTheReadersCaller) {
  const std::string path = reports + "14_D4_no_type_map";
  EXPECT_EQ(
      message_of<DataError>([&] { read(path); }),
      path +
          "/type_map.raw: is missing, it says which element a type is; write it, a symbol a line, or name "
          "the types in their order by data.molecules.elements of a config");
  const auto first = [&](const std::string& from, const std::vector<std::string>& symbols) {
    const auto reader = open_frames(from);
    reader->name_types(symbols);
    AtomsFrame frame;
    EXPECT_TRUE(reader->next(frame));
    return frame.numbers;
  };
  EXPECT_EQ(first(path, {"H", "O"}), (std::vector{8, 1, 1}));
  EXPECT_EQ(first(path, {"C", "N", "O"}), (std::vector{7, 6, 6}));
  EXPECT_EQ(message_of<DataError>([&] { first(path, {"H"}); }),
            path + "/type.raw: a type must be one of the 1 of data.molecules.elements, from 0, got 1");
  EXPECT_NE(message_of<DataError>([&] { first(path, {"X", "H", "He"}); }).find("is missing"),
            std::string::npos);
  EXPECT_EQ(first(fixtures + "deepmd", {"C", "N"}), (std::vector{8, 1, 1}));  // which has a map
  const Folder folder;                                                        // of systems: each is named
  std::filesystem::copy(path, folder / "a", std::filesystem::copy_options::recursive);
  EXPECT_EQ(first(folder.path(), {"H", "O"}), (std::vector{8, 1, 1}));
}

/// A system of one atom and two frames, which a test may spoil.
struct System {
  Folder folder;
  System() {
    std::filesystem::create_directories(folder / "set.000");
    write("type.raw", "0\n");
    write("type_map.raw", "C\n");
    write_npy(folder / "set.000/coord.npy", array_of(Reals{0, 0, 0, 1, 1, 1}, {2, 3}));
    write_npy(folder / "set.000/box.npy",
              array_of(Reals{5, 0, 0, 0, 5, 0, 0, 0, 5, 5, 0, 0, 0, 5, 0, 0, 0, 5}, {2, 9}));
  }
  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(folder / name) << contents;
  }
  std::string fault() const {
    return message_of<DataError>([&] { read(folder.path()); });
  }
};

TEST(Deepmd, DeuteriumIsHydrogenWithItsMass) {
  const System system;
  system.write("type_map.raw", "D\n");
  const auto frames = read(system.folder.path());
  EXPECT_EQ(frames.at(0).numbers, std::vector{1});
  EXPECT_EQ(std::get<Integers>(frames[0].column("isotopes")->values), Integers{2});
}

TEST(Deepmd, BrokenFoldersAreRefusedByFile) {
  const auto expect = [](auto spoil, const std::string& what) {
    const System system;
    spoil(system);
    const std::string fault = system.fault();
    EXPECT_TRUE(fault.starts_with(system.folder.path())) << fault;
    EXPECT_NE(fault.find(what), std::string::npos) << "should say: " << what << "\n  says: " << fault;
  };
  const auto npy = [](const System& s, const char* name, Reals values, std::vector<int64_t> shape) {
    write_npy(s.folder / ("set.000/" + std::string(name)), array_of(values, std::move(shape)));
  };
  EXPECT_EQ(System().fault(), "");
  expect([](const System& s) { std::filesystem::remove(s.folder / "type_map.raw"); },
         "type_map.raw: is missing");
  expect([](const System& s) { s.write("type_map.raw", "C\nOw\n"); },
         "type_map.raw: line 2: unknown element 'Ow'");
  expect([](const System& s) { s.write("type.raw", "1\n"); },
         "type.raw: line 1: a type must be one of the 1 of type_map.raw, from 0, got '1'");
  expect([](const System& s) { s.write("type.raw", "-1\n"); }, "got '-1'");
  expect([](const System& s) { s.write("type.raw", "0.5\n"); }, "got '0.5'");
  expect([](const System& s) { s.write("type.raw", "0 0\n"); },
         "coord.npy: must be numbers of shape [2, 6], got F64 of [2, 3]");
  expect([](const System& s) { std::filesystem::remove_all(s.folder / "set.000"); },
         "must have a set of frames");
  expect([](const System& s) { std::filesystem::remove(s.folder / "set.000/coord.npy"); },
         "coord.npy: is missing");
  expect([](const System& s) { std::filesystem::remove(s.folder / "set.000/box.npy"); },
         "set.000: must have box.npy, or the system a file nopbc");
  expect([&](const System& s) { npy(s, "coord.npy", {0, 0, 0, 1, NAN, 1}, {2, 3}); },
         "coord.npy: row 2: must be finite");
  expect([&](const System& s) { npy(s, "coord.npy", {}, {0, 3}); },
         "coord.npy: must have a row for each frame, got [0, 3]");
  expect([&](const System& s) { npy(s, "force.npy", {0, 0, 0, 1}, {2, 2}); },
         "force.npy: must be numbers of shape [2, 3], got F64 of [2, 2]");
  expect([&](const System& s) { npy(s, "energy.npy", {1, 2, 3}, {3}); },
         "energy.npy: must have 2 rows as coord.npy, got [3]");
  expect([&](const System& s) { npy(s, "box.npy", Reals(18, 1), {2, 9}); },
         "box.npy: row 1: the lattice vectors must be linearly independent");
  expect([&](const System& s) { npy(s, "real_atom_types.npy", {0, 0}, {2, 1}); },
         "real_atom_types.npy: must be integers, got type F64");
  const auto mixed = [](const System& s, const Integers& types, std::vector<int64_t> shape) {
    const auto bytes = std::as_bytes(std::span(types));
    write_npy(s.folder / "set.000/real_atom_types.npy",
              Array{ElementType::i64, std::move(shape), {bytes.begin(), bytes.end()}});
  };
  expect([&](const System& s) { mixed(s, {0, 1}, {2, 1}); },
         "real_atom_types.npy: row 2: a type must be one of the 1 of type_map.raw, from 0, got 1");
  expect([&](const System& s) { mixed(s, {0, -1}, {2, 1}); },
         "from 0, got -1 (a virtual atom, which is not read)");
  expect([&](const System& s) { mixed(s, {0, 0}, {1, 2}); },
         "real_atom_types.npy: must be numbers of shape [2, 1], got I64 of [1, 2]");
  expect([](const System& s) { s.write("set.000/energy.npy", "no array"); }, "energy.npy: must begin with");
  const System free;
  std::filesystem::remove(free.folder / "set.000/box.npy");
  free.write("nopbc", "");
  EXPECT_FALSE(read(free.folder.path()).at(1).cell);
}

TEST(OpenFrames, AnyFormatByNameAndContent) {
  for (const char* name :
       {"ase.xyz", "ase.xyz.gz", "qm9", "qm9.tar", "deepmd", "v2000.sdf", "npz/md17.npz"}) {
    EXPECT_TRUE(holds_frames(fixtures + name)) << name;
    EXPECT_FALSE(read(fixtures + name).empty()) << name;
  }
  EXPECT_TRUE(dynamic_cast<Qm9Reader*>(open_frames(fixtures + "qm9/dsgdb9nsd_000001.xyz").get()) != nullptr);
  const Folder folder;
  EXPECT_FALSE(holds_frames(folder.path()));
  EXPECT_FALSE(holds_frames(WEYL_SOURCE_DIR "/tests/fixtures/numpy/stored.npz"));
  EXPECT_FALSE(holds_frames("a.safetensors"));
  EXPECT_NE(message_of<DataError>([&] { open_frames(folder.path()); }).find("holds none"), std::string::npos);
  EXPECT_NE(message_of<DataError>([&] { open_frames(folder / "a.pdb"); }).find("must be .xyz, .extxyz, .sdf"),
            std::string::npos);
  EXPECT_NE(message_of<DataError>([&] { open_frames(folder / "a.xyz"); }).find("cannot open"),
            std::string::npos);
  EXPECT_NE(message_of<DataError>([&] { open_frames(folder / "a.tar"); }).find("cannot open"),
            std::string::npos);
  // A folder of several formats, in the order of the names.
  std::filesystem::copy_file(fixtures + "v2000.sdf", folder / "b.sdf");
  std::filesystem::copy_file(fixtures + "ase.xyz.gz", folder / "a.xyz.gz");
  std::filesystem::copy(fixtures + "deepmd", folder / "c", std::filesystem::copy_options::recursive);
  std::ofstream(folder / ".hidden.xyz") << "no frame";
  const auto all = read(folder.path());
  ASSERT_EQ(all.size(), 8);
  EXPECT_EQ(words(all[0], "config_type"), "water");
  EXPECT_EQ(words(all[2], "name"), "ammonium formate");
  EXPECT_TRUE(all[7].cell);
}

}  // namespace molecule_files_test
}  // namespace weyl

// Databases of ASE in LMDB: pages, rows, folders and broken files; tools/goldens/ase_lmdb_fixtures.py wrote the files with
// ase-db-backends and lmdb.
#include "weyl/data/atoms/ase_lmdb.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/data/atoms/lmdb_files.h"
#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "tests/data/refusals.h"
#include "weyl/data/atoms/ase_row.h"

namespace weyl {
namespace ase_lmdb_test {

const std::string databases = fixtures + "lmdb/";

void write(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

std::string text_of(const LmdbFile::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Lmdb, FindsEveryKeyOfTreesOfAnyDepth) {
  const Folder folder;
  for (const size_t page_size : {512, 4096, 32768}) {
    for (const int count : {0, 1, 3, 40, 700}) {
      std::map<std::string, std::string> entries;
      for (int i = 0; i < count; ++i) {  // keys and values of all sizes, some on pages of their own
        entries[std::to_string(i) + std::string(static_cast<size_t>(i % 29), 'k')] =
            std::string(static_cast<size_t>(i % 7 == 3 ? 40 * i : i % 50), static_cast<char>('a' + i % 26));
      }
      const LmdbPages pages(entries, page_size);
      write(folder / "a.lmdb", pages.file());
      const LmdbFile file(folder / "a.lmdb");
      EXPECT_EQ(file.entries(), entries.size());
      for (const auto& [key, value] : entries) {
        const auto found = file.find(key, 1 << 20);
        ASSERT_TRUE(found.has_value()) << key << " of " << count << ", depth " << pages.depth();
        EXPECT_EQ(text_of(*found), value) << key;
        EXPECT_FALSE(file.find(key + " ", 1 << 20)) << key;
        if (!value.empty()) {
          EXPECT_NE(
              message_of<DataError>([&] { file.find(key, value.size() - 1); }).find("must have at most"),
              std::string::npos);
        }
      }
      EXPECT_FALSE(file.find("", 1));
      EXPECT_FALSE(file.find("~", 1));
      const auto first = file.first(4);
      ASSERT_EQ(first.has_value(), count > 0);
      if (first) {
        EXPECT_EQ(first->key, entries.begin()->first);
        EXPECT_EQ(text_of(first->value), entries.begin()->second.substr(0, 4));
      }
      if (count == 700) {
        EXPECT_EQ(pages.depth(), page_size == 512 ? 3 : 2);
      }
    }
  }
}

TEST(Lmdb, TheNewerSoundMetaPageCounts) {
  const Folder folder;
  const std::string path = folder / "a.lmdb", sound = LmdbPages({{"a", "1"}}, 4096).file();
  const auto entries = [&](const std::string& contents) {
    write(path, contents);
    return LmdbFile(path).entries();
  };
  EXPECT_EQ(entries(sound), 1u);
  std::string torn = sound;
  torn.replace(0, 4096, std::string(4096, '\7'));
  EXPECT_EQ(entries(torn), 1u);  // the first is torn
  torn = sound;
  torn.replace(4096 + 16, 4, "torn");
  EXPECT_EQ(entries(torn), 0u);  // the second, so that the table is as before it
}

TEST(Lmdb, EveryCutAndEveryFlippedByteIsRefusedOrHarmless) {
  const Folder folder;
  const std::string path = folder / "a.aselmdb", sound = LmdbPages(ase_rows(30), 512).file();
  const auto reads = [&](const std::string& contents) {
    write(path, contents);
    return message_of<DataError>([&] { read(path); });
  };
  EXPECT_EQ(reads(sound), "");
  for (size_t size = 0; size < sound.size(); size += 101) {
    const std::string fault = reads(sound.substr(0, size));
    EXPECT_TRUE(fault.starts_with(path + ": ")) << size;
  }
  for (size_t at = 0; at < sound.size(); at += 7) {
    std::string changed = sound;
    changed[at] = static_cast<char>(~changed[at]);
    const std::string fault = reads(changed);
    EXPECT_TRUE(fault.empty() || fault.starts_with(path + ": ")) << at << ": " << fault;
  }
}

TEST(AseLmdb, RowsAreFrames) {
  const auto frames = read(databases + "ase.aselmdb");
  ASSERT_EQ(frames.size(), 3);
  const AtomsFrame& water = frames[0];
  EXPECT_EQ(water.numbers, (std::vector{8, 1, 1}));
  EXPECT_EQ(water.positions, (Reals{0, 0, 0, 0.76, 0.59, 0, -0.76, 0.59, 0}));
  EXPECT_FALSE(water.cell);
  EXPECT_EQ(real(water, "energy"), -2080.123456789);
  EXPECT_EQ(*water.column("forces"),
            (AtomColumn{"forces", 3, Reals{0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1}}));
  EXPECT_EQ(*water.column("charges"), (AtomColumn{"charges", 1, Reals{-0.6, 0.3, 0.3}}));
  EXPECT_EQ(*water.column("initial_charges"), (AtomColumn{"initial_charges", 1, Reals{-0.8, 0.4, 0.4}}));
  EXPECT_EQ(*water.column("tags"), (AtomColumn{"tags", 1, Integers{0, 1, 2}}));
  EXPECT_EQ(*water.value("dipole"), (FrameValue{"dipole", {3}, Reals{0, 0.5, 0}}));
  // key_value_pairs
  EXPECT_EQ(words(water, "config_type"), "water");
  EXPECT_EQ(*water.value("converged_steps"), (FrameValue{"converged_steps", {}, Integers{7}}));
  EXPECT_EQ(*water.value("ok"), (FrameValue{"ok", {}, std::vector<uint8_t>{1}}));
  EXPECT_EQ(real(water, "score"), 0.125);
  // data
  EXPECT_EQ(real(water, "charge"), -1);
  EXPECT_EQ(real(water, "spin"), 2);
  EXPECT_EQ(words(water, "source"), "a/b \u00e9");
  EXPECT_EQ(*water.column("mulliken_charges"), (AtomColumn{"mulliken_charges", 1, Reals{-0.5, 0.25, 0.25}}));
  EXPECT_EQ(*water.column("lowdin_spins"), (AtomColumn{"lowdin_spins", 1, Reals{1, 0.5, 0.5}}));
  EXPECT_EQ(*water.value("homo_energy"), (FrameValue{"homo_energy", {2}, Reals{-7.5, -7.25}}));
  EXPECT_TRUE(std::isnan(real(water, "nl_energy")));
  EXPECT_EQ(real(water, "nested.steps"), 12);
  EXPECT_EQ(*water.value("nested.matrix"), (FrameValue{"nested.matrix", {2, 3}, Integers{0, 1, 2, 3, 4, 5}}));
  for (const char* name : {"warnings", "complex", "nothing", "unique_id", "ctime", "user", "calculator"}) {
    EXPECT_EQ(water.value(name), nullptr) << name;
  }
  const AtomsFrame& slab = frames[1];
  EXPECT_EQ(slab.cell, (std::array<double, 9>{3, 0, 0, 0, 3, 0, 0.5, 0, 20}));
  EXPECT_EQ(slab.pbc, (std::array{true, true, false}));
  EXPECT_EQ(*slab.value("stress"), (FrameValue{"stress", {6}, Reals{1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(frames[2].positions[2], 1);  // row 3 was deleted
}

TEST(AseLmdb, SaysPlacesAndUnits) {
  AseLmdbReader reader(databases + "ase.aselmdb");
  AtomsFrame frame;
  while (reader.next(frame)) {
  }
  EXPECT_TRUE(reader.where().ends_with("ase.aselmdb: frame 3, id 4")) << reader.where();
  EXPECT_EQ(reader.unit_of("pos"), "Angstrom");
  EXPECT_EQ(reader.stated_unit_of("energy"), "eV");
  EXPECT_EQ(reader.unit_of("forces"), "eV/Angstrom");
  EXPECT_EQ(reader.unit_of("stress"), "eV/Angstrom^3");
  EXPECT_EQ(reader.unit_of("charge"), "");
}

TEST(AseLmdb, BranchesAndLongValues) {
  const auto frames = read(databases + "deep.aselmdb");
  ASSERT_EQ(frames.size(), 100);
  for (size_t i = 0; i < 99; ++i) {
    EXPECT_EQ(frames[i].numbers, std::vector{static_cast<int>(i) + 2});
    EXPECT_EQ(frames[i].positions[0], static_cast<double>(i) + 1);
  }
  EXPECT_EQ(frames[99].size(), 300);  // packed, still more than a page
  EXPECT_EQ(frames[99].positions[0], 0.345584192064786);
}

TEST(AseLmdb, GoesToAnyFramePastDeletedIds) {
  const Folder folder;
  const std::string path = folder / "a.aselmdb";
  auto rows = ase_rows(20, "[1, 20, 7, 8, 9, 7, 99]");
  for (const char* id : {"1", "7", "8", "9", "20"}) {
    rows.erase(id);
  }
  write(path, LmdbPages(rows, 4096).file());
  const auto frames = read(path);
  ASSERT_EQ(frames.size(), 15);
  AseLmdbReader reader(path);
  for (int64_t i = 14; i >= 0; --i) {
    AtomsFrame frame;
    reader.go_to({static_cast<uint64_t>(i)});
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame, frames[static_cast<size_t>(i)]);
    const int64_t id = i < 5 ? i + 2 : i + 5;
    EXPECT_EQ(frame.positions[0], static_cast<double>(id));
    EXPECT_TRUE(reader.where().ends_with(text("frame ", i + 1, ", id ", id))) << reader.where();
  }
}

TEST(AseLmdb, FoldersAreReadInTheOrderOfNamesAndFromAnyFrame) {
  EXPECT_TRUE(holds_frames(databases + "folder"));
  const auto frames = read(databases + "folder");
  ASSERT_EQ(frames.size(), 5);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(frames[i].positions[2], 0.5 * static_cast<double>(i));
  }
  const auto reader = open_frames(databases + "folder");
  AtomsFrame frame;
  std::vector<FramePlace> places;
  for (auto place = reader->place(); reader->next(frame); place = reader->place()) {
    places.push_back(place.value());
  }
  ASSERT_EQ(places.size(), 5);
  places.push_back(reader->place().value());
  for (const size_t i : {4, 3, 0, 2, 3, 1}) {
    reader->go_to(places[i]);
    for (size_t next = i; next < 5; ++next) {
      ASSERT_TRUE(reader->next(frame));
      EXPECT_EQ(frame, frames[next]) << i;
    }
    EXPECT_FALSE(reader->next(frame));
  }
  reader->go_to(places[5]);
  EXPECT_FALSE(reader->next(frame));
}

TEST(AseLmdb, BrokenFilesAreRefusedInOneLine) {
  const std::string json = "frame 2, id 2: must be JSON packed by zlib, is ";
  expect_refusals(
      "lmdb",
      {
          {"big_endian", "must be LMDB's of a 64-bit little-endian machine, is of a big-endian one"},
          {"branch_for_leaf", "page 2: must be a leaf, is of kind 1"},
          {"child_beyond", "page 281474976710655: must be one of 2 .. 8"},
          {"corrupt_row", "frame 2, id 2: the zlib stream is corrupt (invalid block type)"},
          {"cut_deep", "page 4: lies behind the end of the file, which is cut short at 16384 bytes"},
          {"cut_meta", "must be an LMDB data file of two pages or more, has 100 bytes"},
          {"cut_pages", "page 2: lies behind the end of the file, which is cut short at 8192 bytes"},
          {"cut_row", "frame 2, id 2: the zlib stream is truncated"},
          {"cycle", "page 4: must be a leaf, is of kind 1"},
          {"deleted_words", "'deleted_ids' must be a list of integers"},
          {"duplicates", "keys must be in the order of their bytes, with one value each"},
          {"element_119", "frame 2, id 2: an atomic number must be 0 .. 118, got 119"},
          {"empty", "must be an LMDB data file of two pages or more, has 0 bytes"},
          {"entry_beyond", "page 2: entry 1 must begin in bytes 3958 to 4096, begins at 4095"},
          {"free_space", "page 2: its free space must lie inside of its 4096 bytes, got 22 to 5000"},
          {"gzip_row", json + "packed by gzip"},
          {"key_beyond", "page 2: entry 0: its key of 5000 bytes must end inside of the page"},
          {"long_nowhere", "page 2: key '1': its value of 1 pages from page "},
          {"missing_row", "frame 2, id 2: the row is missing, 'deleted_ids' does not name it"},
          {"nextid_huge",
           "must hold 4611686018427387903 rows by its 'nextid' and 'deleted_ids', its table has 3"},
          {"nextid_words", "'nextid' must be a positive integer"},
          {"no_entries", "page 2: must have at least 1 entries, has 0"},
          {"no_json", "frame 2, id 2: must be valid JSON, byte 14: a comma or an end is missing"},
          {"no_nextid",
           "with the key 'nextid'; has 2 entries, the value of the first, '1', is packed by zlib"},
          {"no_rows", "must hold at least one row, holds none"},
          {"not_its_number", "page 2: must say its own number, says 77"},
          {"nothing", "must hold at least one row, holds none"},
          {"of_32_bit", "must be LMDB's of a 64-bit little-endian machine, is of a 32-bit one"},
          {"page_size", "its pages must have 512, 1024, ... or 32768 bytes, says 3000"},
          {"pickled", "'0', is pickled Python, which is not read because it can run programs"},
          {"pickled_row", json + "pickled Python, which is not read because it can run programs"},
          {"plain_row", json + "of another kind"},
          {"root_beyond", "page 1099511627776: must be one of 2 .. 2"},
          {"root_is_meta", "page 1: must be one of 2 .. 2"},
          {"sub_page", "page 2: key '1': has a sub-page of several values, which is not read"},
          {"sub_table",
           "page 2: key '1': is a table inside of the table (a named database), which is not read"},
          {"too_deep",
           "its table must be at most 32 pages deep, and have a root unless it is empty, says 33"},
          {"value_beyond", "page 2: key '1': its value of 5000 bytes must end inside of the page"},
          {"version", "must be an LMDB data file of version 1, is of version 2"},
          {"words", "must be an LMDB data file, does not begin as one"},
      },
      [](const std::string& path) { read(path); });
}

/// A small file of a value that unpacks into more than a row may have is refused before it takes the memory.
TEST(AseLmdb, RowsThatUnpackWithoutEndAreRefused) {
  const Folder folder;
  auto rows = ase_rows(1);
  rows["1"] = zlib_packed(std::string((size_t{1} << 28U) + 1, ' '));
  ASSERT_LT(rows["1"].size(), size_t{1} << 19U);
  write(folder / "a.aselmdb", LmdbPages(rows, 4096).file());
  EXPECT_NE(
      message_of<DataError>([&] { read(folder / "a.aselmdb"); }).find("must have at most 268435456 bytes"),
      std::string::npos);
}

}  // namespace ase_lmdb_test
}  // namespace weyl

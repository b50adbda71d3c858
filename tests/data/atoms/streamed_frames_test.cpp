// Frames that are read when they are asked for are those that are kept in memory.
#include "weyl/data/atoms/molecules.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tests/data/atoms/lmdb_files.h"
#include "tests/data/molecules.h"
#include "weyl/carriers/loader.h"
#include "weyl/data/atoms/frame_index.h"
#include "weyl/data/open.h"

namespace weyl {
namespace streamed_frames_test {

namespace fs = std::filesystem;

/// Frames of `least` to five atoms, some of them periodic, of three kinds and, but for one, with an energy.
std::string frames(int64_t count, int64_t without_energy = -1, int64_t least = 1) {
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = std::max(least, 1 + (i * 7) % 5);
    all += text(n, "\nProperties=species:S:1:pos:R:3:forces:R:3 charge=", i % 4);
    all += i == without_energy ? "" : text(" energy=", -0.5 * static_cast<double>(i));
    all += i % 3 == 0 ? text(" config_type=kind", i % 2) : "";
    all += i % 6 == 5 ? " Lattice=\"4 0 0 1 4 0 0 0 4\" virial=\"1 0 0 0 2 0 0 0 3\"" : "";
    all += "\n";
    for (int64_t a = 0; a < n; ++a) {
      all += text(a % 2 == 0 ? "O " : "H ", 2 * a, " ", i, " 0.25 1 ", a, " ", i, "\n");
    }
  }
  return all;
}

void expect_same(const Batch& a, const Batch& b) {
  const Points &p = points_of(a), &q = points_of(b);
  EXPECT_EQ(p.graphs.offsets, q.graphs.offsets);
  EXPECT_TRUE(at::equal(p.positions, q.positions));
  EXPECT_TRUE(at::equal(p.types, q.types));
  ASSERT_EQ(p.cell.defined(), q.cell.defined());
  if (p.cell.defined()) {
    EXPECT_TRUE(at::equal(p.cell, q.cell));
    EXPECT_TRUE(at::equal(p.pbc, q.pbc));
  }
  ASSERT_EQ(p.of_graphs.size(), q.of_graphs.size());
  for (const auto& [name, values] : p.of_graphs) {
    EXPECT_TRUE(at::equal(values, q.of_graphs.at(name))) << name;
  }
  ASSERT_EQ(a.labels.size(), b.labels.size());
  for (const auto& [name, values] : a.labels) {
    EXPECT_TRUE(at::equal(values.nan_to_num(-77), b.labels.at(name).nan_to_num(-77))) << name;
  }
}

void expect_same(const Schema& a, const Schema& b) {
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.unread, b.unread);
  EXPECT_EQ(a.left_out, b.left_out);
  EXPECT_EQ(a.atom_energies, b.atom_energies);
  EXPECT_EQ(a.warnings, b.warnings);
  EXPECT_EQ(a.category_names, b.category_names);
  EXPECT_EQ(a.interface.typical_nodes, b.interface.typical_nodes);
  EXPECT_EQ(a.interface.elements, b.interface.elements);
}

class Streamed : public Molecules {
 protected:
  static std::shared_ptr<const Dataset> on_disk(const std::string& path, const MoleculesDataOptions& o = {}) {
    auto data = open_frames_file(path, layout_of({o}), FrameCollector::Labels::needed, Keep::on_disk);
    EXPECT_NE(dynamic_cast<const StreamedFrames*>(data.get()), nullptr);
    return data;
  }
};

TEST_F(Streamed, AreTheFramesInMemory) {
  MoleculesDataOptions o;
  o.features = {"charge"};
  for (const std::string& path : {file("all.xyz", frames(41)), file("one-without.xyz", frames(41, 30))}) {
    const auto kept = whole(path, o), streamed = on_disk(path, o);
    ASSERT_EQ(streamed->size(), 41);
    expect_same(streamed->schema(), kept->schema());
    for (int64_t i = 0; i < 41; ++i) {
      EXPECT_EQ(streamed->tokens(i), kept->tokens(i));
    }
    expect_same(all_of(*streamed), all_of(*kept));
    // Forwards in parts and with gaps, backwards, twice, from the middle, none.
    for (const std::vector<int64_t>& which : std::vector<std::vector<int64_t>>{
             {0, 1, 2}, {3, 4}, {9, 20, 40}, {7, 3, 3, 0}, {40}, {}, {12, 13, 2, 5}}) {
      expect_same(streamed->batch(which), kept->batch(which));
    }
    EXPECT_THROW(streamed->batch(std::vector<int64_t>{41}), ShapeError);
    EXPECT_THROW(streamed->tokens(-1), ShapeError);
    expect_same(streamed->batch(std::vector<int64_t>{1}), kept->batch(std::vector<int64_t>{1}));
    Loader one(kept, {.batch = 4, .batch_tokens = 9, .shuffle = false}, 0),
        other(streamed, {.batch = 4, .batch_tokens = 9, .shuffle = false}, 0);
    one.start(0);
    other.start(0);
    while (const auto batch = one.next()) {
      const auto found = other.next();
      ASSERT_TRUE(found.has_value());
      expect_same(*found, *batch);
    }
    EXPECT_FALSE(other.next().has_value());
  }
}

/// Of formats that can go to any frame, with frames left out too.
TEST_F(Streamed, AnyOrderOfADatabase) {
  const std::string path = WEYL_SOURCE_DIR "/tests/fixtures/molecules/lmdb/folder";
  MoleculesDataOptions o;
  o.features = {"charge", "spin"};
  const auto kept = whole(path, o), streamed = on_disk(path, o);
  ASSERT_EQ(streamed->size(), 5);
  expect_same(streamed->schema(), kept->schema());
  for (const std::vector<int64_t>& which :
       std::vector<std::vector<int64_t>>{{4}, {0}, {3, 1, 4, 1}, {2, 3, 4}, {}}) {
    expect_same(streamed->batch(which), kept->batch(which));
  }
  const StreamedFrames some(
      path, [path] { return open_frames(path); }, layout_of({o}), FrameCollector::Labels::needed,
      [](const AtomsFrame& frame) {
        return frame.positions[2] != 0.5 && frame.positions[2] != 1.5;  // without the second and the fourth
      });
  ASSERT_EQ(some.size(), 3);
  expect_same(some.batch(std::vector<int64_t>{2, 0, 1}), kept->batch(std::vector<int64_t>{4, 0, 2}));
}

/// Of texts too, unless they are packed; of one file or several.
TEST_F(Streamed, AnyOrderOfTexts) {
  const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";
  MoleculesDataOptions o;
  o.features = {"charge"};
  const auto all = file("all.xyz", frames(41));
  std::filesystem::create_directories(folder + "/several");
  file("several/a.xyz", frames(7));
  file("several/b.xyz", frames(9));
  for (const auto& [path, in_any_order] :
       {std::pair{all, true}, {folder + "/several", true}, {fixtures + "ase.xyz.gz", false}}) {
    EXPECT_EQ(open_frames(path)->place().has_value(), in_any_order) << path;
  }
  for (const std::string& path : {all, folder + "/several"}) {
    const auto kept = whole(path, o), streamed = on_disk(path, o);
    for (const std::vector<int64_t>& which :
         std::vector<std::vector<int64_t>>{{15}, {0}, {3, 1, 4, 1}, {9, 8, 7, 6, 5}, {2, 3, 14}, {}}) {
      expect_same(streamed->batch(which), kept->batch(which));
    }
  }
  for (const char* name : {"v2000.sdf", "v3000.sdf", "gdb9/gdb9.sdf", "qm9"}) {
    MoleculesDataOptions any;
    any.energy = "none";
    const auto read = [&](Keep keep) {
      return open_frames_file(fixtures + name, layout_of({any}), FrameCollector::Labels::found, keep);
    };
    const auto kept = read(Keep::in_memory), streamed = read(Keep::on_disk);
    const int64_t last = kept->size() - 1;
    for (const std::vector<int64_t>& which :
         std::vector<std::vector<int64_t>>{{last}, {0, last}, {last, 0}, {last / 2}}) {
      expect_same(streamed->batch(which), kept->batch(which));
    }
  }
}

TEST_F(Streamed, SplitsAreThoseInMemory) {
  MoleculesDataOptions o;
  o.path = file("all.xyz", frames(30));
  const Splits kept = open_splits({o}), streamed = open_splits({o}, nullptr, Keep::on_disk);
  expect_same(streamed.train->schema(), kept.train->schema());
  expect_same(all_of(*streamed.test), all_of(*kept.test));
  expect_same(all_of(*streamed.valid), all_of(*kept.valid));
  expect_same(all_of(*streamed.train), all_of(*kept.train));
}

TEST_F(Streamed, RefuseWhatFramesInMemoryRefuse) {
  MoleculesDataOptions o;
  o.energy = "Etot";
  const auto path = file("a.xyz", frames(5));
  EXPECT_THROW(on_disk(path, o), DataError);
  o = {};
  o.elements = {"O"};
  EXPECT_THROW(on_disk(path, o), DataError);
  const auto shrinks = file("b.xyz", frames(9));
  const auto data = on_disk(shrinks);
  file("b.xyz", frames(4));
  EXPECT_EQ(data->batch(std::vector<int64_t>{2}).count(), 1);
  try {
    data->batch(std::vector<int64_t>{7});
    ADD_FAILURE() << "must be refused";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("must not change while it is read, but sample 8"),
              std::string::npos)
        << error.what();
  }
}

/// A database of ASE with as many rows of one to five atoms, energies and forces, in which a row may differ.
std::string database(int64_t rows, int64_t other = -1, const std::string& row = "") {
  std::map<std::string, std::string> entries{{"nextid", zlib_packed(std::to_string(rows + 1))}};
  for (int64_t id = 1; id <= rows; ++id) {
    std::string numbers, positions, forces;
    for (int64_t a = 0; a < 1 + (id * 7) % 5; ++a) {
      numbers += text(a > 0 ? ", " : "", a % 2 == 0 ? 8 : 1);
      positions += text(a > 0 ? ", " : "", "[", 2 * a, ".0, ", id, ".0, 0.25]");
      forces += text(a > 0 ? ", " : "", "[1.0, ", a, ".5, ", id % 17, ".0]");
    }
    entries[std::to_string(id)] =
        zlib_packed(id == other ? row
                                : text("{\"numbers\": [", numbers, "], \"positions\": [", positions,
                                       "], \"energy\": ", -0.5 * static_cast<double>(id), ", \"forces\": [",
                                       forces, "]}"));
  }
  return LmdbPages(entries, 4096).file();
}

/// A folder of its own for what is kept, whatever the user's is.
class Indexed : public Streamed {
 protected:
  void SetUp() override {
    Streamed::SetUp();
    ::setenv("XDG_CACHE_HOME", (folder + "/cache").c_str(), 1);
    o.stream = true;
    o.path = file("all.xyz", frames(12000, -1, 2));  // no atom alone, which opening reads
    ASSERT_GT(fs::file_size(o.path), StreamedFrames::least_bytes_indexed);
  }
  void TearDown() override {
    ::unsetenv("XDG_CACHE_HOME");
    Streamed::TearDown();
  }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder + "/.weyl")) {
      if (entry.path().extension() == ".safetensors") {
        files.push_back(entry.path());
      }
    }
    return files;
  }
  /// Changes some bytes of the file, between those that its state looks at, and leaves its time.
  void change_what_nobody_looks_at() const {
    const auto time = fs::last_write_time(o.path);
    std::fstream all(o.path, std::ios::in | std::ios::out);
    all.seekp(static_cast<std::streamoff>(fs::file_size(o.path)) * 5 /
              126);  // between the third and the fourth part
    all << std::string(1000, '?');
    all.close();
    fs::last_write_time(o.path, time);
  }
  static void expect_same(const Splits& a, const Splits& b) {
    for (const auto& [x, y] : {std::pair{a.train, b.train}, {a.valid, b.valid}, {a.test, b.test}}) {
      streamed_frames_test::expect_same(x->schema(), y->schema());
      streamed_frames_test::expect_same(all_of(*x), all_of(*y));
    }
  }

  MoleculesDataOptions o;
};

TEST_F(Indexed, AreThoseThatWereRead) {
  o.features = {"charge"};
  o.states = {};
  const Splits first = open_splits({o});
  EXPECT_EQ(first.train->notes(), std::vector<std::string>());
  ASSERT_EQ(kept().size(), 1U);
  const auto time = fs::last_write_time(kept()[0]);
  const Splits second = open_splits({o});
  EXPECT_EQ(fs::last_write_time(kept()[0]), time);  // it was not made again
  expect_same(first, second);
  MoleculesDataOptions in_memory = o;
  in_memory.stream = false;
  expect_same(second, open_splits({in_memory}));
  o.fractions = {0.5, 0.3, 0.2};  // other splits of what is known
  expect_same(open_splits({o}), [&] {
    in_memory.fractions = o.fractions;
    return open_splits({in_memory});
  }());
  EXPECT_EQ(kept().size(), 1U);
}

TEST_F(Indexed, NothingIsReadAgain) {
  o.order = SplitOrder::file;
  open_splits({o});
  change_what_nobody_looks_at();
  const Splits splits = open_splits({o});  // what is not read is not refused
  EXPECT_THROW(all_of(*splits.train), DataError);
  fs::remove_all(folder + "/.weyl");
  EXPECT_THROW(open_splits({o}), DataError);
}

TEST_F(Indexed, ChangedFilesAreReadAnew) {
  o.energy = "energy";
  open_splits({o});
  std::string other = frames(12000, -1, 2);
  other.replace(other.find("energy=-2500"), 12, "energy=-2599");  // of the same size
  const auto time = fs::last_write_time(o.path);
  file("all.xyz", other);
  fs::last_write_time(o.path, time + std::chrono::seconds(1));
  const Splits again = open_splits({o});
  ASSERT_EQ(again.train->notes().size(), 1U);
  EXPECT_NE(again.train->notes()[0].find(
                "made of other files, before they changed or by another version; all samples are read again"),
            std::string::npos)
      << again.train->notes()[0];
  EXPECT_EQ(open_splits({o}).train->notes(), std::vector<std::string>());
  EXPECT_EQ(kept().size(), 1U);  // in place of the other
  file("all.xyz", frames(11990, -1, 2));
  EXPECT_EQ(open_splits({o}).train->size(), 9592);
  EXPECT_EQ(kept().size(), 1U);
}

TEST_F(Indexed, OtherOptionsAreReadAnew) {
  open_splits({o});
  MoleculesDataOptions other = o;
  other.energy_unit = "kcal/mol";
  other.features = {"charge"};
  const auto kcal = open_splits({other}).train, ev = open_splits({o}).train;
  EXPECT_EQ(kept().size(), 2U);
  EXPECT_FALSE(at::equal(all_of(*kcal).labels.at("energy"), all_of(*ev).labels.at("energy")));
  EXPECT_EQ(kcal->schema().interface.features.size(), 1U);
  EXPECT_EQ(ev->schema().interface.features.size(), 0U);
}

TEST_F(Indexed, WhatIsPlantedIsRefusedOrDoesNoHarm) {
  const Splits first = open_splits({o});
  const fs::path path = kept().at(0);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (const size_t cut : {size_t{0}, size_t{7}, size_t{500}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, cut);
    const Splits again = open_splits({o});
    ASSERT_EQ(again.train->notes().size(), 1U) << cut;
    EXPECT_NE(again.train->notes()[0].find("made anew"), std::string::npos);
  }
  // The right key and checksums, and sizes and places that are none of these frames.
  const auto key = SafetensorsFile(path.string()).header().metadata;
  FrameIndex index = read_index(SafetensorsFile(path.string()), {});
  for (size_t i = 0; i < index.places.size(); i += 2) {
    index.places[i] = {~uint64_t{0} - i, i};
    index.sizes[i + 1] += 1;
  }
  ASSERT_EQ(write_index(PreparedFile(path.string(), key.at("prepared_of")), index), "");
  const Splits wrong = open_splits({o});
  int64_t refused = 0;
  for (int64_t i = 0; i < 200; ++i) {
    try {
      const Batch batch = wrong.train->batch(std::vector{i});
      streamed_frames_test::expect_same(batch, first.train->batch(std::vector{i}));
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 190);
}

TEST_F(Indexed, NothingIsKeptWhereNothingCanBeWritten) {
  std::ofstream(folder + "/.weyl") << "in the way";  // root writes into any folder
  std::ofstream(folder + "/cache") << "in the way";
  for (int i = 0; i < 2; ++i) {
    const auto notes = open_splits({o}).train->notes();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find("what is known of its 12000 samples cannot be kept"), std::string::npos)
        << notes[0];
    EXPECT_NE(notes[0].find("/.weyl: must be a folder"), std::string::npos) << notes[0];
  }
}

/// Of a folder the files with frames count, and nothing else that lies there.
TEST_F(Indexed, OtherFilesOfAFolderChangeNothing) {
  fs::create_directories(folder + "/several/runs/a");
  fs::rename(o.path, folder + "/several/a.xyz");
  file("several/b.xyz", frames(41, -1, 2));
  o.path = folder + "/several";
  open_splits({o});
  const auto time = fs::last_write_time(kept().at(0));
  file("several/runs/a/log.txt", "a run");
  file("several/notes.md", "a note");
  EXPECT_EQ(open_splits({o}).train->notes(), std::vector<std::string>());
  EXPECT_EQ(fs::last_write_time(kept().at(0)), time);
  file("several/c.xyz", frames(9, -1, 2));
  EXPECT_EQ(open_splits({o}).train->notes().size(), 1U);
  EXPECT_NE(fs::last_write_time(kept().at(0)), time);
}

/// In folders of a format, too, behind links, and of nothing else.
TEST_F(Indexed, FilesAreThoseThatAreRead) {
  const std::string all = folder + "/all", system = all + "/system", elsewhere = folder + "/elsewhere";
  for (const std::string& of : {system, elsewhere}) {
    fs::create_directories(of + "/set.000");
    fs::create_directories(of + "/runs/a");
    for (const char* name : {"type.raw", "set.000/coord.npy", "runs/a/log.txt"}) {
      std::ofstream(of + "/" + name) << "0";
    }
  }
  fs::create_directory_symlink(elsewhere, all + "/linked");
  fs::create_directories(all + "/runs/a");
  for (const char* name : {"a.xyz", "notes.md", "runs/a/b.xyz", ".hidden.xyz", "a.xyz.1-1.tmp"}) {
    std::ofstream(all + "/" + name) << "0";
  }
  EXPECT_EQ(
      files_of_frames(all),
      (std::vector<std::string>{all + "/a.xyz", all + "/linked/set.000/coord.npy", all + "/linked/type.raw",
                                all + "/system/set.000/coord.npy", all + "/system/type.raw"}));
  EXPECT_EQ(files_of_frames(all + "/a.xyz"), std::vector<std::string>{all + "/a.xyz"});
}

/// What can only be read from its beginning is read once, whatever threads there are.
TEST_F(Indexed, PackedTextIsReadOnceMore) {
  const int before = at::get_num_threads();
  at::set_num_threads(4);
  const std::string path = WEYL_SOURCE_DIR "/tests/fixtures/molecules/ase.xyz.gz";
  std::atomic<int> opened = 0;
  MoleculesDataOptions any;
  any.energy = "none";
  const StreamedFrames data(
      path,
      [&] {
        ++opened;
        return open_frames(path);
      },
      layout_of({any}), FrameCollector::Labels::found);
  ASSERT_FALSE(data.reads_anywhere());
  opened = 0;
  int64_t samples = 0;
  for_each_chunk(data, 1, [&](const Batch& batch) { samples += batch.count(); });
  EXPECT_EQ(samples, data.size());
  EXPECT_EQ(opened, 1);
  at::set_num_threads(before);
}

TEST_F(Indexed, SmallFilesAreNot) {
  o.path = file("small.xyz", frames(100));
  open_splits({o});
  EXPECT_FALSE(fs::exists(folder + "/.weyl"));
}

/// Of a database parts are read by several threads.
TEST_F(Indexed, PartsTogetherAreTheWhole) {
  const int before = at::get_num_threads();
  const std::string path = file("rows.aselmdb", database(1600));
  ASSERT_GT(open_frames(path)->cuts().size(), 3U);
  fs::create_directory(folder + "/several");
  file("several/a.aselmdb", database(30));
  file("several/b.xyz", frames(41));
  file("several/c.aselmdb", database(700));
  ASSERT_EQ(open_frames(folder + "/several")->cuts().size(), 2U);
  for (const std::string& all : {path, folder + "/several"}) {
    const auto kept = whole(all);
    for (const int threads : {1, 2, 3}) {
      at::set_num_threads(threads);
      const auto streamed = on_disk(all);
      streamed_frames_test::expect_same(streamed->schema(), kept->schema());
      streamed_frames_test::expect_same(all_of(*streamed), all_of(*kept));
      streamed_frames_test::expect_same(streamed->batch(std::vector<int64_t>{700, 29, 30, 0}),
                                        kept->batch(std::vector<int64_t>{700, 29, 30, 0}));
    }
  }
  at::set_num_threads(before);
}

/// A key that comes before another in the usual order, and later in the file: the first frame decides, as in memory.
TEST_F(Indexed, PartsOfOtherKeysAreReadAsTheFirst) {
  fs::create_directory(folder + "/keys");
  const auto named = [](std::string all, const std::string& key) {
    for (size_t at = all.find(" energy="); at != std::string::npos; at = all.find(" energy=", at + 8)) {
      all.replace(at, 8, " " + key + "=");
    }
    return all;
  };
  file("keys/a.xyz", named(frames(9), "REF_energy"));
  file("keys/b.xyz", frames(5));
  file("keys/c.xyz", named(frames(7), "REF_energy"));
  const auto kept = whole(folder + "/keys"), streamed = on_disk(folder + "/keys");
  streamed_frames_test::expect_same(streamed->schema(), kept->schema());
  streamed_frames_test::expect_same(all_of(*streamed), all_of(*kept));
}

/// The frame that is at fault first is named, whichever part is read first.
TEST_F(Indexed, PartsNameTheFirstFault) {
  std::string fault;
  const std::string broken = "{\"numbers\": [119], \"positions\": [[0.0, 0.0, 0.0]]}";
  const std::string path = file("broken.aselmdb", database(1600, 900, broken));
  for (int i = 0; i < 3; ++i) {
    const std::string found = [&] {
      try {
        on_disk(path);
      } catch (const DataError& error) {
        return std::string(error.what());
      }
      return std::string("(accepted)");
    }();
    EXPECT_TRUE(fault.empty() || found == fault);
    fault = found;
  }
  EXPECT_EQ(fault, refusal(path));
  EXPECT_NE(fault.find("id 900"), std::string::npos) << fault;
}

/// Each thread has a reader of its own, and the batches are the same.
TEST_F(Indexed, SeveralThreadsReadTheSame) {
  const std::string packed =
      WEYL_SOURCE_DIR "/tests/fixtures/molecules/ase.xyz.gz";  // read from the beginning alone
  for (const std::string& path :
       {file("rows.aselmdb", database(600)), file("few.xyz", frames(300)), packed}) {
    MoleculesDataOptions any;
    any.energy = path == packed ? "none" : "";
    const auto labels = path == packed ? FrameCollector::Labels::found : FrameCollector::Labels::needed;
    const auto data = open_frames_file(path, layout_of({any}), labels, Keep::on_disk);
    Loader one(data, {.batch = 7, .ahead = 0}, 5);
    for (const int64_t threads : {2, 3}) {
      Loader several(data, {.batch = 7, .ahead = 2, .threads = threads}, 5);
      one.start(1);
      several.start(1);
      while (const auto batch = one.next()) {
        const auto other = several.next();
        ASSERT_TRUE(other.has_value());
        streamed_frames_test::expect_same(*batch, *other);
      }
      EXPECT_FALSE(several.next());
    }
  }
}

#ifdef __GLIBC__
size_t in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_F(Streamed, TakeNoMemoryForTheFile) {
  const auto path = file("large.xyz", frames(20000));
  const size_t before = in_use();
  const auto streamed = on_disk(path);
  const int64_t first = 0;
  streamed->batch({&first, 1});
  const size_t on_disk = in_use() - before;
  const auto kept = whole(path);
  if (in_use() - before - on_disk < (size_t{4} << 20)) {
    GTEST_SKIP() << "this allocator does not tell what is in use";
  }
  EXPECT_LT(on_disk, size_t{20000} * 8 * 2 + (size_t{1} << 20));
}
#endif

}  // namespace streamed_frames_test
}  // namespace weyl

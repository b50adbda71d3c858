// Frames that are read when they are asked for are those that are kept in memory.
#include "weyl/data/atoms/molecules.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tests/data/molecules.h"
#include "weyl/carriers/loader.h"
#include "weyl/data/open.h"

namespace weyl {
namespace streamed_frames_test {

/// Frames of one to five atoms, some of them periodic, of three kinds and, but for one, with an energy.
std::string frames(int64_t count, int64_t without_energy = -1) {
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = 1 + (i * 7) % 5;
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

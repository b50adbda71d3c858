// Files of every form that ASE, dpdata, nibabel, trimesh, evo and RDKit write, and what their own readers say of them
// (tools/goldens/peer_files.py). WEYL_PEER_FILES names a folder with more of them than the fixtures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/ply.h"
#include "weyl/data/clouds/point_text.h"
#include "weyl/data/poses/pose_file.h"
#include "weyl/data/volumes/nifti.h"

namespace weyl {
namespace peer_files_test {

using Reals = std::vector<double>;

constexpr double kFloat = 2e-7;  // of float32, in which headers of volumes are and trimesh keeps PLY

/// All numbers of nested arrays, in their order.
void add_numbers(const Json& from, Reals& to) {
  if (from.items().empty()) {
    to.push_back(from.number_or(NAN));
  }
  for (const Json& item : from.items()) {
    add_numbers(item, to);
  }
}

Reals numbers_of(const Json& from, const char* key) {
  Reals numbers;
  if (const Json* found = from.find(key); found != nullptr && !found->items().empty()) {
    add_numbers(*found, numbers);
  } else if (found != nullptr && !std::isnan(found->number_or(NAN))) {
    numbers.push_back(found->number_or(NAN));
  }
  return numbers;
}

/// `within` is relative to the largest number.
void expect_near(const Reals& found, const Reals& wanted, double within, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  double largest = 0;
  for (const double x : wanted) {
    largest = std::max(largest, std::abs(x));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(found[i], wanted[i], within * largest) << what << ", number " << i;
  }
}

/// The numbers, or the texts, of a column or value.
void expect_values(const FrameValues& found, const Json& wanted, const std::string& what) {
  const auto& items = wanted.items();
  const bool texts = wanted.is_string() || (!items.empty() && items[0].is_string());
  if (texts) {
    const auto* words = std::get_if<std::vector<std::string>>(&found);
    ASSERT_NE(words, nullptr) << what << " must be texts";
    ASSERT_EQ(words->size(), items.empty() ? 1 : items.size()) << what;
    for (size_t i = 0; i < words->size(); ++i) {
      EXPECT_EQ((*words)[i], (items.empty() ? wanted : items[i]).string_or("")) << what;
    }
    return;
  }
  Reals numbers;
  add_numbers(wanted, numbers);
  const auto* logicals = std::get_if<std::vector<uint8_t>>(&found);
  const auto reals = logicals != nullptr ? Reals(logicals->begin(), logicals->end()) : reals_of(found);
  ASSERT_TRUE(reals.has_value()) << what << " must be numbers";
  expect_near(*reals, numbers, 0, what);
}

void expect_value(const AtomsFrame& frame, const Json& wanted, const std::string& name,
                  const std::string& what) {
  const FrameValue* found = frame.value(name);
  ASSERT_NE(found, nullptr) << what << " has no value " << name;
  expect_values(found->values, wanted, what + ": " + name);
}

void expect_column(const AtomsFrame& frame, const Json& wanted, const std::string& name,
                   const std::string& what) {
  const AtomColumn* found = frame.column(name);
  Reals numbers;
  add_numbers(wanted, numbers);
  if (found == nullptr && std::ranges::all_of(numbers, [](double x) { return x == 0; })) {
    return;  // isotopes of no atom
  }
  ASSERT_NE(found, nullptr) << what << " has no column " << name;
  expect_values(found->values, wanted, what + ": " + name);
}

void expect_frame(const AtomsFrame& frame, const Json& wanted, const std::string& what) {
  expect_near({frame.numbers.begin(), frame.numbers.end()}, numbers_of(wanted, "numbers"), 0,
              what + ": numbers");
  expect_near(frame.positions, numbers_of(wanted, "positions"), 0, what + ": positions");
  expect_near({frame.pbc.begin(), frame.pbc.end()}, numbers_of(wanted, "pbc"), 0, what + ": pbc");
  const Reals cell = frame.cell ? Reals(frame.cell->begin(), frame.cell->end()) : Reals();
  expect_near(cell, numbers_of(wanted, "cell"), 0, what + ": cell");
  for (const char* name : {"energy", "stress"}) {
    if (const Json* value = wanted.find(name)) {
      expect_value(frame, *value, name, what);
    }
  }
  if (const Json* name = wanted.find("name"); name != nullptr && !name->string_or("").empty()) {
    expect_value(frame, *name, "name", what);
  }
  if (const Json* forces = wanted.find("forces")) {
    expect_column(frame, *forces, "forces", what);
  }
  if (const Json* values = wanted.find("values")) {
    for (const auto& [name, value] : values->members()) {
      expect_value(frame, value, name, what);
    }
  }
  if (const Json* columns = wanted.find("columns")) {
    for (const auto& [name, column] : columns->members()) {
      expect_column(frame, column, name, what);
    }
  }
  Reals bonds;
  for (const Bond& b : frame.bonds) {
    bonds.insert(bonds.end(),
                 {static_cast<double>(b.first), static_cast<double>(b.second), static_cast<double>(b.order)});
  }
  expect_near(bonds, numbers_of(wanted, "bonds"), 0, what + ": bonds");
}

void expect_frames(const std::string& path, const Json& wanted) {
  const auto reader = open_frames(path);
  const auto& frames = wanted.find("frames")->items();
  size_t count = 0;
  for (AtomsFrame frame; reader->next(frame); ++count) {
    ASSERT_LT(count, frames.size());
    expect_frame(frame, frames[count], "frame " + std::to_string(count));
  }
  EXPECT_EQ(count, frames.size());
}

void expect_volume(const std::string& path, const Json& wanted) {
  const Nifti found = read_nifti(path);
  expect_near({found.header.shape.begin(), found.header.shape.end()}, numbers_of(wanted, "shape"), 0,
              "shape");
  const auto affine = affine_of(found.header);
  Reals rows(affine.begin(), affine.end());
  Reals wanted_rows = numbers_of(wanted, "affine");
  wanted_rows.resize(12);
  expect_near(rows, wanted_rows, kFloat, "affine");
  EXPECT_EQ(axis_codes(affine), wanted.find("codes")->string_or(""));
  const auto spacing = spacing_of(found.header);
  expect_near({spacing.begin(), spacing.end()}, numbers_of(wanted, "spacing"), kFloat, "spacing");
  const auto values = values_of(found);
  expect_near({values.begin(), values.end()}, numbers_of(wanted, "values"), kFloat, "values");
}

void expect_mesh(const std::string& path, const Json& wanted) {
  const Mesh mesh = read_mesh(path);
  Reals corners;
  for (const int64_t row : mesh.triangles) {
    for (int64_t d = 0; d < 3; ++d) {
      corners.push_back(mesh.vertices[3 * row + d]);
    }
  }
  expect_near(corners, numbers_of(wanted, "corners"), kFloat, "corners");
  const std::set<int64_t> objects(mesh.objects.begin(), mesh.objects.end());
  EXPECT_EQ(std::max<size_t>(objects.size(), 1), wanted.find("objects")->number_or(0)) << "objects";
}

void expect_cloud(const std::string& path, const Json& wanted) {
  const PointTable table = path.ends_with(".ply") ? read_ply(path) : read_point_text(path);
  Reals places;
  for (int64_t row = 0; row < table.rows; ++row) {
    for (const char* axis : {"x", "y", "z"}) {
      places.push_back(table.values[row * table.columns() + table.find(axis)]);
    }
  }
  expect_near(places, numbers_of(wanted, "points"), kFloat, "points");
}

void expect_poses(const std::string& path, const Json& wanted) {
  const PoseTrajectory found = read_poses(path);
  expect_near(found.matrices, numbers_of(wanted, "matrices"), 1e-12, "matrices");
  expect_near(found.times, numbers_of(wanted, "times"), 1e-12, "times");
}

TEST(PeerFiles, AreReadAsTheirOwnReadersReadThem) {
  const char* other = std::getenv("WEYL_PEER_FILES");
  const std::string folder = other != nullptr ? other : WEYL_SOURCE_DIR "/tests/fixtures/peers";
  const Json expected = Json::parse(contents_of(folder + "/expected.json"), folder);
  EXPECT_GE(expected.members().size(), 20u);
  for (const auto& [name, wanted] : expected.members()) {
    SCOPED_TRACE(name);
    const std::string path = folder + "/" + name, kind = wanted.find("kind")->string_or("");
    try {
      kind == "frames"   ? expect_frames(path, wanted)
      : kind == "volume" ? expect_volume(path, wanted)
      : kind == "mesh"   ? expect_mesh(path, wanted)
      : kind == "cloud"  ? expect_cloud(path, wanted)
                         : expect_poses(path, wanted);
    } catch (const Error& error) {
      ADD_FAILURE() << "refused: " << error.what();
    }
  }
}

}  // namespace peer_files_test
}  // namespace weyl

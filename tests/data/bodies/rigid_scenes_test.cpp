// The files of rigid bodies: written and read, read in parts, and what is refused (tools/goldens/broken_bodies.py).
#include "weyl/data/bodies/rigid_scenes.h"

#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/data/refusals.h"
#include "weyl/core/check.h"

namespace weyl {
namespace rigid_scenes_test {

const std::string fixture = WEYL_SOURCE_DIR "/tests/fixtures/rigid/tetrahedra.safetensors";

TEST(RigidScenes, AreReadAsTheyWereWritten) {
  const RigidScenesFile file(fixture);
  ASSERT_EQ(file.scenes(), 2);
  EXPECT_EQ(file.frames(), 3);
  EXPECT_EQ(file.interval(), 0.02083);
  ASSERT_EQ(file.shapes().size(), 1);
  EXPECT_EQ(file.shapes()[0].name, "tetrahedron");
  EXPECT_EQ(file.shapes()[0].mesh.triangle_count(), 4);
  const RigidScene second = file.scene(1);
  ASSERT_EQ(second.objects.size(), 2);
  EXPECT_EQ(second.objects[1], (RigidObject{0, 0.5, 1, 0.8, 0.7}));
  EXPECT_EQ(second.contacts, (std::vector<uint8_t>{0, 0, 0, 0, 3, 2}));
  EXPECT_FLOAT_EQ(second.poses[(1 * 3 + 2) * 7 + 1], 2);     // body 2 of all stands at y = 2
  EXPECT_FLOAT_EQ(second.poses[(1 * 3 + 2) * 7 + 2], 1.8F);  // in frame 2
  EXPECT_THROW(file.scene(2), ShapeError);

  RigidScenes copy{.frames = 3, .interval = file.interval(), .shapes = file.shapes()};
  copy.add(file.scene(0));
  copy.add(second);
  const Folder folder;
  write_rigid_scenes(folder / "copy.safetensors", copy, {{"seed", "7"}});
  const RigidScenesFile again(folder / "copy.safetensors");
  EXPECT_EQ(again.shapes(), file.shapes());
  EXPECT_EQ(again.offsets(), file.offsets());
  EXPECT_EQ(again.interval(), file.interval());
  EXPECT_EQ(again.metadata().at("seed"), "7");
  EXPECT_EQ(again.scene(0), file.scene(0));
  EXPECT_EQ(again.scene(1), second);
}

// Parts of a tensor are what the whole has there, at the ends of blocks too, and a damaged block is seen by whoever reads it.
TEST(RigidScenes, PartsOfTensorsAreReadWithTheirChecksums) {
  std::vector<int64_t> numbers(300'000);  // 2.4 MB: three blocks
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<int64_t>(i) * 7;
  }
  const Folder folder;
  const std::string path = folder / "numbers.safetensors";
  const TensorBytes tensor{"x", ElementType::i64, {300'000}, std::as_bytes(std::span(numbers))};
  write_safetensors(path, {&tensor, 1});
  const SafetensorsFile file(path);
  for (const auto& [first, count] : {std::pair<size_t, size_t>{0, 5},
                                     {131'070, 4},
                                     {131'072, 131'072},
                                     {100'000, 180'000},
                                     {299'999, 1},
                                     {300'000, 0}}) {
    std::vector<int64_t> part(count);
    file.read_part("x", 8 * first, std::as_writable_bytes(std::span(part)));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), numbers.begin() + static_cast<int64_t>(first))) << first;
  }
  std::vector<std::byte> beyond(9);
  EXPECT_THROW(file.read_part("x", 8 * 299'999, beyond), ShapeError);
  {
    std::FILE* damaged = std::fopen(path.c_str(), "r+b");
    std::fseek(damaged, -1, SEEK_END);  // in the third block
    std::fputc(1, damaged);
    std::fclose(damaged);
  }
  const SafetensorsFile changed(path);
  std::vector<std::byte> part(8);
  EXPECT_NO_THROW(changed.read_part("x", 0, part));
  EXPECT_NE(
      message_of<DataError>([&] { changed.read_part("x", 8 * 290'000, part); }).find("the file is damaged"),
      std::string::npos);
}

TEST(RigidScenes, AreRefusedWithOneLine) {
  expect_refusals(
      "rigid",
      {
          {"cut", "data"},
          {"another_format", "is not a weyl.rigid_bodies file (its metadata has another format)"},
          {"another_version", "format_version must be 1, got '2'"},
          {"no_interval", "the metadata must hold 'frame_interval'"},
          {"interval_zero", "frame_interval must be a positive number, got '0'"},
          {"two_names", "must be of the 2 shapes that shape_names has, are of 1 and 1"},
          {"no_poses", "no tensor 'poses'"},
          {"poses_of_six", "poses must be F32 of shape [3, frames, 7], is F32 of shape [3, 3, 6]"},
          {"poses_of_doubles", "is F64 of shape [3, 3, 7]"},
          {"nan_pose", "scene 0: poses must be finite, object 0 is not in frame 1"},
          {"long_quaternion", "scene 0: quaternions must have norm 1, that of object 0 in frame 0 has 1.2"},
          {"scene_without_objects", "scene_offsets must ascend, 1 comes before 1 (none may be empty)"},
          {"offsets_from_one", "scene_offsets must begin with 0"},
          {"offsets_beyond", "shapes must be I64 of shape [4]"},
          {"no_offsets", "scene_offsets must begin with 0"},
          {"corner_beyond", "shape 'tetrahedron': corners must be vertices 0 .. 3, got 4"},
          {"negative_corner", "shape 'tetrahedron': corners must be vertices 0 .. 3, got -1"},
          {"nan_vertex", "shape_vertices must be finite, number 5 is not"},
          {"flat_triangle", "shape 'tetrahedron': triangle 0 must have an area"},
          {"shape_without_faces", "shape_triangle_offsets must ascend, 0 comes before 0 (none may be empty)"},
          {"shape_beyond", "shapes must be of 0 .. 0, object 1 has 1"},
          {"scale_zero", "scales and masses must be positive, object 0 has 0 and 1"},
          {"mass_nan", "masses must be finite, number 2 is not"},
          {"contacts_four", "contacts must be 0 .. 3, object 1 has another"},
          {"contacts_of_four_frames", "contacts must be U8 of shape [3, 3]"},
      },
      [](const std::string& path) {
        const RigidScenesFile file(path);
        for (int64_t i = 0; i < file.scenes(); ++i) {
          file.scene(i);
        }
      });
}

}  // namespace rigid_scenes_test
}  // namespace weyl

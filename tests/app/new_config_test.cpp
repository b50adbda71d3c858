// `weyl config new` on particles, poses, clouds and tensors, and what it refuses: what it writes is checked, and trains for
// a step.
#include <gtest/gtest.h>

#include "tests/app/atoms.h"
#include "tests/app/new_config.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace new_config_test {

TEST(NewConfig, OfPointCloudsOfOnesOwn) {
  const std::string folder = scratch("new-config-clouds");
  for (int i = 0; i < 10; ++i) {
    const std::string s = std::to_string(i), name = "/" + s + ".txt";
    put(folder + "/shapes/ball" + name, "x y z\n1 0 0\n0 1 0\n-1 0 0.1" + s + "\n0 -1 0\n");
    put(folder + "/shapes/rod" + name, "x y z\n0 0 1\n0 0 2\n0 0.1" + s + " 3\n0 0 4\n");
  }
  const std::string config = trained(folder, "shapes");
  has(config, "set = \"clouds\"");
  has(config, "classes = 2");
  has(config, "points = 4");
  has(config, "names = [\"ball\", \"rod\"]");
  has(config, "train_fraction = 0.8");
  has(config, "augment = \"rotations\"");
  has(config, "nothing in the data says which way is up");
  EXPECT_EQ(weyl_program("config new --data shapes --system steerable", folder).code, 2);
  has(trained(folder, "shapes --system transformer"), "augment = \"rotations\"");
  has_not(trained(folder, "shapes --system gatr"), "augment");  // exact under them
  const std::string counted = trained(folder, fixtures + "reports/18_class_folders_with_counts");
  has(counted, "classes = 2");
  has(counted, "points = 50");
}

/// SemanticKITTI's sequences, which lie beside trajectories.
TEST(NewConfig, OfScansInSequencesLearnsTheirLabels) {
  const std::string folder = scratch("new-config-scans");
  for (const char* sequence : {"00", "08"}) {
    const std::string place = folder + "/kitti/sequences/" + sequence;
    fs::create_directories(place);
    fs::copy(fixtures + "clouds/sequence", place, fs::copy_options::recursive);
    put(place + "/poses.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n");
  }
  const std::string config = trained(folder, "kitti --system transformer");
  for (const char* line : {"set = \"clouds\"", "point_label = \"label\"", "point_classes = 248"}) {
    has(config, line);
  }
  has_not(config, "class_input");
  has_not(config, "train_fraction");  // 08 is the validation set
}

// The places of bare clouds hardly change what GATr says: where there are normals its config has them.
TEST(NewConfig, OfSurfacesHasNormalsForGatr) {
  const std::string folder = scratch("new-config-normals");
  ASSERT_EQ(weyl_program("data make solids --out meshes format=off train=20 test=10", folder).code, 0);
  has(trained(folder, "meshes --system gatr"), "normals = true");
  has_not(trained(folder, "meshes --system platonic"), "normals");
  for (const char* kind : {"ball", "rod"}) {
    for (int file = 0; file < 10; ++file) {
      std::string cloud = "x y z nx ny nz\n";
      for (int point = 0; point < 6; ++point) {
        cloud += std::to_string(point) + " " + std::to_string(point * point % 5) + " " +
                 std::to_string(file) + (*kind == 'b' ? " 0 1 0\n" : " 0 0 1\n");
      }
      put(folder + "/clouds/" + kind + "/" + std::to_string(file) + ".txt", cloud);
    }
  }
  has(trained(folder, "clouds --system gatr"), "features = [{ key = \"normal\", kind = \"normal\" }]");
}

// Where there are none it has the moments of their neighbours, which other systems may do without.
TEST(NewConfig, OfBareCloudsHasMomentsForGatr) {
  const std::string folder = scratch("new-config-moments");
  for (const char* kind : {"ball", "rod"}) {
    for (int file = 0; file < 10; ++file) {
      std::string cloud = "x y z\n";
      for (int point = 0; point < 12; ++point) {
        cloud += std::to_string(point) + " " + std::to_string(point * point % 5) + " " +
                 std::to_string(*kind == 'b' ? file : 7 * point % 11) + "\n";
      }
      put(folder + "/clouds/" + kind + "/" + std::to_string(file) + ".txt", cloud);
    }
  }
  const std::string config = trained(folder, "clouds --system gatr");
  has(config, "neighbours = 8");
  has(config, "neighbours_as = \"moments\"");
  has_not(trained(folder, "clouds --system platonic"), "moments");
  ASSERT_EQ(weyl_program("data make solids --out solids train=20 test=10", folder).code, 0);
  has(trained(folder, "solids --system gatr"), "neighbours_as = \"moments\"");
  has_not(trained(folder, "solids --system transformer"), "moments");
}

TEST(NewConfig, OfParticles) {
  const std::string folder = scratch("new-config-nbody");
  ASSERT_EQ(weyl_program("data make nbody --out data train=12 valid=4 test=4", folder).code, 0);
  has(trained(folder, "data"), "system = \"platonic\"");
  trained(folder, "data --system geomformer");
  trained(folder, "data --system gatr");
  trained(folder, "data --system transformer");
}

TEST(NewConfig, OfPosesAndTrajectories) {
  const std::string folder = scratch("new-config-poses");
  ASSERT_EQ(
      weyl_program("data make pose_sequences --out made group=se2 train=12 valid=4 test=4", folder).code, 0);
  const std::string config = trained(folder, "made");
  has(config, "group = \"se2\"");
  has(config, "system = \"lie\"");
  has_not(config, "length_scale");
  ASSERT_EQ(
      weyl_program(
          "data make pose_sequences --out far group=se2 step=300 spread=3000 train=12 valid=4 test=4", folder)
          .code,
      0);
  has(trained(folder, "far"), "length_scale = ");
  // A trajectory is cut by its own set: nothing has to be made of it first.
  for (const char* file : {"desk.tum.txt", "hall.euroc.csv", "street.kitti.txt"}) {
    const std::string trajectory = fixtures + "poses/" + file;
    const std::string raw = trained(folder, trajectory);
    has(raw, "set = \"pose_sequences\"");
    has(raw, "group = \"se3\"");
    has(raw, "length = 4");
    const std::string gaps = std::string("gaps-") + file;
    fs::create_directories(folder + "/" + gaps);
    for (const char* split : {"train", "valid"}) {
      ASSERT_EQ(weyl_program("data convert " + trajectory + " " + gaps + "/" + split +
                                 ".safetensors length=4 stride=1 hole=true",
                             folder)
                    .code,
                0)
          << file;
    }
    has(trained(folder, gaps), "group = \"se3\"");
  }
  put(folder + "/short.kitti", "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 1 0 1 0 0 0 0 1 0\n");
  const Outcome few = weyl_program("config new --data short.kitti", folder);
  EXPECT_EQ(few.code, 2) << few.out;
  has(few.err, "must have at least 8 poses");
}

/// The config for the command that a refusal names, typed as it stands there.
std::string led_on(const std::string& folder, const std::string& data) {
  const Outcome refused = weyl_program("config new --data " + data, folder);
  EXPECT_EQ(refused.code, 2) << data << refused.err;
  EXPECT_EQ(refused.out, "");
  const size_t begin = refused.err.find("`weyl config new --data "), end = refused.err.find('`', begin + 1);
  if (begin == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << data << " names no command: " << refused.err;
    return "";
  }
  const std::string call = refused.err.substr(begin + 6, end - begin - 6);
  const Outcome out = weyl_program(call, folder);
  EXPECT_EQ(out.code, 0) << call << "\n" << out.err;
  return out.out;
}

TEST(NewConfig, OfFoldersOfHdf5) {
  const std::string folder = scratch("new-config-hdf5");
  ASSERT_EQ(weyl_program("data make solids --out made train=40 test=10 points=16", folder).code, 0);
  const auto copy = [&](const std::string& from, const std::string& to) {
    fs::create_directories(fs::path(folder + "/" + to).parent_path());
    fs::copy_file(from.starts_with('/') ? from : folder + "/" + from, folder + "/" + to);
  };
  has(trained(folder, "made"), "set = \"modelnet\"");
  has(trained(folder, "made/train0.h5"), "path = \"made\"");  // a file of it stands for the set
  // Under other names they are clouds.
  copy("made/train0.h5", "own/a.h5");
  has(trained(folder, "own/a.h5"), "path = \"own/a.h5\"");
  copy("made/test0.h5", "own/b.h5");
  has(trained(folder, "own"), "set = \"clouds\"");
  copy("made/train0.h5", "parts/train/a.h5");
  copy("made/test0.h5", "parts/test/a.h5");
  has_not(trained(folder, "parts"), "train_fraction");
  for (const std::string place : {"ball/0", "ball/1", "ball/2", "rod/0", "rod/1", "rod/2"}) {
    copy(fixtures + "clouds/one.h5", "classes/" + place + ".h5");
  }
  has(trained(folder, "classes", "data.clouds.train_fraction=0.5 data.clouds.valid_fraction=0.5"),
      "classes = 2");
  for (const char* name : {"", "_turned"}) {
    copy("made/train0.h5", std::string("set/split/training_solids") + name + ".h5");
    copy("made/test0.h5", std::string("set/split/test_solids") + name + ".h5");
  }
  has(led_on(folder, "set/split"), "variant = \"solids\"");
  has(trained(folder, "set/split/test_solids_turned.h5"), "variant = \"solids_turned\"");
  const Outcome above = weyl_program("config new --data set", folder);
  EXPECT_EQ(above.code, 2);
  EXPECT_NE(above.err.find("set/split: holds several sets of HDF5 files"), std::string::npos) << above.err;
  put(folder + "/strange/a.h5", "no HDF5");
  const Outcome strange = weyl_program("config new --data strange", folder);
  EXPECT_EQ(strange.code, 3);
  EXPECT_NE(strange.err.find("is no HDF5 file that can be read"), std::string::npos) << strange.err;
}

TEST(NewConfig, OfFoldersOfTrajectories) {
  const std::string folder = scratch("new-config-trajectories");
  const auto copy = [&](const std::string& from, const std::string& to) {
    fs::create_directories(fs::path(folder + "/" + to).parent_path());
    fs::copy_file(fixtures + "poses/" + from, folder + "/" + to);
  };
  // One sequence, in its publishers' folders and beside its other files.
  copy("desk.tum.txt", "desk/groundtruth.txt");
  put(folder + "/desk/accelerometer.txt", "# timestamp ax ay az\n0.5 0 0 9.8\n0.6 0 0 9.8\n");
  has(trained(folder, "desk"), "path = \"desk/groundtruth.txt\"");
  copy("hall.euroc.csv", "hall/mav0/state_groundtruth_estimate0/data.csv");
  put(folder + "/hall/mav0/imu0/data.csv",
      "#timestamp [ns],a,b,c,d,e,f\n1403636579763555584,0,0,0,9.8,0,0\n");
  has(trained(folder, "hall"), "set = \"pose_sequences\"");
  // Of several one must be said.
  copy("street.kitti.txt", "kitti/poses/00.txt");
  copy("street.kitti.txt", "kitti/poses/01.txt");
  has(led_on(folder, "kitti"), "path = \"kitti/poses/00.txt\"");
  has(led_on(folder, "kitti/poses"), "path = \"kitti/poses/00.txt\"");
  for (const char* name :
       {"all/desk", "all/room"}) {  // not clouds, though the first file of each is columns of numbers
    copy("desk.tum.txt", std::string(name) + "/groundtruth.txt");
    fs::copy_file(folder + "/desk/accelerometer.txt", folder + "/" + name + "/accelerometer.txt");
  }
  has(led_on(folder, "all"), "path = \"all/desk/groundtruth.txt\"");
}

/// What is no data set, and of which no part is: never the advice to give what was given.
TEST(NewConfig, SaysWhatIsMissing) {
  const std::string folder = scratch("new-config-missing");
  const auto copy = [&](const std::string& from, const std::string& to) {
    fs::create_directories(fs::path(folder + "/" + to).parent_path());
    fs::copy_file(fixtures + from, folder + "/" + to);
  };
  copy("images/rgb_8.png", "pictures/a.png");
  copy("volumes/two.nii.gz", "volumes/a.nii.gz");
  copy("shapes/tetrahedron.off", "meshes/a.off");
  for (const auto& [data, words] :
       {std::pair{"pictures", "no folders of .png, .jpg or .bmp images, one for each class"},
        {"pictures/a.png", "a folder for each class"},
        {"volumes", "dataset.json"},
        {"volumes/a.nii.gz", "dataset.json"},
        {"meshes", "a folder for each class"},
        {"meshes/a.off", "a folder of shapes for each class"}}) {
    const Outcome out = weyl_program(std::string("config new --data ") + data, folder);
    EXPECT_NE(out.code, 0);
    EXPECT_NE(out.err.find(words), std::string::npos) << out.err;
    EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1) << out.err;
  }
}

TEST(NewConfig, OfTensorFiles) {
  const std::string folder = scratch("new-config-tensors");
  const auto write = [&](const std::string& set, const std::vector<TensorBytes>& tensors) {
    fs::create_directories(folder + "/" + set);
    for (const char* split : {"train", "valid", "test"}) {
      write_safetensors(folder + "/" + set + "/" + split + ".safetensors", tensors);
    }
  };
  std::vector<float> places, values(8 * 16 * 16), energies{1, 2, 4, 3};
  for (int i = 0; i < 36; ++i) {
    places.push_back(0.37F * static_cast<float>((i * 7) % 11));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 13) / 13;
  }
  const std::vector<int64_t> offsets{0, 3, 6, 9, 12}, classes{0, 1, 2, 1}, eight{0, 1, 0, 1, 1, 0, 0, 1};
  const auto of = [](const char* name, ElementType type, std::vector<int64_t> shape, const auto& numbers) {
    return TensorBytes{name, type, std::move(shape), std::as_bytes(std::span(numbers))};
  };
  const TensorBytes positions = of("positions", ElementType::f32, {12, 3}, places),
                    graphs = of("offsets", ElementType::i64, {5}, offsets);
  write("numbers", {graphs, positions, of("dipole", ElementType::f32, {4, 1}, energies)});
  write("classes", {graphs, of("class", ElementType::i64, {4, 1}, classes), positions});
  const TensorBytes moves = of("displacement", ElementType::f32, {12, 1, 3}, places);
  write("moves", {graphs, positions, moves});
  write("more", {graphs, positions, moves, of("velocity", ElementType::f32, {12, 1, 3}, places)});
  write("images", {of("class", ElementType::i64, {8, 1}, eight),
                   of("values", ElementType::f32, {8, 1, 16, 16}, values)});
  has(trained(folder, "numbers"), "targets = [\"dipole\"]");
  write("nodes", {graphs, positions, of("charge", ElementType::f32, {12, 1}, std::span(places).first(12))});
  has(trained(folder, "nodes"), "targets = [\"charge\"]");
  has(trained(folder, "classes"), "categories = 3");
  const std::string moving = trained(folder, "moves");
  has(moving, "name = \"trajectory\"");
  has_not(moving, "neither learned nor seen");
  has(trained(folder, "more"), "velocity: neither learned nor seen");
  has(trained(folder, "images"), "system = \"steerable\"");
  write("none", {graphs, positions});
  EXPECT_EQ(weyl_program("config new --data none", folder).code, 2);
  const Outcome single = weyl_program("config new --data numbers/train.safetensors", folder);
  EXPECT_EQ(single.code, 2);
  EXPECT_NE(single.err.find("weyl data split"), std::string::npos) << single.err;
}

TEST(NewConfig, GoesToStdoutOrToANewFile) {
  const std::string folder = scratch("new-config-out");
  atoms::write(folder + "/all.xyz", atoms::frames(24, 1));
  const Outcome printed = weyl_program("config new all.xyz", folder);
  EXPECT_EQ(printed.code, 0) << printed.err;
  put(folder + "/old.toml", "mine");
  const Outcome refused = weyl_program("config new --data all.xyz --out old.toml", folder);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(contents(folder + "/old.toml"), "mine");
  EXPECT_EQ(refused.err.find("--force"), std::string::npos) << refused.err;  // there is no such option
  const Json json = Json::parse(weyl_program("config new --data all.xyz --json", folder).out, "stdout");
  EXPECT_EQ(json.find("config")->string_or(""), printed.out);
  EXPECT_EQ(json.find("task")->string_or(""), "force_field");
  EXPECT_EQ(json.find("system")->string_or(""), "geomformer");
}

TEST(NewConfig, RefusesInOneLine) {
  const std::string folder = scratch("new-config-refusals");
  atoms::write(folder + "/all.xyz", atoms::frames(24, 1));
  fs::create_directories(folder + "/empty");
  for (const auto& [arguments, code] : {std::pair{"", 2},
                                        {"--data all.xyz --task classification", 2},
                                        {"--data all.xyz --system lie", 2},
                                        {"--data all.xyz --system nobody", 2},
                                        {"--data nowhere", 3},
                                        {"--data empty", 3}}) {
    const Outcome outcome = weyl_program(std::string("config new ") + arguments, folder);
    EXPECT_EQ(outcome.code, code) << arguments << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace new_config_test
}  // namespace weyl

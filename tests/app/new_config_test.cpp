// `weyl config new` on data of every format that is trained on: what it writes is checked, and trains for a step.
#include <gtest/gtest.h>

#include "tests/app/atoms.h"
#include "tests/app/program.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/formats/image.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";

void put(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string gap_of(int i) {
  return "0." + std::to_string(4100 + 70 * i);
}

/// QM9's first molecule so many times, with other gaps and energies.
void write_methanes(const std::string& place, int count) {
  const std::string methane = contents(fixtures + "molecules/qm9/dsgdb9nsd_000001.xyz");
  for (int i = 0; i < count; ++i) {
    std::string molecule = methane;
    molecule.replace(molecule.find("0.5048"), 6, gap_of(i));
    molecule.replace(molecule.find("-40.47893"), 9, "-40." + std::to_string(47800 + 13 * i));
    put(place + "/dsgdb9nsd_" + std::to_string(100001 + i) + ".xyz", molecule);
  }
}

/// The config for `data` (with more arguments), after `config check` and a step of training with it.
std::string trained(const std::string& folder, const std::string& data, const std::string& overrides = {}) {
  static int count = 0;
  const std::string name = "c" + std::to_string(++count);
  const Outcome made = weyl_program("config new --data " + data + " --out " + name + ".toml --quiet", folder);
  EXPECT_EQ(made.code, 0) << data << "\n" << made.err;
  const std::string config = contents(folder + "/" + name + ".toml");
  const Outcome checked = weyl_program("config check " + name + ".toml", folder);
  EXPECT_EQ(checked.code, 0) << checked.err << config;
  const Outcome run = weyl_program(
      "train " + name + ".toml train.steps=1 " + overrides + " --out " + name + " --json --threads 1",
      folder);
  EXPECT_EQ(run.code, 0) << data << "\n" << run.err << config;
  return config;
}

void has(const std::string& config, const std::string& line) {
  EXPECT_NE(config.find(line), std::string::npos) << line << "\n" << config;
}

void has_not(const std::string& config, const std::string& line) {
  EXPECT_EQ(config.find(line), std::string::npos) << line << "\n" << config;
}

TEST(NewConfig, OfFramesInOneFileNamesTheirKeysElementsAndCutoff) {
  const std::string folder = scratch("new-config-xyz");
  atoms::write(folder + "/all.extxyz", atoms::frames(40, 1));
  const std::string config = trained(folder, "all.extxyz");
  has(config, "set = \"molecules\"");
  has(config, "path = \"all.extxyz\"");
  has(config, "elements = [\"H\", \"O\"]");
  has(config, "energy = \"energy\"");
  has(config, "forces = \"forces\"");
  has(config, "fractions = [0.8, 0.1, 0.1]");
  has(config, "name = \"force_field\"");
  has(config, "preset = \"et\"");
  has(config, "neighbours an atom here");
  has_not(config, "missing");
  has_not(config, "stress");
  has_not(config, "0000001");  // of a number that is not written plainly
}

TEST(NewConfig, OfAFolderWithSplitsOfAllFramesThatLackForces) {
  const std::string folder = scratch("new-config-folder");
  fs::create_directories(folder + "/data");
  auto frames = atoms::frames(24, 1);
  std::erase_if(frames[3].columns, [](const AtomColumn& c) { return c.name == "forces"; });
  atoms::write(folder + "/data/train.xyz", frames);
  atoms::write(folder + "/data/valid.xyz", atoms::frames(4, 2));
  const std::string config = trained(folder, "data");
  has(config, "missing = \"mask\"");
  has(config, "1 of 28 frames lack it");
  has(config, "train 24, valid 4");
  has_not(config, "fractions =");
}

TEST(NewConfig, OfPeriodicFramesIsTorchMdNets) {
  const std::string folder = scratch("new-config-periodic");
  auto frames = atoms::frames(24, 1);
  for (AtomsFrame& frame : frames) {
    frame.cell = {6, 0, 0, 0, 6, 0, 0, 0, 6};
    frame.pbc = {true, true, true};
    frame.set(FrameValue{"stress", {9}, std::vector<double>{.1, 0, 0, 0, .1, 0, 0, 0, .2}});
  }
  atoms::write(folder + "/all.xyz", frames);
  const std::string config = trained(folder, "all.xyz");
  has(config, "system = \"geomformer\"");
  has(config, "preset = \"et\"");
  has(config, "stress = true");
  const Outcome other = weyl_program("config new --data all.xyz --system platonic", folder);
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("\"geomformer\""), std::string::npos) << other.err;
}

TEST(NewConfig, OfFramesWithOtherNumbersIsOfProperties) {
  const std::string folder = scratch("new-config-property");
  auto frames = atoms::frames(24, 1);
  double number = 1;
  for (AtomsFrame& frame : frames) {
    std::erase_if(frame.columns, [](const AtomColumn& c) { return c.name == "forces"; });
    frame.set("gap", number += 0.25);
  }
  atoms::write(folder + "/both.xyz", frames);
  const Outcome asked = weyl_program("config new --data both.xyz", folder);
  EXPECT_EQ(asked.code, 2);
  EXPECT_NE(asked.err.find("force_field (energies) or property (the numbers gap)"), std::string::npos)
      << asked.err;
  has(trained(folder, "both.xyz --task property"), "properties = [{ key = \"gap\" }]");
  has(trained(folder, "both.xyz --task force_field"), "forces = \"none\"");
}

TEST(NewConfig, TakesNoGapOrWeightForTheEnergy) {
  const std::string folder = scratch("new-config-gap");
  atoms::write(folder + "/all.xyz", atoms::frames(24, 1));
  std::string frames = contents(folder + "/all.xyz");
  for (size_t at = frames.find(" energy="); at != std::string::npos; at = frames.find(" energy=", at + 20)) {
    frames.replace(at, 8, " energy_weight=2 energy_gap=");
  }
  put(folder + "/gap.xyz", frames);
  const std::string config = trained(folder, "gap.xyz");
  has(config, "name = \"property\"");
  has(config, "properties = [{ key = \"energy_gap\" }]");
}

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
  EXPECT_EQ(weyl_program("config new --data shapes --system steerable", folder).code, 2);
  trained(folder, "shapes --system transformer");
}

TEST(NewConfig, OfTheOtherFormatsOfFrames) {
  const std::string folder = scratch("new-config-formats"), files = fixtures + "molecules/";
  trained(folder, files + "deepmd");
  has(trained(folder, files + "npz/rmd17.npz"), "kcal/mol");
  trained(folder, files + "npz/md17.npz --system platonic");
  write_methanes(folder + "/qm9", 12);
  std::string sdf;
  for (int i = 0; i < 12; ++i) {
    sdf +=
        "water\n  test\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n"
        "    0.0000    0.0000    0.1000 O   0  0\n    0.7600    0.0000   -0.4800 H   0  0\n"
        "   -0.7600    0.0000   -0.4" +
        std::to_string(800 + i) +
        " H   0  0\n"
        "  1  2  1  0\n  1  3  1  0\nM  END\n> <gap>\n" +
        gap_of(i) + "\n\n$$$$\n";
  }
  has(trained(folder, "qm9"), "set = \"qm9\"");
  put(folder + "/water.sdf", sdf);
  has(trained(folder, "water.sdf"), "targets = [\"gap\"]");
}

TEST(NewConfig, OfParticles) {
  const std::string folder = scratch("new-config-nbody");
  ASSERT_EQ(weyl_program("data make nbody --out data train=12 valid=4 test=4", folder).code, 0);
  has(trained(folder, "data"), "system = \"platonic\"");
  trained(folder, "data --system geomformer");
  trained(folder, "data --system transformer");
}

TEST(NewConfig, OfPosesAndTrajectories) {
  const std::string folder = scratch("new-config-poses");
  ASSERT_EQ(
      weyl_program("data make pose_sequences --out made group=se2 train=12 valid=4 test=4", folder).code, 0);
  const std::string config = trained(folder, "made");
  has(config, "group = \"se2\"");
  has(config, "system = \"lie\"");
  // The advice is a line for a shell: folders that are not there are made, blanks are quoted.
  fs::copy_file(fixtures + "poses/desk.tum.txt", folder + "/my poses.tum");
  const std::string advice = weyl_program("config new --data 'my poses.tum'", folder).err;
  has(advice,
      "`mkdir -p 'my poses' && weyl data convert 'my poses.tum' 'my poses/train.safetensors' length=8");
  for (const char* file : {"desk.tum.txt", "hall.euroc.csv", "street.kitti.txt"}) {
    const std::string trajectory = fixtures + "poses/" + file;
    const Outcome raw = weyl_program("config new --data " + trajectory, folder);
    EXPECT_EQ(raw.code, 2) << raw.out;
    EXPECT_NE(raw.err.find("hole=true"), std::string::npos) << raw.err;
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
  write("moves", {graphs, positions, of("displacement", ElementType::f32, {12, 1, 3}, places)});
  write("images", {of("class", ElementType::i64, {8, 1}, eight),
                   of("values", ElementType::f32, {8, 1, 16, 16}, values)});
  has(trained(folder, "numbers"), "targets = [\"dipole\"]");
  has(trained(folder, "classes"), "categories = 3");
  has(trained(folder, "moves"), "name = \"trajectory\"");
  has(trained(folder, "images"), "system = \"steerable\"");
  write("none", {graphs, positions});
  EXPECT_EQ(weyl_program("config new --data none", folder).code, 2);
  const Outcome single = weyl_program("config new --data numbers/train.safetensors", folder);
  EXPECT_EQ(single.code, 2);
  EXPECT_NE(single.err.find("weyl data split"), std::string::npos) << single.err;
}

TEST(NewConfig, OfImages) {
  const std::string folder = scratch("new-config-images");
  const auto picture = [](int64_t h, int64_t w, int shade) {
    Array image{ElementType::u8, {h, w, 3}, {}};
    for (int64_t i = 0; i < h * w * 3; ++i) {
      image.bytes.push_back(static_cast<std::byte>((static_cast<int>(i) * 5 + shade) % 256));
    }
    return image;
  };
  for (int i = 0; i < 12; ++i) {
    const std::string place = folder + "/pictures/" + (i % 2 == 0 ? "cat" : "dog");
    fs::create_directories(place);
    write_image(place + "/" + std::to_string(i) + ".png", picture(16 + i, 20, 9 * i));
  }
  const std::string classes = trained(folder, "pictures");
  has(classes, "classes = 2");
  has(classes, "names = [\"cat\", \"dog\"]");
  has(classes, "height = 64");
  trained(folder, "pictures --system platonic");
  ASSERT_EQ(weyl_program("data make lesions --out lesions count=8 height=48 width=64", folder).code, 0);
  has(trained(folder, "lesions"), "set = \"ph2\"");
  for (const char* part : {"images", "masks"}) {
    fs::create_directories(folder + "/masked/" + part);
  }
  for (int i = 0; i < 6; ++i) {
    const std::string name = std::to_string(i) + ".png";
    write_image(folder + "/masked/images/" + name, picture(32, 32, i));
    Array mask{ElementType::u8, {32, 32, 1}, std::vector<std::byte>(1024)};
    std::fill_n(mask.bytes.begin(), 300, std::byte{255});
    write_image(folder + "/masked/masks/" + name, mask);
  }
  has(trained(folder, "masked"), "target = \"mask\"");
}

TEST(NewConfig, OfDigitsAndCifar) {
  const std::string folder = scratch("new-config-digits");
  std::string amat;
  for (int i = 0; i < 24; ++i) {
    for (int k = 0; k < 784; ++k) {
      amat += k % 28 == i ? "1 " : "0 ";
    }
    amat += std::to_string(i % 10) + "\n";
  }
  put(folder + "/amat/mnist_all_rotation_normalized_float_train_valid.amat", amat);
  put(folder + "/amat/mnist_all_rotation_normalized_float_test.amat", amat);
  has(trained(folder, "amat"), "set = \"rotated_mnist\"");
  const auto idx = [](int axes, int count, size_t bytes) {
    std::string text{'\0', '\0', '\x08', static_cast<char>(axes), '\0', '\0', '\0', static_cast<char>(count)};
    for (int a = 1; a < axes; ++a) {
      text += std::string{'\0', '\0', '\0', '\x1c'};
    }
    for (size_t i = 0; i < bytes; ++i) {
      text += static_cast<char>(axes == 1 ? i % 10 : (i * 31) % 256);
    }
    return text;
  };
  for (const auto& [name, count] : {std::pair{"train", 24}, {"t10k", 6}}) {
    put(folder + "/idx/" + name + "-images-idx3-ubyte", idx(3, count, static_cast<size_t>(count) * 784));
    put(folder + "/idx/" + name + "-labels-idx1-ubyte", idx(1, count, static_cast<size_t>(count)));
  }
  trained(folder, "idx");
  std::string batch;
  for (int i = 0; i < 24; ++i) {
    batch += static_cast<char>(i % 10);
    for (int k = 0; k < 3072; ++k) {
      batch += static_cast<char>((k * (i + 3)) % 256);
    }
  }
  put(folder + "/cifar/data_batch_1.bin", batch);
  put(folder + "/cifar/test_batch.bin", batch);
  has(trained(folder, "cifar"), "set = \"cifar10\"");
  const Outcome single = weyl_program("config new --data cifar/data_batch_1.bin", folder);
  EXPECT_EQ(single.code, 2);
  EXPECT_NE(single.err.find("--data cifar"), std::string::npos) << single.err;
}

TEST(NewConfig, OfVolumesAndShapes) {
  const std::string folder = scratch("new-config-volumes");
  ASSERT_EQ(weyl_program("data make phantoms --out small count=4 size='[13,13,13]'", folder).code, 0);
  const std::string small = trained(folder, "small");
  has(small, "modalities = 4");
  has(small, "valid = 1");
  has_not(small, "crop");
  ASSERT_EQ(weyl_program("data make phantoms --out large count=3 size='[66,12,12]'", folder).code, 0);
  const std::string large = trained(folder, "large");
  has(large, "crop = [45, 12, 12]");
  has(large, "window = { size = [45, 12, 12] }");
  ASSERT_EQ(weyl_program("data make solids --out clouds train=40 test=10 points=64", folder).code, 0);
  const std::string clouds = trained(folder, "clouds");
  has(clouds, "system = \"platonic\"");
  has(clouds, "points = 64");
  trained(folder, "clouds --system steerable", "data.modelnet.voxels=16");
  ASSERT_EQ(weyl_program("data make solids --out meshes train=40 test=10 format=off", folder).code, 0);
  has(trained(folder, "meshes"), "names = [");
}

TEST(NewConfig, EveryConfigOfTheGuideOfMoleculesTrains) {
  const std::string folder = scratch("new-config-guide");
  auto frames = atoms::frames(24, 1);
  for (AtomsFrame& frame : frames) {
    frame.cell = {6, 0, 0, 0, 6, 0, 0, 0, 6};
    frame.pbc = {true, true, true};
    frame.set(FrameValue{"stress", {9}, std::vector<double>{.1, 0, 0, 0, .1, 0, 0, 0, .2}});
  }
  fs::create_directories(folder + "/data");
  atoms::write(folder + "/data/water.extxyz", frames);
  write_methanes(folder + "/data/qm9", 12);
  const std::string page = contents(WEYL_SOURCE_DIR "/docs/guide/molecules.md"), fence = "```toml\n";
  int count = 0;
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1), ++count) {
    const size_t begin = at + fence.size();
    const std::string name = "guide" + std::to_string(count);
    put(folder + "/" + name + ".toml", page.substr(begin, page.find("```", begin) - begin));
    const Outcome run =
        weyl_program("train " + name + ".toml train.steps=1 --threads 1 --out " + name, folder);
    EXPECT_EQ(run.code, 0) << run.err << contents(folder + "/" + name + ".toml");
  }
  EXPECT_EQ(count, 2);
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

}  // namespace
}  // namespace weyl

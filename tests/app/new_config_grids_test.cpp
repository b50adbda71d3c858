// `weyl config new` on images, digits, volumes and shapes: what it writes is checked, and trains for a step.
#include <gtest/gtest.h>

#include "tests/app/new_config.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace new_config_grids_test {

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
  const std::string plain = trained(folder, "pictures --system cnn");
  has(plain, "system = \"cnn\"");
  has_not(plain, "patch");
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
  has(trained(folder, "masked --system unet"), "target = \"mask\"");
  EXPECT_EQ(weyl_program("config new --data masked --system cnn", folder).code, 2);  // gives no masks
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

/// Nothing is said of volumes of several sizes and spacings that is true of one alone, and every verb says that they differ.
TEST(NewConfig, OfVolumesOfSeveralSizesAndSpacings) {
  const std::string folder = scratch("new-config-mixed");
  ASSERT_EQ(weyl_program("data make phantoms --out mixed count=4 size='[45,45,45]'", folder).code, 0);
  int made = 0;
  for (const auto& [size, spacing] :
       {std::pair{"[13,13,13]", "[1,1,3]"}, {"[17,15,13]", "[2,2,2]"}, {"[14,14,16]", "[1,1,1.5]"}}) {
    const std::string other = "other" + std::to_string(++made),
                      name = "/PHANTOM_00" + std::to_string(made) + ".nii.gz";
    ASSERT_EQ(weyl_program("data make phantoms --out " + other + " count=4 size='" + size + "' spacing='" +
                               spacing + "'",
                           folder)
                  .code,
              0);
    for (const char* part : {"/imagesTr", "/labelsTr"}) {
      fs::copy_file(folder + "/" + other + part + name, folder + "/mixed" + part + name,
                    fs::copy_options::overwrite_existing);
    }
  }
  const Outcome drafted = weyl_program("config new --data mixed", folder);
  ASSERT_EQ(drafted.code, 0) << drafted.err;
  has_not(drafted.err, " spacings, from 1 x 1 x ");  // it plans one
  has_not(drafted.out, "of 45 voxels along an axis");
  has(drafted.out, " training volumes of 13 x 13 x 13 to ");
  has(drafted.out, "spacing = [");
  trained(folder, "mixed");
  // One broken file does not hide the others.
  fs::resize_file(folder + "/other1/labelsTr/PHANTOM_003.nii.gz", 60);
  const Outcome broken = weyl_program("data inspect other1", folder);
  EXPECT_EQ(broken.code, 0);
  has(broken.out + broken.err, "PHANTOM_003.nii.gz: ");
  has(broken.out + broken.err, "; left out");
  const Outcome inspected = weyl_program("data inspect mixed", folder);
  has(inspected.out + inspected.err, " spacings, from 1 x 1 x ");
  const std::string gaps = "data inspect " WEYL_SOURCE_DIR "/tests/fixtures/reports/15b_labels_0_1_2_4";
  has(weyl_program(gaps, folder).out, "class  4 et  in 5 of 5 masks");  // by its number, not its place
  has(weyl_program(gaps + " --json", folder).out, R"("number": 4,)");
}

TEST(NewConfig, OfVolumesAndShapes) {
  const std::string folder = scratch("new-config-volumes");
  ASSERT_EQ(weyl_program("data make phantoms --out small count=4 size='[13,13,13]'", folder).code, 0);
  const std::string small = trained(folder, "small");
  has(small, "modalities = 4");
  has(small, "fractions = [0.5, 0.5, 0");  // a split of one case says nothing
  has_not(small, "crop");
  has_not(small, "of 45 voxels");
  has(small, "augment = \"rotoreflections\"");
  ASSERT_EQ(weyl_program("data make phantoms --out long count=3 size='[66,12,12]'", folder).code, 0);
  const std::string whole = trained(folder, "long --system unet");
  has_not(whole, "crop = ");  // few voxels, though along one axis many
  has(whole, "[train.grids]\n#> what a plain net");
  has(whole, "rotation = true");
  has_not(small, "train.grids");  // a steerable net's turns are exact
  has(whole,
      "stages = [{ kernel = [3], stride = [1] }, { kernel = [3], stride = [2] }, { kernel = [3], stride = [2, 1, 1] }");
  has(weyl_program("config new --data long", folder).out, "crop = [45, 12, 12]");
  ASSERT_EQ(
      weyl_program("data make phantoms --out large count=3 size='[80,64,56]' spacing='[2,2,5]'", folder).code,
      0);
  const std::string large = trained(folder, "large --system unet");
  has(large, "crop = [45, 45, 45]");
  has(large, "window = { size = [45, 45, 45] }");
  has(large, "stages = [{ kernel = [3, 3, 1], stride = [1] }, { kernel = [3], stride = [2, 2, 1] }");
  has_not(large, "spacing = [");  // all have the same
  // The rotations of a steerable net are of millimetres.
  has(weyl_program("config new --data large", folder).out, "spacing = [2.71, 2.71, 2.71]");
  ASSERT_EQ(
      weyl_program("data make phantoms --out thin count=3 size='[40,40,12]' spacing='[1,1,1.02]'", folder)
          .code,
      0);
  has(weyl_program("config new --data thin", folder).out,
      "spacing = [1.01, 1.01, 1.01]");  // else no turn is exact
  ASSERT_EQ(
      weyl_program("data make phantoms --out slices count=3 size='[32,32,6]' spacing='[1,1,4]'", folder).code,
      0);
  const std::string slices = weyl_program("config new --data slices --system unet", folder).out;
  has(slices, "rotation = { axis = \"z\" }");
  has(slices, "those who are scanned do not all lie alike");
  // nnU-Net's regions, those of one label among them; classes that tell sides apart have no mirrors.
  const std::string json = folder + "/slices/dataset.json", text_of_json = contents(json);
  const auto with_labels = [&](const std::string& labels) {
    const size_t begin = text_of_json.find("\"labels\""), end = text_of_json.find('}', begin);
    std::ofstream(json) << text_of_json.substr(0, begin) << "\"labels\": {" << labels
                        << text_of_json.substr(end);
    return weyl_program("config new --data slices --system unet", folder);
  };
  const Outcome sided =
      with_labels("\"0\": \"background\", \"1\": \"Left lobe\", \"2\": \"Right lobe\", \"3\": \"core\"");
  ASSERT_EQ(sided.code, 0) << sided.err;
  has(sided.out, "augment = \"rotations\"");
  has(sided.out, "no mirrors: the class");
  has(sided.out, "'Left lobe' tells one side from the other");
  ASSERT_EQ(weyl_program("data make solids --out clouds train=40 test=10 points=64", folder).code, 0);
  const std::string clouds = trained(folder, "clouds");
  has(clouds, "system = \"platonic\"");
  has(clouds, "points = 64");
  trained(folder, "clouds --system steerable", "data.modelnet.voxels=16");
  has(weyl_program("config new --data clouds --system cnn", folder).out, "rotate_train = \"uniform\"");
  ASSERT_EQ(weyl_program("data make solids --out meshes train=40 test=10 format=off", folder).code, 0);
  has(trained(folder, "meshes"), "names = [");
}

}  // namespace new_config_grids_test
}  // namespace weyl

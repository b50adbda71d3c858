// A model keeps the spacing of its volumes and the names of their modalities and classes; `predict` and `eval` refuse
// data that contradict them, unless told --as-is.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/images/image.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {
namespace as_is_test {

namespace fs = std::filesystem;

/// A set of phantoms with its dataset.json changed.
void make_set(const std::string& folder, const std::string& name, const std::string& spacing,
              const std::function<void(VolumeIndex&)>& change = {}) {
  const Outcome made = weyl_program(
      "data make phantoms --out " + name + " count=4 size='[12,12,12]' spacing='" + spacing + "'", folder);
  ASSERT_EQ(made.code, 0) << made.err;
  if (!change) {
    return;
  }
  VolumeIndex index = read_volume_index(folder + "/" + name);
  for (VolumeCase& of : index.training) {  // relative again, as files have them
    of.channels[0] = fs::relative(of.channels[0], folder + "/" + name).string();
    of.mask = fs::relative(of.mask, folder + "/" + name).string();
  }
  change(index);
  std::ofstream(folder + "/" + name + "/dataset.json") << decathlon_json(index);
}

/// A folder with the set `own`, of 13 mm, a model `run` trained on it for two steps, and sets that contradict it.
const std::string& trained() {
  static const std::string folder = [] {
    const std::string place = scratch("as-is");
    std::ofstream(place + "/net.toml") << R"([data]
set = "decathlon"
[data.decathlon]
path = "own"
fractions = [0.5, 0.25, 0.25]
[task]
name = "segmentation"
[model]
system = "steerable"
[model.steerable]
degree = 1
stages = [{ middle = 2, channels = 4, kernel = 3, pool = 1 }]
encoder = { depth = 1, heads = 2 }
[train]
steps = 2
batch = 1
)";
    make_set(place, "own", "[13,13,13]");
    make_set(place, "fine", "[4,13,13]");
    make_set(place, "swapped", "[13,13,13]",
             [](VolumeIndex& i) { std::swap(i.modalities[0], i.modalities[1]); });
    make_set(place, "classes", "[13,13,13]", [](VolumeIndex& i) { std::swap(i.labels[1], i.labels[2]); });
    const Outcome out = weyl_program("train net.toml --out run --json", place);
    EXPECT_EQ(out.code, 0) << out.err;
    return place;
  }();
  return folder;
}

void expect_refused(const std::string& arguments, const std::string& said) {
  const Outcome out = weyl_program(arguments, trained());
  EXPECT_EQ(out.code, 3) << arguments << "\n" << out.err;
  EXPECT_NE(out.err.find(said), std::string::npos) << arguments << "\n" << out.err;
  EXPECT_NE(out.err.find("--as-is"), std::string::npos) << out.err;
  EXPECT_EQ(std::ranges::count(out.err, '\n'), 1) << out.err;
}

void expect_taken(const std::string& arguments, const std::string& said) {
  const Outcome out = weyl_program(arguments, trained());
  EXPECT_EQ(out.code, 0) << arguments << "\n" << out.err;
  EXPECT_NE(out.err.find(said), std::string::npos) << arguments << "\n" << out.err;
}

TEST(AsIs, TheModelKeepsWhatItWasTrainedOn) {
  const Json info = Json::parse(weyl_program("info run --json", trained()).out, "info");
  const Json* facts = info.find("trained_on");
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->find("spacing")->find("least")->items().at(2).number_or(0), 13);
  EXPECT_EQ(facts->find("spacing")->find("unit")->string_or(""), "mm");
  EXPECT_EQ(facts->find("channels")->items().at(0).string_or(""), "FLAIR");
  EXPECT_EQ(facts->find("classes")->items().size(), 4u);
  const std::string said = weyl_program("info run", trained()).out;
  EXPECT_NE(said.find("cells of 13 x 13 x 13 mm; channels FLAIR, "), std::string::npos) << said;
  // Its own data suit it.
  const Outcome own = weyl_program("eval run --json", trained());
  EXPECT_EQ(own.code, 0) << own.err;
  const Outcome other = weyl_program("eval run --data own --json", trained());
  EXPECT_EQ(other.code, 0) << other.err;
}

TEST(AsIs, OtherSpacingIsRefusedOfFoldersFilesAndTensors) {
  const std::string apart = "trained on cells of 13 x 13 x 13 mm, the data have 4 x 13 x 13 mm";
  const std::string first = "fine/imagesTr/PHANTOM_001.nii.gz";
  expect_refused("eval run --data fine", apart);
  expect_refused("predict run fine/imagesTr --out masks", first + ": the model was " + apart);
  expect_refused("predict run " + first + " --out masks", apart);
  expect_refused("predict run " + first + " --out p.safetensors", apart);
  EXPECT_FALSE(fs::exists(trained() + "/masks"));
  EXPECT_FALSE(fs::exists(trained() + "/p.safetensors"));
  expect_taken("eval run --data fine --as-is", apart);
  expect_taken("predict run fine/imagesTr --out as_is --as-is", apart);
  EXPECT_EQ(std::distance(fs::directory_iterator(trained() + "/as_is"), fs::directory_iterator()), 4);

  const auto tensors = [&](const char* name, NamedTensors more) {
    more["values"] = at::randn({1, 4, 12, 12, 12});
    save_tensors(trained() + "/" + name, more);
    return "predict run " + std::string(name) + " --out t.safetensors --force";
  };
  expect_refused(tensors("fine.safetensors", {{"spacing", at::tensor({4., 13., 13.}, at::kDouble)}}), apart);
  for (const auto& [name, more] :
       {std::pair<const char*, NamedTensors>{"same.safetensors",
                                             {{"spacing", at::tensor({13., 12.8, 13.2}, at::kDouble)}}},
        {"unsaid.safetensors", {}}}) {  // what a file does not say contradicts nothing
    const Outcome out = weyl_program(tensors(name, more), trained());
    EXPECT_EQ(out.code, 0) << out.err;
  }
}

TEST(AsIs, SeveralModelsMustBeOfOneKindOfData) {
  const Outcome made =
      weyl_program("train net.toml --out of_fine data.decathlon.path=fine --json", trained());
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome out = weyl_program("predict run of_fine own/imagesTr --out both", trained());
  EXPECT_EQ(out.code, 2) << out.err;
  EXPECT_NE(out.err.find("several models must be of the same kind of data, but of run and of_fine one was "
                         "trained on cells of 13 x 13 x 13 mm, the other of 4 x 13 x 13 mm"),
            std::string::npos)
      << out.err;
  const Outcome same = weyl_program("predict run run own/imagesTr --out twice", trained());
  EXPECT_EQ(same.code, 0) << same.err;
}

TEST(AsIs, ExchangedModalitiesAreRefusedAndNotReordered) {
  const std::string order =
      "the model knows the channels FLAIR, T1w, T1gd, T2w in this order, the data have "
      "T1w, FLAIR, T1gd, T2w in this order";
  expect_refused("eval run --data swapped", order);
  expect_refused("predict run swapped --out masks", order);
  // Volumes alone are called as the dataset.json above them has it.
  expect_refused("predict run swapped/imagesTr --out masks", order);
  expect_refused("predict run swapped/imagesTr/PHANTOM_002.nii.gz --out masks", order);
  expect_taken("predict run swapped/imagesTr/PHANTOM_002.nii.gz --out one --as-is", order);
  // Without one, nobody says what they are.
  fs::create_directories(trained() + "/loose/volumes");
  fs::copy_file(trained() + "/swapped/imagesTr/PHANTOM_002.nii.gz", trained() + "/loose/volumes/a.nii.gz",
                fs::copy_options::overwrite_existing);
  const Outcome loose = weyl_program("predict run loose/volumes --out loose_masks --force", trained());
  EXPECT_EQ(loose.code, 0) << loose.err;
}

TEST(AsIs, ClassesInAnotherOrderAreRefusedWhereTheyAreMeasured) {
  expect_refused("eval run --data classes", "the classes background, ");
  const Outcome predicted = weyl_program("predict run classes --out class_masks", trained());
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  expect_taken("eval run --data classes --as-is", "in this order; taken as they are");
}

TEST(AsIs, AFlagWithoutEffectIsSaid) {
  expect_taken("eval run --as-is", "--as-is: has no effect: the data contradict nothing");
  // A model file from before says nothing of its data but their unit, and nothing else is looked at.
  const std::string model = trained() + "/run/best/model.safetensors";
  auto metadata = SafetensorsFile(model).header().metadata;
  ASSERT_EQ(metadata.erase("trained_on"), 1u);
  save_tensors(trained() + "/old.safetensors", load_tensors(model), metadata);
  const Outcome old = weyl_program("eval old.safetensors --data fine", trained());
  EXPECT_EQ(old.code, 0) << old.err;
  expect_taken("eval old.safetensors --data fine --as-is",
               "the data contradict nothing that the model keeps (lengths in mm)");
}

TEST(AsIs, FoldersOfClassesMustHaveTheModelsNames) {
  const std::string place = scratch("as-is-classes");
  const auto pictures = [&](const std::string& set, const std::vector<std::string>& classes) {
    for (const auto& name : classes) {
      fs::create_directories(place + "/" + set + "/" + name);
      for (int i = 0; i < 4; ++i) {
        std::vector<std::byte> pixels(64, std::byte(40 * i + 7));
        write_image(place + "/" + set + "/" + name + "/" + std::to_string(i) + ".png",
                    {ElementType::u8, {8, 8, 1}, std::move(pixels)});
      }
    }
  };
  pictures("own", {"cat", "dog"});
  pictures("other", {"bird", "cat"});
  std::ofstream(place + "/net.toml") << R"([data]
set = "images"
[data.images]
path = "own"
classes = 2
channels = 1
height = 8
width = 8
train_fraction = 0.5
valid_fraction = 0.25
[task]
name = "classification"
[model]
system = "steerable"
[model.steerable]
orders = 2
stages = [{ middle = 2, channels = 4, kernel = 3, pool = 2 }]
encoder = { depth = 1, heads = 2 }
[train]
steps = 1
batch = 2
)";
  const Outcome trained = weyl_program("train net.toml --out run", place);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(weyl_program("info run", place).out.find("channels grey; classes cat, dog"), std::string::npos);
  EXPECT_EQ(weyl_program("eval run", place).code, 0);
  const Outcome other = weyl_program("eval run --data other", place);
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_NE(other.err.find("the model knows the classes cat, dog, the data have bird, cat; --as-is"),
            std::string::npos)
      << other.err;
}

TEST(AsIs, GreyPicturesAreNoColours) {
  const std::string place = scratch("as-is-grey");
  const auto pictures = [&](const std::string& set, int64_t channels) {
    for (const char* name : {"cat", "dog"}) {
      fs::create_directories(place + "/" + set + "/" + name);
      for (int i = 0; i < 4; ++i) {
        std::vector<std::byte> pixels(64 * static_cast<size_t>(channels), std::byte(40 * i + 7));
        write_image(place + "/" + set + "/" + name + "/" + std::to_string(i) + ".png",
                    {ElementType::u8, {8, 8, channels}, std::move(pixels)});
      }
    }
  };
  pictures("colours", 3);
  pictures("greys", 1);
  std::ofstream(place + "/net.toml") << R"([data]
set = "images"
[data.images]
path = "colours"
classes = 2
height = 8
width = 8
train_fraction = 0.5
valid_fraction = 0.25
[task]
name = "classification"
[model]
system = "steerable"
[model.steerable]
orders = 2
stages = [{ middle = 2, channels = 4, kernel = 3, pool = 2 }]
encoder = { depth = 1, heads = 2 }
[train]
steps = 1
batch = 2
)";
  const Outcome trained = weyl_program("train net.toml --out run", place);
  ASSERT_EQ(trained.code, 0) << trained.err;
  // The reader would repeat the greys as three channels.
  const std::string said = "the model knows the channels red, green, blue, the data have grey; --as-is";
  for (const char* call : {"eval run --data greys", "predict run greys/cat --out p",
                           "predict run greys/cat/0.png --out p.safetensors"}) {
    const Outcome refused = weyl_program(call, place);
    EXPECT_EQ(refused.code, 3) << call << refused.err;
    EXPECT_NE(refused.err.find(said), std::string::npos) << refused.err;
  }
  EXPECT_EQ(weyl_program("eval run --data greys --as-is", place).code, 0);
  EXPECT_EQ(weyl_program("predict run colours/cat --out p", place).code, 0);
  // A model of greys takes colours by their luminance, as its reader says.
  const Outcome grey = weyl_program("train net.toml data.images.channels=1 --out grey", place);
  ASSERT_EQ(grey.code, 0) << grey.err;
  EXPECT_EQ(weyl_program("eval grey --data greys", place).code, 0);
  EXPECT_EQ(weyl_program("eval grey", place).code, 0);
}

// A model of poses in metres and seconds says so of data in other units, and takes them when it is told to.
TEST(AsIs, PosesInOtherUnitsAreRefused) {
  const std::string folder = scratch("pose-units");
  std::ofstream path(folder + "/path.txt");
  for (int k = 0; k < 100; ++k) {  // along a helix
    const double a = 0.05 * k;
    path << 1000 + k / 30. << " " << std::cos(a) << " " << std::sin(a) << " " << 0.1 * a << " 0 0 "
         << std::sin(a / 2) << " " << std::cos(a / 2) << "\n";
  }
  path.close();
  const std::string train = "train " WEYL_SOURCE_DIR
                            "/configs/pose_windows/forecast.toml data.pose_windows.path=path.txt "
                            "data.pose_windows.length=8 data.pose_windows.ahead=2 train.batch=4 ";
  const Outcome trained = weyl_program(train + "train.epochs=1 --out run", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(weyl_program("data convert path.txt m.safetensors length=8 ahead=2", folder).code, 0);
  EXPECT_EQ(weyl_program("predict run m.safetensors --out own.safetensors", folder).code, 0);
  // Arrays of NumPy say nothing, so the conversion must.
  NamedTensors tensors = load_tensors(folder + "/m.safetensors");
  for (const char* name : {"elements", "pose"}) {
    tensors[name].slice(1, 0, 3).select(2, 3) *= 1000;
  }
  save_tensors(folder + "/bare.safetensors", tensors, {});
  ASSERT_EQ(weyl_program("data convert bare.safetensors bare.npz", folder).code, 0);
  const Outcome groupless = weyl_program("data convert bare.npz mm.safetensors", folder);
  EXPECT_EQ(groupless.code, exit_usage);
  EXPECT_NE(groupless.err.find("does not say of which group: add group=se3"), std::string::npos)
      << groupless.err;
  const Outcome planar = weyl_program("data convert bare.npz mm.safetensors group=so2", folder);
  EXPECT_EQ(planar.code, exit_usage);
  EXPECT_NE(planar.err.find("elements must be (N, 2, 2) for group=so2, got ["), std::string::npos)
      << planar.err;
  EXPECT_FALSE(fs::exists(folder + "/mm.safetensors"));
  const std::string convert = "data convert bare.npz ";
  for (const std::string call : {convert + "mm.safetensors group=se3 length_unit=mm time_unit=seconds",
                                 convert + "silent.safetensors group=se3",
                                 convert + "numbered.safetensors group=se3 length_unit=m time_unit=poses",
                                 std::string("data convert mm.safetensors said.npz")}) {
    const Outcome converted = weyl_program(call, folder);
    ASSERT_EQ(converted.code, 0) << call << converted.err;
  }
  const Outcome contrary = weyl_program("data convert said.npz other.safetensors length_unit=m", folder);
  EXPECT_EQ(contrary.code, exit_usage);
  EXPECT_NE(contrary.err.find("length_unit: must be 'mm', as the archive says itself, got 'm'"),
            std::string::npos)
      << contrary.err;
  for (const auto& [name, apart] : {std::pair{"mm", "lengths in m, the data have mm"},
                                    {"numbered", "'time' in s, the data have poses"}}) {
    const std::string data = std::string(name) + ".safetensors";
    for (const std::string verb :
         {"predict run " + data + " --out no.safetensors", "eval run --data " + data}) {
      const Outcome refused = weyl_program(verb, folder);
      EXPECT_EQ(refused.code, exit_data) << verb;
      EXPECT_NE(refused.err.find(apart), std::string::npos) << refused.err;
      const Outcome taken = weyl_program(verb + " --as-is", folder);
      EXPECT_EQ(taken.code, 0) << taken.err;
      EXPECT_NE(taken.err.find(apart), std::string::npos) << taken.err;
      std::filesystem::remove(folder + "/no.safetensors");
    }
  }
  EXPECT_EQ(weyl_program("predict run silent.safetensors --out silent.out.safetensors", folder).code, 0);
  // A recording is in metres.
  std::filesystem::create_directories(folder + "/millimetres");
  for (const std::string name : {"train", "valid", "test"}) {
    std::filesystem::copy(folder + "/mm.safetensors", folder + "/millimetres/" + name + ".safetensors");
  }
  const Outcome other = weyl_program("train " WEYL_SOURCE_DIR
                                     "/configs/pose_windows/forecast.toml "
                                     "data.pose_windows.path=millimetres train.epochs=1 --out mm",
                                     folder);
  ASSERT_EQ(other.code, 0) << other.err;
  for (const std::string out : {"ahead.tum", "ahead.safetensors"}) {
    const Outcome refused = weyl_program("predict mm path.txt --out " + out, folder);
    EXPECT_EQ(refused.code, exit_data) << out;
    EXPECT_NE(refused.err.find("lengths in mm, the data have m"), std::string::npos) << refused.err;
  }
}

}  // namespace as_is_test
}  // namespace weyl

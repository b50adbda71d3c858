// Images through the program: a segmentation is trained, judged, audited, drawn and used.
#include <gtest/gtest.h>

#include <map>

#include "tests/app/program.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace grids_test {

namespace fs = std::filesystem;

// 10 photographs of 24 x 36, a net that needs an even side.
std::string trained() {
  static const std::string folder = [] {
    const std::string place = scratch("grids");
    std::ofstream(place + "/net.toml") << lesions_config << R"([model]
system = "steerable"
[model.steerable]
orders = 2
stages = [{ middle = 2, channels = 4, kernel = 3, pool = 2 }]
[model.steerable.encoder]
depth = 1
heads = 2
[train]
steps = 3
batch = 3
augment = "rotations"
crop = [16]
crop_foreground = 0.5
)";
    EXPECT_EQ(weyl_program("data make lesions --out lesions count=10 height=48 width=72", place).code, 0);
    const Outcome out = weyl_program("train net.toml --out run --json", place);
    EXPECT_EQ(out.code, 0) << out.err;
    return place;
  }();
  return folder;
}

TEST(GridsProgram, TrainsASegmentationAndDrawsItsConfusionAndOverlays) {
  const std::string folder = trained();
  for (const char* name : {"confusion.csv", "overlay_0.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder + "/run/plots/" + name)) << name;
  }
  const Outcome plotted = weyl_program("plot run --out drawn --json", folder);
  if (plotted.code == 0) {  // gnuplot is optional
    EXPECT_TRUE(fs::exists(folder + "/drawn/confusion.svg"));
    EXPECT_TRUE(fs::exists(folder + "/drawn/overlay_0.png"));
    const auto metadata = SafetensorsFile(folder + "/run/plots/overlay_0.safetensors").header().metadata;
    EXPECT_TRUE(metadata.at("title").starts_with("case ")) << metadata.at("title");
    EXPECT_TRUE(metadata.at("predicted").starts_with("predicted, Dice ")) << metadata.at("predicted");
  }
  const Json eval = Json::parse(weyl_program("eval run --json", folder).out, "stdout");
  double cells = 0;
  for (const Json& row : eval.find("confusion")->find("counts")->items()) {
    for (const Json& count : row.items()) {
      cells += count.number_or(-1);
    }
  }
  EXPECT_EQ(cells, eval.find("samples")->number_or(0) * 24 * 36);
}

TEST(GridsProgram, DrawsTheAttentionOfASample) {
  const std::string folder = trained();
  const Outcome plotted = weyl_program("plot run --attention 1 --out attention --json", folder);
  const SafetensorsFile file(folder + "/attention/attention_1.safetensors");
  EXPECT_EQ(file.entry("pictures").shape,
            (std::vector<int64_t>{4, 24, 36, 3}));  // one layer: image, two heads, their mean
  const auto& metadata = file.header().metadata;
  EXPECT_EQ(metadata.at("columns"), "4");
  EXPECT_NE(metadata.at("words").find("head 2: "), std::string::npos);
  if (plotted.code == 0) {  // gnuplot is optional
    EXPECT_TRUE(fs::exists(folder + "/attention/attention_1.png"));
  }
  const Outcome beyond = weyl_program("plot run --attention 99", folder);
  EXPECT_EQ(beyond.code, 2);
  EXPECT_NE(beyond.err.find("--attention: the test split has samples 0 to "), std::string::npos)
      << beyond.err;
  EXPECT_FALSE(fs::exists(folder + "/run/plots/attention_99.safetensors"));
}

// Volumes of shapes are made anew of the turned and shifted shape.
TEST(GridsProgram, MeasuresShapesThatAreTurnedAndShiftedBeforeTheyBecomeCells) {
  const std::string place = scratch("moved_shapes");
  std::ofstream(place + "/net.toml") << R"([data]
set = "modelnet"
[data.modelnet]
path = "solids"
voxels = 12
fill = "density"
sigma = 1.0
[task]
name = "classification"
[model]
system = "steerable"
[model.steerable]
degree = 1
stages = [{ middle = 0, channels = 4, kernel = 4, stride = 2, same = false, pool = 1 }]
encoder = { depth = 1, heads = 2, skip_empty = true }
[train]
steps = 2
batch = 8
)";
  ASSERT_EQ(weyl_program("data make solids --out solids train=30 test=12", place).code, 0);
  const Outcome learned = weyl_program("train net.toml --out run", place);
  ASSERT_EQ(learned.code, 0) << learned.err;
  EXPECT_NE(learned.err.find("tokens of 12 cells along an axis"), std::string::npos) << learned.err;
  const Outcome plain = weyl_program("eval run --json", place);
  EXPECT_EQ(Json::parse(plain.out, "stdout").find("metrics")->find("accuracy_one_rotation"), nullptr);
  const Outcome moved = weyl_program("eval run --moved --json", place);
  ASSERT_EQ(moved.code, 0) << moved.err;
  const Json json = Json::parse(moved.out, "stdout");
  const Json* rows = json.find("breakdowns")->find("placement");
  ASSERT_EQ(rows->items().size(), 12U);
  std::map<std::string, double> change;
  for (const Json& row : rows->items()) {
    change[row.find("name")->string_or("")] =
        row.find("metrics")->find("change_of_logits")->find("value")->number_or(-1);
  }
  EXPECT_EQ(change.at("as it is"), 0);
  EXPECT_GT(change.at("turned 45"), 0);
  // A row by itself, with what belongs to a measurement.
  const auto cross_entropy = [](const Json& of) {
    return of.find("metrics")->find("cross_entropy")->find("value")->number_or(-1);
  };
  const Outcome any = weyl_program("eval run --rotate so3 --json", place);
  ASSERT_EQ(any.code, 0) << any.err;
  const Json by_any = Json::parse(any.out, "stdout");
  ASSERT_EQ(rows->items()[6].find("name")->string_or(""), "turned uniformly");
  EXPECT_NEAR(cross_entropy(by_any), cross_entropy(rows->items()[6]), 1e-6);
  EXPECT_GT(std::abs(cross_entropy(by_any) - cross_entropy(Json::parse(plain.out, "stdout"))), 1e-6);
  EXPECT_NE(by_any.find("confusion"), nullptr);
  EXPECT_EQ(weyl_program("eval run --rotate so3 --moved", place).code, 2);
  EXPECT_EQ(weyl_program("eval run --rotate x", place).code, 2);
  EXPECT_GT(change.at("shifted 4"), change.at("shifted 0.5"));
  const std::string twelve = "task.classification.test_time_rotations.count=12";
  const Outcome turned = weyl_program("eval run --json " + twelve, place);
  ASSERT_EQ(turned.code, 0) << turned.err;
  const Json averaged = Json::parse(turned.out, "stdout");
  EXPECT_GE(averaged.find("metrics")->find("accuracy_one_rotation")->find("value")->number_or(-1), 0);
  EXPECT_EQ(averaged.find("samples")->number_or(0), 12);
  EXPECT_EQ(weyl_program("eval run task.classification.label_smoothing=0.1", place).code, 2);
  EXPECT_EQ(weyl_program("train net.toml --out again " + twelve, place).code, 0);
  // What that means for predictions is said once.
  const Outcome predicted = weyl_program("predict again solids --out p.safetensors", place);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const std::string note = "predictions of given volumes are of them as they are";
  const size_t said = predicted.err.find(note);
  EXPECT_NE(said, std::string::npos) << predicted.err;
  EXPECT_EQ(predicted.err.find(note, said + 1), std::string::npos) << predicted.err;
  EXPECT_EQ(predicted.err.find("test_time_rotations"), std::string::npos) << predicted.err;
  const Outcome refused = weyl_program("eval run --moved", grids_test::trained());  // masks of photographs
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("numbers of whole samples"), std::string::npos) << refused.err;
}

TEST(GridsProgram, AuditsTheSquareInTheMiddleOfOblongImagesAndSaysSo) {
  const Outcome out = weyl_program("audit net.toml 'train.crop=[]' --json --samples 3", trained());
  const Json audit = Json::parse(out.out, "stdout");
  EXPECT_EQ(out.code, 0) << out.out;
  ASSERT_NE(audit.find("claims"), nullptr);
  EXPECT_FALSE(audit.find("claims")->items().empty());
  ASSERT_NE(audit.find("note"), nullptr) << out.out;
  EXPECT_NE(audit.find("note")->string_or("").find("24 x 24"), std::string::npos) << out.out;
}

TEST(GridsProgram, WritesMasksInTheSizeOfTheirImages) {
  const std::string folder = trained();
  fs::create_directories(folder + "/new");
  for (const char* name : {"IMD001", "IMD002"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder + "/lesions")) {
      if (entry.path().stem() == name && is_image_file(entry.path().string())) {
        fs::copy_file(entry.path(), folder + "/new/" + entry.path().filename().string(),
                      fs::copy_options::skip_existing);
      }
    }
  }
  const auto count = std::distance(fs::directory_iterator(folder + "/new"), fs::directory_iterator());
  ASSERT_GT(count, 0);
  const Outcome out = weyl_program("predict run new --out masks --json", folder);
  ASSERT_EQ(out.code, 0) << out.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder + "/masks"), fs::directory_iterator()), count);
  for (const auto& entry : fs::directory_iterator(folder + "/masks")) {
    EXPECT_EQ(read_image(entry.path().string()).shape, (std::vector<int64_t>{48, 72, 1}));
  }
  EXPECT_EQ(weyl_program("predict run new --out masks", folder).code, 2);  // nothing is replaced
  EXPECT_EQ(weyl_program("predict run new --out masks --force", folder).code, 0);
  std::map<std::string, std::string> images;
  for (const auto& entry : fs::directory_iterator(folder + "/new")) {
    images[entry.path().string()] = contents(entry.path().string());
  }
  fs::create_directories(folder + "/linked");
  for (const auto& [image, bytes] : images) {
    fs::create_symlink(image, folder + "/linked/" + fs::path(image).stem().string() + ".png");
  }
  EXPECT_EQ(weyl_program("predict run new --out linked --force", folder).code, 2);  // the images themselves
  for (const auto& [image, bytes] : images) {
    EXPECT_EQ(contents(image), bytes) << image;
  }
  EXPECT_EQ(weyl_program("predict run new --out one.safetensors", folder).code, 0);
}

/// It learns from crops of 16 x 16 and predicts by windows of 18 x 18, whose sides the strides do not divide.
TEST(GridsProgram, APlainUNetIsTrainedAuditedAndWritesMasks) {
  const std::string folder = trained();
  const std::string plain =
      " model.system=unet model.unet.base=2 model.unet.deep_supervision=true task.segmentation.window.size=[18] ";
  const Outcome out = weyl_program("train net.toml" + plain + "--out plain --json", folder);
  ASSERT_EQ(out.code, 0) << out.err;
  const Outcome audited = weyl_program("audit plain --json --samples 3", folder);
  EXPECT_EQ(audited.code, 0) << audited.out;
  const Json audit = Json::parse(audited.out, "stdout");
  EXPECT_EQ(audit.find("claims")->items().size(), 0U);
  EXPECT_EQ(audit.find("controls")->items().size(), 3U);  // a shear, a mirror, a quarter turn
  fs::create_directories(folder + "/one");
  fs::copy_file(folder + "/lesions/PH2 Dataset images/IMD001/IMD001_Dermoscopic_Image/IMD001.bmp",
                folder + "/one/IMD001.bmp", fs::copy_options::skip_existing);
  const Outcome predicted = weyl_program("predict plain one --out plain-masks", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  for (const auto& entry : fs::directory_iterator(folder + "/plain-masks")) {
    EXPECT_EQ(read_image(entry.path().string()).shape, (std::vector<int64_t>{48, 72, 1}));
  }
}

}  // namespace grids_test
}  // namespace weyl

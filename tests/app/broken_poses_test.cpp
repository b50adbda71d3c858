// Poses that are none, given to the built program: refused with one line that names file, sample and token,
// or answered by a finite result; never NaN.
#include <cmath>
#include <limits>

#include "tests/app/refusals.h"
#include "weyl/core/json.h"

namespace weyl {
namespace broken_poses_test {

using Matrix = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Matrix one{1, 0, 0, 0, 1, 0, 0, 0, 1};
Matrix affine(double a, double b, double c, double d, double x = 0, double y = 0) {
  return {a, b, x, c, d, y, 0, 0, 1};
}
const Matrix turned = affine(0.8, -0.6, 0.6, 0.8, 1, 2);  // also in SE(2)
const Matrix no_logarithm = affine(-1, 0, 0, -2), mirror = affine(1, 0, 0, -1);

TensorFile poses(const std::string& group, const std::vector<int64_t>& sizes,
                 const std::vector<Matrix>& matrices) {
  TensorFile file;
  std::vector<double> numbers;
  for (const Matrix& m : matrices) {
    numbers.insert(numbers.end(), m.begin(), m.end());
  }
  std::vector<int64_t> offsets{0};
  for (const int64_t n : sizes) {
    offsets.push_back(offsets.back() + n);
  }
  file.put("elements", ElementType::f64, {static_cast<int64_t>(matrices.size()), 3, 3}, numbers);
  file.put("offsets", ElementType::i64, {static_cast<int64_t>(offsets.size())}, offsets);
  file.metadata["group"] = group;
  return file;
}

/// Models trained once, for all tests: SE(2), and of Aff(2) one for each chart policy and variant.
class BrokenPoses : public Refusals {
 protected:
  static void SetUpTestSuite() {
    models() = scratch("broken-poses");
    for (const char* group : {"se2", "aff2"}) {
      const std::string name = group;
      ASSERT_EQ(
          weyl_program("data make pose_sequences --out " + name + " train=16 valid=4 test=4 group=" + name,
                       models())
              .code,
          0);
    }
    train("se2", "mask", "");
    for (const char* chart : {"mask", "frobenius", "polar", "error"}) {
      train("aff2", chart, std::string(" model.lie.chart=") + chart);
    }
    train("aff2", "C", " model.lie.variant=C");
    train("aff2", "A", " model.lie.variant=A");
    train("aff2", "moves", " model.lie.move_tokens=true");
  }
  static std::string& models() {
    static std::string folder;
    return folder;
  }
  static std::string training(const std::string& group, const std::string& data) {
    return "train '" WEYL_SOURCE_DIR "/configs/completion/" + group + ".toml' data.pose_sequences.path='" +
           data + "' train.epochs=1 model.lie.width=8 --threads 1";
  }
  static void train(const std::string& group, const std::string& name, const std::string& options) {
    const std::string run = group + "-" + name;
    const Outcome trained = weyl_program(training(group, group) + options + " --out " + run, models());
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  static std::string model(const std::string& name) { return "'" + models() + "/" + name + "'"; }

  void predict_refused(const TensorFile& file, const std::string& by, const std::string& fault) const {
    file.write(at("x.safetensors"));
    refused("predict " + model(by) + " x.safetensors --out o.safetensors", 3, fault);
  }

  /// Every number of the prediction is finite; returns it.
  TensorFile predicted(const TensorFile& file, const std::string& by) const {
    file.write(at("x.safetensors"));
    const Outcome outcome =
        weyl_program("predict " + model(by) + " x.safetensors --out o.safetensors", at(""));
    EXPECT_EQ(outcome.code, 0) << by << ": " << outcome.err;
    TensorFile found(at("o.safetensors"));
    for (const auto& [name, tensor] : found.tensors) {
      const bool wide = tensor.type == ElementType::f64;
      for (size_t i = 0; i < tensor.bytes.size(); i += wide ? 8 : 4) {
        double d = 0;
        float f = 0;
        std::memcpy(wide ? static_cast<void*>(&d) : &f, tensor.bytes.data() + i, wide ? 8 : 4);
        EXPECT_TRUE(std::isfinite(wide ? d : f)) << by << ": " << name << " " << i;
      }
    }
    fs::remove(at("o.safetensors"));
    return found;
  }

  /// A training file of Aff(2), spoilt.
  template <class Spoil>
  void training_refused(const Spoil& spoil, const std::string& fault, const std::string& options = "") const {
    fs::remove_all(at("data"));
    fs::copy(models() + "/aff2", at("data"), fs::copy_options::recursive);
    TensorFile file(at("data/train.safetensors"));
    spoil(file);
    file.write(at("data/train.safetensors"));
    const Outcome outcome = weyl_program(training("aff2", "data") + options + " --out run", at(""));
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find(fault), std::string::npos) << fault << "\n" << outcome.err;
    fs::remove_all(at("run"));
    if (options.empty()) {
      refused("eval " + model("aff2-mask") + " --data data --split train", 3,
              fault.substr(fault.find(": ") + 2));
    }
  }
};

TEST_F(BrokenPoses, MatricesThatAreNotInTheGroup) {
  predict_refused(poses("se2", {2, 2}, {one, turned, one, affine(1, 0.1, 0, 1)}), "se2-mask",
                  "x.safetensors: elements: must be of se2, matrix 3 is off it by 0.1, token 1 of sample 1");
  predict_refused(poses("se2", {2}, {one, {1, 0, 0, 0, 1, 0, 0, 0.2, 1}}), "se2-mask",
                  "matrix 1 is off it by 0.2");
  predict_refused(poses("se2", {2}, {one, mirror}), "se2-mask",
                  "matrix 1 is a reflection, token 1 of sample 0");
  predict_refused(poses("aff2", {1, 2}, {one, affine(1, 2, 2, 4), one}), "aff2-mask",
                  "elements: must be of aff2, matrix 1 is singular, token 0 of sample 1");
  predict_refused(poses("aff2", {2}, {affine(nan, 0, 0, 1), one}), "aff2-mask",
                  "elements: must be finite, some values are not, the first of row 0");
  predict_refused(poses("aff2", {2}, {one, affine(1, 0, 0, 1, HUGE_VAL)}), "aff2-mask", "the first of row 1");
}

TEST_F(BrokenPoses, FilesOfPoses) {
  const TensorFile good = poses("aff2", {2}, {one, turned});
  TensorFile file = good;
  file.metadata["group"] = "se2";
  predict_refused(file, "aff2-mask", "metadata group: must be aff2, that of the model, got se2");
  file.metadata["group"] = "SE(2)";
  predict_refused(file, "aff2-mask", "metadata group: must be so2, se2, so3, se3, aff2 or aff3, got 'SE(2)'");
  file.metadata.clear();
  predict_refused(file, "aff2-mask", "metadata group: is absent");
  file = good;
  file.put<double>("elements", ElementType::f64, {2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  predict_refused(file, "aff2-mask", "elements: must be (N, 3, 3), got (2, 2, 2)");
  file = good;
  file.tensors.erase("offsets");
  predict_refused(file, "aff2-mask", "offsets: is absent");
  predict_refused(poses("aff2", {1}, {one, turned}), "aff2-mask",
                  "offsets: must end with the number of rows, 2");
  good.write(at("good.safetensors"));
  const std::string whole = contents(at("good.safetensors"));
  for (const size_t length : {size_t{0}, size_t{7}, size_t{60}, whole.size() - 1}) {
    write_bytes(at("x.safetensors"), whole.substr(0, length));
    refused("predict " + model("aff2-mask") + " x.safetensors --out o.safetensors", 3, "x.safetensors: ");
    refused("data inspect x.safetensors", 3, "x.safetensors: ");
  }
  write_bytes(at("x.txt"), "");
  refused("data inspect x.txt", 3, "x.txt: ");
  refused("predict " + model("aff2-mask") +
              " '" WEYL_SOURCE_DIR "/tests/fixtures/poses/desk.tum.txt' --out o.safetensors",
          3, "holds poses of se3, the model takes aff2");
}

TEST_F(BrokenPoses, AnEmptySampleHasNothingToComplete) {
  const TensorFile file = poses("aff2", {2, 0, 1}, {one, turned, one});
  for (const char* chart : {"aff2-mask", "aff2-A"}) {
    predict_refused(file, chart, "x.safetensors: sample 1: completion: each graph must have tokens");
  }
}

TEST_F(BrokenPoses, OutsideTheChartUnderError) {
  const TensorFile file = poses("aff2", {2, 3}, {one, turned, one, turned, no_logarithm});
  predict_refused(
      file, "aff2-error",
      "x.safetensors: sample 1: lie_pairs: every relative pose of aff2 must be inside the chart of the "
      "logarithm (chart policy error), got 2 pairs outside");
  refused("audit " + model("aff2-error") + " --data x.safetensors", 3,
          "x.safetensors: sample 1: lie_pairs: ");
  predicted(poses("aff2", {2}, {no_logarithm, no_logarithm}),
            "aff2-error");  // relative to each other they are not
  for (const char* name : {"aff2-mask", "aff2-frobenius", "aff2-polar", "aff2-C", "aff2-A", "aff2-moves"}) {
    predicted(file, name);
  }
}

TEST_F(BrokenPoses, TokensWithNobodyToAttendToGiveFiniteResults) {
  for (const char* name : {"aff2-mask", "aff2-frobenius", "aff2-polar", "aff2-C", "aff2-A", "aff2-moves"}) {
    // No pair with a logarithm; a half-turn; a token alone; scales and lengths beyond reason.
    predicted(poses("aff2", {2, 2, 1}, {one, no_logarithm, mirror, one, turned}), name);
    predicted(poses("aff2", {2}, {one, affine(-1, 0, 0, -1, 1, 2)}), name);
    predicted(poses("aff2", {3}, {one, affine(1e-12, 0, 0, 1e-12), affine(1, 0.1, 0, 1, 1e15)}), name);
    EXPECT_EQ(predicted(poses("aff2", {}, {}), name).tensors.at("elements").shape,
              (std::vector<int64_t>{0, 3, 3}));
  }
  // Alone, a token is its own neighbourhood: the element is a correction of it, and the logit one number.
  const TensorFile alone = predicted(poses("se2", {1}, {turned}), "se2-mask");
  EXPECT_EQ(alone.tensors.at("gap").shape, std::vector<int64_t>{1});
  EXPECT_EQ(alone.tensors.at("elements").shape, (std::vector<int64_t>{1, 3, 3}));
}

TEST_F(BrokenPoses, NumbersThatFloat32DoesNotHold) {
  const TensorFile file = poses("aff2", {1, 2}, {one, one, affine(1, 0, 0, 1, 1e39)});
  predict_refused(file, "aff2-mask",
                  "x.safetensors: sample 1: input: values must be in the range of float32, got 1e+39");
  const Outcome wide = weyl_program(
      "predict " + model("aff2-mask") + " x.safetensors --out o.safetensors --dtype float64", at(""));
  EXPECT_EQ(wide.code, 0) << wide.err;
  fs::remove(at("o.safetensors"));
  // Raw numbers of 1e25 overflow in a layer norm.
  predict_refused(poses("aff2", {1, 2}, {one, one, affine(1, 0, 0, 1, 1e25)}), "aff2-A",
                  "x.safetensors: sample 1: output '");
}

TEST_F(BrokenPoses, SamplesToTrainOn) {
  const auto matrix = [](const char* name, size_t row, const Matrix& m) {
    return [=](TensorFile& f) {
      for (size_t k = 0; k < m.size(); ++k) {
        f.set(name, row * m.size() + k, m[k]);
      }
    };
  };
  training_refused(
      matrix("elements", 9, affine(1, 2, 2, 4)),
      "data/train.safetensors: elements: must be of aff2, matrix 9 is singular, token 2 of sample 1");
  training_refused(matrix("element", 2, affine(1, 2, 2, 4)),
                   "data/train.safetensors: element: must be of aff2, matrix 2 is singular");
  training_refused(matrix("element", 2, affine(nan, 2, 2, 4)),
                   "data/train.safetensors: element: must be of aff2, matrix 2 is not finite");
  training_refused(matrix("elements", 9, no_logarithm),
                   "training data: sample 1: lie_pairs: every relative pose", " model.lie.chart=error");
  training_refused(matrix("elements", 9, affine(1, 0, 0, 1, 1e39)),
                   "training data: sample 1: input: values must be in the range of float32");
  training_refused(
      [](TensorFile& f) {
        for (size_t k = 7; k < 14; ++k) {
          f.set("flank", k, int64_t{0});
        }
      },
      "training data: sample 1: completion: ");
  training_refused([](TensorFile& f) { f.set("offsets", 1, int64_t{0}); },
                   "training data: sample 0: completion: ");
}

TEST_F(BrokenPoses, Weights) {
  const TensorFile good(models() + "/se2-mask/best/model.safetensors");
  write_bytes(at("c.toml"), "[interface]\ngroup = \"se2\"\nouputs = []\n[model]\nsystem = \"lie\"\n");
  refused("info c.toml", 2, "did you mean 'outputs'?");
  write_bytes(at("c.toml"),
              "[interface]\ngroup = \"se2\"\ntypical_nodes = 7\noutputs = [{ name = \"gap\" },\n"
              "  { name = \"correction\", channels = 3, role = \"offset\" }]\n"
              "[model]\nsystem = \"lie\"\n[model.lie]\nwidth = 8\n");
  const auto import = [&](TensorFile file) {
    file.metadata.clear();
    file.write(at("w.safetensors"));
    return "import w.safetensors --config c.toml --out m.safetensors";
  };
  TensorFile file = good;
  file.tensors.erase("score.weight");
  refused(import(file), 3, "'score.weight' is missing");
  file = good;
  file.tensors["score.bias"] = file.tensors["score.weight"];
  refused(import(file), 3, "'score.bias'");
  file = good;
  file.tensors["score.weight"].shape = {3, 8};
  refused(import(file), 3, "'score.weight'");

  // The whole ones give the numbers of the run they came from.
  const Outcome imported = weyl_program(import(good), at(""));
  ASSERT_EQ(imported.code, 0) << imported.err;
  const std::string data = "'" + models() + "/se2/test.safetensors'";
  ASSERT_EQ(weyl_program("predict m.safetensors " + data + " --out a.safetensors", at("")).code, 0);
  ASSERT_EQ(weyl_program("predict " + model("se2-mask") + " " + data + " --out b.safetensors", at("")).code,
            0);
  EXPECT_EQ(TensorFile(at("a.safetensors")).tensors.at("gap").bytes,
            TensorFile(at("b.safetensors")).tensors.at("gap").bytes);
}

}  // namespace broken_poses_test
}  // namespace weyl

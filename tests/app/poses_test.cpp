// Poses through the program: sequences made, trajectories inspected and converted, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace poses_test {

const std::string trajectories = WEYL_SOURCE_DIR "/tests/fixtures/poses/";

TEST(PosesProgram, MakesInspectsAndSplitsSequences) {
  const std::string folder = scratch("pose-sequences");
  const Outcome made = weyl_program(
      "data make pose_sequences --out aff2 group=aff2 train=30 valid=4 test=4 variant=blocks --json", folder);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(Json::parse(made.out, "stdout").find("train")->number_or(0), 30);
  const Json seen = Json::parse(weyl_program("data inspect aff2 --json", folder).out, "stdout");
  EXPECT_EQ(seen.find("carrier")->string_or(""), "poses");
  EXPECT_EQ(seen.find("samples")->number_or(0), 30);
  EXPECT_EQ(seen.find("group")->find("name")->string_or(""), "aff2");
  EXPECT_EQ(seen.find("group")->find("off")->number_or(1), 0);
  EXPECT_EQ(seen.find("group")->find("outside_chart")->number_or(1), 0);
  const Outcome split = weyl_program("data split aff2/train.safetensors --out parts --json", folder);
  ASSERT_EQ(split.code, 0) << split.err;
  EXPECT_EQ(SafetensorsFile(folder + "/parts/valid.safetensors").entry("element").shape,
            (std::vector<int64_t>{3, 3, 3}));
}

TEST(PosesProgram, InspectsAndConvertsTrajectories) {
  const std::string folder = scratch("pose-files");
  for (const std::string file : {"desk.tum.txt", "street.kitti.txt", "hall.euroc.csv"}) {
    const Outcome seen = weyl_program("data inspect " + trajectories + file + " --json", folder);
    ASSERT_EQ(seen.code, 0) << seen.err;
    const Json json = Json::parse(seen.out, "stdout");
    EXPECT_EQ(json.find("samples")->number_or(0), 1);
    EXPECT_EQ(json.find("group")->find("name")->string_or(""), "se3");
    const double decimals = file == "desk.tum.txt" ? 1e-4 : 1e-6;  // of the file, before it is mended
    EXPECT_LT(json.find("group")->find("residual")->number_or(1), decimals) << file;
    EXPECT_GT(json.find("group")->find("residual")->number_or(0), decimals / 1000) << file;
    EXPECT_EQ(json.find("group")->find("mended")->dump(), "true");
    EXPECT_EQ(json.find("group")->find("off")->number_or(1), 0);  // after
    const Json& translations = json.find("fields")->items().at(1);
    EXPECT_EQ(translations.find("name")->string_or(""), "translations");
    EXPECT_EQ(translations.find("unit")->string_or(""), "m");
  }
  const Outcome converted = weyl_program(
      "data convert " + trajectories + "desk.tum.txt desk.safetensors length=6 stride=3", folder);
  ASSERT_EQ(converted.code, 0) << converted.err;
  EXPECT_EQ(SafetensorsFile(folder + "/desk.safetensors").entry("elements").shape,
            (std::vector<int64_t>{18, 4, 4}));
  // The file keeps the unit, and holds what was mended.
  const Json windows =
      Json::parse(weyl_program("data inspect desk.safetensors --json", folder).out, "stdout");
  EXPECT_EQ(windows.find("fields")->items().at(1).find("unit")->string_or(""), "m");
  EXPECT_LT(windows.find("group")->find("residual")->number_or(1), 1e-14);
  EXPECT_EQ(windows.find("group")->find("mended")->dump(), "false");
}

TEST(PosesProgram, TrainsCompletesAndAuditsSequencesOfPoses) {
  const std::string folder = scratch("pose-completion");
  const std::string config = WEYL_SOURCE_DIR "/configs/completion/se3.toml";
  ASSERT_EQ(
      weyl_program("data make pose_sequences --out sequences group=se3 train=40 valid=8 test=6", folder).code,
      0);
  const Outcome trained = weyl_program(
      "train " + config + " data.pose_sequences.path=sequences train.epochs=2 --out run --json", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  // Lengths and angles are drawn apart.
  EXPECT_TRUE(contents(folder + "/run/plots/parity_element_translation.csv")
                  .starts_with("element_translation,predicted element_translation\n"));
  EXPECT_TRUE(contents(folder + "/run/plots/parity_element_rotation.csv")
                  .starts_with("element_rotation / rad,predicted element_rotation / rad\n"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/run/plots/parity_element.csv"));
  EXPECT_NE(
      contents(folder + "/run/plots/parity_element_rotation.svg").find("seen from the pose beside the gap"),
      std::string::npos);
  // A share of right answers is drawn on a linear axis, from 0 or near it, whose numbers are evenly spaced.
  EXPECT_NE(contents(folder + "/run/plots/learning_curve.svg").find(">flanking_accuracy / no unit<"),
            std::string::npos);
  const Json result = Json::parse(trained.out, "stdout");
  EXPECT_EQ(result.find("best")->find("metric")->string_or(""), "pose_error");
  EXPECT_NE(result.find("test")->find("metrics")->find("flanking_accuracy"), nullptr);

  const Outcome audited = weyl_program("audit run --samples 6 --json", folder);
  EXPECT_LE(audited.code, 1) << audited.err;  // two epochs: raw outputs may be within rounding or just beyond
  const Json audit = Json::parse(audited.out, "stdout");
  for (const Json& claim : audit.find("claims")->items()) {
    if (claim.find("output")->string_or("") == "prediction.element") {
      EXPECT_LE(claim.find("error")->number_or(1), claim.find("tolerance")->number_or(0)) << claim.dump();
    }
  }
  const Json* moved = audit.find("prediction_equivariance");
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->find("count")->number_or(0), 60);
  EXPECT_LT(moved->find("mean_square")->number_or(1), 4e-10);

  // A trajectory that no task has labelled: a pose for each window, and who stands beside it.
  ASSERT_EQ(
      weyl_program("data convert " + trajectories + "desk.tum.txt desk.safetensors length=6", folder).code,
      0);
  const Outcome predicted = weyl_program("predict run desk.safetensors --out missing.safetensors", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const SafetensorsFile missing(folder + "/missing.safetensors");
  const int64_t windows = SafetensorsFile(folder + "/desk.safetensors").entry("offsets").shape[0] - 1;
  EXPECT_EQ(missing.entry("elements").shape, (std::vector<int64_t>{windows, 4, 4}));
  EXPECT_EQ(missing.entry("gap").shape, (std::vector<int64_t>{6 * windows}));

  const Json counts = Json::parse(
      weyl_program("info " WEYL_SOURCE_DIR "/configs/completion/se2.toml model.lie.variant=C --json", folder)
          .out,
      "stdout");
  EXPECT_EQ(counts.find("parameters")->number_or(0), 35280);
}

/// A smooth path of n poses as a TUM file: forward with a changing speed, turning about z and x.
void write_path(const std::string& path, int n, double phase) {
  std::ofstream out(path);
  out << "# timestamp tx ty tz qx qy qz qw\n" << std::fixed;
  for (int k = 0; k < n; ++k) {
    const double s = 0.4 * k + 2 * std::sin(0.05 * k + phase);
    const double a = 0.15 * s + 0.2 * std::sin(0.11 * s + phase), b = 0.15 * std::sin(0.2 * s);
    out << 1000 + k / 30. << " " << 3 * std::sin(0.15 * s) + 0.5 * s << " " << 2 * std::cos(0.2 * s) << " "
        << std::sin(0.3 * s + phase) << " " << std::cos(a) * std::sin(b) << " " << std::sin(a) * std::sin(b)
        << " " << std::sin(a) * std::cos(b) << " " << std::cos(a) * std::cos(b) << "\n";
  }
}

TEST(PosesProgram, TrainsAndEvaluatesOnHolesOfATrajectory) {
  const std::string folder = scratch("pose-holes");
  std::filesystem::create_directories(folder + "/gaps");
  for (const auto& [split, n] : {std::pair{"train", 240}, {"valid", 80}, {"test", 80}}) {
    const std::string name(split);
    write_path(folder + "/" + name + ".txt", n, 0.01 * n);
    const Outcome made = weyl_program(
        "data convert " + name + ".txt gaps/" + name + ".safetensors length=8 stride=4 hole=true seed=5",
        folder);
    ASSERT_EQ(made.code, 0) << made.err;
  }
  const Outcome trained = weyl_program(
      "train " WEYL_SOURCE_DIR
      "/configs/completion/se3.toml data.pose_sequences.path=gaps train.epochs=4 train.batch=8 --out run "
      "--json",
      folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.err.find("reads the order of the tokens"), std::string::npos) << trained.err;
  const Outcome in_order = weyl_program("train " WEYL_SOURCE_DIR
                                        "/configs/completion/se3.toml data.pose_sequences.path=gaps "
                                        "train.epochs=1 model.lie.order=bias --out in_order",
                                        folder);
  EXPECT_EQ(in_order.code, 0) << in_order.err;
  EXPECT_NE(in_order.err.find("reads the order of the tokens (model.lie.order)"), std::string::npos)
      << in_order.err;
  const Json test = *Json::parse(trained.out, "stdout").find("test");
  EXPECT_EQ(test.find("samples")->number_or(0), 19);
  // The same from one file of its own, which no config names.
  const Json seen =
      Json::parse(weyl_program("eval run --data gaps/test.safetensors --json", folder).out, "stdout");
  EXPECT_EQ(seen.find("samples")->number_or(0), 19);
  const auto error = [](const Json& result) {
    return result.find("metrics")->find("pose_error")->find("value")->number_or(-1);
  };
  EXPECT_GT(error(seen), 0);
  EXPECT_NEAR(error(seen), error(test), 1e-6 * error(test));  // other batches, whose products round otherwise
  // The neighbours that are marked are nearer than what stands anywhere.
  const auto beside = [&](const char* name) {
    return seen.find("baselines")->find(name)->find("pose_error")->find("value")->number_or(-1);
  };
  EXPECT_GT(beside("flanking token"), 0);
  EXPECT_LT(beside("flanking token"), 0.5 * beside("random token"));
  // A recording as it is, window after window, one pose of each taken out; it has no splits.
  const Outcome recording = weyl_program("eval run --data test.txt --json", folder);
  ASSERT_EQ(recording.code, 0) << recording.err;
  EXPECT_EQ(Json::parse(recording.out, "stdout").find("samples")->number_or(0), 80 / 8);
  const Outcome refused = weyl_program("eval run --data test.txt --split test", folder);
  EXPECT_EQ(refused.code, exit_usage);
  EXPECT_NE(refused.err.find("test.txt: must have splits of its own for --split"), std::string::npos)
      << refused.err;
}

struct Refusal {
  std::string arguments, says;
  int code;
};

TEST(PosesProgram, RefusesInOneLine) {
  const std::string folder = scratch("pose-refusals");
  const std::string desk = trajectories + "desk.tum.txt";
  std::ofstream(folder + "/se3.toml") << "[interface]\ngroup = \"se3\"\noutputs = [{name = \"gap\"}]\n"
                                         "[model]\nsystem = \"platonic\"\n";
  for (const Refusal& r : std::vector<Refusal>{
           {"data convert " + desk + " x.safetensors lenght=4", "did you mean 'length'?", 2},
           {"data convert " + desk + " x.safetensors length=99",
            "length must be at most its 12 poses, got 99", 2},
           {"data convert " + desk + " x.safetensors length=3 hole=true",
            "hole needs samples of at least 4 poses, got 3", 2},
           {"data convert " + desk + " x.safetensors format=kitti", "line 4: must have the 12 numbers", 3},
           {"data convert " + desk + " x.npz", "convert: must be", 2},
           {"data inspect " + trajectories + "../broken/poses/sheared.txt",
            "R^T R is off the identity by 0.2", 3},
           {"data convert " + desk + " x.safetensors hole=true noise=0.1",
            "hole asks for another pose than ahead and noise do", 2},
           {"data convert " + desk + " x.safetensors length=4 ahead=3",
            "ahead = 3 needs samples of at least 5 poses, two to look ahead from, got 4", 2},
           {"data convert " + desk + " x.safetensors group=aff3", "group must be so2, se2, so3 or se3", 2},
           {"data convert " + trajectories + "../broken/poses/time_stands.txt x.safetensors",
            "stands there twice", 3},
           {"data make pose_windows --out x group=aff2", "as bodies move, got aff2", 2},
           {"data make pose_windows --out x group=so3 noise=0.1", "pose_windows.noise", 2},
           {"data make pose_sequences --out x group=so2 step=1", "pose_sequences.step", 2},
           {"data make pose_copies --out x group=so3 spread=2", "of rotations, which have no places", 2},
           {"eval " + desk, "a trajectory is measured against the true one: add --data TRUTH", 2},
           {"eval " + desk + " --data " + trajectories + "loop.truth.tum",
            "must have poses within 0.01 s of those of", 3},
           {"eval " + desk + " --data " + desk + " --split test", "--data TRUTH goes alone with it", 2},
           {"eval " + desk + " --data " + trajectories, "must be a trajectory", 2},
           {"data make pose_sequences --out x group=so2 variant=blocks", "so2 has the rotation alone", 2},
           {"data make pose_sequences --out x group=se4", "did you mean 'se2'?", 2},
           {"data make pose_sequence --out x", "did you mean 'pose_sequences'?", 2},
           {"info se3.toml", "'platonic' does not work on poses", 2}}) {
    const Outcome outcome = weyl_program(r.arguments, folder);
    EXPECT_EQ(outcome.code, r.code) << r.arguments << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(r.says), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder + "/x.safetensors"));
    EXPECT_FALSE(std::filesystem::exists(folder + "/x"));
  }
}

double metric(const Json& result, const char* name) {
  const Json* found = result.find("metrics")->find(name);
  return found == nullptr ? -1 : found->find("value")->number_or(-1);
}

template <class T = double>
std::vector<T> numbers_of(const std::string& path, const char* name) {
  const std::vector<std::byte> bytes = SafetensorsFile(path).bytes(name);
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

TEST(PosesProgram, FillsTheGapOfATrajectoryInItsPlace) {
  const std::string folder = scratch("pose-filled");
  std::string rows, there;
  for (int k = 0; k < 40; ++k) {
    const double a = 0.05 * k;
    const std::string row = std::to_string(100 + 0.5 * k) + " " + std::to_string(0.3 * k) + " " +
                            std::to_string(std::sin(a)) + " 0 0 0 " + std::to_string(std::sin(a)) + " " +
                            std::to_string(std::cos(a)) + "\n";
    rows += row;
    there += k < 8 && k != 3 ? row : "";
  }
  std::filesystem::create_directories(folder + "/gaps");
  std::ofstream(folder + "/all.txt") << rows;
  std::ofstream(folder + "/seven.txt") << there;
  for (const std::string name : {"train", "valid", "test"}) {
    ASSERT_EQ(
        weyl_program("data convert all.txt gaps/" + name + ".safetensors length=8 stride=4 hole=true", folder)
            .code,
        0);
  }
  const Outcome trained =
      weyl_program("train " WEYL_SOURCE_DIR
                   "/configs/completion/se3.toml data.pose_sequences.path=gaps train.epochs=2 "
                   "train.batch=8 --out run",
                   folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const std::string end : {"tum", "kitti"}) {
    const Outcome filled = weyl_program("predict run seven.txt --out filled." + end, folder);
    ASSERT_EQ(filled.code, 0) << filled.err;
    EXPECT_NE(filled.err.find(" of 8 is the one that is most likely missing, by 1 of the 1 windows"),
              std::string::npos)
        << filled.err;
    const Outcome seen = weyl_program("data inspect filled." + end + " --json", folder);
    ASSERT_EQ(seen.code, 0) << seen.err;
    EXPECT_LT(Json::parse(seen.out, "stdout").find("group")->find("residual")->number_or(1), 1e-14);
  }
  // The pose stands beside the token whose answer it is.
  ASSERT_EQ(weyl_program("data convert seven.txt seven.safetensors", folder).code, 0);
  ASSERT_EQ(weyl_program("predict run seven.safetensors --out gap.safetensors", folder).code, 0);
  const std::vector<float> gap = numbers_of<float>(folder + "/gap.safetensors", "gap");
  ASSERT_EQ(gap.size(), 7u);
  const auto token = std::ranges::max_element(gap) - gap.begin();
  const std::string filled = weyl_program("predict run seven.txt --out again.tum", folder).err;
  const auto says = [&](int64_t place) {
    return filled.find(" pose " + std::to_string(place + 1) + " of 8 ") != std::string::npos;
  };
  EXPECT_TRUE(says(token) || says(token + 1)) << token << filled;
  // Every timestamp of the input is there, and one more between two of them.
  std::ifstream written(folder + "/filled.tum"), given(folder + "/seven.txt");
  std::vector<std::string> stamps, kept;
  for (std::string line; std::getline(written, line);) {
    stamps.push_back(line.substr(0, line.find(' ')));
  }
  for (std::string line; std::getline(given, line);) {
    kept.push_back(line.substr(0, line.find(' ')));
  }
  ASSERT_EQ(stamps.size(), 8u);
  EXPECT_TRUE(std::ranges::includes(stamps, kept));
  EXPECT_TRUE(std::ranges::is_sorted(stamps));
  EXPECT_EQ(std::ranges::adjacent_find(stamps), stamps.end());
  // A recording longer than what the model learned from is looked at in windows of that length.
  std::string hole;
  std::istringstream lines(rows);
  for (int k = 0; k < 40; ++k) {
    std::string line;
    std::getline(lines, line);
    hole += k != 20 ? line + "\n" : "";
  }
  std::ofstream(folder + "/hole.txt") << hole;
  std::filesystem::create_directories(folder + "/timed");
  for (const std::string name : {"train", "valid", "test"}) {
    ASSERT_EQ(weyl_program("data convert all.txt timed/" + name +
                               ".safetensors length=8 stride=1 hole=true times=true",
                           folder)
                  .code,
              0);
  }
  const Outcome timed = weyl_program("train " WEYL_SOURCE_DIR
                                     "/configs/completion/se3.toml data.pose_sequences.path=timed "
                                     "data.pose_sequences.times=true train.epochs=90 train.batch=8 "
                                     "train.average=0.9 --threads 1 --out times",
                                     folder);
  ASSERT_EQ(timed.code, 0) << timed.err;
  const Outcome found = weyl_program("predict times hole.txt --out whole.kitti", folder);
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_NE(found.err.find("pose 21 of 40 is the one"), std::string::npos) << found.err;
  EXPECT_NE(found.err.find("of the 6 windows that see its place"), std::string::npos) << found.err;
  // A model that knows whole sequences leaves one as it is.
  for (const std::string name : {"train", "valid", "test"}) {
    std::filesystem::create_directories(folder + "/some");
    ASSERT_EQ(weyl_program("data convert all.txt some/" + name +
                               ".safetensors length=8 stride=2 hole=true whole=0.9 seed=2",
                           folder)
                  .code,
              0);
  }
  const Outcome drafted = weyl_program("config new --data some --out some.toml", folder);
  ASSERT_EQ(drafted.code, 0) << drafted.err;
  EXPECT_NE(contents(folder + "/some.toml").find("whole = true"), std::string::npos);
  const Outcome refused =
      weyl_program("train some.toml task.completion.whole=false train.epochs=1 --out no", folder);
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("task.completion.whole takes sequences"), std::string::npos) << refused.err;
  const Outcome learned = weyl_program("train some.toml train.epochs=30 --out knows --json", folder);
  ASSERT_EQ(learned.code, 0) << learned.err;
  EXPECT_GT(metric(*Json::parse(learned.out, "stdout").find("test"), "missing_accuracy"), 0.8);
  const Outcome left = weyl_program("predict knows seven.txt --out left.kitti", folder);
  ASSERT_EQ(left.code, 0) << left.err;
  EXPECT_NE(left.err.find("nothing is missing of 7 poses"), std::string::npos) << left.err;
  const Outcome all = weyl_program("predict knows all.txt --out all.kitti", folder);
  EXPECT_NE(all.err.find("nothing is missing of 40 poses"), std::string::npos) << all.err;
  EXPECT_EQ(SafetensorsFile([&] {
              EXPECT_EQ(
                  weyl_program("predict knows some/test.safetensors --out said.safetensors", folder).code, 0);
              return folder + "/said.safetensors";
            }())
                .entry("missing")
                .shape,
            (std::vector<int64_t>{17, 1}));
  // Where there are no times TUM cannot be written, and where a file is it stays.
  EXPECT_EQ(weyl_program("predict run filled.kitti --out other.tum", folder).code, 2);
  EXPECT_EQ(weyl_program("predict run gaps/test.safetensors --out other.tum", folder).code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder + "/other.tum"));
}

TEST(PosesProgram, RegistersTwoCopies) {
  const std::string folder = scratch("pose-copies");
  ASSERT_EQ(weyl_program(
                "data make pose_copies --out copies group=se2 train=300 valid=30 test=30 length=8 noise=0.01 "
                "angle_noise=0.01",
                folder)
                .code,
            0);
  const Outcome drafted = weyl_program("config new --data copies --out copies.toml", folder);
  ASSERT_EQ(drafted.code, 0) << drafted.err;
  EXPECT_NE(drafted.err.find("registration by lie"), std::string::npos) << drafted.err;
  const Outcome trained =
      weyl_program("train copies.toml train.epochs=15 train.batch=16 --out run --json", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json test = *Json::parse(trained.out, "stdout").find("test");
  EXPECT_GT(metric(test, "match_accuracy"), 0.5);  // an eighth by chance
  const Outcome audited = weyl_program("audit run --samples 6 --json", folder);
  EXPECT_EQ(audited.code, 0) << audited.err;
  EXPECT_NE(audited.out.find("each copy by itself, seen together"), std::string::npos);
  const Outcome predicted =
      weyl_program("predict run copies/test.safetensors --out carried.safetensors", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(SafetensorsFile(folder + "/carried.safetensors").entry("pose").shape,
            (std::vector<int64_t>{480, 3, 3}));
  const Outcome affine = weyl_program("train copies.toml interface.group=aff2 --out no", folder);
  EXPECT_NE(affine.code, 0);
}

TEST(PosesProgram, ComparesTwoTrajectories) {
  const std::string folder = scratch("pose-compare"), truth = trajectories + "loop.truth.tum",
                    estimate = trajectories + "loop.estimate.tum";
  const Outcome compared = weyl_program("eval " + estimate + " --data " + truth + " --json", folder);
  ASSERT_EQ(compared.code, 0) << compared.err;
  const Json json = Json::parse(compared.out, "stdout");
  EXPECT_EQ(json.find("samples")->number_or(0), 49);
  const Json& metrics = *json.find("metrics");
  // tests/goldens/trajectory_errors.txt
  EXPECT_NEAR(metrics.find("ape")->find("value")->number_or(0), 6.659814359024479, 1e-9);
  EXPECT_EQ(metrics.find("ape")->find("unit")->string_or(""), "m");
  EXPECT_NEAR(metrics.find("rpe_angle")->find("value")->number_or(0), 4.17437403604221, 0.01);
  EXPECT_EQ(metrics.find("rpe_angle")->find("unit")->string_or(""), "degrees");
  EXPECT_NEAR(metrics.find("sim3_scale")->find("value")->number_or(0), 1.391714364650745, 1e-9);
  const Outcome people = weyl_program("eval " + estimate + " --data " + truth, folder);
  EXPECT_TRUE(people.out.starts_with("49 poses\n")) << people.out;
  EXPECT_NE(people.err.find("49 of 50 poses are compared with one of 60"), std::string::npos) << people.err;
  // Repeated times stay: the one of both that stands first is compared.
  std::ofstream(folder + "/twice.txt")
      << "1.0 1 0 0 0 0 0 1\n2.0 2 0 0 0 0 0 1\n2.0 3 1 0 0 0 0 1\n3.0 4 0 0 0 0 0 1\n";
  EXPECT_EQ(weyl_program("eval twice.txt --data twice.txt", folder).code, 0);
}

/// A float64 tensor of a file.
/// The largest difference of the last `count` numbers; NaN stays.
double last_apart(const std::vector<double>& a, const std::vector<double>& b, size_t count) {
  double most = a.size() < count || b.size() < count ? NAN : 0;
  for (size_t k = 1; k <= count && !std::isnan(most); ++k) {
    const double apart = std::abs(a[a.size() - k] - b[b.size() - k]);
    most = apart <= most ? most : apart;
  }
  return most;
}

/// So many nanoseconds after 1403636579 s.
std::string stamp_of(int64_t nanoseconds) {
  const int64_t second = 1'000'000'000;
  return std::to_string(1403636579 + nanoseconds / second) + "." +
         std::to_string(second + nanoseconds % second).substr(1);
}

TEST(PosesProgram, ForecastsTheNextPosesOfATrajectory) {
  const std::string folder = scratch("pose-forecast");
  write_path(folder + "/path.txt", 300, 0.3);
  const Outcome drafted =
      weyl_program("config new --data path.txt --task pose_correction --out path.toml", folder);
  ASSERT_EQ(drafted.code, 0) << drafted.err;
  const Outcome trained = weyl_program("train path.toml --out run train.epochs=20 --json", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json seen = Json::parse(weyl_program("eval run --json", folder).out, "stdout");
  EXPECT_GT(metric(seen, "relative_error"), 0);
  EXPECT_EQ(seen.find("metrics")->find("translation_rmse")->find("unit")->string_or(""), "m");
  EXPECT_EQ(seen.find("metrics")->find("angle_rmse")->find("unit")->string_or(""), "degrees");
  ASSERT_NE(seen.find("breakdowns"), nullptr);
  EXPECT_EQ(seen.find("breakdowns")->find("pose ahead")->items().size(), 2u);
  const auto beside = [&](const char* name) {
    return seen.find("baselines")->find(name)->find("translation_rmse")->find("value")->number_or(-1);
  };
  EXPECT_LT(beside("as given"), beside("last pose"));  // a smooth path
  // The audit holds of the prediction too.
  const Outcome audited = weyl_program("audit run --samples 6 --json", folder);
  EXPECT_EQ(audited.code, 0) << audited.err << audited.out;
  // Written as a trajectory: what was there, and two more, a thirtieth of a second apart.
  for (const std::string end : {"tum", "kitti"}) {
    const Outcome written = weyl_program("predict run path.txt --out ahead." + end, folder);
    ASSERT_EQ(written.code, 0) << written.err;
    EXPECT_NE(written.err.find("the last 2 of 302 poses lie ahead"), std::string::npos) << written.err;
  }
  const Json same = Json::parse(weyl_program("eval ahead.tum --data path.txt --json", folder).out, "stdout");
  EXPECT_EQ(same.find("samples")->number_or(0), 300);
  EXPECT_LT(metric(same, "ape"), 1e-12);
  // What is written is what the model says of the same window in a file of windows, not the constant velocity.
  for (const std::string call : {"data convert ahead.tum windows.safetensors length=8 stride=1 ahead=2",
                                 "data convert ahead.tum whole.safetensors",
                                 "predict run windows.safetensors --out said.safetensors"}) {
    const Outcome outcome = weyl_program(call, folder);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  const std::vector<double> whole = numbers_of(folder + "/whole.safetensors", "elements");
  EXPECT_LT(last_apart(whole, numbers_of(folder + "/said.safetensors", "pose"), 32), 1e-5);
  EXPECT_GT(last_apart(whole, numbers_of(folder + "/windows.safetensors", "elements"), 32), 1e-4);
  const std::string text = contents(folder + "/ahead.tum");
  EXPECT_NE(text.find("\n1010.0000"), std::string::npos) << text.substr(text.size() - 300);
  // The stamps of a clock are continued to the nanosecond.
  std::ifstream path(folder + "/path.txt");
  std::ofstream clock(folder + "/clock.txt");
  int64_t fraction = 63555527;  // of 1403636579.063555527 s, and a twentieth of a second more each time
  for (std::string line; std::getline(path, line); fraction += line.front() == '#' ? 0 : 50'000'000) {
    clock << (line.front() == '#' ? line : stamp_of(fraction) + line.substr(line.find(' '))) << "\n";
  }
  clock.close();
  const Outcome stamped = weyl_program("predict run clock.txt --out clock.tum", folder);
  ASSERT_EQ(stamped.code, 0) << stamped.err;
  EXPECT_NE(contents(folder + "/clock.tum").find("\n" + stamp_of(fraction) + " "), std::string::npos);
  EXPECT_NE(contents(folder + "/clock.tum").find("\n" + stamp_of(fraction + 50'000'000) + " "),
            std::string::npos);
  EXPECT_EQ(weyl_program("predict run ahead.kitti --out other.tum", folder).code, 2);  // no times
  const Outcome untimed = weyl_program("predict run ahead.kitti --out other.kitti", folder);
  EXPECT_EQ(untimed.code, exit_data);
  EXPECT_NE(untimed.err.find("the model was trained on 'time' in s, the data have poses"), std::string::npos)
      << untimed.err;
  // A model of poses without times, from a file and from a folder, takes such alone.
  std::filesystem::create_directories(folder + "/cut");
  for (const std::string name : {"train", "valid", "test"}) {
    ASSERT_EQ(
        weyl_program("data convert ahead.kitti cut/" + name + ".safetensors length=8 ahead=2", folder).code,
        0);
  }
  for (const std::string path : {"ahead.kitti", "cut"}) {
    const Outcome numbered = weyl_program(
        "train path.toml data.pose_windows.path=" + path + " train.epochs=1 --out numbered-" + path +
            (path == "cut" ? " data.pose_windows.stride=0 'data.pose_windows.fractions=[0.8, 0.1, 0.1]'"
                           : ""),
        folder);
    ASSERT_EQ(numbered.code, 0) << numbered.err;
    EXPECT_EQ(
        weyl_program("predict numbered-" + path + " ahead.kitti --out x" + path + ".kitti", folder).code, 0);
    const Outcome mixed = weyl_program("predict numbered-" + path + " path.txt --out mixed.kitti", folder);
    EXPECT_EQ(mixed.code, exit_data);
    EXPECT_NE(mixed.err.find("the model was trained on 'time' in poses, the data have s"), std::string::npos)
        << mixed.err;
  }
}

// The files of a folder say whether poses lie ahead, and how many; no override makes a forecaster denoise.
TEST(PosesProgram, AModelOfAFolderOfWindowsForecastsATrajectory) {
  const std::string folder = scratch("pose-folder-forecast");
  ASSERT_EQ(
      weyl_program("data make pose_windows --out made length=10 ahead=4 train=60 valid=12 test=12", folder)
          .code,
      0);
  const std::string train = "train " WEYL_SOURCE_DIR
                            "/configs/pose_windows/forecast.toml data.pose_windows.path=made train.epochs=1 ";
  const Outcome trained = weyl_program(train + "--out run", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome contrary = weyl_program(train + "--out other data.pose_windows.ahead=3", folder);
  EXPECT_EQ(contrary.code, exit_usage);
  EXPECT_NE(contrary.err.find("data.pose_windows.ahead: must be 4, as the files of made have it"),
            std::string::npos)
      << contrary.err;
  const Outcome checked = weyl_program("config check run/config.toml", folder);
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ((checked.out + checked.err).find("no effect"), std::string::npos) << checked.out << checked.err;
  write_path(folder + "/path.txt", 50, 0.3);
  const Outcome written = weyl_program("predict run path.txt --out ahead.tum", folder);
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_NE(written.err.find("the last 4 of 54 poses lie ahead"), std::string::npos) << written.err;
  const Json same = Json::parse(weyl_program("eval ahead.tum --data path.txt --json", folder).out, "stdout");
  EXPECT_EQ(same.find("samples")->number_or(0), 50);
  EXPECT_LT(metric(same, "ape"), 1e-12);
  const Outcome refused = weyl_program("predict run path.txt --out no.tum data.pose_windows.ahead=0", folder);
  EXPECT_EQ(refused.code, exit_usage);
  EXPECT_NE(refused.err.find("must be above 0, for the model was trained to forecast, got 0"),
            std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/no.tum"));
}

TEST(PosesProgram, DenoisesClassifiesAndMeasuresWindows) {
  const std::string folder = scratch("pose-windows");
  ASSERT_EQ(
      weyl_program("data make pose_windows --out made ahead=0 noise=0.1 train=60 valid=12 test=12", folder)
          .code,
      0);
  for (const auto& [task, metric_name] : {std::pair{"pose_correction", "relative_error"},
                                          {"classification", "accuracy"},
                                          {"property", "mae"}}) {
    const std::string name(task);
    const Outcome drafted =
        weyl_program("config new --data made --task " + name + " --out " + name + ".toml", folder);
    ASSERT_EQ(drafted.code, 0) << drafted.err;
    const Outcome trained =
        weyl_program("train " + name + ".toml --out " + name + " train.epochs=2 --json", folder);
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_GE(metric(*Json::parse(trained.out, "stdout").find("test"), metric_name), 0) << trained.out;
    const Outcome audited = weyl_program("audit " + name + " --samples 6", folder);
    EXPECT_EQ(audited.code, 0) << task << audited.err << audited.out;
    const Outcome predicted =
        weyl_program("predict " + name + " made/test.safetensors --out " + name + ".safetensors", folder);
    ASSERT_EQ(predicted.code, 0) << predicted.err;
  }
  EXPECT_EQ(SafetensorsFile(folder + "/pose_correction.safetensors").entry("pose").shape,
            (std::vector<int64_t>{144, 4, 4}));
  EXPECT_EQ(SafetensorsFile(folder + "/property.safetensors").entry("speed").shape,
            (std::vector<int64_t>{12, 1}));
  // A recording: every pose is written anew, with its time.
  write_path(folder + "/path.txt", 50, 0.3);
  const Outcome written = weyl_program("predict pose_correction path.txt --out clean.tum", folder);
  ASSERT_EQ(written.code, 0) << written.err;
  const Json json = Json::parse(weyl_program("eval clean.tum --data path.txt --json", folder).out, "stdout");
  EXPECT_EQ(json.find("samples")->number_or(0), 50);
  EXPECT_GT(metric(json, "ape"), 0);
  // The last pose is what the model says of it in the last window.
  for (const std::string call : {"data convert path.txt windows.safetensors length=12 stride=38 noise=1e-12",
                                 "data convert clean.tum whole.safetensors",
                                 "predict pose_correction windows.safetensors --out said.safetensors"}) {
    const Outcome outcome = weyl_program(call, folder);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  EXPECT_LT(last_apart(numbers_of(folder + "/whole.safetensors", "elements"),
                       numbers_of(folder + "/said.safetensors", "pose"), 16),
            1e-5);
  EXPECT_EQ(
      weyl_program("predict pose_correction path.txt --out no.tum data.pose_windows.ahead=2", folder).code,
      exit_usage);
}

// What is left of poses in other groups, and times as a feature of sequences with a missing pose.
TEST(PosesProgram, TakesTrajectoriesInOtherGroups) {
  const std::string folder = scratch("pose-groups");
  std::string rows;
  for (int k = 0; k < 60; ++k) {
    const double a = 0.05 * k;
    rows += std::to_string(100 + 0.5 * k + (k % 3 == 0 ? 0.2 : 0)) + " " + std::to_string(0.3 * k) + " " +
            std::to_string(std::sin(a)) + " 0.1 0 0 " + std::to_string(std::sin(a)) + " " +
            std::to_string(std::cos(a)) + "\n";
  }
  std::ofstream(folder + "/floor.txt") << rows;
  for (const auto& [group, m] : {std::pair{"se2", 3}, {"so3", 3}, {"so2", 2}}) {
    const std::string name(group);
    const Outcome made = weyl_program(
        "data convert floor.txt " + name + ".safetensors length=6 ahead=2 group=" + name, folder);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(SafetensorsFile(folder + "/" + name + ".safetensors").entry("elements").shape,
              (std::vector<int64_t>{60, m, m}));
  }
  const Outcome trained = weyl_program(
      "train " WEYL_SOURCE_DIR
      "/configs/completion/se2.toml data.pose_sequences.path=floor.txt data.pose_sequences.times=true "
      "'data.pose_sequences.fractions=[0.5, 0.25, 0.25]' train.epochs=2 train.batch=2 --out run --json",
      folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json told = Json::parse(weyl_program("info run --json", folder).out, "stdout");
  EXPECT_NE(told.find("inputs")->dump().find("time"), std::string::npos) << told.dump();
}

// Whoever reads times whose unit was guessed says so.
TEST(PosesProgram, SaysWhereTheUnitOfTimesIsGuessed) {
  const std::string folder = scratch("pose-guess");
  std::ofstream file(folder + "/guess.csv");
  file << "time,x,y,z,qw,qx,qy,qz\n";
  for (int k = 0; k < 60; ++k) {
    file << 0.1 * k << "," << 0.3 * k << "," << std::sin(0.1 * k) << ",0,1,0,0,0\n";
  }
  file.close();
  const Outcome trained = weyl_program("train " WEYL_SOURCE_DIR
                                       "/configs/pose_windows/forecast.toml data.pose_windows.path=guess.csv "
                                       "data.pose_windows.length=6 data.pose_windows.ahead=2 train.epochs=1 "
                                       "train.batch=4 --out run",
                                       folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const std::string call :
       {"data inspect guess.csv", "data convert guess.csv out.safetensors", "config new --data guess.csv",
        "predict run guess.csv --out out.tum", "predict run guess.csv --out said.safetensors",
        "eval guess.csv --data guess.csv", "eval run --data guess.csv"}) {
    const Outcome outcome = weyl_program(call, folder);
    EXPECT_EQ(outcome.code, 0) << call << outcome.err;
    EXPECT_NE((outcome.err + outcome.out).find("are taken for seconds"), std::string::npos)
        << call << outcome.err << outcome.out;
  }
}

// A model that was trained on a recording predicts on one, in whatever group.
TEST(PosesProgram, PredictsOnARecordingInTheGroupOfTheModel) {
  const std::string folder = scratch("pose-group-predictions");
  std::string rows;
  for (int k = 0; k < 62; ++k) {
    const double a = 0.05 * k;
    rows += std::to_string(100 + 0.5 * k) + " " + std::to_string(0.3 * k) + " 0.1 " +
            std::to_string(std::sin(a)) + " 0 " + std::to_string(std::sin(a / 2)) + " 0 " +
            std::to_string(std::cos(a / 2)) + "\n";
  }
  std::ofstream(folder + "/floor.txt") << rows;  // about y
  for (const std::string group : {"se2", "so3", "se3"}) {
    const bool planar = group == "se2";
    const Outcome trained = weyl_program(
        "train " WEYL_SOURCE_DIR
        "/configs/pose_windows/denoise.toml data.pose_windows.path=floor.txt "
        "data.pose_windows.length=6 data.pose_windows.angle_noise=0.05 data.pose_windows.noise=0.05 'data.pose_windows.fractions=[0.5, 0.25, 0.25]' "
        "train.epochs=1 train.batch=2 data.pose_windows.group=" +
            group + (planar ? " data.pose_windows.up=y" : "") +
            (group == "so3" ? " data.pose_windows.noise=0" : "") + " --out " + group,
        folder);
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Outcome said =
        weyl_program("predict " + group + " floor.txt --out " + group + ".safetensors", folder);
    ASSERT_EQ(said.code, 0) << said.err;
    EXPECT_NE(said.err.find("the last 2 of 62 poses fill no window of 6 and are left out"), std::string::npos)
        << said.err;
    const int64_t m = planar || group == "so3" ? 3 : 4;
    EXPECT_EQ(SafetensorsFile(folder + "/" + group + ".safetensors").entry("pose").shape,
              (std::vector<int64_t>{60, m, m}));
  }
}

// A recording that may be trained on is one that may be predicted: with repeated times, and with times as a feature.
TEST(PosesProgram, PredictsARecordingAsItWasTrained) {
  const std::string folder = scratch("pose-repeated");
  write_path(folder + "/path.txt", 100, 0.3);
  std::string text = contents(folder + "/path.txt");
  const size_t end = text.rfind('\n', text.size() - 2) + 1;
  text += text.substr(end);  // the last pose once more
  std::ofstream(folder + "/twice.txt") << text;
  // `config new` leaves it out, and says so; of a recording without, nothing.
  for (const std::string task : {"completion", "pose_correction"}) {
    const Outcome drafted =
        weyl_program("config new --data twice.txt --task " + task + " --out " + task + ".toml", folder);
    ASSERT_EQ(drafted.code, 0) << drafted.err;
    const std::string config = contents(folder + "/" + task + ".toml");
    EXPECT_NE(config.find("repeated = \"drop\""), std::string::npos) << config;
    EXPECT_NE(config.find("1 of its poses have the time of the one before"), std::string::npos) << config;
    EXPECT_EQ(weyl_program("config check " + task + ".toml --strict", folder).code, 0);
  }
  const Outcome once = weyl_program("config new --data path.txt", folder);
  ASSERT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(once.out.find("repeated = \"drop\""), std::string::npos) << once.out;
  for (const std::string set : {"pose_windows", "pose_sequences"}) {
    const bool windows = set == "pose_windows";
    const std::string train = "train " WEYL_SOURCE_DIR "/configs/" +
                              std::string(windows ? "pose_windows/forecast.toml data.pose_windows.ahead=2"
                                                  : "completion/se3.toml data.pose_sequences.times=true") +
                              " data." + set + ".path=twice.txt data." + set +
                              ".length=8 train.epochs=1 train.batch=4 --out " + set;
    const Outcome refused = weyl_program(train, folder);
    EXPECT_EQ(refused.code, exit_data);
    EXPECT_NE(refused.err.find("repeated=keep or repeated=drop"), std::string::npos) << refused.err;
    const Outcome trained = weyl_program(train + " data." + set + ".repeated=drop", folder);
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Outcome written = weyl_program("predict " + set + " twice.txt --out " + set + ".tum", folder);
    ASSERT_EQ(written.code, 0) << written.err;
    EXPECT_NE(written.err.find(windows ? "of 102 poses lie ahead" : "of 101 is the one"), std::string::npos)
        << written.err;
    EXPECT_EQ(
        weyl_program("predict " + set + " twice.txt --out no.tum data." + set + ".repeated=refuse", folder)
            .code,
        exit_data);
  }
}

}  // namespace poses_test
}  // namespace weyl

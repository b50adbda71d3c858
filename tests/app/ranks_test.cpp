// Several processes as a user starts them: --ranks, a loop with torchrun's variables; trainings, predictions, measurements and audits,
// and what is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "tests/app/atoms.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/worst_of.h"
#include "weyl/makers/bodies/rigid_world.h"

namespace weyl {
namespace ranks_program_test {

std::string place() {
  static const std::string folder = [] {
    const std::string made = scratch("ranks");
    EXPECT_EQ(weyl_program("data make nbody --out data train=60 valid=10 test=10 --quiet", made).code, 0);
    return made;
  }();
  return folder;
}

std::string training(const std::string& more) {
  return "train '" WEYL_SOURCE_DIR
         "/configs/nbody/platonic.toml' data.nbody.path=data train.steps=6 train.epochs=false "
         "train.batch=10 --threads 1 --no-pictures --quiet " +
         more;
}

std::string weights(const std::string& run) {
  return contents(place() + "/" + run + "/last/model.safetensors");
}

/// So many ranks that a loop of the shell starts, with the variables of torchrun; each call at a port of its own. `own`: what the shell
/// puts behind the arguments of each, which it knows as $r. Their exit codes follow what they print, a line each.
Outcome in_a_loop(int ranks, const std::string& arguments, const std::string& own = "") {
  static int calls = 0;
  const std::string port = std::to_string(20000 + (getpid() + calls++) % 12000),
                    count = std::to_string(ranks);
  return shell("all=; for r in $(seq 0 " + std::to_string(ranks - 1) + "); do RANK=$r WORLD_SIZE=" + count +
                   " LOCAL_RANK=$r LOCAL_WORLD_SIZE=" + count + " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port +
                   " '" WEYL_BINARY_DIR "/bin/weyl' " + arguments + " " + own +
                   " & all=\"$all $!\"; done; for one in $all; do wait $one; echo $?; done",
               place());
}

TEST(RanksProgram, SameBitsByRanksAndByAnEnvironment) {
  ASSERT_EQ(weyl_program(training("--ranks 3 --out three"), place()).code, 0);
  ASSERT_EQ(weyl_program(training("--ranks 3 --out again"), place()).code, 0);
  ASSERT_FALSE(weights("three").empty());
  EXPECT_EQ(weights("three"), weights("again"));
  const Outcome loop = in_a_loop(3, training("--out loop"));
  EXPECT_EQ(weights("three"), weights("loop")) << loop.err;
  // One rank is none, and gives the bits of a program that knows of none.
  ASSERT_EQ(weyl_program(training("--ranks 1 --out one"), place()).code, 0);
  ASSERT_EQ(weyl_program(training("--out alone"), place()).code, 0);
  EXPECT_EQ(weights("one"), weights("alone"));
  EXPECT_NE(weights("three"), weights("alone"));  // another order of sums
}

/// Whether a program is there; where peers must be, it must be.
bool has_starter(const std::string& program) {
  const bool there = shell("command -v " + program, place()).code == 0;
  EXPECT_TRUE(there || std::getenv("WEYL_NEEDS_PEERS") == nullptr)
      << program << " must be installed (scripts/setup --dev)";
  return there;
}

// Open MPI's and MPICH's own programs say who is which; the ranks speak as they do without them.
TEST(RanksProgram, SameBitsByOpenMpiAndMpich) {
  ASSERT_EQ(weyl_program(training("--ranks 3 --out plain"), place()).code, 0);
  ASSERT_FALSE(weights("plain").empty());
  int tried = 0;
  int port = 20000 + getpid() % 6000;
  for (const auto& [starter, flags] : {std::pair<std::string, std::string>{
                                           "mpirun.openmpi", "--oversubscribe -x MASTER_ADDR -x MASTER_PORT"},
                                       {"mpiexec.openmpi", "--oversubscribe -x MASTER_ADDR -x MASTER_PORT"},
                                       {"mpiexec.hydra", ""}}) {
    if (!has_starter(starter)) {
      std::cout << starter << " is not there, and not tried\n";
      continue;
    }
    ++tried;
    const Outcome done =
        shell("MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(port++) +
                  " OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " + starter + " " + flags +
                  " -n 3 '" WEYL_BINARY_DIR "/bin/weyl' " + training("--out " + starter),
              place());
    EXPECT_EQ(done.code, 0) << starter << ": " << done.err;
    EXPECT_EQ(weights(starter), weights("plain")) << starter << ": " << done.err;
  }
  if (tried == 0) {
    GTEST_SKIP() << "no mpirun and no mpiexec";
  }
}

// Fixed functions of the distance are no running statistics; only the first rank prints.
TEST(RanksProgram, ModelsWithFixedBasesTrainAndOneRankPrints) {
  const std::string et =
      "train '" WEYL_SOURCE_DIR
      "/configs/nbody/geomformer.toml' data.nbody.path=data model.geomformer.preset=et "
      "train.steps=2 train.epochs=false train.batch=10 --threads 1 --no-pictures --quiet --json ";
  const Outcome loop = in_a_loop(2, et + "--out et");
  EXPECT_FALSE(weights("et").empty()) << loop.err;
  EXPECT_NE(loop.out.find("\"steps\""), std::string::npos) << loop.out;
  EXPECT_EQ(loop.out.find("\"steps\""), loop.out.rfind("\"steps\"")) << loop.out;
}

TEST(RanksProgram, BenchTimesSums) {
  const Outcome timed = weyl_program("bench --ranks 2 --repeats 1 --json", place());
  ASSERT_EQ(timed.code, 0) << timed.err;
  const Json json = Json::parse(timed.out, "bench");
  EXPECT_EQ(json.find("ranks")->number_or(0), 2);
  ASSERT_EQ(json.find("sums")->items().size(), 5u);
  for (const Json& sum : json.find("sums")->items()) {
    EXPECT_NEAR(sum.find("gigabytes_per_second")->number_or(0) * sum.find("ms")->number_or(0),
                sum.find("megabytes")->number_or(-1), 1e-6);
  }
  for (const char* wrong : {"bench", "bench --ranks 1", "bench --ranks 2 --engine",
                            "bench '" WEYL_SOURCE_DIR "/configs/bench/platonic.toml' --ranks 2"}) {
    EXPECT_EQ(weyl_program(wrong, place()).code, 2) << wrong;
  }
}

TEST(RanksProgram, AnotherNumberOfThemGoesOnAndIsSaid) {
  ASSERT_EQ(weyl_program(training("--ranks 3 --out grown"), place()).code, 0);
  const Outcome on =
      weyl_program("train --resume grown train.steps=8 --ranks 2 --threads 1 --no-pictures", place());
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_NE(on.err.find("ranks 3 -> 2"), std::string::npos) << on.err;
  EXPECT_NE(
      on.err.find("a batch is shared by 2 ranks: some 5 samples a rank, whose mean work is 1 of the largest"),
      std::string::npos)
      << on.err;
  const Json began = Json::parse(contents(place() + "/grown/environment.json"), "environment.json");
  EXPECT_EQ(began.find("ranks")->number_or(0), 3);
  ASSERT_EQ(began.find("hosts")->members().size(), 1u);
  EXPECT_EQ(began.find("hosts")->members()[0].second.number_or(0), 3);
  // Threads are chosen as for a new run: such small steps are worth one.
  const Outcome alone = weyl_program("train --resume grown train.steps=10 --no-pictures", place());
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_NE(alone.err.find("float32, 1 threads)"), std::string::npos) << alone.err;
}

// A rank that never comes, and one that hangs, are given up when the time is over, in one line.
TEST(RanksProgram, AMissingAndAHangingRankAreGivenUpInTime) {
  const Outcome missing = shell(
      "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(20000 + getpid() % 12000) +
          " WEYL_RANKS_TIMEOUT=1 '" WEYL_BINARY_DIR "/bin/weyl' " + training("--out missing"),
      place());
  EXPECT_EQ(missing.code, 1) << missing.err;
  EXPECT_EQ(std::ranges::count(missing.err, '\n'), 1) << missing.err;
  const Outcome hanging = shell(
      "WEYL_RANKS_TIMEOUT=3 '" WEYL_BINARY_DIR "/bin/weyl' " +
          training("--ranks 2 train.steps=1000000 --out hanging") +
          " & first=$!; until grep -qs shared hanging/log.txt; do sleep 0.05; done; child=$(pgrep -P $first); kill -STOP $child; wait "
          "$first; code=$?; ps -o stat= -p $child; exit $code",
      place());
  EXPECT_EQ(hanging.code, 1) << hanging.err;
  EXPECT_EQ(hanging.out, "");  // nothing goes on
  EXPECT_EQ(std::ranges::count(hanging.err, '\n'), 1) << hanging.err;
  EXPECT_NE(hanging.err.find("needs all ranks"), std::string::npos) << hanging.err;
  for (const char* wrong : {"0", "soon", "700000"}) {
    const Outcome refused =
        shell(std::string("WEYL_RANKS_TIMEOUT=") + wrong + " '" WEYL_BINARY_DIR "/bin/weyl' " +
                  training("--ranks 2 --out refused"),
              place());
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find("WEYL_RANKS_TIMEOUT must be whole seconds"), std::string::npos) << refused.err;
  }
}

// Each rank reads by itself; what they read must be the same.
TEST(RanksProgram, RanksThatSeeOtherDataAreRefused) {
  ASSERT_EQ(weyl_program(training("--ranks 1 --out seen"), place()).code, 0);
  ASSERT_EQ(
      weyl_program("data make nbody --out other seed=2 train=60 valid=10 test=10 --quiet", place()).code, 0);
  ASSERT_EQ(weyl_program("train --resume seen train.steps=8 --no-pictures --quiet", place()).code, 0);
  std::filesystem::copy(place() + "/seen", place() + "/seen-other", std::filesystem::copy_options::recursive);
  ASSERT_EQ(weyl_program("train --resume seen-other train.steps=9 --no-pictures --quiet", place()).code, 0);
  int port = 26000 + getpid() % 6000;
  for (
      const auto& [verb, first, second, fault] :
      {std::tuple("eval", "seen --data data/test.safetensors", "seen --data other/test.safetensors",
                  "other/test.safetensors: must be the same"),
       {"eval", "seen --data data/test.safetensors", "seen-other --data data/test.safetensors",
        "the model's weights: must be the same"},
       {"predict --out p.safetensors", "seen data/test.safetensors", "seen other/test.safetensors",
        "other/test.safetensors: must be the same"},
       {"audit", "seen", "seen-other", "the model's weights: must be the same"},
       // As many samples of as many bodies, in the same order: the plans of both are equal.
       {"train '" WEYL_SOURCE_DIR
        "/configs/nbody/platonic.toml' train.steps=2 train.epochs=false train.batch=10 --no-pictures --out unlike",
        "data.nbody.path=data", "data.nbody.path=other", "the train split: must be the same"}}) {
    const std::string rank = " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(port++) +
                             " '" WEYL_BINARY_DIR "/bin/weyl' " + verb + " --threads 1 ";
    const Outcome refused = shell(
        "RANK=1" + rank + second + " & RANK=0" + rank + first + "; code=$?; wait $!; exit $code", place());
    EXPECT_EQ(refused.code, 3) << verb << ": " << refused.err;
    EXPECT_NE(refused.err.find("must be the same for all ranks, but rank 0 has"), std::string::npos)
        << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err.substr(refused.err.find("weyl: ")), '\n'), 1) << refused.err;
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_FALSE(std::filesystem::exists(place() + "/unlike"));
}

TEST(RanksProgram, OneLineForWhatIsWrong) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  Outcome wrong = weyl_program(training("--ranks 3 --out wrong train.stepss=3"), place());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(lines(wrong.err), 1) << wrong.err;
  wrong = weyl_program(training("--ranks 3 --out wrong data.nbody.path=nowhere"), place());
  EXPECT_EQ(wrong.code, 3);
  EXPECT_EQ(lines(wrong.err), 1) << wrong.err;
  std::filesystem::create_directories(place() + "/another");
  std::ofstream(place() + "/another/notes.txt") << "of somebody\n";
  wrong = weyl_program(training("--ranks 3 --out another"), place());  // it is there
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(lines(wrong.err), 1) << wrong.err;
  EXPECT_FALSE(std::filesystem::exists(place() + "/wrong"));
  wrong = weyl_program(training("--ranks 3 --device cuda:99 --out wrong"), place());  // on no machine
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(lines(wrong.err), 1) << wrong.err;
  EXPECT_NE(wrong.err.find("--device cuda:99"), std::string::npos) << wrong.err;
  EXPECT_FALSE(std::filesystem::exists(place() + "/wrong"));
  wrong = shell("PMI_RANK=0 PMI_SIZE=2 '" WEYL_BINARY_DIR "/bin/weyl' " + training("--out wrong"), place());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("MASTER_ADDR"), std::string::npos) << wrong.err;
}

// What one rank alone meets, the first or another: its line and its exit code, which all of them end with.
TEST(RanksProgram, AllEndWithTheExitCodeOfTheFirstFault) {
  for (const std::string victim : {"0", "1"}) {
    for (const auto& [fault, code] :
         {std::pair<std::string, std::string>{"train.stepss=3", "2"}, {"data.nbody.path=nowhere", "3"}}) {
      const Outcome ended =
          in_a_loop(3, training("--out faulty"), "$([ $r = " + victim + " ] && echo " + fault + ")");
      EXPECT_EQ(ended.out, code + "\n" + code + "\n" + code + "\n") << victim << " " << fault;
      EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << victim << " " << ended.err;
      EXPECT_FALSE(std::filesystem::exists(place() + "/faulty"));
    }
  }
  // Children of --ranks, of which only one finds its config wrong, as where the file has changed meanwhile.
  const std::string program = " '" WEYL_BINARY_DIR "/bin/weyl' " + training("--ranks 2 --out faulty ");
  const Outcome children = shell(
      "truncate -s 4 fault; exec 7<>meeting 8<>fault; export WEYL_RANKS=2 WEYL_RANKS_MEETING=7 "
      "WEYL_RANKS_FAULT=8 WEYL_RANKS_PARENT=$$ WEYL_RANKS_TIMEOUT=10; WEYL_RANK=0" +
          program + "& WEYL_RANK=1" + program + "train.stepss=3; echo $?; wait $!; echo $?",
      place());
  EXPECT_EQ(children.out, "2\n2\n") << children.err;
  EXPECT_EQ(std::ranges::count(children.err, '\n'), 1) << children.err;
}

/// Small runs of several tasks, each with data that are predicted: what `predict` takes and where it writes.
struct Measured {
  std::string run, data, out;
};

/// Runs on frames with forces, on molecules' numbers, on photographs, on clouds of points, on sequences of poses.
std::vector<Measured> runs() {
  static const std::vector<Measured> all = [] {
    const std::string folder = place();
    const auto train = [&](const std::string& config, const std::string& run) {
      const Outcome done =
          weyl_program("train " + config +
                           " train.steps=3 train.epochs=false --threads 1 --no-pictures --quiet --out " + run,
                       folder);
      EXPECT_EQ(done.code, 0) << run << ": " << done.err;
    };
    std::filesystem::create_directories(folder + "/frames");
    const auto numbered = [](int count, uint64_t seed) {
      auto frames = atoms::frames(count, seed);
      for (size_t i = 0; i < frames.size(); ++i) {
        frames[i].set("alpha", frames[i].positions[1] + static_cast<double>(i % 3));
      }
      return frames;
    };
    atoms::write(folder + "/frames/train.xyz", numbered(20, 1));
    atoms::write(folder + "/frames/valid.xyz", numbered(7, 2));
    atoms::write(folder + "/frames/test.xyz", numbered(11, 3));
    std::ofstream(folder + "/forces.toml") << atoms::config;
    train("forces.toml data.molecules.path=frames", "forces");
    train(
        "forces.toml data.molecules.path=frames data.molecules.properties='[{ key = \"alpha\", unit = \"Bohr^3\" }]' "
        "task.name=property task.property.targets='[\"alpha\"]'",
        "number");
    EXPECT_EQ(weyl_program("data make lesions --out lesions count=8 height=48 width=72 --quiet", folder).code,
              0);
    std::ofstream(folder + "/masks.toml") << lesions_config << R"([model]
system = "steerable"
[model.steerable]
orders = 2
stages = [{ middle = 2, channels = 4, kernel = 3, pool = 2 }]
[model.steerable.encoder]
depth = 1
heads = 2
)";
    train("masks.toml", "masks");
    for (const char* split : {"train", "valid", "test"}) {
      std::filesystem::create_directories(folder + "/clouds/" + split);
      for (int i = 0; i < 5; ++i) {
        std::string rows = "x y z part\n";
        for (int p = 0; p < 30 + 4 * i; ++p) {
          rows += std::to_string(0.05 * std::cos(p)) + " " + std::to_string(0.05 * std::sin(p + i)) + " " +
                  std::to_string(p / 20.0 - 1) + (p < 20 ? " 0\n" : " 1\n");
        }
        std::ofstream(folder + "/clouds/" + split + "/" + std::to_string(i) + ".txt") << rows;
      }
    }
    EXPECT_EQ(weyl_program("config new --data clouds --system transformer --out clouds.toml", folder).code,
              0);
    train("clouds.toml data.clouds.points=20 model.transformer.blocks=1", "clouds-run");
    EXPECT_EQ(
        weyl_program("data make pose_sequences --out sequences group=se3 train=20 valid=5 test=7 --quiet",
                     folder)
            .code,
        0);
    train("'" WEYL_SOURCE_DIR "/configs/completion/se3.toml' data.pose_sequences.path=sequences", "poses");
    return std::vector<Measured>{
        {"forces", "frames/test.xyz", "xyz"}, {"forces", "frames/test.xyz", "safetensors"},
        {"number", "frames/test.xyz", "xyz"}, {"masks", "lesions", ""},
        {"clouds-run", "clouds/test", ""},    {"poses", "sequences/test.safetensors", "safetensors"}};
  }();
  return all;
}

/// The bytes of a file, or of all files of a folder, by their names.
std::map<std::string, std::string> files_of(const std::string& path) {
  if (std::filesystem::is_regular_file(path)) {
    return {{"", contents(path)}};
  }
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    files[entry.path().filename()] = contents(entry.path());
  }
  return files;
}

// Whole batches are shared, so that each prediction has the bits that it has in one process.
TEST(RanksProgram, PredictWritesTheSameBytes) {
  for (const auto& [run, data, ending] : runs()) {
    const auto predicted = [&](const std::string& name, const std::string& more) {
      const std::string out = text("predicted-", run, name, ending.empty() ? "" : ".", ending);
      std::filesystem::remove_all(place() + "/" + out);
      const Outcome done = weyl_program(
          "predict " + run + " " + data + " --batch 3 --threads 1 --quiet --json --out " + out + more,
          place());
      EXPECT_EQ(done.code, 0) << run << ": " << done.err;
      EXPECT_EQ(done.err, "") << run;
      EXPECT_EQ(done.out.find("\"samples\""), done.out.rfind("\"samples\""))
          << done.out;  // the first rank alone
      return files_of(place() + "/" + out);
    };
    const auto one = predicted("-one", "");
    ASSERT_FALSE(one.empty()) << run;
    EXPECT_TRUE(predicted("-three", " --ranks 3") == one) << run;
    if (run != "masks") {  // the comparison can fail
      EXPECT_TRUE(predicted("-other", run == "clouds-run" ? " --probabilities" : " --dtype float64") != one)
          << run;
    }
  }
}

/// Every number of the JSON of both: equal to 1e-12 of itself; times may differ.
void expect_same_numbers(const Json& a, const Json& b, const std::string& where) {
  const auto is_number = [](const Json& x) { return x.number_or(1) == x.number_or(2); };
  if (a.is_object()) {
    for (const auto& [key, value] : a.members()) {
      ASSERT_NE(b.find(key), nullptr) << where << "." << key;
      if (key != "seconds" && key != "peak_mb") {
        expect_same_numbers(value, *b.find(key), where + "." + key);
      }
    }
  } else if (!a.items().empty()) {
    ASSERT_EQ(a.items().size(), b.items().size()) << where;
    for (size_t i = 0; i < a.items().size(); ++i) {
      expect_same_numbers(a.items()[i], b.items()[i], where + "[]");
    }
  } else if (is_number(a)) {
    EXPECT_NEAR(a.number_or(0), b.number_or(1), 1e-12 * std::abs(a.number_or(0))) << where;
  } else {
    EXPECT_EQ(a.dump(), b.dump()) << where;
  }
}

TEST(RanksProgram, EvalMeasuresTheSame) {
  std::set<std::string> seen;
  for (const auto& [run, data, ending] : runs()) {
    if (!seen.insert(run).second) {
      continue;
    }
    const std::string split = run == "clouds-run" ? " --moved" : run == "poses" ? "" : " --split valid";
    const auto measured = [&](const std::string& more) {
      const Outcome done =
          weyl_program("eval " + run + split + " --batch 2 --threads 1 --json" + more, place());
      EXPECT_EQ(done.code, 0) << run << ": " << done.err;
      return Json::parse(done.code == 0 ? done.out : "{}", run);
    };
    const Json one = measured(""), three = measured(" --ranks 3");
    ASSERT_FALSE(one.find("metrics") == nullptr || one.find("metrics")->members().empty()) << run;
    expect_same_numbers(one, three, run);
    // Case by case: the same table, to the byte.
    measured(" --out cases-one");
    measured(" --out cases-three --ranks 3");
    EXPECT_EQ(contents(place() + "/cases-one/cases.csv"), contents(place() + "/cases-three/cases.csv"))
        << run;
    std::filesystem::remove_all(place() + "/cases-one");
    std::filesystem::remove_all(place() + "/cases-three");
  }
}

// So many that ranks meet on the way: cases are merged in their order.
TEST(RanksProgram, CasesOfManySamplesAreTheSame) {
  ASSERT_EQ(weyl_program(training("--ranks 1 --out many"), place()).code, 0);
  ASSERT_EQ(weyl_program("data make nbody --out large train=1 valid=1 test=203 --quiet", place()).code, 0);
  const auto cases = [&](const std::string& name, const std::string& more) {
    const Outcome done = weyl_program(
        "eval many --data large/test.safetensors --threads 1 --json --out " + name + more, place());
    EXPECT_EQ(done.code, 0) << done.err;
    return contents(place() + "/" + name + "/cases.csv");
  };
  const std::string one = cases("many-one", "");
  EXPECT_EQ(std::ranges::count(one, '\n'), 204);
  EXPECT_EQ(one, cases("many-three", " --ranks 3"));
}

// Volumes of shapes that are made anew: the mean over rotations of each, and tables of moved ones.
TEST(RanksProgram, EvalOfPlacedSamplesIsTheSame) {
  std::ofstream(place() + "/shapes.toml") << R"([data]
set = "modelnet"
[data.modelnet]
path = "solids"
voxels = 10
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
steps = 1
batch = 8
)";
  ASSERT_EQ(weyl_program("data make solids --out solids train=12 test=5 --quiet", place()).code, 0);
  ASSERT_EQ(weyl_program("train shapes.toml --threads 1 --no-pictures --quiet --out shapes", place()).code,
            0);
  for (const char* more : {" --moved", " task.classification.test_time_rotations.count=12",
                           " task.classification.test_time_rotations.count=12 --out shape-cases --force"}) {
    const auto measured = [&](const std::string& ranks) {
      const Outcome done =
          weyl_program(std::string("eval shapes --batch 4 --threads 1 --json") + more + ranks, place());
      EXPECT_EQ(done.code, 0) << done.err;
      return Json::parse(done.code == 0 ? done.out : "{}", more);
    };
    const Json one = measured("");
    ASSERT_NE(one.find("metrics"), nullptr);
    expect_same_numbers(one, measured(" --ranks 3"), more);
  }
}

/// The gradients of the first step of a run in float64, clipped: the first moments after it.
std::map<std::string, std::vector<double>> gradients(const std::string& run) {
  const SafetensorsFile file(place() + "/" + run + "/last/state.safetensors");
  std::map<std::string, std::vector<double>> all;
  for (const auto& [name, entry] : file.header().tensors) {
    if (name.find("first.") != std::string::npos) {
      EXPECT_EQ(entry.type, ElementType::f64) << name;
      const std::vector<std::byte> bytes = file.bytes(name);
      std::vector<double>& values = all[name];
      values.resize(bytes.size() / sizeof(double));
      std::memcpy(values.data(), bytes.data(), bytes.size());
    }
  }
  return all;
}

/// The largest difference of any of them, over the largest of any; NaN stays.
double apart(const std::map<std::string, std::vector<double>>& a,
             const std::map<std::string, std::vector<double>>& b) {
  double difference = 0, size = 0;
  for (const auto& [name, values] : a) {
    const std::vector<double>& others = b.at(name);
    for (size_t i = 0; i < values.size(); ++i) {
      difference = worst_of(difference, std::abs(values[i] - others.at(i)));
      size = worst_of(size, std::abs(values[i]));
    }
  }
  return difference / size;
}

/// The loss of the first step, as metrics.csv has it.
double first_loss(const std::string& run) {
  std::istringstream rows(contents(place() + "/" + run + "/metrics.csv"));
  std::string names, row;
  std::getline(rows, names);
  std::getline(rows, row);
  EXPECT_TRUE(names.starts_with("step,epoch,rate,loss,")) << names;
  std::istringstream cells(row);
  for (int cell = 0; cell < 4; ++cell) {
    std::getline(cells, row, ',');
  }
  return std::stod(row);
}

// Forces, trajectories, rigid motions, and cells and points with weights of classes, of batches whose samples are of several sizes: the
// gradients of one process to rounding, clipped by the norm of all.
TEST(RanksProgram, GradientsOfManyTasksAreThoseOfOneProcess) {
  runs();
  const std::string configs = "'" WEYL_SOURCE_DIR "/configs/",
                    weighted = " task.segmentation.class_weights='[1.0, 3.0]'";
  std::map<std::string, std::string> recipes{
      {"g-forces", "forces.toml data.molecules.path=frames"},
      {"g-trajectory", configs + "nbody/gatr.toml' data.nbody.path=data"},
      {"g-masks", "masks.toml" + weighted},
      {"g-clouds", "clouds.toml data.clouds.points=20 model.transformer.blocks=1" + weighted}};
  if (!bullet_version().empty()) {
    const Outcome made = weyl_program(
        "data make rigid_bodies --out bodies train=6 valid=2 test=2 'shapes=[\"cube\"]' "
        "'objects=[2, 4]' detail=box frames=8 --quiet",
        place());
    ASSERT_EQ(made.code, 0) << made.err;
    recipes["g-bodies"] = configs + "rigid/gatr.toml' data.rigid_bodies.path=bodies train.flops=false";
  }
  for (const auto& [name, config] : recipes) {
    const auto trained = [&](const std::string& run, const std::string& more) {
      const Outcome done = weyl_program(
          "train " + config + " --out " + run +
              " train.epochs=false train.max_seconds=false train.steps=1 train.log_every_steps=1 "
              "train.optimiser.clip=0.01 --threads 1 --no-pictures --quiet " +
              more,
          place());
      EXPECT_EQ(done.code, 0) << run << ": " << done.err;
    };
    trained(name + "-1", "train.batch=5 train.precision=float64");
    trained(name + "-single", "train.batch=5");
    trained(name + "-other", "train.batch=2 train.precision=float64");
    const auto one = gradients(name + "-1");
    ASSERT_FALSE(one.empty()) << name;
    EXPECT_GT(apart(one, gradients(name + "-other")), 1e-4) << name;  // the comparison can fail
    for (const std::string ranks : {"2", "3"}) {
      trained(name + "-" + ranks, "train.batch=5 train.precision=float64 --ranks " + ranks);
      EXPECT_LT(apart(one, gradients(name + "-" + ranks)), 1e-10) << name << ", " << ranks;
      trained(name + "-single-" + ranks, "train.batch=5 --ranks " + ranks);
      const double loss = first_loss(name + "-single");
      EXPECT_NEAR(first_loss(name + "-single-" + ranks), loss, 1e-6 * std::abs(loss))
          << name << ", " << ranks;
    }
  }
}

// A signal to any of them: all end after the step, what they have done is saved, and goes on with the bits of one that was not stopped.
TEST(RanksProgram, ASignalToOneSavesAndEndsAll) {
  const auto endless = [&](const std::string& more) {
    return training("train.schedule.name=constant --ranks 3 " + more);
  };
  const Outcome stopped = shell(
      "'" WEYL_BINARY_DIR "/bin/weyl' " + endless("--json train.steps=1000000 --out signalled") +
          " & first=$!; until grep -qs shared signalled/log.txt; do sleep 0.05; done; kill -TERM $(pgrep -P $first | tail -n 1); "
          "wait $first",
      place());
  EXPECT_EQ(stopped.code, 5) << stopped.err;
  const double steps = Json::parse(stopped.out, "train").find("steps")->number_or(0);
  const std::string budget = text("train.steps=", static_cast<int64_t>(steps) + 4);
  ASSERT_EQ(
      weyl_program("train --resume signalled --ranks 3 --threads 1 --no-pictures --quiet " + budget, place())
          .code,
      0);
  ASSERT_EQ(weyl_program(endless(budget + " --out unsignalled"), place()).code, 0);
  EXPECT_FALSE(weights("signalled").empty());
  EXPECT_EQ(weights("signalled"), weights("unsignalled"));
}

// One rank meets a fault at once, the other is in the midst of long work: the exit code is the fault's.
TEST(RanksProgram, ALongStepHidesNoExitCode) {
  runs();
  auto frames = atoms::frames(2, 3);
  AtomsFrame& large = frames[0];
  for (int atom = static_cast<int>(large.size()); atom < 40'000; ++atom) {  // some eight seconds of a core
    large.numbers.push_back(1);
    for (const double x : {1.1 * (atom % 16), 1.1 * (atom / 16 % 16), 3 + 1.1 * (atom / 256)}) {
      large.positions.push_back(x);
    }
  }
  for (AtomsFrame& frame : frames) {
    frame.columns.clear();
  }
  std::copy_n(frames[1].positions.begin(), 3, frames[1].positions.begin() + 3);
  atoms::write(place() + "/long.xyz", frames);
  const Outcome failed = weyl_program(
      "predict forces long.xyz --batch 1 --ranks 2 --threads 1 --quiet --out long-out.xyz", place());
  EXPECT_EQ(failed.code, 3) << failed.err;
  EXPECT_EQ(std::ranges::count(failed.err, '\n'), 1) << failed.err;
  EXPECT_FALSE(std::filesystem::exists(place() + "/long-out.xyz"));
}

TEST(RanksProgram, AuditSaysTheSame) {
  runs();
  // The config has labels that random samples have not.
  for (const char* run : {"forces", "masks", WEYL_SOURCE_DIR "/configs/md/et.toml"}) {
    const Outcome one =
                      weyl_program(std::string("audit ") + run + " --samples 6 --threads 1 --json", place()),
                  three = weyl_program(
                      std::string("audit ") + run + " --samples 6 --threads 1 --ranks 3 --json", place());
    EXPECT_EQ(one.code, three.code) << three.err;
    ASSERT_FALSE(one.out.empty());
    EXPECT_EQ(one.out, three.out) << run;
  }
}

TEST(RanksProgram, AFaultOfOneRankIsOneLineAndLeavesNoFile) {
  runs();
  // A frame that cannot be predicted, of the first rank or of another: two atoms in one place.
  for (const size_t faulty : {9, 7}) {
    auto frames = atoms::frames(11, 3);
    std::copy_n(frames[faulty].positions.begin(), 3, frames[faulty].positions.begin() + 3);
    atoms::write(place() + "/coincident.xyz", frames);
    const std::string call = "predict forces coincident.xyz --batch 1 --threads 1 --quiet --out broken.xyz";
    const Outcome one = weyl_program(call, place()), three = weyl_program(call + " --ranks 3", place());
    EXPECT_EQ(one.code, 3);
    EXPECT_EQ(three.code, 3) << three.err;
    EXPECT_EQ(three.err, one.err);
    EXPECT_EQ(std::ranges::count(three.err, '\n'), 1) << three.err;
  }
  for (const auto& entry : std::filesystem::directory_iterator(place())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("broken")) << entry.path();
  }
  // A step that diverges, in the middle of a training.
  const Outcome diverged =
      weyl_program(training("--ranks 3 --out diverged train.optimiser.rate=1000"), place());
  EXPECT_EQ(diverged.code, 1);
  EXPECT_EQ(std::ranges::count(diverged.err, '\n'), 1) << diverged.err;
  EXPECT_NE(diverged.err.find("loss and gradient must be finite"), std::string::npos) << diverged.err;
  const Outcome trajectory =
      weyl_program("predict poses '" WEYL_SOURCE_DIR
                   "/tests/fixtures/poses/desk.tum.txt' --ranks 2 --threads 1 --out filled.tum",
                   place());
  EXPECT_EQ(trajectory.code, 2);
  EXPECT_NE(trajectory.err.find("by one process"), std::string::npos) << trajectory.err;
}

}  // namespace ranks_program_test
}  // namespace weyl

// One way through the program: make data, train, resume, eval, predict, audit, info, plot, convert; each
// verb's JSON has the keys that docs/cli.md promises.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/app/nbody.h"
#include "tests/app/program.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace verbs_test {

class Verbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("verbs");
    std::ofstream(folder() + "/c.toml") << nbody_config(5);
    made() = weyl_program("data make nbody --out data train=20 valid=8 test=8 --json", folder());
    trained() = weyl_program("train c.toml --out run --threads 1 --json", folder());
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static Outcome& made() {
    static Outcome outcome;
    return outcome;
  }
  static Outcome& trained() {
    static Outcome outcome;
    return outcome;
  }
  static Outcome weyl(const std::string& arguments) { return weyl_program(arguments, folder()); }

  // One JSON object with these keys ("a.b": inside), exit code as expected, and nothing else on stdout.
  static Json object(const Outcome& outcome, const std::vector<std::string>& keys, int code = 0) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    Json json;
    EXPECT_NO_THROW(json = Json::parse(outcome.out, "stdout")) << outcome.out;
    for (const std::string& key : keys) {
      const Json* at = &json;
      for (size_t begin = 0; at != nullptr && begin <= key.size();) {
        const size_t end = std::min(key.find('.', begin), key.size());
        at = at->find(key.substr(begin, end - begin));
        begin = end + 1;
      }
      EXPECT_NE(at, nullptr) << key << " in " << outcome.out;
    }
    return json;
  }
};

TEST_F(Verbs, MakeData) {
  object(made(), {"out"});
  EXPECT_TRUE(std::filesystem::exists(folder() + "/data/train.safetensors"));
  EXPECT_EQ(weyl("data make nbody --out data train=20 valid=8 test=8").code, 2);  // never overwrites
}

TEST_F(Verbs, InspectData) {
  const Json json = object(
      weyl("data inspect data/test.safetensors --json"),
      {"carrier", "samples", "tokens.min", "tokens.mean", "tokens.max", "fields", "labels", "warnings"});
  EXPECT_EQ(json.find("samples")->number_or(0), 8);
  for (const char* key : {"name", "shape", "unit", "min", "max", "missing"}) {
    EXPECT_NE(json.find("fields")->items().at(0).find(key), nullptr) << key;
  }
  for (const Json& field : json.find("fields")->items()) {
    EXPECT_FALSE(field.find("unit")->string_or("").empty()) << field.dump();
  }
}

TEST_F(Verbs, Train) {
  const Json json = object(trained(), {"run", "steps", "seconds", "tokens", "flops", "nominal_flops",
                                       "best.metric", "best.value", "best.unit", "best.step", "test.samples",
                                       "test.seconds", "test.metrics.mse.value", "test.metrics.mse.unit"});
  EXPECT_EQ(json.find("steps")->number_or(0), 5);
  for (const char* file :
       {"config.toml", "environment.json", "log.txt", "metrics.csv", "README.md", "best/model.safetensors",
        "last/state.safetensors", "plots/learning_curve.png", "plots/learning_curve.svg",
        "plots/parity_displacement.png", "plots/parity_displacement.svg"}) {
    EXPECT_TRUE(std::filesystem::exists(folder() + "/run/" + file)) << file;
  }
  // The axes say what is drawn, and in which unit.
  const std::string picture = contents(folder() + "/run/plots/parity_displacement.svg");
  EXPECT_NE(picture.find(">displacement / length<"), std::string::npos);
  EXPECT_NE(picture.find(">predicted displacement / length<"), std::string::npos);
  EXPECT_EQ(weyl("train c.toml --out run").code, 2);  // never overwrites
  // The talk names labels and the simple answers beside the model.
  EXPECT_NE(trained().err.find("labels: "), std::string::npos) << trained().err;
  EXPECT_NE(trained().err.find("straight line"), std::string::npos);
  EXPECT_EQ(trained().err.find('\r'), std::string::npos);
}

TEST_F(Verbs, TrainOpensItsDataOnce) {
  // Gone as soon as there are metrics: neither the test split nor the table at the end asks for the files
  // again.
  const std::string data = folder() + "/data", gone = folder() + "/gone",
                    csv = folder() + "/once/metrics.csv";
  const Outcome outcome = weyl(
      "train c.toml train.steps=40 --out once --threads 1 --json & pid=$!; "
      "for i in $(seq 20000); do { [ -e " +
      csv + " ] || ! kill -0 $pid; } && break; sleep 0.01; done; mv " + data + " " + gone +
      "; wait $pid; code=$?; mv " + gone + " " + data + "; exit $code;#");
  EXPECT_GT(object(outcome, {"test.metrics.mse", "baselines.no motion"}).find("baselines")->members().size(),
            1u);
}

TEST_F(Verbs, TrainRefusesBf16OnACpuInOneLine) {
  const Outcome outcome = weyl("train c.toml train.precision=bf16 --out half");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "weyl: train.precision: bf16 must run on a CUDA device, got cpu\n");
}

TEST_F(Verbs, ResumeARunThatIsAtItsEnd) {
  const Json json = object(weyl("train --resume run --threads 1 --json"), {"run", "steps"});
  EXPECT_EQ(json.find("steps")->number_or(0), 5);
}

TEST_F(Verbs, Eval) {
  const Json json = object(weyl("eval run --json --threads 1"),
                           {"samples", "seconds", "metrics.mse.value", "metrics.mse.unit"});
  const Json test = object(trained(), {});
  // To the rounding of a sum of other batches.
  EXPECT_DOUBLE_EQ(json.find("metrics")->find("mse")->find("value")->number_or(0),
                   test.find("test")->find("metrics")->find("mse")->find("value")->number_or(1));
  const std::string people = weyl("eval run --data data/valid.safetensors").out;
  EXPECT_TRUE(people.starts_with("8 samples\n")) << people;
  for (const auto& [name, metric] : json.find("metrics")->members()) {
    const std::string unit = metric.find("unit")->string_or("");
    EXPECT_NE(people.find("\n" + name + (unit.empty() ? "" : " (" + unit + ")") + "  "), std::string::npos)
        << people;
  }
  EXPECT_EQ(weyl("eval run/best/model.safetensors --data data --split valid --dtype float64").code, 0);
}

TEST_F(Verbs, BenchTimesAStepByThreads) {
  const Json two = object(weyl("bench c.toml --repeats 1 --threads 2 --json"), {"cases"});
  const Json& found = two.find("cases")->items().at(0);
  EXPECT_EQ(found.find("threads")->number_or(0), 2);
  const Json& times = *found.find("step_ms_by_threads");
  EXPECT_EQ(times.members().size(), 2U);
  for (const char* number : {"1", "2"}) {
    ASSERT_NE(times.find(number), nullptr) << number;
    EXPECT_GT(times.find(number)->number_or(0), 0) << number;
  }
  // Somebody who says one thread gets no more, not even to compare.
  const Json one = object(weyl("bench c.toml --repeats 1 --threads 1 --json"), {"cases"});
  EXPECT_EQ(one.find("cases")->items().at(0).find("step_ms_by_threads")->members().size(), 1U);
}

TEST_F(Verbs, BenchSaysWhatArithmeticItDoesNotTime) {
  const std::string bench = "bench c.toml --repeats 1 --threads 1 bench.expressions=false ";
  EXPECT_EQ(weyl(bench).err.find("no effect"), std::string::npos);
  for (const char* key : {"train.tf32=true", "train.precision=bf16"}) {
    const auto timed = weyl(bench + key);
    EXPECT_EQ(timed.code, 0) << timed.err;
    EXPECT_NE(timed.err.find("has no effect on weyl bench"), std::string::npos) << timed.err;
  }
}

TEST_F(Verbs, BenchLeavesTorchExpressionsOut) {
  const auto timed = [&](const char* more) {
    const Json json =
        object(weyl(std::string("bench c.toml --repeats 1 --threads 1 --json ") + more), {"cases"});
    const Json& found = json.find("cases")->items().at(0);
    EXPECT_GT(found.find("train_step_ms")->number_or(0), 0);
    return found.find("reference_train_step_ms") != nullptr && found.find("error") != nullptr;
  };
  EXPECT_TRUE(timed(""));
  EXPECT_FALSE(timed("bench.expressions=false"));
  const auto shown = weyl("bench c.toml --repeats 1 --threads 1 bench.expressions=false");
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.out.find("torch expressions"), std::string::npos) << shown.out;
}

TEST_F(Verbs, ARunFindsItsDataFromAnyFolder) {
  const std::string elsewhere = scratch("elsewhere"), run = folder() + "/run";
  const auto mse = [](const Json& json) {
    return json.find("metrics")->find("mse")->find("value")->number_or(0);
  };
  const Json here = object(weyl("eval run --json --threads 1"), {"metrics.mse.value"});
  for (const std::string& subject : {run, run + "/best/model.safetensors"}) {
    const Json there =
        object(weyl_program("eval " + subject + " --json --threads 1", elsewhere), {"metrics.mse.value"});
    EXPECT_EQ(mse(there), mse(here));
  }
  const Outcome audit = weyl_program("audit " + run + " --samples 4", elsewhere);
  EXPECT_EQ(audit.code, 0) << audit.err;
  EXPECT_EQ(audit.err.find("no data"), std::string::npos) << audit.err;
  EXPECT_EQ(weyl_program("train --resume " + run, elsewhere).code, 0);
  std::filesystem::copy(run, elsewhere + "/copy", std::filesystem::copy_options::recursive);
  std::filesystem::remove(elsewhere + "/copy/environment.json");  // as of another machine
  const Outcome lost = weyl_program("eval copy", elsewhere);
  EXPECT_EQ(lost.code, 3);
  EXPECT_EQ(lost.err,
            "weyl: data: there is no such folder; make it with `weyl data make nbody --out data`\n");
}

TEST_F(Verbs, Predict) {
  object(weyl("predict run data/test.safetensors --out predicted.safetensors --json"),
         {"samples", "seconds", "out"});
  const SafetensorsFile file(folder() + "/predicted.safetensors");
  EXPECT_EQ(file.entry("displacement").shape, (std::vector<int64_t>{40, 1, 3}));
  EXPECT_EQ(file.entry("node_vectors").shape, (std::vector<int64_t>{40, 1, 3}));
  EXPECT_EQ(weyl("predict run data/none.safetensors --out x.safetensors").code, 3);
  EXPECT_EQ(weyl("predict run data/test.safetensors --out x.txt").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder() + "/x.safetensors"));
}

TEST_F(Verbs, PredictWithSeveralModels) {
  const Outcome outcome = weyl("predict run run data/test.safetensors --out several.safetensors --json");
  object(outcome, {"samples", "seconds", "out"});
  const SafetensorsFile file(folder() + "/several.safetensors");
  EXPECT_EQ(file.entry("displacement_std").shape, (std::vector<int64_t>{40, 1, 3}));
  EXPECT_EQ(file.entry("node_vectors").shape, (std::vector<int64_t>{40, 1, 3}));
  EXPECT_EQ(weyl("predict run run data/test.safetensors --out x.safetensors --gradient").code, 2);
  EXPECT_EQ(weyl("predict run --out x.safetensors").code, 2);
  EXPECT_EQ(weyl("predict run none data/test.safetensors --out x.safetensors").code, 3);
  // Every model's files are inputs, which --force does not replace.
  const Outcome over = weyl(
      "predict run run/last/model.safetensors data/test.safetensors --force --out "
      "run/last/model.safetensors");
  EXPECT_EQ(over.code, 2) << over.err;
  EXPECT_FALSE(std::filesystem::exists(folder() + "/x.safetensors"));
}

TEST_F(Verbs, Audit) {
  const Json json =
      object(weyl("audit run --samples 8 --json"), {"passed", "claims", "controls", "skipped", "summary"});
  // The same sentences come first for people.
  const Outcome said = weyl("audit run --samples 8");
  std::string first;
  for (const Json& sentence : json.find("summary")->items()) {
    first += sentence.string_or("") + "\n";
  }
  EXPECT_TRUE(first.starts_with("for this task: ")) << first;
  EXPECT_NE(first.find("\nexact under "), std::string::npos) << first;
  EXPECT_TRUE(said.out.starts_with(first + "\n")) << said.out;
  for (const char* key : {"group", "output", "dtype", "error", "tolerance", "passed"}) {
    EXPECT_NE(json.find("claims")->items().at(0).find(key), nullptr) << key;
  }
  for (const char* key : {"transformation", "error", "at_least", "passed"}) {
    EXPECT_NE(json.find("controls")->items().at(0).find(key), nullptr) << key;
  }
  const Json plain =
      object(weyl("audit c.toml model.system=transformer model.transformer.width=16 --samples 8 --json"),
             {"passed", "measures"});
  for (const Json& claim : plain.find("claims")->items()) {
    EXPECT_EQ(claim.find("group")->string_or("").find("SO("), std::string::npos);
  }
  for (const Json& measure : plain.find("measures")->items()) {  // the rest is told as controls
    EXPECT_EQ(measure.find("group")->string_or(""), "SO(3)");
    EXPECT_GT(measure.find("error")->number_or(0), 1e-4);
  }
}

TEST_F(Verbs, Info) {
  const std::vector<std::string> keys{"system",
                                      "parameters",
                                      "parameters_real",
                                      "parts",
                                      "dtype",
                                      "carrier",
                                      "symmetry.exact",
                                      "symmetry.approximate",
                                      "inputs",
                                      "outputs",
                                      "options",
                                      "flops_per_token.forward",
                                      "flops_per_token.train",
                                      "flops_per_token.nominal",
                                      "format_version"};
  const Json run = object(weyl("info run --json"), keys);
  const Json config = object(weyl("info c.toml --json"), keys);
  EXPECT_EQ(run.find("parameters")->number_or(0), config.find("parameters")->number_or(1));
  EXPECT_EQ(run.find("system")->string_or(""), "platonic");
  object(weyl("info data/test.safetensors --json"), {"tensors", "metadata"});
  EXPECT_EQ(weyl("info run train.epochs=3").code, 2);
}

TEST_F(Verbs, Plot) {
  EXPECT_EQ(object(weyl("plot run --out pictures --json"), {"files"}).find("files")->items().size(), 10u);
  EXPECT_TRUE(std::filesystem::exists(folder() + "/pictures/learning_curve.png"));
  std::ifstream svg(folder() + "/pictures/learning_curve.svg");
  const std::string drawn((std::istreambuf_iterator<char>(svg)), {});
  for (const char* words : {"Learning curve of run", "training loss", "validation mse, best ", ">mse / "}) {
    EXPECT_NE(drawn.find(words), std::string::npos) << words;
  }
  std::ifstream parity(folder() + "/pictures/parity_displacement.svg");
  const std::string pairs((std::istreambuf_iterator<char>(parity)), {});
  EXPECT_NE(pairs.find("Test split, run: MAE "), std::string::npos);
}

TEST_F(Verbs, Doctor) {
  const Json json = object(weyl("doctor --json"), {"ok", "torch", "blas", "devices", "optional"});
  EXPECT_FALSE(json.find("torch")->string_or("").empty());
}

TEST_F(Verbs, SplitAndConvert) {
  const Json json =
      object(weyl("data split data/train.safetensors --out parts --train 0.5 --valid 0.25 --json"),
             {"train", "valid", "test"});
  EXPECT_EQ(json.find("train")->number_or(0), 10);
  object(weyl("data convert data/test.safetensors test.npz --json"), {"files"});
  EXPECT_TRUE(std::filesystem::exists(folder() + "/test.npz"));
}

TEST_F(Verbs, ImportThenPredictOnATensorFileByAnInterface) {
  std::ofstream(folder() + "/i.toml") << R"(
[interface]
dimension = 3
typical_nodes = 5
features = [{ name = "charge" }, { name = "speed" }, { name = "velocity", kind = "vector" }]
outputs = [{ name = "displacement", kind = "vector" }]
[model]
system = "platonic"
[model.platonic]
width = 48
heads = 12
blocks = 1
)";
  const Outcome info = weyl("info i.toml --json");
  object(info, {"parameters"});
  // A model file is a state dict too, but for the statistics of its task.
  const Outcome bad = weyl("import run/best/model.safetensors --config i.toml --out imported.safetensors");
  EXPECT_EQ(bad.code, 3) << bad.out;
  EXPECT_NE(bad.err.find("task."), std::string::npos) << bad.err;
  EXPECT_FALSE(std::filesystem::exists(folder() + "/imported.safetensors"));
}

// A training that goes on until a signal comes: once it trains, `signal` is sent to it, $pid.
std::string training(const std::string& run, const std::string& signal) {
  return "'" WEYL_BINARY_DIR "/bin/weyl' train c.toml train.steps=100000000 train.evaluate_every=1e6 --out " +
         run + " --threads 1 --quiet & pid=$!; for i in $(seq 10000); do { [ -e " + run +
         "/last ] || ! kill -0 $pid; } && break; sleep 0.02; done; sleep 0.5; kill -" + signal + " $pid; ";
}

TEST_F(Verbs, AnInterruptedTrainingSavesAndExitsFive) {
  const Outcome outcome = weyl("--version; " + training("stopped", "TERM") + "wait $pid; exit $?;#");
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(folder() + "/stopped/last/state.safetensors"));
}

TEST_F(Verbs, AHangUpSavesAndExitsFive) {
  EXPECT_EQ(weyl("--version; " + training("hungup", "HUP") + "wait $pid; exit $?;#").code, 5);
  EXPECT_TRUE(std::filesystem::exists(folder() + "/hungup/last/state.safetensors"));
}

TEST_F(Verbs, AHangUpThatIsIgnoredStaysIgnored) {
  std::ofstream(folder() + "/nohup.sh")
      << "trap '' HUP\n"
      << training("nohup", "HUP") << "sleep 1; kill -0 $pid && touch alive; kill -TERM $pid; wait $pid\n";
  EXPECT_EQ(weyl("--version; sh nohup.sh; exit $?;#").code, 5);
  EXPECT_TRUE(std::filesystem::exists(folder() + "/alive"));
}

TEST_F(Verbs, ASecondTrainingInAFolderIsOneLine) {
  const Outcome outcome =
      weyl("--version >/dev/null; " + training("shared", "CONT") +
           "rm -f shared/.lock; '" WEYL_BINARY_DIR
           "/bin/weyl' train --resume shared 2>&1; echo $?; kill -TERM $pid; wait $pid;#");
  EXPECT_EQ(outcome.out,
            "weyl: shared: must be used by one training at a time, but another one is running in it\n3\n");
}

TEST_F(Verbs, APictureThatCannotBeDrawnIsAWarning) {
  std::filesystem::copy(folder() + "/run", folder() + "/plain", std::filesystem::copy_options::recursive);
  std::filesystem::remove_all(folder() + "/plain/plots");
  std::ofstream(folder() + "/plain/plots") << "in the way";
  const Outcome outcome = weyl("train --resume plain --threads 1 --json");
  object(outcome, {"run", "steps", "test.metrics.mse", "baselines"});
  EXPECT_NE(outcome.err.find("no pictures, or not all: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("plain is finished: step 5 of 5; train on with, say: weyl train --resume plain "
                             "train.steps=10"),
            std::string::npos)
      << outcome.err;
}

}  // namespace verbs_test
}  // namespace weyl

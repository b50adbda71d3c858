// `predict` and `import` replace no file unless they are told to, and never one that they read; `eval` writes none.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/app/atoms.h"
#include "tests/app/nbody.h"
#include "tests/app/refusals.h"

namespace weyl {
namespace overwrite_test {

class OverwriteProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("overwrite");
    std::ofstream(folder() + "/c.toml") << nbody_config(2);
    ASSERT_EQ(weyl("data make nbody --out data train=20 valid=8 test=8").code, 0);
    ASSERT_EQ(weyl("train c.toml --out run --threads 1").code, 0);
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static std::string at(const std::string& name) { return folder() + "/" + name; }
  static Outcome weyl(const std::string& arguments) { return weyl_program(arguments, folder()); }

  /// Exit code 2, one line, every file as it was.
  static void refused(const std::string& arguments, const std::string& reason) {
    const auto before = files_below(folder());
    const Outcome outcome = weyl(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(reason), std::string::npos) << outcome.err;
    EXPECT_TRUE(files_below(folder()) == before) << arguments;
  }
};

const char* const exists = "exists already; give another name, or --force to replace it";
const char* const input = "is read by the same call and is never replaced, not even with --force";

TEST_F(OverwriteProgram, PredictReplacesNoFile) {
  const std::string predict = "predict run in.safetensors --out ";
  fs::copy_file(at("data/test.safetensors"), at("in.safetensors"), fs::copy_options::overwrite_existing);
  fs::copy_file(at("run/best/model.safetensors"), at("m.safetensors"), fs::copy_options::overwrite_existing);
  fs::create_hard_link(at("m.safetensors"), at("hard.safetensors"));
  fs::create_symlink("m.safetensors", at("soft.safetensors"));
  fs::create_symlink("nowhere.safetensors", at("dangling.safetensors"));
  std::ofstream(at("other.safetensors")) << "other";
  for (const char* out : {"in.safetensors", "m.safetensors", "hard.safetensors", "soft.safetensors",
                          "dangling.safetensors", "other.safetensors", "run/best/model.safetensors"}) {
    refused(predict + out, exists);
  }
  refused("predict no-such-run in.safetensors --out other.safetensors", exists);  // said before any work

  refused(predict + "in.safetensors --force", input);
  refused(predict + "data/../in.safetensors --force", input);
  refused(predict + "run/best/model.safetensors --force", input);
  refused(predict + "run/last/state.safetensors --force", input);
  refused("predict run data --out data/train.safetensors --force", input);
  for (const char* out : {"m.safetensors", "hard.safetensors", "soft.safetensors"}) {
    refused("predict m.safetensors in.safetensors --force --out " + std::string(out), input);
  }
  EXPECT_EQ(weyl(predict + "other.safetensors --force --quiet").code, 0);
  EXPECT_NE(contents(at("other.safetensors")), "other");
  EXPECT_EQ(weyl(predict + "new.safetensors --force --quiet").code, 0);
  for (const char* made : {"in", "m", "hard", "soft", "dangling", "other", "new"}) {
    fs::remove(at(made + std::string(".safetensors")));
  }
}

TEST_F(OverwriteProgram, AFileThatAppearsWhilePredictWorksIsKept) {
  // Frames are streamed: the output stands under its temporary name from the first one on, when the look before the
  // work is over.
  const std::string own = atoms::prepared("overwrite-race");
  const Outcome trained = weyl_program("train c.toml train.steps=2 --out run --threads 1", own);
  ASSERT_EQ(trained.code, 0) << trained.err;
  {
    const std::string some = contents(own + "/data/valid.xyz");
    std::ofstream many(own + "/many.xyz");
    for (int i = 0; i < 2000; ++i) {
      many << some;
    }
  }
  const auto at_work = [&] {
    return std::ranges::any_of(fs::directory_iterator(own), [](const fs::directory_entry& entry) {
      return entry.path().filename().string().starts_with("race.xyz.");
    });
  };
  FILE* program = popen(
      ("cd '" + own +
       "' && '" WEYL_BINARY_DIR "/bin/weyl' predict run many.xyz --out race.xyz --threads 1 > said 2>&1")
          .c_str(),
      "r");
  ASSERT_NE(program, nullptr);
  for (int i = 0; i < 20'000 && !at_work(); ++i) {  // minutes
    usleep(10'000);
  }
  const bool in_time = at_work();
  std::ofstream(own + "/race.xyz") << "theirs";
  const int status = pclose(program);
  EXPECT_TRUE(in_time);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 128, 2);
  EXPECT_NE(contents(own + "/said").find("race.xyz: exists already and is not replaced"), std::string::npos)
      << contents(own + "/said");
  EXPECT_EQ(contents(own + "/race.xyz"), "theirs");
  EXPECT_FALSE(at_work());
}

TEST_F(OverwriteProgram, OfTwoPredictionsOneIsKeptWhole) {
  const std::string predict =
      "'" WEYL_BINARY_DIR "/bin/weyl' predict run data/test.safetensors --out two.safetensors --quiet";
  const Outcome outcome = weyl("--version; " + predict + " & a=$!; " + predict +
                               " & b=$!; wait $a; x=$?; wait $b; y=$?; exit $((10 * x + y));#");
  EXPECT_TRUE(outcome.code == 2 || outcome.code == 20) << outcome.code;
  EXPECT_EQ(weyl("info two.safetensors --quiet").code, 0);
  for (const auto& entry : fs::directory_iterator(folder())) {
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
  }
  fs::remove(at("two.safetensors"));
}

TEST_F(OverwriteProgram, ImportReplacesNoFile) {
  fs::copy_file(at("run/best/model.safetensors"), at("w.safetensors"), fs::copy_options::overwrite_existing);
  fs::create_symlink("w.safetensors", at("link.safetensors"));
  std::ofstream(at("there.safetensors")) << "there";
  const std::string import = "import w.safetensors --config c.toml --out ";
  for (const char* out : {"w.safetensors", "link.safetensors", "there.safetensors"}) {
    refused(import + out, exists);
  }
  for (const char* out : {"w.safetensors", "link.safetensors"}) {
    refused(import + out + " --force", input);
  }
  for (const char* made : {"w", "link", "there"}) {
    fs::remove(at(made + std::string(".safetensors")));
  }
}

TEST_F(OverwriteProgram, EvalWritesNoFile) {
  const auto before = files_below(folder());
  EXPECT_EQ(weyl("eval run --threads 1").code, 0);
  EXPECT_TRUE(files_below(folder()) == before);
}

}  // namespace overwrite_test
}  // namespace weyl

// Nothing that a user or somebody who sent a run has written runs or acts on the terminal: names of folders, columns,
// classes, what tables and metadata say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/app/nbody.h"
#include "tests/app/program.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace injection_test {

namespace fs = std::filesystem;

class Injection : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("injection");
    std::ofstream(folder() + "/c.toml") << nbody_config(5);
    ASSERT_EQ(weyl("data make nbody --out data train=20 valid=8 test=8").code, 0);
    ASSERT_EQ(weyl("train c.toml --out run --threads 1").code, 0);
  }
  void TearDown() override {
    for (const char* name : {"PWNED", "X"}) {
      EXPECT_FALSE(fs::exists(folder() + "/" + name)) << name;
    }
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static Outcome weyl(const std::string& arguments) { return weyl_program(arguments, folder()); }
  static std::string at(const std::string& name) { return folder() + "/" + name; }

  /// A copy of the run, as somebody might send it.
  static std::string received(const std::string& name) {
    fs::remove_all(at(name));
    fs::copy(at("run"), at(name), fs::copy_options::recursive);
    return at(name);
  }
  /// No byte that a terminal would act on.
  static void expect_harmless(const Outcome& outcome) {
    for (const std::string& text : {outcome.out, outcome.err}) {
      for (const char c : text) {
        EXPECT_FALSE((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) << text;
      }
    }
  }
};

TEST_F(Injection, PlotIntoAFolderNamedAsAPipe) {
  const Outcome outcome = weyl("plot run --out '|touch PWNED #'");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(at("|touch PWNED #/learning_curve.png")));
}

TEST_F(Injection, TrainIntoAFolderNamedAsAPipe) {
  for (const char* name :
       {"|touch X;cat >>", "a';system('touch PWNED');'", "b`touch PWNED`", "<img src=x>\x1b[31m"}) {
    ::setenv("NAME", name, 1);
    const Outcome named = weyl("train c.toml --threads 1 --out \"$NAME\"");
    EXPECT_EQ(named.code, 0) << named.err;
    EXPECT_EQ(named.err.find("no pictures"), std::string::npos) << named.err;
    EXPECT_TRUE(fs::exists(at(std::string(name) + "/plots/learning_curve.png"))) << name;
    EXPECT_EQ(weyl("plot \"$NAME\"").code, 0);
    expect_harmless(named);
    const std::string log = contents(at(std::string(name) + "/log.txt")),
                      card = contents(at(std::string(name) + "/README.md"));
    EXPECT_EQ((log + card).find('\x1b'), std::string::npos);
    EXPECT_EQ(card.find("\n# <img"), std::string::npos);
  }
  ::unsetenv("NAME");
}

TEST_F(Injection, PlotOfAReceivedRunWithNastyColumns) {
  const std::string run = received("columns");
  std::ofstream(run + "/metrics.csv")
      << "step,epoch,rate,loss,gradient_norm,valid_`touch PWNED`,valid_%500000d,\"valid_';system('touch "
         "PWNED');'\",valid_@x\n"
         "1,1,1,1,1,1,1,1,1\n2,1,1,2,1,2,3,4,5\n";
  fs::create_directories(run + "/plots");
  std::ofstream(run + "/plots/confusion.csv") << "`touch PWNED`,%500000d\n3,1\n0,2\n";
  std::ofstream(run + "/plots/parity_`touch PWNED`.csv") << "%500000d,'@x\n1,2\n3,4\n";
  std::ofstream(run + "/plots/parity_|touch PWNED #.csv") << "a,b\n1,2\n3,4\n";
  fs::remove_all(run + "/best");
  const Outcome outcome = weyl("plot columns --out nasty");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(contents(at("nasty/learning_curve.svg")).find("validation %500000d"), std::string::npos);
  EXPECT_NE(contents(at("nasty/confusion.svg")).find(">%500000d<"), std::string::npos);
  EXPECT_TRUE(fs::exists(at("nasty/parity_|touch PWNED #.png")));
}

TEST_F(Injection, PlotOfAReceivedRunInItsFolder) {
  const std::string run = received("planted");
  std::ofstream(run + "/.gnuplot") << "system('touch " << folder() << "/PWNED')\n";
  std::ofstream(run + "/gnuplot") << "#!/bin/sh\ntouch " << folder() << "/PWNED\n";
  fs::permissions(run + "/gnuplot", fs::perms::owner_all);
  const std::string precious = at("precious");
  std::ofstream(precious) << "precious";
  fs::remove(run + "/plots/learning_curve.png");
  fs::create_symlink("../../precious", run + "/plots/learning_curve.png");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (":" + path).c_str(), 1);
  const Outcome outcome = weyl_program("plot .", run);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(contents(precious), "precious");
}

// `train --resume` wrote its log, card, config and best model into what these led to.
TEST_F(Injection, ResumeOfAReceivedRunFollowsNoLink) {
  for (const char* name : {"README.md", "config.toml", "environment.json", "log.txt", "metrics.csv",
                           "timing.csv", "events.out.tfevents.0.weyl", "best/model.safetensors"}) {
    const std::string run = received("linked"), precious = at("precious");
    fs::remove_all(precious);
    fs::rename(run + "/" + name, precious);
    const std::string before = contents(precious);
    fs::create_symlink(precious, run + "/" + name);
    const Outcome outcome = weyl("train --resume linked train.steps=8 --threads 1");
    EXPECT_EQ(contents(precious), before) << name;
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_EQ(outcome.err, "weyl: linked/" + std::string(name) +
                               ": must not be a symbolic link, since a run writes into it\n");
  }
  for (const char* name : {"best", "plots"}) {
    const std::string run = received("linked"), precious = at("precious");
    fs::remove_all(precious);
    fs::create_directory(precious);
    for (const char* file : {"model.safetensors", "learning_curve.png", "parity_displacement.csv"}) {
      std::ofstream(precious + "/" + file) << "precious";
    }
    fs::remove_all(run + "/" + name);
    fs::create_directory_symlink(precious, run + "/" + name);
    EXPECT_EQ(weyl("train --resume linked train.steps=8 --threads 1").code, 3) << name;
    if (std::string(name) == "plots") {
      EXPECT_EQ(weyl("plot linked").code, 3);
    }
    for (const auto& entry : fs::directory_iterator(precious)) {
      EXPECT_EQ(contents(entry.path()), "precious") << entry.path();
    }
  }
  // What has the name of a table of plots/ is replaced.
  const std::string run = received("linked"), precious = at("precious");
  fs::remove_all(precious);
  std::ofstream(precious) << "precious";
  fs::remove(run + "/plots/parity_displacement.csv");
  fs::create_symlink(precious, run + "/plots/parity_displacement.csv");
  EXPECT_EQ(weyl("train --resume linked train.steps=8 --threads 1").code, 0);
  EXPECT_EQ(contents(precious), "precious");
  EXPECT_FALSE(fs::is_symlink(run + "/plots/parity_displacement.csv"));
}

TEST_F(Injection, WhatAReceivedRunSaysActsOnNoTerminal) {
  const std::string escape = "\x1b]0;owned\x07\x1b[31mred", run = received("escapes");
  std::ofstream(run + "/metrics.csv")
      << "step,epoch,rate,loss,gradient_norm,valid_mse\n1," << escape << ",1,1,1,1\n";
  Outcome outcome = weyl("plot escapes");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("red"), std::string::npos) << outcome.err;
  expect_harmless(outcome);

  received("escapes");
  std::ofstream(run + "/timing.csv") << "step," << escape << "\n";
  expect_harmless(weyl("train --resume escapes --threads 1"));
  received("escapes");
  std::ofstream(run + "/config.toml") << "[data]\nset = \"" << escape << "\"\n";
  expect_harmless(weyl("info escapes"));
  expect_harmless(weyl("config check escapes/config.toml"));
  received("escapes");
  std::ofstream(run + "/environment.json") << "{\"" << escape << "\": ";
  expect_harmless(weyl("train --resume escapes --threads 1"));

  const std::string overlay = run + "/plots/overlay_" + escape + ".safetensors";
  received("escapes");
  std::ofstream(overlay) << "none";
  expect_harmless(weyl("plot escapes"));
  const std::vector<std::byte> zeros(4);
  write_safetensors(at("names.safetensors"),
                    std::vector<TensorBytes>{{"t\xc2\x9b" + escape, ElementType::f32, {1}, zeros}},
                    {{"key" + escape, "value" + escape}});
  outcome = weyl("info names.safetensors");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\\x1b"), std::string::npos);
  EXPECT_EQ(outcome.out.find("\xc2\x9b"), std::string::npos);
  expect_harmless(outcome);
  expect_harmless(weyl("info names.safetensors --json"));
  expect_harmless(weyl("data inspect names.safetensors"));
  expect_harmless(weyl("$(printf 'no\\033[31mverb')"));
  expect_harmless(weyl("info $(printf 'no\\033[31mfile')"));
}

// A file size limit stands for a full disk.
TEST_F(Injection, PlotOnAFullDiskIsOneLineAndLeavesNoEmptyFile) {
  for (const int blocks : {0, 1, 4, 16}) {
    const std::string out = "full" + std::to_string(blocks);
    const Outcome outcome =
        weyl("--version >/dev/null; exec 2>&1 >/dev/null; trap '' XFSZ; ulimit -f " + std::to_string(blocks) +
             "; '" WEYL_BINARY_DIR "/bin/weyl' plot run --out " + out + "; exit $?; #");
    EXPECT_EQ(outcome.code, 3) << blocks << ": " << outcome.out;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
    if (fs::exists(at(out))) {
      for (const auto& entry : fs::directory_iterator(at(out))) {
        EXPECT_GT(entry.file_size(), 1024u) << entry.path();
      }
    }
  }
}

}  // namespace injection_test
}  // namespace weyl

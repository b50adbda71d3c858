// Folders that somebody has sent, with links and pipes at the names that the program writes: nothing outside of them is touched,
// and nothing waits. The names and kinds are all tried in core.own_folder, train.run_folder and study.sweep.record.
#include <gtest/gtest.h>

#include "tests/app/sweep.h"
#include "tests/traps.h"

namespace weyl {
namespace received_folders_test {

/// A sweep of one small training.
const char* const one_training = "base = \"" WEYL_SOURCE_DIR
                                 "/configs/nbody/transformer.toml\"\n"
                                 "set = [\"train.batch=16\"]\n"
                                 "budgets = [1e7]\nepochs = \"repeat\"\nvalidations = 1\n"
                                 "[[systems]]\nname = \"plain\"\nwidths = [8]\nblocks = [1]\n";

TEST(ReceivedFolders, OfASweepAreNotWrittenThrough) {
  const std::string folder = prepared("received-sweep", one_training), elsewhere = folder + "/elsewhere";
  const std::string run = "a/runs/plain-w8b1-1e+07-seed0-rate0.001";
  ASSERT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 0);
  fs::rename(folder + "/a", folder + "/sent");
  const auto ends = [&](const std::string& name, Trap trap) {
    fs::remove_all(folder + "/a");
    fs::copy(folder + "/sent", folder + "/a", fs::copy_options::recursive);
    lay(trap, folder + "/" + name, elsewhere);
    const Outcome outcome = weyl_program("scale run sweep.toml --out a --quiet", folder);
    EXPECT_EQ(outcome.code, 3) << name;
    EXPECT_EQ(outcome.err,
              "weyl: " + name + ": must not be " + name_of(trap) + ", since a sweep writes into it\n");
    expect_untouched(elsewhere);
  };
  ends("a/runs.csv", Trap::link);
  ends("a/.lock", Trap::dangling_link);
  ends(run + ".stderr", Trap::pipe);
  ends(run, Trap::folder_link);
}

TEST(ReceivedFolders, OfARunWithAPipeAreNotWaitedFor) {
  const std::string folder = prepared("received-run"),
                    config = WEYL_SOURCE_DIR "/configs/nbody/transformer.toml";
  ASSERT_EQ(weyl_program("train " + config + " train.epochs=1 --out run --no-pictures --quiet", folder).code,
            0);
  for (const Trap trap : {Trap::pipe, Trap::link}) {
    lay(trap, folder + "/run/log.txt", folder + "/elsewhere");
    const Outcome outcome = weyl_program("train --resume run train.epochs=2 --no-pictures --quiet", folder);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.err, "weyl: run/log.txt: must not be " + std::string(name_of(trap)) +
                               ", since a run writes into it\n");
    expect_untouched(folder + "/elsewhere");
  }
}

// Parts that an earlier call has left are gone on from.
TEST(ReceivedFolders, BesideDataThatAreMade) {
  const std::string folder = scratch("received-parts"), elsewhere = folder + "/elsewhere";
  const std::string make = "data make rigid_bodies --out d train=1 valid=1 test=1 frames=3 --quiet";
  const Outcome made = weyl_program(make, folder);
  if (made.err.find("Bullet") != std::string::npos) {
    GTEST_SKIP() << "this build has no Bullet";
  }
  ASSERT_EQ(made.code, 0) << made.err;
  fs::remove_all(folder + "/d");
  fs::create_directory(folder + "/d.partial");
  for (const std::string name : {"d.partial/train.poses", "d.partial/train-0.safetensors", "d.partial"}) {
    lay(Trap::folder_link, folder + "/" + name, elsewhere);
    const Outcome outcome = weyl_program(make, folder);
    EXPECT_EQ(outcome.code, 3) << name;
    EXPECT_EQ(outcome.err,
              "weyl: " + name + ": must not be a symbolic link, since data make writes into it\n");
    expect_untouched(elsewhere);
    fs::remove_all(folder + "/" + name);
  }
}

}  // namespace received_folders_test
}  // namespace weyl

// model.frames through the program: models in the principal axes of each graph are trained and audited, and what has no such axes
// is left out and said.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/json.h"
#include "weyl/core/random.h"

namespace weyl {
namespace frames_test {

const std::string recipe = R"(
[data]
set = "molecules"
[data.molecules]
path = "generic.xyz"
elements = ["H", "C"]
fractions = [0.5, 0.25, 0.25]
[task]
name = "property"
[task.property]
targets = ["energy"]
[model.transformer]
width = 16
heads = 2
blocks = 2
[model.platonic]
group = "octahedron_reflections"
width = 128
heads = 8
blocks = 2
rope_on_values = true
[train]
batch = 4
steps = 3
[train.schedule]
warmup = 0
)";

/// Nine atoms three times as long as thick, each moved a little: their principal moments are far apart.
std::string generic(Stream& stream) {
  constexpr double places[9][3] = {{2.1, 0, 0},  {-2.1, 0, 0}, {0, 1.4, 0}, {0, -1.4, 0},   {0, 0, 0.7},
                                   {0, 0, -0.7}, {1, 0.7, 0},  {0, 0, 0},   {-1, 0.7, 0.35}};
  std::ostringstream out;
  out << "9\nProperties=species:S:1:pos:R:3 energy=" << stream.normal() << "\n";
  for (int atom = 0; atom < 9; ++atom) {
    out << (atom == 0 ? "C" : "H");
    for (const double place : places[atom]) {
      out << " " << place + 0.15 * stream.normal();
    }
    out << "\n";
  }
  return out.str();
}

/// Methane, whose three principal moments are equal.
const char* const symmetric =
    "5\nProperties=species:S:1:pos:R:3 energy=0.5\nC 0 0 0\nH 0.63 0.63 0.63\nH 0.63 -0.63 -0.63\n"
    "H -0.63 0.63 -0.63\nH -0.63 -0.63 0.63\n";

struct System {
  const char *name, *frames;
};

class Frames : public testing::TestWithParam<System> {
 protected:
  /// A folder with a run, and with files of generic molecules, symmetric ones and both.
  std::string trained() {
    const auto [name, frames] = GetParam();
    std::string folder = scratch(std::string("frames-") + frames);
    Stream stream(4, "molecules");
    std::ofstream all(folder + "/generic.xyz"), none(folder + "/symmetric.xyz"), both(folder + "/both.xyz");
    for (int i = 0; i < 24; ++i) {
      all << generic(stream);
    }
    for (int i = 0; i < 3; ++i) {
      none << symmetric;
      both << symmetric;
      for (int more = 0; more < 4; ++more) {
        both << generic(stream);
      }
    }
    std::ofstream(folder + "/c.toml")
        << "[model]\nsystem = \"" << name << "\"\nframes = \"" << frames << "\"\n"
        << recipe;
    all.close(), none.close(), both.close();
    const Outcome run = weyl_program("train c.toml --threads 1 --quiet --out run", folder);
    EXPECT_EQ(run.code, exit_done) << run.err;
    return folder;
  }
};

TEST_P(Frames, AreExactOnGenericMoleculesAndSaidToBeNoneOnSymmetricOnes) {
  const std::string folder = trained();
  // In float64 alone: what so small a network rounds in float32 is near the limit, with frames and without.
  const auto audit = [&](const std::string& file) {
    return weyl_program("audit run --samples 24 --dtype float64 --threads 1 --quiet --json --data " + file,
                        folder);
  };
  const Outcome generic = audit("generic.xyz");
  EXPECT_EQ(generic.code, exit_done) << generic.err << generic.out;
  const Json found = Json::parse(generic.out, "stdout");
  EXPECT_EQ(found.find("claims")->items()[0].find("group")->string_or(""), "O(3)") << generic.out;
  EXPECT_EQ(found.find("note"), nullptr) << generic.out;

  const std::string told = " of 15 graphs have no principal axes to rely on";
  const Outcome both = audit("both.xyz");
  EXPECT_EQ(both.code, exit_done) << both.err << both.out;
  const Json of_both = Json::parse(both.out, "stdout");
  const Json* note = of_both.find("note");
  ASSERT_NE(note, nullptr) << both.out;
  EXPECT_NE(note->string_or("").find("3" + told), std::string::npos) << both.out;
  EXPECT_NE(note->string_or("").find("audited on the other 12"), std::string::npos) << both.out;

  const Outcome none = audit("symmetric.xyz");
  EXPECT_EQ(none.code, exit_data) << none.out;
  EXPECT_NE(none.err.find("audit: the samples must hold one for which something is exact, got none of 3"),
            std::string::npos)
      << none.err;
  EXPECT_EQ(none.out, "");
}

TEST_P(Frames, PredictAndEvalSayOfWhichSamplesTheClaimDoesNotHold) {
  const std::string folder = trained();
  const std::string said = "model.frames: 3 of 15 samples have no principal axes to rely on, the first is ";
  const auto warned = [&](const std::string& call, const std::string& first) {
    const Outcome outcome = weyl_program(call, folder);
    EXPECT_EQ(outcome.code, exit_done) << outcome.err;
    EXPECT_NE(outcome.err.find(said + first), std::string::npos) << call << "\n" << outcome.err;
  };
  warned("predict run both.xyz --out p.xyz --threads 1", "both.xyz: frame 1, line 1");
  warned("predict run both.xyz --out p.safetensors --threads 1", "both.xyz: sample 0");
  warned("eval run --data both.xyz --threads 1", "both.xyz: sample 0");
  for (const char* call : {"predict run generic.xyz --out g.xyz", "eval run"}) {
    const Outcome outcome = weyl_program(call, folder);
    EXPECT_EQ(outcome.code, exit_done) << outcome.err;
    EXPECT_EQ(outcome.err.find("principal axes"), std::string::npos) << outcome.err;
  }
  const std::string condition = "for graphs that have principal axes (model.frames)";
  EXPECT_NE(weyl_program("info run", folder).out.find(condition), std::string::npos);
  EXPECT_NE(weyl_program("info c.toml", folder).out.find(condition), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Of, Frames,
                         testing::Values(System{"transformer", "average"}, System{"platonic", "pca"}),
                         [](const auto& info) { return std::string(info.param.name); });

// The control: without frames the same networks claim fewer motions than O(3).
TEST(Frames, ThatAreNotAskedForClaimNothing) {
  const std::string folder = scratch("frames-none");
  Stream stream(4, "molecules");
  std::ofstream file(folder + "/generic.xyz");
  for (int i = 0; i < 24; ++i) {
    file << generic(stream);
  }
  file.close();
  for (const char* system : {"transformer", "platonic"}) {
    std::ofstream(folder + "/c.toml") << "[model]\nsystem = \"" << system << "\"\n" << recipe;
    const Outcome found =
        weyl_program("audit c.toml --samples 6 --threads 1 --dtype float64 --quiet --json", folder);
    EXPECT_EQ(found.code, exit_done) << found.err;
    const Json report = Json::parse(found.out, "stdout");
    for (const Json& claim : report.find("claims")->items()) {
      EXPECT_NE(claim.find("group")->string_or(""), "O(3)") << found.out;
    }
    int turned = 0;
    for (const Json& measure : report.find("measures")->items()) {
      if (measure.find("group")->string_or("").ends_with("O(3)")) {  // SO(3) of the plain transformer
        EXPECT_GT(measure.find("error")->number_or(0), 1e-3) << found.out;
        ++turned;
      }
    }
    EXPECT_GT(turned, 0) << found.out;
  }
}

/// What stands in the splits is said before the first step: which samples have no axes, and what augmentation does.
TEST(Frames, SplitsAreLookedAtBeforeTraining) {
  const std::string folder = scratch("frames-splits");
  Stream stream(4, "molecules");
  const auto file = [&](const std::string& name, int without) {
    std::ofstream out(folder + "/data/" + name);
    for (int i = 0; i < 8; ++i) {
      out << (i < without ? symmetric : generic(stream));
    }
  };
  std::filesystem::create_directories(folder + "/data");
  file("train.xyz", 0), file("valid.xyz", 0), file("test.xyz", 1);
  const std::string of_splits =
      " data.molecules.path=data data.molecules.fractions=[0.8,0.1,0.1] train.augment=rotations --threads 1 "
      "--out ";
  std::ofstream(folder + "/c.toml") << "[model]\nframes = \"average\"\n" << recipe;
  const std::string forces =
      " task.name=force_field task.force_field.forces=gradient task.force_field.force_weight=0";
  const Outcome refused = weyl_program("train c.toml" + of_splits + "forces" + forces, folder);
  EXPECT_EQ(refused.code, exit_data) << refused.err;
  EXPECT_NE(refused.err.find(
                "test data: sample 0: must have principal axes, for model.frames with task.force_field"),
            std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/forces"));

  const Outcome all_have_axes = weyl_program("train c.toml" + of_splits + "energies", folder);
  EXPECT_EQ(all_have_axes.code, exit_done) << all_have_axes.err;
  EXPECT_NE(all_have_axes.err.find("train.augment = \"rotations\" has no effect"), std::string::npos)
      << all_have_axes.err;
  EXPECT_EQ(all_have_axes.err.find("training samples have no principal axes"), std::string::npos);

  file("train.xyz", 3);
  const Outcome some_have_none = weyl_program("train c.toml" + of_splits + "some", folder);
  EXPECT_EQ(some_have_none.code, exit_done) << some_have_none.err;
  EXPECT_NE(some_have_none.err.find("3 of 8 training samples have no principal axes"), std::string::npos)
      << some_have_none.err;
}

}  // namespace frames_test
}  // namespace weyl

// The list of makers: every one has its words, its options and a plan.
#include "weyl/makers/makers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/config/toml.h"
#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace makers_test {

TEST(Makers, AreFoundByTheirNames) {
  const auto all = makers();
  EXPECT_EQ(all.size(), std::variant_size_v<Maker>);
  EXPECT_TRUE(std::ranges::is_sorted(all));  // of help pages
  for (const auto& [name, makes] : all) {
    EXPECT_FALSE(makes.empty()) << name;
    EXPECT_EQ(makes.find('\n'), std::string::npos) << name;
    const Maker maker = maker_named(name);
    EXPECT_EQ(std::visit([](const auto& o) { return std::string(o.name_in_config); }, maker), name);
  }
}

TEST(Makers, NameTheNearestOrAll) {
  EXPECT_FALSE(find_maker("nbdy").has_value());
  EXPECT_EQ(message_of<ConfigError>([] { maker_named("nbdy"); }),
            "data make: there is no maker 'nbdy'; did you mean 'nbody'?");
  EXPECT_EQ(
      message_of<ConfigError>([] { maker_named("galaxies"); }),
      "data make: there is no maker 'galaxies'; there are conformers, glyphs, lesions, molecules, nbody, orbital_gaps, parts, phantoms, "
      "planets, pose_copies, pose_sequences, pose_windows, rigid_bodies, slabs and solids");
}

TEST(Makers, HaveOptionsThatCanBeDescribedAndAPlan) {
  each_alternative<Maker>([]<class Options>(std::type_identity<Options>) {
    Options options;
    const std::string keys = describe_keys([&](Fields& f) { fields(f, options); });
    EXPECT_NE(keys.find("threads "), std::string::npos) << keys;
    EXPECT_NE(keys.find("must be an integer from 0 to 1024; default 0\n"), std::string::npos) << keys;
    const MakerPlan plan = plan_of(options);
    EXPECT_FALSE(plan.what.empty()) << Options::name_in_config;
    EXPECT_FALSE(plan.counts.empty()) << Options::name_in_config;
    EXPECT_TRUE(plan.make) << Options::name_in_config;
    EXPECT_EQ(plan.goes_on, (std::is_same_v<Options, MoleculesMakerOptions> ||
                             std::is_same_v<Options, RigidBodiesMakerOptions>))
        << Options::name_in_config;
  });
}

TEST(Makers, PlansSayWhatTheOptionsSay) {
  EXPECT_EQ(plan_of(NbodyMakerOptions{.particles = 7}).what, "simulations of 7 particles");
  EXPECT_EQ(plan_of(PhantomsMakerOptions{.size = {8, 9, 10}}).what,
            "volumes of 8 x 9 x 10 voxels in four modalities");
  EXPECT_EQ(plan_of(PhantomsMakerOptions{.size = {8}}).what, "volumes of 8 voxels in four modalities");
  using Counts = std::vector<std::pair<std::string, int64_t>>;
  EXPECT_EQ(plan_of(GlyphsMakerOptions{.train = 5, .test = 0}).counts, (Counts{{"train", 5}, {"test", 0}}));
  MoleculesMakerOptions molecules;
  EXPECT_EQ(plan_of(molecules).counts, (Counts{{"train", 950}, {"valid", 50}, {"test", 9000}}));
  molecules.train = molecules.valid = 0;
  EXPECT_EQ(plan_of(molecules).counts, (Counts{{"count", 10000}}));
}

// As the program does it, which is not linked to them.
TEST(Makers, AreOpenedByTheLibraryBelow) {
  const Folder folder;
  NbodyMakerOptions options{.train = 2, .valid = 1, .test = 0, .steps = 200};
  EXPECT_EQ(describe_maker("nbody"), describe_keys([&](Fields& f) {
              NbodyMakerOptions defaults;
              fields(f, defaults);
            }));
  const MakerPlan plan = plan_of_maker("nbody", {"train=2", "valid=1", "test=0", "steps=200"}, 1);
  EXPECT_EQ(plan.what, plan_of(options).what);
  EXPECT_EQ(plan.counts, plan_of(options).counts);
  EXPECT_TRUE(plan.make(folder / "opened", {}));
  EXPECT_TRUE(plan_of(options).make(folder / "linked", {}));
  EXPECT_EQ(contents_of(folder / "opened/train.safetensors"),
            contents_of(folder / "linked/train.safetensors"));
  EXPECT_NE(message_of<ConfigError>([] { plan_of_maker("nbody", {"trian=2"}, 1); }).find("'train'"),
            std::string::npos);
  EXPECT_EQ(message_of<ConfigError>([] { plan_of_maker("nbdy", {}, 1); }),
            "data make: there is no maker 'nbdy'; did you mean 'nbody'?");
}

TEST(Makers, PlansAreCarriedOut) {
  const Folder folder;
  const MakerPlan large = plan_of(NbodyMakerOptions{.train = 10000});
  EXPECT_FALSE(large.make(folder / "stopped", {{}, [] { return true; }}));
  EXPECT_FALSE(std::filesystem::exists(folder / "stopped"));
  const MakerPlan small = plan_of(NbodyMakerOptions{.train = 2, .valid = 1, .test = 0, .steps = 200});
  EXPECT_TRUE(small.make(folder / "made", {}));
  EXPECT_TRUE(std::filesystem::exists(folder / "made/valid.safetensors"));
}

// Makers look before they work, which may take hours, and again when they write: at what another process put there.
TEST(Makers, KeepAFileThatAppearsWhileTheyWork) {
  namespace fs = std::filesystem;
  const auto expect_kept = [](const MakerPlan& plan, const std::string& name) {
    const Folder folder;
    const std::string theirs = folder / name;
    JobHooks hooks;
    hooks.report = [&](int64_t, int64_t) {
      fs::create_directories(fs::path(theirs).parent_path());
      std::ofstream(theirs) << "theirs";
    };
    EXPECT_EQ(message_of<ConfigError>([&] { plan.make(folder.path(), hooks); }),
              theirs + ": exists already and is not replaced; choose another name");
    EXPECT_EQ(contents_of(theirs), "theirs");
    const auto is_file = [](const fs::directory_entry& entry) { return entry.is_regular_file(); };
    EXPECT_EQ(std::ranges::count_if(fs::recursive_directory_iterator(folder.path()), is_file), 1) << name;
  };
  expect_kept(plan_of(NbodyMakerOptions{.train = 1, .valid = 1, .test = 1, .steps = 200}),
              "test.safetensors");
  expect_kept(plan_of(PlanetsMakerOptions{.train = 2, .valid = 2, .test = 2}), "valid.safetensors");
  expect_kept(plan_of(PoseSequencesMakerOptions{.train = 2, .valid = 2, .test = 2}), "valid.safetensors");
  expect_kept(plan_of(PoseWindowsMakerOptions{.train = 2, .valid = 2, .test = 2}), "valid.safetensors");
  expect_kept(plan_of(SolidsMakerOptions{.train = 2, .test = 2, .points = 8}), "test0.h5");
  expect_kept(plan_of(SolidsMakerOptions{.train = 1, .test = 1, .format = SolidsFormat::off}),
              "box/test/box_0001.off");
  expect_kept(plan_of(LesionsMakerOptions{.count = 1, .height = 32, .width = 32}),
              "PH2 Dataset images/IMD001/IMD001_lesion/IMD001_lesion.bmp");
  expect_kept(plan_of(PhantomsMakerOptions{.count = 1, .size = {8, 8, 8}}), "dataset.json");
}

}  // namespace makers_test
}  // namespace weyl

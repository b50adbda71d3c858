// The recipe of configs/md on real data, cut short: ethanol made and labelled here by GFN2-xTB, 700 steps of
// training, forces of frames that it has not seen.
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/json.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {
namespace force_recipe_test {

double number(const Json& json, const std::vector<std::string>& keys) {
  const Json* at = &json;
  for (const std::string& key : keys) {
    at = at->find(key);
    if (!at) {
      ADD_FAILURE() << "no key " << key;
      return 0;
    }
  }
  return at->number_or(-1);
}

TEST(ForceRecipe, LearnsTheForcesOfEthanol) {
  if (xtb_version().empty()) {
    GTEST_SKIP() << "no xtb library";
  }
  const std::string folder = scratch("force-recipe");
  const Outcome made = weyl_program(
      "data make molecules molecule=ethanol frames=400 train=300 valid=20 stride=4 equilibration=200 "
      "walkers=2 --threads 1 --quiet --out data",
      folder);
  ASSERT_EQ(made.code, exit_done) << made.err;
  const Outcome trained = weyl_program(
      "train '" WEYL_SOURCE_DIR
      "/configs/md/geomformer.toml' data.molecules.path=data data.molecules.train=300 "
      "data.molecules.valid=20 train.max_seconds=false train.steps=700 --threads 1 --quiet --json --out run",
      folder);
  ASSERT_EQ(trained.code, exit_done) << trained.err;
  const Json said = Json::parse(trained.out, "stdout");
  const double error = number(said, {"test", "metrics", "force_mae", "value"}),
               zero = number(said, {"baselines", "references, no forces", "force_mae", "value"});
  EXPECT_GT(zero, 300) << "mean absolute force, meV/A";
  EXPECT_LT(error, zero / 3);
  const Outcome audited = weyl_program("audit run --dtype float64 --quiet --json", folder);
  EXPECT_EQ(audited.code, exit_done) << audited.err << audited.out;
}

}  // namespace force_recipe_test
}  // namespace weyl

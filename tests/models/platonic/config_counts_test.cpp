// The networks of the paper's tables for molecules, by the configs alone: the numbers of parameters of the fact sheet, section 6.
#include <gtest/gtest.h>

#include "weyl/carriers/dataset.h"
#include "weyl/data/open.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/task.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace config_counts_test {

int64_t parameters_of(const std::string& config, const std::string& group) {
  const Recipe recipe =
      read_recipe(std::string(WEYL_SOURCE_DIR) + "/configs/" + config, {"model.platonic.group=" + group});
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  return build(recipe.model, make_task(recipe.task)->interface(declared_schema(recipe.data, nullptr)))
      ->parameter_count();
}

TEST(PlatonicConfigCounts, OfQm9InEveryGroupOfThePaper) {
  const std::string config = "qm9/platonic.paper.toml";
  EXPECT_EQ(parameters_of(config, "trivial_3"), 207362881);
  EXPECT_EQ(parameters_of(config, "octahedron_reflections"), 26019145);
  EXPECT_EQ(parameters_of(config, "tetrahedron"), 17383729);
  EXPECT_EQ(parameters_of(config, "octahedron"), 8748313);
}

TEST(PlatonicConfigCounts, OfOmolInEveryGroupOfThePaper) {
  const std::string config = "omol/platonic.paper.toml";
  EXPECT_EQ(parameters_of(config, "trivial_3"), 207358852);
  EXPECT_EQ(parameters_of(config, "tetrahedron"), 17381284);
  EXPECT_EQ(parameters_of(config, "octahedron"), 8745940);
}

}  // namespace config_counts_test
}  // namespace weyl

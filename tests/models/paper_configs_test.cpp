// The papers' own configs build models of the papers' size.
#include "weyl/core/check.h"
#include "weyl/models/systems.h"
#include "weyl/train/recipe.h"

#include <gtest/gtest.h>

namespace weyl {
namespace {

int64_t parameters_of(const std::string& config) {
  const Recipe recipe = read_recipe(std::string(WEYL_SOURCE_DIR) + "/configs/" + config);
  require<ConfigError>(recipe.interface.has_value(), config, ": must state an interface");
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  return build(recipe.model, *recipe.interface, Carrier::points)->parameter_count();
}

TEST(PaperConfigs, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(parameters_of("qm9/platonic.paper.toml"), 8748313);
  EXPECT_EQ(parameters_of("omol/platonic.paper.toml"), 17381284);
  EXPECT_EQ(parameters_of("cifar10/platonic.paper.toml"), 21313738);
}

}  // namespace
}  // namespace weyl

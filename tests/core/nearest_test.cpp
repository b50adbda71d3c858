#include "weyl/core/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weyl {
namespace nearest_test {

TEST(Nearest, FindsWhatWasMeantAndNothingFarOff) {
  const std::vector<std::string> words{"blocks", "heads", "width", "weight_decay", "n", "epochs"};
  EXPECT_EQ(nearest("bloks", words), "blocks");
  EXPECT_EQ(nearest("haeds", words), "heads");
  EXPECT_EQ(nearest("Width", words), "width");
  EXPECT_EQ(nearest("weight-decay", words), "weight_decay");
  EXPECT_EQ(nearest("weight", words), "weight_decay");
  EXPECT_EQ(nearest("epoch", words), "epochs");
  EXPECT_EQ(nearest("model.rop", std::vector<std::string>{"model", "model.rope"}), "model.rope");
  EXPECT_EQ(nearest("zebra", words), "");
  EXPECT_EQ(nearest("m", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(1000000, 'a'), words), "");
}

TEST(Nearest, AmongManyWordsASlipMustBeSmall) {
  const std::vector<std::string> words{"rate", "weight_decay", "epochs", "set", "path"};
  EXPECT_EQ(nearest_spelling("ratte", words), "rate");
  EXPECT_EQ(nearest_spelling("Weight-dcay", words), "weight_decay");
  EXPECT_EQ(nearest_spelling("epohcs", words), "epochs");
  EXPECT_EQ(nearest_spelling("settings", words), "");  // a beginning is not enough
  EXPECT_EQ(nearest_spelling("bet", words), "");       // nor is one letter of three
  EXPECT_EQ(nearest_spelling("weight", words), "");
  EXPECT_EQ(nearest("weight", words), "weight_decay");
}

}  // namespace nearest_test
}  // namespace weyl

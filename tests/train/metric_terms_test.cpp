#include "weyl/train/loop/metric_terms.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace metric_terms_test {

using Terms = std::vector<MetricTerm>;

const std::vector<std::string> known{"accuracy", "accuracy_c++", "accuracy_a + b",      "accuracy_c",
                                     "2d_error", "energy_mae",   "energy_mae_per_atom", "force_mae"};

TEST(MetricTerms, AreAMetricOrAWeightedSum) {
  EXPECT_EQ(metric_terms("energy_mae", known), (Terms{{1, "energy_mae"}}));
  EXPECT_EQ(metric_terms("  energy_mae_per_atom ", known), (Terms{{1, "energy_mae_per_atom"}}));
  const Terms sum{{1, "energy_mae"}, {10, "force_mae"}};
  for (const char* words : {"energy_mae + 10 force_mae", "energy_mae+10 force_mae",
                            "energy_mae + 10*force_mae", "1 energy_mae + 1e+1 * force_mae"}) {
    EXPECT_EQ(metric_terms(words, known), sum) << words;
  }
  EXPECT_EQ(metric_terms("0.5 accuracy + 2 2d_error + 2d_error_", {{"accuracy", "2d_error", "2d_error_"}}),
            (Terms{{0.5, "accuracy"}, {2, "2d_error"}, {1, "2d_error_"}}));
}

TEST(MetricTerms, NamesOfClassesMayHoldBlanksAndPlusSigns) {
  EXPECT_EQ(metric_terms("accuracy_c++", known), (Terms{{1, "accuracy_c++"}}));
  EXPECT_EQ(metric_terms("accuracy_c++ + 2 accuracy_c", known),
            (Terms{{1, "accuracy_c++"}, {2, "accuracy_c"}}));
  EXPECT_EQ(metric_terms("3 accuracy_a + b+accuracy", known),
            (Terms{{3, "accuracy_a + b"}, {1, "accuracy"}}));
}

std::string refusal(const std::string& words) {
  try {
    metric_terms(words, known);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MetricTerms, RefusalsNameWhatThereIs) {
  const std::string unknown = refusal("energy_mse");
  EXPECT_NE(unknown.find("train.best: must be a metric"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("'energy_mse' (did you mean energy_mae?); there are accuracy, "), std::string::npos)
      << unknown;
  EXPECT_EQ(unknown.find('\n'), std::string::npos);
  for (const char* words : {"", "  ", "energy_mae +", "+ energy_mae", "energy_mae force_mae", "10",
                            "energy_mae + 10", "energy", "10energy_mae", "energy_mae - force_mae"}) {
    EXPECT_NE(refusal(words).find("must be a metric"), std::string::npos) << words << ": " << refusal(words);
  }
  for (const char* words :
       {"-1 energy_mae", "0 energy_mae", "inf energy_mae", "nan energy_mae", "1e999 energy_mae"}) {
    EXPECT_NE(refusal(words).find("a weight must be a finite number above 0"), std::string::npos)
        << refusal(words);
  }
  EXPECT_NE(refusal("energy_mae + 2 energy_mae").find("each metric once"), std::string::npos);
}

}  // namespace metric_terms_test
}  // namespace weyl

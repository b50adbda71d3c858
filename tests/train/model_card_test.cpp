#include "weyl/train/run/model_card.h"

#include <gtest/gtest.h>

namespace weyl {
namespace model_card_test {

ModelSummary summary() {
  ModelSummary s;
  s.system = "transformer";
  s.carrier = "points";
  s.task = "property";
  s.dtype = "float32";
  s.exact = {"E(3)"};
  return s;
}

TEST(ModelCard, ShowsOrdinaryNamesAsTheyAre) {
  ModelSummary s = summary();
  s.interface.outputs = {{.name = "mu_x", .level = Level::graph, .unit = "kcal/mol"}};
  const std::string card = model_card("run-001", s, {{"test force_mae", 0.25, "eV/Å"}});
  EXPECT_NE(card.find("\n# run-001\n"), std::string::npos);
  EXPECT_NE(card.find("`mu_x` (graph scalar, kcal/mol)"), std::string::npos) << card;
  EXPECT_NE(card.find("| test force_mae | 0.25 | eV/Å |"), std::string::npos) << card;
  EXPECT_NE(card.find("| E(3) |"), std::string::npos) << card;
}

// Nothing in a name is markup, HTML, a link, a formula, a further line or a further cell.
TEST(ModelCard, NamesAreNoMarkup) {
  const std::string nasty =
      "<img src=x onerror=alert(1)> [a](javascript:b) `c` | d\n# e\n---\n&lt; $f$ **g** _h_ ~~i~~ ![j](k) "
      "\x1b[31m \\";
  ModelSummary s = summary();
  s.interface.features = {{.name = nasty, .unit = nasty}};
  s.exact = {nasty};
  const std::string card = model_card(nasty, s, {{nasty, 1, nasty}});
  const std::string shown =
      "\\<img src=x onerror=alert(1)\\> \\[a\\](javascript:b) \\`c\\` \\| d\\\\x0a\\# "
      "e\\\\x0a---\\\\x0a\\&lt; \\$f\\$ "
      "\\*\\*g\\*\\* \\_h\\_ \\~\\~i\\~\\~ \\!\\[j\\](k) \\\\x1b\\[31m \\\\";
  EXPECT_NE(card.find("\n# " + shown + "\n\nA `transformer`"), std::string::npos) << card;
  EXPECT_NE(card.find("| exact symmetry | " + shown + " |\n"), std::string::npos) << card;
  EXPECT_NE(card.find("| inputs | " + shown + " (node scalar, " + shown + ") |\n"), std::string::npos)
      << card;
  EXPECT_NE(card.find("| " + shown + " | 1 | " + shown + " |\n"), std::string::npos) << card;
  EXPECT_EQ(card.find('\x1b'), std::string::npos);
}

}  // namespace model_card_test
}  // namespace weyl

#include "weyl/tasks/force_errors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace force_errors_test {

ForceErrors::Options in_mev() {
  ForceErrors::Options o;
  o.energy_unit = "eV";
  o.length_unit = "\u00c5";
  o.report = "meV";
  o.elements = {"H", "O"};
  return o;
}

Tensor numbers(std::vector<double> values, std::vector<int64_t> shape) {
  return at::tensor(values, at::kDouble).view(shape);
}

/// H O and O: two graphs.
Batch two_graphs() {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{2, 1});
  p.positions = at::zeros({3, 3}, at::kDouble);
  p.types = at::tensor(std::vector<int64_t>{0, 1, 1}, at::kLong);
  return {
      p,
      {{"energy", numbers({-10, -4}, {2, 1})}, {"forces", numbers({1, 0, 0, 0, 2, 0, 0, 0, 3}, {3, 1, 3})}}};
}

Named said() {
  return {{"energy", numbers({-10.02, -3.99}, {2, 1})},
          {"forces", numbers({1.03, 0, 0, 0, 2, 0.06, 0, 0, -3}, {3, 1, 3})}};
}

TEST(ForceErrors, OfNumbersMadeByHand) {
  ForceErrors meter(in_mev());
  meter.add(two_graphs(), said());
  const Metrics m = meter.values();
  EXPECT_NEAR(m.at("energy_mae").value, 15, 1e-9);
  EXPECT_EQ(m.at("energy_mae").unit, "meV");
  EXPECT_NEAR(m.at("energy_rmse").value, std::sqrt(250.0), 1e-9);
  EXPECT_NEAR(m.at("energy_mae_per_atom").value, 10, 1e-9);
  EXPECT_EQ(m.at("energy_mae_per_atom").unit, "meV/atom");
  EXPECT_NEAR(m.at("force_mae").value, (30 + 60 + 6000) / 9.0, 1e-9);
  EXPECT_EQ(m.at("force_mae").unit, "meV/\u00c5");
  EXPECT_NEAR(m.at("force_rmse").value, std::sqrt((900.0 + 3600 + 36e6) / 9), 1e-9);
  EXPECT_NEAR(m.at("force_norm_mae").value, (30 + 60 + 6000) / 3.0, 1e-9);  // each along one axis
  EXPECT_EQ(m.at("force_norm_mae").unit, "meV/\u00c5");
  EXPECT_NEAR(m.at("force_cosine").value, (1 + 2 / std::sqrt(4.0036) - 1) / 3, 1e-12);
  EXPECT_FALSE(m.contains("stress_mae"));
}

TEST(ForceErrors, ReportInTheUnitAskedFor) {
  auto o = in_mev();
  o.report = "kcal/mol";
  ForceErrors meter(o);
  meter.add(two_graphs(), said());
  EXPECT_NEAR(meter.values().at("energy_mae").value, 0.015 * 23.060548, 1e-7);
  EXPECT_EQ(meter.values().at("force_mae").unit, "kcal/mol/\u00c5");
  o.energy_unit = "";  // nobody knows: plain numbers without a unit
  ForceErrors plain(o);
  plain.add(two_graphs(), said());
  EXPECT_NEAR(plain.values().at("energy_mae").value, 0.015, 1e-12);
  EXPECT_EQ(plain.values().at("energy_mae").unit, "");
}

TEST(ForceErrors, OfDirectForcesSaySoInTheirNames) {
  auto o = in_mev();
  o.direct = true;
  ForceErrors meter(o);
  meter.add(two_graphs(), said());
  EXPECT_TRUE(meter.values().contains("direct_force_mae"));
  EXPECT_FALSE(meter.values().contains("force_mae"));
  EXPECT_EQ(ForceErrors::force_mae(true), "direct_force_mae");
}

TEST(ForceErrors, ByElementAndByConfigType) {
  Batch batch = two_graphs();
  batch.labels["config_type"] = at::tensor(std::vector<int64_t>{1, 0}, at::kLong).view({2, 1});
  ForceErrors meter(in_mev());
  meter.add(batch, said());
  Schema schema;
  schema.category_names["config_type"] = {"gas", "liquid"};
  const auto all = meter.breakdowns(schema);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].by, "element");
  ASSERT_EQ(all[0].rows.size(), 2u);
  EXPECT_EQ(all[0].rows[0].first, "H");
  EXPECT_NEAR(all[0].rows[0].second.at("force_mae").value, 10, 1e-9);
  EXPECT_EQ(all[0].rows[0].second.at("atoms").value, 1);
  EXPECT_FALSE(all[0].rows[0].second.contains("energy_mae"));
  EXPECT_EQ(all[0].rows[1].first, "O");
  EXPECT_NEAR(all[0].rows[1].second.at("force_mae").value, 6060 / 6.0, 1e-9);
  EXPECT_EQ(all[0].rows[1].second.at("atoms").value, 2);
  EXPECT_EQ(all[1].by, "config_type");
  EXPECT_EQ(all[1].rows[0].first, "gas");
  EXPECT_NEAR(all[1].rows[0].second.at("energy_mae").value, 10, 1e-9);
  EXPECT_NEAR(all[1].rows[0].second.at("force_mae").value, 2000, 1e-9);
  EXPECT_EQ(all[1].rows[1].first, "liquid");
  EXPECT_EQ(all[1].rows[1].second.at("frames").value, 1);
  EXPECT_NEAR(all[1].rows[1].second.at("energy_mae_per_atom").value, 10, 1e-9);
}

TEST(ForceErrors, OfOneElementHaveNoTable) {
  Batch batch = two_graphs();
  std::get<Points>(batch.input).types.fill_(1);
  ForceErrors meter(in_mev());
  meter.add(batch, said());
  EXPECT_TRUE(meter.breakdowns({}).empty());
}

TEST(ForceErrors, LeaveOutLabelsThatAreMissing) {
  Batch batch = two_graphs();
  batch.labels["energy"][0].fill_(NAN);
  batch.labels["forces"].slice(0, 2).fill_(NAN);
  ForceErrors meter(in_mev());
  meter.add(batch, said());
  EXPECT_NEAR(meter.values().at("energy_mae").value, 10, 1e-9);
  EXPECT_NEAR(meter.values().at("force_mae").value, 90 / 6.0, 1e-9);
  EXPECT_NEAR(meter.values().at("force_norm_mae").value, 90 / 2.0, 1e-9);
  batch.labels.clear();  // of those that are trained on the names stay, for tables
  ForceErrors none(in_mev());
  none.add(batch, said());
  EXPECT_TRUE(std::isnan(none.values().at("force_mae").value));
  EXPECT_FALSE(none.values().contains("stress_mae"));
}

TEST(ForceErrors, OfBatchesAddUp) {
  const Batch batch = two_graphs();
  ForceErrors whole(in_mev()), parts(in_mev());
  whole.add(batch, said());
  Schema schema;
  schema.interface.types = 2;
  schema.labels = {{.name = "energy", .level = Level::graph}, {.name = "forces", .kind = Kind::vector}};
  const Named all = said();
  for (int64_t g = 0; g < 2; ++g) {
    const auto nodes = g == 0 ? std::pair{0, 2} : std::pair{2, 3};
    parts.add(take(batch, {&g, 1}, schema),
              {{"energy", all.at("energy").slice(0, g, g + 1)},
               {"forces", all.at("forces").slice(0, nodes.first, nodes.second)}});
  }
  for (const auto& [name, metric] : whole.values()) {
    EXPECT_NEAR(metric.value, parts.values().at(name).value, 1e-9) << name;
  }
}

TEST(ForceErrors, OfStress) {
  Batch batch = two_graphs();
  batch.labels["stress"] = at::zeros({2, 1, 3, 3}, at::kDouble);
  batch.labels["stress"][1].fill_(NAN);  // no cell
  Named p = said();
  p["stress"] = at::full({2, 1, 3, 3}, 0.002, at::kDouble);
  p["stress"][1].fill_(NAN);
  ForceErrors meter(in_mev());
  meter.add(batch, p);
  EXPECT_NEAR(meter.values().at("stress_mae").value, 2, 1e-9);
  EXPECT_EQ(meter.values().at("stress_mae").unit, "meV/\u00c5^3");
  p["stress"] = at::zeros({2, 1, 3}, at::kDouble);
  EXPECT_THROW(meter.add(batch, p), ShapeError);
}

}  // namespace force_errors_test
}  // namespace weyl

#include "weyl/data/atoms/inspect_frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <utility>

#include "tests/data/folder.h"
#include "tests/data/trajectory.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/extended_xyz.h"

namespace weyl {
namespace inspect_frames_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";

const FrameFieldSummary& named(const std::vector<FrameFieldSummary>& fields, const std::string& name) {
  for (const auto& f : fields) {
    if (f.name == name) {
      return f;
    }
  }
  throw std::runtime_error("no field " + name);
}

FrameInspection inspect_text(std::string_view file) {
  ExtendedXyzReader reader(bytes_of(std::as_bytes(std::span(file)), "x.xyz"), "x.xyz");
  return inspect_frames(reader);
}

TEST(InspectFrames, SumsUpWhatAFileHas) {
  const auto reader = open_frames(fixtures + "ase.xyz");
  const auto found = inspect_frames(*reader);
  EXPECT_EQ(found.frames, 2);
  EXPECT_EQ(found.atoms, 5);
  EXPECT_EQ(found.least_atoms, 2);
  EXPECT_EQ(found.most_atoms, 3);
  EXPECT_EQ(found.elements, (std::map<int, int64_t>{{1, 2}, {8, 1}, {11, 1}, {17, 1}}));
  EXPECT_EQ(found.periodic, 1);
  EXPECT_NEAR(found.shortest.value(), std::hypot(0.75, 0.625), 1e-12);
  EXPECT_EQ(found.shortest_where, fixtures + "ase.xyz: frame 1, line 1");
  const auto& energy = named(found.labels, "energy");
  EXPECT_EQ(energy.frames, 2);
  EXPECT_EQ(energy.min, -14.25);
  EXPECT_EQ(energy.max, -3);
  EXPECT_FALSE(energy.mixed);  // a real and an integer
  EXPECT_EQ(energy.unit, "");
  EXPECT_EQ(named(found.labels, "forces").level, Level::node);
  EXPECT_EQ(named(found.labels, "forces").shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(named(found.labels, "config_type").texts, (std::map<std::string, int64_t>{{"water", 1}}));
  EXPECT_EQ(named(found.labels, "fixed").texts, (std::map<std::string, int64_t>{{"F", 2}, {"T", 1}}));
  EXPECT_EQ(named(found.fields, "pos").max, 2.5);
  EXPECT_EQ(named(found.labels, "charge").frames, 1);
  EXPECT_EQ(found.warnings.at(0), "stress: 1 of 2 frames have it");
  const auto qm9 = open_frames(fixtures + "qm9.tar");
  const auto of_qm9 = inspect_frames(*qm9);
  EXPECT_EQ(named(of_qm9.labels, "alpha").unit, "Bohr^3");
  EXPECT_EQ(named(of_qm9.labels, "frequencies").shape, std::vector<int64_t>{0});  // 9 and 4
  EXPECT_TRUE(of_qm9.warnings.empty()) << of_qm9.warnings[0];
}

TEST(InspectFrames, WarnsOfWhatIsSuspect) {
  const std::string p = "Properties=species:S:1:pos:R:3";
  const auto warnings = [&](const std::string& file) {
    std::string all;
    for (const auto& warning : inspect_text(file).warnings) {
      all += warning + "\n";
    }
    return all;
  };
  const std::string good = "2\n" + p + " energy=-1.5\nO 0 0 0\nH 0 0 1\n",
                    other = "2\n" + p + " energy=-2\nO 0 0 0\nH 0 0 1\n";
  EXPECT_EQ(warnings(good + other), "");
  EXPECT_EQ(warnings(good + other + "2\n" + p + "\nO 0 0 0\nH 0 0 1\n"), "energy: 2 of 3 frames have it\n");
  EXPECT_EQ(warnings(good + good), "energy: is constant, -1.5\n");
  EXPECT_EQ(warnings(good + "1\n" + p + " energy=nan\nO 0 0 0\n" + other),
            "energy: 1 numbers are not finite\n");
  EXPECT_EQ(warnings(good + "1\n" + p + " energy=\"1 2\"\nO 0 0 0\n"),
            "energy: not of one type and dimension in all frames\n"
            "energy must be one number, which 1 frame has not: the first has 2 in x.xyz: frame 2, line 5\n");
  EXPECT_EQ(warnings(good + "0\n" + p + " energy=2\n"),
            "1 frame without atoms, the first is x.xyz: frame 2, line 5\n");
  EXPECT_EQ(warnings(good + "1\n" + p + " energy=2\nX 0 0 0\n"),
            "1 frame with atoms of no element (X), the first is x.xyz: frame 2, line 5\n");
  const std::string close = "2\n" + p + " energy=2\nO 0 0 0\nH 0 0 0.25\n";
  EXPECT_EQ(warnings(good + close + good + close),
            "2 frames with atoms nearer than 0.5 \u00c5, the first is x.xyz: frame 2, line 5: atoms 1 (O) "
            "and 2 (H) are "
            "0.25 apart\n");
  EXPECT_EQ(warnings("2\n" + p + ":forces:R:3\nO 0 0 0 0 0 0\nH 0 0 1 0 0 1\n"),
            "1 frame in which some atoms have forces of exactly zero (constrained?), the first is x.xyz: "
            "frame 1, line 1\n");
  EXPECT_EQ(warnings("2\n" + p + ":forces:R:3\nO 0 0 0 0 0 0\nH 0 0 1 0 0 0\n"), "");
}

/// Two atoms of a file whose places are in some unit.
class TwoAtoms : public FrameReader {
 public:
  TwoAtoms(double distance, std::string unit) : distance_(distance), unit_(std::move(unit)) {}
  bool next(AtomsFrame& frame) override {
    frame = {};
    frame.numbers = {8, 1};
    frame.positions = {0, 0, 0, 0, distance_, 0};
    return std::exchange(left_, false);
  }
  std::string where() const override { return "x: frame 1"; }
  std::string_view unit_of(std::string_view name) const override {
    return name == "pos" ? std::string_view(unit_) : std::string_view();
  }

 private:
  double distance_;
  std::string unit_;
  bool left_ = true;
};

TEST(InspectFrames, OverlapsAreMeasuredInTheFilesUnit) {
  const auto inspect = [](double distance, const std::string& unit) {
    TwoAtoms reader(distance, unit);
    return inspect_frames(reader);
  };
  // 0.49 and 0.51 Angstrom
  for (const auto& [unit, angstrom] : {std::pair{"Angstrom", 1.0},
                                       {"Ang", 1.0},
                                       {"A", 1.0},
                                       {"\u00c5", 1.0},
                                       {"", 1.0},
                                       {"Bohr", 1 / 0.529177210544},
                                       {"nm", 0.1},
                                       {"pm", 100.0}}) {
    const auto near = inspect(0.49 * angstrom, unit), far = inspect(0.51 * angstrom, unit);
    ASSERT_EQ(near.warnings.size(), 1u) << unit;
    EXPECT_TRUE(near.warnings[0].starts_with(
        "1 frame with atoms nearer than 0.5 \u00c5, the first is x: frame 1: atoms 1 (O) and 2 (H) are "))
        << near.warnings[0];
    EXPECT_EQ(near.warnings[0].ends_with(text(" apart (", unit, ")")), *unit != '\0') << near.warnings[0];
    EXPECT_TRUE(far.warnings.empty()) << unit << ": " << far.warnings[0];
    EXPECT_NEAR(far.shortest.value(), 0.51 * angstrom, 1e-12) << unit;
    EXPECT_TRUE(inspect(4.9 * angstrom, unit).shortest) << unit;
    EXPECT_FALSE(inspect(5.1 * angstrom, unit).shortest) << unit;
  }
  EXPECT_TRUE(inspect(0.1, "furlong").warnings.empty());  // who knows
  EXPECT_NEAR(inspect(0.1, "furlong").shortest.value(), 0.1, 1e-12);
  // As a file says it.
  const auto found = inspect_text("2\nlength_unit=nm\nO 0 0 0\nH 0 0 0.04\n");
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_NE(found.warnings[0].find("x.xyz: frame 1, line 1: atoms 1 (O) and 2 (H) are 0.04 apart (nm)"),
            std::string::npos)
      << found.warnings[0];
  EXPECT_TRUE(inspect_text("2\nlength_unit=nm\nO 0 0 0\nH 0 0 0.096\n").warnings.empty());
}

TEST(InspectFrames, SplitsOfAFolder) {
  const Folder folder;
  std::filesystem::copy_file(fixtures + "ase.xyz", folder / "train.xyz");
  std::filesystem::copy_file(fixtures + "ase.xyz", folder / "test.extxyz");
  std::filesystem::copy_file(fixtures + "v2000.sdf", folder / "notes.sdf");
  const auto found = frames_for_inspection(folder.path());
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].first, "train");
  EXPECT_EQ(found[1].first, "test");
  EXPECT_EQ(frames_for_inspection(fixtures + "qm9").at(0).first, "");
}

TEST(InspectFrames, DoubtsNoExactCurves) {
  const auto found = inspect_all_frames(WEYL_SOURCE_DIR "/tests/fixtures/reports/02a_dimer_curves_0.5A.xyz");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].second.frames, 27);
  for (const std::string& warning : found[0].second.warnings) {
    EXPECT_EQ(warning.find("one system of units"), std::string::npos) << warning;
  }
}

TEST(InspectFrames, WarnsOfForcesThatDoNotFitTheEnergies) {
  const auto warning = [](const std::vector<AtomsFrame>& frames, const std::string& units) {
    std::string file;
    for (AtomsFrame frame : frames) {
      append_extended_xyz(file, frame);
    }
    if (!units.empty()) {
      for (size_t at = 0; (at = file.find(" energy=", at)) != std::string::npos; at += units.size() + 2) {
        file.insert(at, " " + units);
      }
    }
    const auto found = inspect_text(file).warnings;
    return found.empty() ? std::string() : found[0];
  };
  const auto frames = trajectory_frames(60);
  EXPECT_EQ(warning(frames, ""), "");
  const double atomic = unit_factor("eV/Angstrom", "Hartree/Bohr");
  EXPECT_NE(warning(scaled(frames, 1, atomic), "")
                .find("energies and forces seem not to be of one system of units: along 29 pairs"),
            std::string::npos)
      << warning(scaled(frames, 1, atomic), "");
  EXPECT_NE(warning(scaled(frames, 1, atomic), "").find("force_unit = \"Hartree/Bohr\""), std::string::npos);
  EXPECT_NE(warning(scaled(frames, 1, -1), "").find("force_sign = \"gradient\""), std::string::npos);
  // What the file says is right.
  EXPECT_EQ(warning(scaled(frames, 1, atomic), "energy_unit=eV force_unit=Hartree/Bohr"), "");
  EXPECT_NE(warning(frames, "energy_unit=eV force_unit=Hartree/Bohr"), "");
}

TEST(InspectFrames, DoubtsTheUnitsThatItHasRead) {
  std::string file;
  const auto reader =
      open_frames(WEYL_SOURCE_DIR "/tests/fixtures/reports/11_stress_in_GPa_nothing_said.xyz");
  for (AtomsFrame frame; reader->next(frame);) {
    append_extended_xyz(file, frame);
  }
  const std::string units = " energy_unit=Hartree force_unit=eV/Angstrom";
  for (size_t at = 0; (at = file.find(" energy=", at)) != std::string::npos; at += units.size() + 2) {
    file.insert(at, units);
  }
  std::string all;
  for (const std::string& warning : inspect_text(file).warnings) {
    all += warning + "\n";
  }
  EXPECT_NE(all.find("stresses seem to be in GPa, not Hartree/"), std::string::npos) << all;
}

TEST(InspectFrames, GoesOnPastABadFile) {
  const Folder folder;
  const std::string good = "2\nenergy=-1\nO 0 0 0\nH 0 0 1\n";
  std::ofstream(folder / "a.xyz") << "2\nO 0 0 0\n";
  std::ofstream(folder / "b.xyz") << good;
  std::ofstream(folder / "c.xyz") << good << "2\nenergy=-2\nO 0 0 0\n";
  std::ofstream(folder / "d.xyz") << good;
  const auto found = inspect_all_frames(folder.path());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].second.frames, 3);
  const auto& warnings = found[0].second.warnings;
  ASSERT_GE(warnings.size(), 2u);
  EXPECT_TRUE(warnings[0].starts_with(folder / "a.xyz: frame 1, ")) << warnings[0];
  EXPECT_TRUE(warnings[1].starts_with(folder / "c.xyz: frame 2, ")) << warnings[1];
  EXPECT_TRUE(warnings[1].ends_with("; left out")) << warnings[1];
  // Without it, as for training, the first fault ends it.
  EXPECT_NE(message_of<DataError>([&] {
              const auto reader = open_frames(folder.path());
              inspect_frames(*reader);
            }),
            "");
  std::filesystem::remove(folder / "b.xyz");
  std::filesystem::remove(folder / "d.xyz");
  std::ofstream(folder / "c.xyz") << "nothing\n";
  EXPECT_TRUE(
      message_of<DataError>([&] { inspect_all_frames(folder.path()); }).starts_with(folder / "a.xyz: "));
}

TEST(InspectFrames, GoesOnPastABadSplit) {
  const Folder folder;
  std::ofstream(folder / "train.xyz") << "2\nO 0 0 0\n";
  std::ofstream(folder / "valid.xyz") << "1\nenergy=-1\nO 0 0 0\n";
  std::ofstream(folder / "test.xyz") << "1\nenergy=-1\nO 0 0\n";
  const auto found = inspect_all_frames(folder.path());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, "valid");
  ASSERT_EQ(found[0].second.warnings.size(), 3u);  // the third: a split of one frame
  EXPECT_TRUE(found[0].second.warnings[0].starts_with(folder / "train.xyz: ")) << found[0].second.warnings[0];
  EXPECT_TRUE(found[0].second.warnings[1].starts_with(folder / "test.xyz: ")) << found[0].second.warnings[1];
  // A file alone is refused.
  EXPECT_THROW(inspect_all_frames(folder / "train.xyz"), DataError);
}

}  // namespace inspect_frames_test
}  // namespace weyl

// Both sides of i-PI's protocol in memory: what is asked, what is answered, and what is no conversation.
#include "weyl/predict/ipi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/units.h"

namespace weyl {
namespace ipi_test {

/// What the other side says, written down before, and what it is answered.
class Script : public Connection {
 public:
  bool read(std::span<std::byte> into) override {
    if (asked.empty() && !into.empty()) {
      return false;
    }
    require<DataError>(asked.size() >= into.size(), "closed within a message");
    std::memcpy(into.data(), asked.data(), into.size());
    asked.erase(0, into.size());
    return true;
  }
  void write(std::span<const std::byte> bytes) override {
    answered.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ++writes;
  }

  Script& header(std::string text) {
    text.resize(12, ' ');
    asked += text;
    return *this;
  }
  template <class T>
  Script& number(T value) {
    asked.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Script& init(const std::string& text) {
    header("STATUS").header("INIT").number<int32_t>(0).number(static_cast<int32_t>(text.size()));
    asked += text;
    return *this;
  }
  Script& cell(double side) {
    for (int i = 0; i < 18; ++i) {
      number(i == 1 ? 0.5 : i % 4 == 0 ? side : 0.0);  // columns are lattice vectors: the second leans to x
    }
    return *this;
  }
  Script& places(int atoms, double first) {
    for (int i = 0; i < 3 * atoms; ++i) {
      number(first + i);
    }
    return *this;
  }

  std::string take(size_t bytes) {
    const std::string front = answered.substr(0, bytes);
    answered.erase(0, bytes);
    return front;
  }
  double take_real() {
    double x = NAN;
    std::memcpy(&x, take(8).data(), 8);
    return x;
  }
  int32_t take_integer() {
    int32_t x = -1;
    std::memcpy(&x, take(4).data(), 4);
    return x;
  }

  std::string asked, answered;
  int writes = 0;
};

const double bohr = unit_factor("Bohr", "Angstrom"), hartree = unit_factor("Hartree", "eV");

/// Energies that tell the structures apart, forces that are positions; a second model says twice as much.
std::vector<std::vector<IpiForces>> echoed(std::span<const IpiStructure> structures, int models) {
  std::vector<std::vector<IpiForces>> answers;
  for (const IpiStructure& s : structures) {
    auto& of = answers.emplace_back();
    for (int m = 1; m <= models; ++m) {
      IpiForces forces{m * s.positions[0], s.positions, s.cell};
      std::ranges::transform(forces.forces, forces.forces.begin(), [&](double x) { return m * x; });
      of.push_back(forces);
    }
  }
  return answers;
}

int64_t talk(Script& script, int64_t atoms, int models = 1) {
  return answer_ipi(script, atoms, [&](auto structures) { return echoed(structures, models); });
}

TEST(Ipi, AnswersInItsUnitsAndItsOrder) {
  Script script;
  script.init("").header("STATUS").header("POSDATA").cell(10).number<int32_t>(2).places(2, 1.5);
  script.header("STATUS").header("GETFORCE").header("STATUS").header("EXIT");
  EXPECT_EQ(talk(script, 2), 1);
  EXPECT_EQ(script.take(36), "NEEDINIT    READY       HAVEDATA    ");
  EXPECT_EQ(script.take(12), "FORCEREADY  ");
  EXPECT_NEAR(script.take_real(), 1.5 * bohr / hartree, 1e-15);
  EXPECT_EQ(script.take_integer(), 2);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(script.take_real(), (1.5 + i) * bohr * bohr / hartree, 1e-14);  // eV/Angstrom to Hartree/Bohr
  }
  for (int i = 0; i < 9; ++i) {  // the cell that came: rows are lattice vectors
    EXPECT_NEAR(script.take_real(), (i % 4 == 0 ? 10 : i == 3 ? 0.5 : 0) * bohr / hartree, 1e-14) << i;
  }
  EXPECT_EQ(script.take_integer(), 0);  // nothing beside
  EXPECT_EQ(script.answered, "READY       ");
  EXPECT_EQ(script.writes, 5);  // a message is one
}

TEST(Ipi, BeadsComeAtOnce) {
  Script script;
  script.init("{}, batch_size:3").header("POSDATA").number<int32_t>(1).cell(5).cell(6).cell(7);
  script.places(1, 0.5).places(1, 1.5).places(1, 2.5).header("GETFORCE");
  EXPECT_EQ(talk(script, 1), 3);
  script.take(24);
  for (const double energy : {0.5, 1.5, 2.5}) {
    EXPECT_NEAR(script.take_real(), energy * bohr / hartree, 1e-15);
  }
  EXPECT_EQ(script.take_integer(), 1);
  EXPECT_EQ(script.answered.size(), 3 * (3 * 8 + 9 * 8 + 4));
}

TEST(Ipi, ACommitteeIsBesideItsMean) {
  Script script;
  script.init("").header("POSDATA").cell(4).number<int32_t>(1).places(1, 2).header("GETFORCE");
  EXPECT_EQ(talk(script, 1, 2), 1);
  script.take(24);
  EXPECT_NEAR(script.take_real(), 1.5 * 2 * bohr / hartree, 1e-15);
  script.take(4 + 3 * 8 + 9 * 8);
  const auto length = static_cast<size_t>(script.take_integer());
  ASSERT_EQ(script.answered.size(), length);
  const Json said = Json::parse(script.answered, "extra");
  ASSERT_EQ(said.find("committee_pot")->items().size(), 2);
  EXPECT_NEAR(said.find("committee_pot")->items()[1].number_or(0), 2 * 2 * bohr / hartree, 1e-15);
  EXPECT_EQ(said.find("committee_force")->items()[1].items().size(), 3);
  EXPECT_EQ(said.find("committee_virial")->items()[0].items()[2].items().size(), 3);
}

TEST(Ipi, WhatIsNoConversationIsOneLine) {
  const auto fault = [](Script script, int64_t atoms = 2) {
    return message_of<DataError>([&] { talk(script, atoms); });
  };
  const auto begun = [] { return Script().init(""); };
  EXPECT_EQ(fault(begun().header("HELP")),
            "i-PI: must send STATUS, INIT, POSDATA, GETFORCE or EXIT, sent 'HELP'");
  EXPECT_EQ(fault(begun().header("GETFORCE")), "i-PI: must send POSDATA before GETFORCE");
  EXPECT_EQ(fault(begun().header("POSDATA").cell(3).number<int32_t>(-1)),
            "i-PI: must send as many atoms as the template has, 2, sends -1");
  EXPECT_EQ(fault(begun().header("POSDATA").cell(3)), "i-PI: closed the connection within a message");
  EXPECT_EQ(fault(begun().header("POSDATA").cell(3).number<int32_t>(2).places(1, 0)),
            "closed within a message");
  EXPECT_EQ(fault(Script().init("batch_size:")),
            "i-PI: batch_size must be from 1 to 65536, INIT says 'batch_size:'");
  EXPECT_EQ(fault(Script().header("INIT").number<int32_t>(0).number<int32_t>(1 << 30)),
            "i-PI: INIT must have a text of 0 to 1048576 bytes, says 1073741824");
  Script gone = begun();
  EXPECT_EQ(talk(gone, 2), 0);  // ASE says no farewell
}

}  // namespace ipi_test
}  // namespace weyl

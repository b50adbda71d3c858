// Molecules through the program: files of any format inspected and converted, and what is refused.
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "weyl/core/json.h"

namespace weyl {
namespace molecule_files_test {

const std::string molecules = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";
const std::string broken = WEYL_SOURCE_DIR "/tests/fixtures/broken/";

TEST(MoleculeFilesProgram, InspectsEveryFormat) {
  const std::string folder = scratch("molecule-formats");
  for (const auto& [file, samples, tokens] : {std::tuple{"ase.xyz", 2, 3},
                                              {"ase.xyz.gz", 2, 3},
                                              {"qm9", 2, 5},
                                              {"qm9.tar.bz2", 2, 5},
                                              {"npz/rmd17.npz", 4, 3},
                                              {"deepmd", 4, 3},
                                              {"lmdb/ase.aselmdb", 3, 3},
                                              {"lmdb/folder", 5, 3},
                                              {"v3000.sdf", 2, 9}}) {
    const Outcome seen = weyl_program("data inspect " + molecules + file + " --json", folder);
    ASSERT_EQ(seen.code, 0) << seen.err;
    const Json json = Json::parse(seen.out, "stdout");
    EXPECT_EQ(json.find("carrier")->string_or(""), "points") << file;
    EXPECT_EQ(json.find("samples")->number_or(0), samples) << file;
    EXPECT_EQ(json.find("tokens")->find("max")->number_or(0), tokens) << file;
    EXPECT_EQ(json.find("fields")->items().at(0).find("name")->string_or(""), "pos");
    EXPECT_GT(json.find("elements")->find("H")->number_or(0), 0) << file;
    EXPECT_GT(json.find("shortest_distance")->number_or(0), 0.5) << file;
  }
  const Outcome text = weyl_program("data inspect " + molecules + "npz/rmd17.npz", folder);
  EXPECT_NE(text.out.find("label  energy  4/4 frames  -97003.1235 to -97000.1235 kcal/mol"),
            std::string::npos)
      << text.out;
}

TEST(MoleculeFilesProgram, Converts) {
  const std::string folder = scratch("molecule-conversion");
  ASSERT_EQ(weyl_program("data convert " + molecules + "npz/rmd17.npz a.xyz to=eV", folder).code, 0);
  const Outcome back = weyl_program("data convert a.xyz b.npz from=eV to=kcal/mol --json", folder);
  ASSERT_EQ(back.code, 0) << back.err;
  const Json json = Json::parse(weyl_program("data inspect b.npz --json", folder).out, "stdout");
  EXPECT_EQ(json.find("samples")->number_or(0), 4);
  const Outcome again = weyl_program("data convert a.xyz b.npz from=eV", folder);
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("exists already"), std::string::npos) << again.err;
  EXPECT_EQ(weyl_program("data convert " + molecules + "ase.xyz c.npz", folder).code, 3);  // of no known unit
  EXPECT_EQ(weyl_program("data convert a.xyz c.npz from=Hartree", folder).code, 2);        // the file says eV
  EXPECT_EQ(weyl_program("data convert a.xyz c.npz from=furlong", folder).code, 2);
  EXPECT_EQ(weyl_program("data convert a.xyz c.npz length=4", folder).code, 2);
}

TEST(MoleculeFilesProgram, RefusesBrokenFilesInOneLine) {
  const std::string folder = scratch("broken-molecules");
  for (const auto& [file, fault] :
       {std::pair{"xyz/cut_frame.xyz", "frame 2, line 8: the file ends after 2 of 3 atoms"},
        {"sdf/unknown_element.sdf", "frame 2, line 19: unknown element 'R#'"},
        {"lmdb/pickled_row.aselmdb", "frame 2, id 2: must be JSON packed by zlib, is pickled Python"},
        {"tar/cut.tar", "Truncated tar archive"}}) {
    for (const std::string verb : {"data inspect ", "data convert "}) {
      const Outcome seen =
          weyl_program(verb + broken + file + (verb == "data convert " ? " out.xyz" : ""), folder);
      EXPECT_EQ(seen.code, 3) << file;
      EXPECT_NE(seen.err.find(fault), std::string::npos) << seen.err;
      EXPECT_EQ(std::count(seen.err.begin(), seen.err.end(), '\n'), 1) << seen.err;
      EXPECT_FALSE(std::filesystem::exists(folder + "/out.xyz"));
    }
  }
}

}  // namespace molecule_files_test
}  // namespace weyl

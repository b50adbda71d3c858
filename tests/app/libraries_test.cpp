// Where the built programs find libraries: never in the folder in which a user stands; and what they say when one is
// missing. The headers of all files are read by tools/check_elf.py, the installed program is run by tests/consumer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/program.h"
#include "weyl/core/json.h"

namespace weyl {
namespace libraries_test {

namespace fs = std::filesystem;

std::string self() {
  return fs::read_symlink("/proc/self/exe").string();
}

/// The names of all libraries that the programs and their libraries load, and of those opened while they run.
std::set<std::string> library_names() {
  const std::string lib = WEYL_BINARY_DIR "/lib", bin = WEYL_BINARY_DIR "/bin";
  const std::string files =
      " '" + bin + "/weyl' '" + bin + "/weyl-engine' '" + self() + "' '" + lib + "'/libweyl*.so";
  std::set<std::string> names{"libweyl_archives.so", "libweyl_bullet.so", "libweyl_hdf5.so",
                              "libweyl_makers.so",   "libweyl_rdkit.so",  "libxtb.so.6"};
  std::istringstream lines(shell("for f in" + files + "; do ldd \"$f\"; done", scratch("ldd")).out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow;
    if (words >> name >> arrow && arrow == "=>") {
      names.insert(name.substr(name.rfind('/') + 1));
    }
  }
  return names;
}

/// A folder with a planted library of each name, in it and where the loader looks below a folder.
std::string planted(const std::string& name) {
  std::string folder = scratch(name);
  const std::set<std::string> names = library_names();
  EXPECT_TRUE(names.contains("libspdlog.so.1.10") || names.size() > 20);
  EXPECT_TRUE(names.contains("libweyl_base.so"));
  for (const char* below : {"", "/lib", "/glibc-hwcaps/x86-64-v3", "/glibc-hwcaps/x86-64-v2"}) {
    fs::create_directories(folder + below);
    for (const std::string& library : names) {
      fs::copy_file(WEYL_PLANTED_LIBRARY, folder + below + "/" + library);
    }
  }
  std::ofstream(folder + "/c.toml") << contents(WEYL_SOURCE_DIR "/configs/bench/platonic.toml");
  return folder;
}

TEST(Libraries, OfTheCurrentFolderNeverRun) {
  const std::string folder = planted("planted"), test = self(), weyl = "'" WEYL_BINARY_DIR "/bin/weyl' ";
  // The control: what the loader is told by the user, it takes.
  shell("LD_PRELOAD=./libxtb.so.6 /usr/bin/env true", folder);
  ASSERT_TRUE(fs::remove(folder + "/PWNED"));
  for (const std::string& command :
       std::vector<std::string>{weyl + "doctor", weyl + "--help", weyl + "info c.toml",
                                weyl + "config check c.toml", "'" WEYL_BINARY_DIR "/bin/weyl-engine' --help",
                                "'" + test + "' --gtest_list_tests", "cd lib && " + weyl + "doctor"}) {
    const Outcome outcome = shell("unset LD_LIBRARY_PATH LD_PRELOAD; " + command, folder);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.out << outcome.err;
    EXPECT_FALSE(fs::exists(folder + "/PWNED")) << command;
    EXPECT_FALSE(fs::exists(folder + "/lib/PWNED")) << command;
  }
}

TEST(Libraries, ProgramsOfTheCurrentFolderNeverRun) {
  const std::string folder = scratch("planted-programs");
  std::ofstream(folder + "/gnuplot") << "#!/bin/sh\ntouch PWNED\n";
  fs::permissions(folder + "/gnuplot", fs::perms::owner_all);
  for (const char* path : {"", ".:/usr/bin"}) {
    const Outcome outcome =
        shell("PATH='" + std::string(path) + "' '" WEYL_BINARY_DIR "/bin/weyl' doctor", folder);
    EXPECT_EQ(outcome.code, 0) << path << "\n" << outcome.out << outcome.err;
    EXPECT_FALSE(fs::exists(folder + "/PWNED")) << path;
  }
}

// With an empty or relative entry the user's LD_LIBRARY_PATH means the current folder, mostly without his meaning it; what
// is opened while the program runs is then not opened, nor are the libraries that it needs.
TEST(Libraries, OpenedLaterNeverComeFromAnEntryThatIsTheCurrentFolder) {
  const std::string folder = scratch("planted-later"), weyl = "'" WEYL_BINARY_DIR "/bin/weyl' ";
  fs::create_directories(folder + "/below");
  for (const char* name : {"/libxtb.so.6", "/libRDKitGraphMol.so.1"}) {
    fs::copy_file(WEYL_PLANTED_LIBRARY, folder + name);
    fs::copy_file(WEYL_PLANTED_LIBRARY, folder + "/below" + name);
  }
  const auto optional = [&](const std::string& path) {
    const Outcome outcome = shell("LD_LIBRARY_PATH='" + path + "' " + weyl + "doctor --json", folder);
    EXPECT_EQ(outcome.code, 0) << path << "\n" << outcome.out << outcome.err;
    EXPECT_FALSE(fs::remove(folder + "/PWNED")) << path;
    return Json::parse(outcome.out, "doctor").find("optional")->dump();
  };
  for (const char* path :
       {":/nowhere", "/nowhere:", "/nowhere::/elsewhere", ":", ";/nowhere", ".", "below"}) {
    EXPECT_EQ(Json::parse(optional(path), path).find("xtb")->string_or("none"), "none") << path;
    const Outcome made = shell("LD_LIBRARY_PATH='" + std::string(path) + "' " + weyl +
                                   "data make molecules --out made molecule=ethanol",
                               folder);
    EXPECT_EQ(made.code, 2) << path;
    EXPECT_NE(made.err.find("LD_LIBRARY_PATH: its entries must be absolute folders"), std::string::npos)
        << made.err;
    EXPECT_FALSE(fs::remove(folder + "/PWNED")) << path;
  }
  EXPECT_EQ(optional("/nowhere:/elsewhere"), optional(""));
}

/// A copy of the program, as links to what it needs, without one file.
std::string without(const std::string& missing) {
  std::string folder = scratch("without-" + fs::path(missing).filename().string());
  for (const char* part : {"/bin", "/lib"}) {
    fs::create_directories(folder + part);
  }
  for (const std::string file :
       {"/bin/weyl", "/bin/weyl-engine", "/lib/libweyl_base.so", "/lib/libweyl.so", "/lib/libweyl_data.so",
        "/lib/libweyl_train.so", "/lib/libweyl_study.so", "/lib/libweyl_program.so", "/lib/libweyl_hdf5.so",
        "/lib/libweyl_archives.so", "/lib/libweyl_makers.so"}) {
    if (file != missing) {
      fs::copy_file(WEYL_BINARY_DIR + file, folder + file);
    }
  }
  std::ofstream(folder + "/c.toml") << contents(WEYL_SOURCE_DIR "/configs/bench/platonic.toml");
  return folder;
}

TEST(Libraries, ThatAreMissingAreSaidInOneLine) {
  for (const std::string missing : {"/lib/libweyl.so", "/lib/libweyl_program.so", "/bin/weyl-engine"}) {
    const std::string folder = without(missing);
    const Outcome info = shell("bin/weyl info c.toml", folder);
    EXPECT_EQ(info.code, 2) << missing;
    EXPECT_EQ(info.out, "");
    EXPECT_EQ(std::count(info.err.begin(), info.err.end(), '\n'), 1) << info.err;
    EXPECT_NE(info.err.find(missing + ": must "), std::string::npos) << info.err;
    // What needs neither goes on.
    EXPECT_EQ(shell("bin/weyl config check c.toml", folder).code, 0);
    const Outcome doctor = shell("bin/weyl doctor --json", folder);
    EXPECT_EQ(doctor.code, 1);
    EXPECT_EQ(doctor.err, "");
    const Json report = Json::parse(doctor.out, "doctor");
    EXPECT_EQ(report.find("torch")->dump(), "null");
    EXPECT_NE(report.find("optional")->find("gnuplot"), nullptr);
    EXPECT_NE(report.find("problems")->dump().find(missing), std::string::npos) << doctor.out;
  }
}

TEST(Libraries, ThatAreNoLibrariesAreSaidInOneLine) {
  const std::string folder = without("/lib/libweyl.so");
  std::ofstream(folder + "/lib/libweyl.so") << "not a library";
  const Outcome broken = shell("bin/weyl info c.toml", folder);
  EXPECT_EQ(broken.code, 2);
  EXPECT_EQ(std::count(broken.err.begin(), broken.err.end(), '\n'), 1) << broken.err;
  EXPECT_NE(broken.err.find("libweyl.so"), std::string::npos) << broken.err;
}

TEST(Libraries, ModulesThatAreMissingAreSaidInOneLine) {
  struct Case {
    std::string module, command;
  };
  for (const auto& [module, command] :
       {Case{"/lib/libweyl_hdf5.so", "bin/weyl data inspect p.h5"},
        {"/lib/libweyl_archives.so", "bin/weyl data inspect p.npz"},
        {"/lib/libweyl_archives.so", "bin/weyl data inspect p.tar.gz"},
        {"/lib/libweyl_makers.so", "bin/weyl data make nbody --out made train=2 valid=0 test=0 steps=200"},
        {"/lib/libweyl_makers.so", "bin/weyl data make nbody --help"}}) {
    const std::string folder = without(module);
    std::ofstream(folder + "/p.h5") << "\x89HDF\r\n\x1a\n and more";
    std::ofstream(folder + "/p.npz") << "PK\x03\x04 and more";
    std::ofstream(folder + "/p.tar.gz") << "\x1f\x8b and more";
    const Outcome refused = shell(command, folder);
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_EQ(refused.out, "") << command;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    EXPECT_NE(refused.err.find(module + ": cannot open shared object file"), std::string::npos)
        << refused.err;
    // What does not need it goes on.
    EXPECT_EQ(shell("bin/weyl data make --help", folder).code, 0) << module;
    EXPECT_EQ(shell("bin/weyl config check c.toml", folder).code, 0) << module;
    const Outcome doctor = shell("bin/weyl doctor --json", folder);
    EXPECT_EQ(doctor.code, 1) << module;
    EXPECT_NE(Json::parse(doctor.out, "doctor").find("problems")->dump().find(module), std::string::npos)
        << doctor.out;
  }
}

// Each is a file that the loader reads at every start.
TEST(Libraries, ThatAreLoadedAtEveryStartAreFew) {
  for (const char* file : {"/bin/weyl", "/lib/libweyl_base.so", "/lib/libweyl.so"}) {
    const Outcome loaded = shell("ldd '" WEYL_BINARY_DIR + std::string(file) + "'", scratch("few"));
    EXPECT_EQ(loaded.code, 0) << file;
    const bool cuda = loaded.out.find("libtorch_cuda") != std::string::npos;
    EXPECT_LE(std::count(loaded.out.begin(), loaded.out.end(), '\n'), cuda ? 50 : 20) << file << "\n"
                                                                                      << loaded.out;
    for (const char* name : {"curl", "ssl", "crypto", "krb5", "ldap", "hdf5", "archive", "zip", "freetype"}) {
      EXPECT_EQ(loaded.out.find("lib" + std::string(name)), std::string::npos) << file << "\n" << loaded.out;
    }
  }
}

// The user's own LD_LIBRARY_PATH may lead to weyl's own library; its modules are not opened by a relative path, which
// would lead elsewhere from elsewhere.
TEST(Libraries, FoundByARelativePathOpenNoModules) {
  const std::string folder = without("");
  const std::string module = WEYL_BINARY_DIR "/lib/libweyl_rdkit.so";
  if (fs::exists(module)) {
    fs::copy_file(module, folder + "/lib/libweyl_rdkit.so");
  }
  const auto rdkit = [&](const std::string& path, int code) {
    const Outcome outcome = shell("LD_LIBRARY_PATH='" + path + "' bin/weyl doctor --json", folder);
    EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
    return Json::parse(outcome.out, "doctor").find("optional")->find("rdkit")->string_or("none");
  };
  EXPECT_EQ(rdkit(folder + "/lib", 0) == "none", !fs::exists(module));
  EXPECT_EQ(rdkit("lib", 1), "none");
}

}  // namespace libraries_test
}  // namespace weyl

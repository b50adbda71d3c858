// Folders that `scale run` takes for its own, and those that it leaves alone.
#include "weyl/study/sweep/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/traps.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/study/sweep/folder_lock.h"
#include "weyl/study/sweep/table.h"

namespace weyl {
namespace record_test {

namespace fs = std::filesystem;

/// A sweep of one training, without a model.
SweepRuns one_run() {
  SweepRuns runs;
  runs.rows.push_back({});
  runs.rows[0].trials.push_back({"one", 0.5});
  return runs;
}

class SweepFolder : public testing::Test {
 protected:
  SweepFolder() { fs::create_directories(at("a/runs")); }

  std::string at(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& words) const { std::ofstream(at(name)) << words; }
  /// "own", or why not.
  std::string judged(const std::string& sweep = "mine") const {
    try {
      require_sweep_folder(at("a"), one_run(), sweep);
      return "own";
    } catch (const Error& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_{"test"};
  const std::string header_ = sweep_table_header;
};

TEST_F(SweepFolder, OfSomebodyElseHasPlainFilesAndFoldersAlone) {
  const auto refuses = [&](const std::string& name, const auto& traps) {
    for (const Trap trap : traps) {
      lay(trap, at("a/" + name), at("elsewhere"));
      EXPECT_EQ(judged(),
                at("a/" + name) + ": must not be " + name_of(trap) + ", since a sweep writes into it");
      expect_untouched(at("elsewhere"));
    }
    fs::remove_all(at("a/" + name));
    EXPECT_EQ(judged(), "own");
  };
  for (const char* name : {"sweep.toml", "runs.csv", ".lock", "runs/one.recipe", "runs/one.lock",
                           "runs/one.failed", "runs/one.killed", "runs/one.stderr"}) {
    refuses(name, traps_for_files);
  }
  refuses("runs/one", traps_for_folders);
  refuses("runs", traps_for_folders);
}

// Each moment of a start, as another shard that starts then, or the next start after a kill, finds it.
TEST_F(SweepFolder, IsTheSweepsAtEachMomentOfAStart) {
  EXPECT_EQ(judged(), "own");
  write("a/.lock", "");
  EXPECT_EQ(judged(), "own");
  write("a/runs.csv.17-0.tmp", header_.substr(0, 9));
  EXPECT_EQ(judged(), "own");
  write("a/runs.csv", header_);
  EXPECT_EQ(judged(), "own");
  EXPECT_EQ(judged("edited since"), "own");
  write("a/sweep.toml", "mine");
  EXPECT_EQ(judged(), "own");
  EXPECT_EQ(judged("edited since"), "own");
  write("a/runs/one.lock", "host 1 1\n");
  write("a/runs/one.recipe", "");
  EXPECT_EQ(judged(), "own");
  write("a/runs.csv", header_ + "plain,w8b1,1\n");
  EXPECT_EQ(judged(), "own");
  EXPECT_EQ(judged("edited since"), "own");
  fs::remove(at("a/runs.csv"));  // moved away
  EXPECT_EQ(judged("edited since"), "own");
}

TEST_F(SweepFolder, OfOthersIsNot) {
  write("a/runs.csv", header_ + "plain,w8b1,1\n");
  EXPECT_NE(judged().find("a/runs.csv is none of a sweep's"), std::string::npos) << judged();
  write("a/runs/one.recipe", "");
  write("a/runs.csv", "my,own,table\n");
  EXPECT_NE(judged().find("a/runs.csv is none of a sweep's"), std::string::npos) << judged();
  fs::remove_all(at("a"));
  fs::create_directory(at("a"));
  write("a/sweep.toml", "theirs");
  EXPECT_NE(judged().find("a/sweep.toml is none of a sweep's"), std::string::npos) << judged();
  write("a/sweep.toml", "mine");
  EXPECT_EQ(judged(), "own");
}

class SweepTable : public SweepFolder {
 protected:
  void SetUp() override {
    runs_.models.push_back({"plain", "w8b1", "", {}, {}});
    fs::create_directory(at("a/runs/one"));
    result("0.25");
  }
  void result(const std::string& loss) const {
    write("a/runs/one/result.json", R"({"tokens": 8, "nominal_flops": 16, "flops": 20, "seconds": 1,)"
                                    R"( "best": {"metric": "mse", "value": 0.5},)"
                                    R"( "test": {"metrics": {"mse": {"value": )" +
                                        loss + "}}}}");
  }
  void write_rows() const { write_table(runs_, {{1, 2, 8}}, at("a")); }
  std::string table() const { return contents_of(at("a/runs.csv")); }
  std::string refused() const {
    try {
      write_rows();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
  SweepRuns runs_ = one_run();
};

// What a spreadsheet saved, or an editor, was replaced without a word.
TEST_F(SweepTable, ThatWasEditedIsLeftAlone) {
  write_rows();
  write_rows();
  result("0.125");  // as --retry may change it
  write_rows();
  const std::string rows = table();
  EXPECT_NE(rows.find(",0.125,"), std::string::npos) << rows;
  for (const std::string& edited :
       {header_, rows + "plain,w8b1,1,8,8,16,20,0,0.5,1,1,0.5,by hand\n", rows + "\n", std::string(),
        header_ + "plain,w8b1,1,8,8,16,20,0,0.0625,1,0,0.5,\n"}) {
    write("a/runs.csv", edited);
    EXPECT_EQ(refused(),
              at("a/runs.csv") +
                  ": must be as this sweep has written it, but was changed since, or is another's; "
                  "move it away, and it is made anew from " +
                  at("a/runs"));
    EXPECT_EQ(table(), edited);
  }
  fs::remove(at("a/runs.csv"));
  write_rows();
  EXPECT_EQ(table(), rows);
}

TEST_F(SweepTable, IsOwnAfterAKillBeforeItWasPutInPlace) {
  write_rows();
  const std::string rows = table();
  result("0.125");
  write_rows();
  write("a/runs.csv", rows);  // the note was written, and the table was not
  write_rows();
  EXPECT_NE(table(), rows);
}

// Their lock file is empty: rows that would be written now are taken for the sweep's.
TEST_F(SweepTable, OfAVersionWithoutNotesIsTakenWhereItsRowsAreOurs) {
  write("a/.lock", "");
  write("a/runs.csv", header_ + "plain,w8b1,1,8,8,16,20,0,0.0625,1,0,0.5,\n");
  EXPECT_NE(refused(), "");
  fs::remove(at("a/runs.csv"));
  write_rows();
  const std::string rows = table();
  for (const std::string& before : {rows, header_}) {
    write("a/.lock", "");
    write("a/runs.csv", before);
    write_rows();
    EXPECT_EQ(table(), rows);
  }
}

TEST_F(SweepFolder, LosesWhatKilledProcessesLeftUnfinished) {
  for (const char* name : {"a/runs.csv.17-0.tmp", "a/sweep.toml.17-1.tmp", "a/runs/one.recipe.17-2.tmp",
                           "a/runs/one.lock.17-3.tmp", "a/report.html.17-4.tmp", "a/runs/notes.tmp"}) {
    write(name, "half");
  }
  FolderLock(at("a")).clear_unfinished();
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(at("a"))) {
    if (entry.is_regular_file()) {
      left.push_back(entry.path().filename());
    }
  }
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{".lock", "notes.tmp", "report.html.17-4.tmp"}));
}

}  // namespace record_test
}  // namespace weyl

#include "weyl/train/run/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "weyl/core/check.h"

namespace weyl {
namespace journal_test {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "weyl-journal-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

void write(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

TEST(ExactText, ReadsBackToTheSameDouble) {
  for (double v : {0.1, 1e-300, -2.5, 3.0, 1.0 / 3, 123456789.123456789}) {
    EXPECT_EQ(std::stod(exact_text(v)), v);
  }
  EXPECT_EQ(exact_text(0.1), "0.1");
  EXPECT_EQ(exact_text(12), "12");
}

TEST(CsvFile, KeepsWholeRowsOnly) {
  const Folder folder;
  const std::string path = folder / "t.csv";
  {
    CsvFile table(path, {"a", "b"});
    table.add({1.0, 0.1});
    table.add({2.0, std::nullopt});
    EXPECT_THROW(table.add({1.0}), ShapeError);
  }
  write(path, read_if_there(path) + "3,0.");  // torn
  {
    CsvFile table(path, {"a", "b"});
  }
  EXPECT_EQ(read_if_there(path), "a,b\n1,0.1\n2,\n");
  const auto table = read_csv(path);
  EXPECT_EQ(table.rows.at(0).at(1), 0.1);
  EXPECT_TRUE(std::isnan(table.rows.at(1).at(table.column("b"))));
  EXPECT_EQ(table.column("c"), -1);
  {
    CsvFile cut(path, {"a", "b"}, 10);
  }
  EXPECT_EQ(read_if_there(path), "a,b\n1,0.1\n");
  EXPECT_THROW(CsvFile(path, {"a", "b"}, 11), DataError);
  EXPECT_THROW(CsvFile(path, {"a", "c"}), DataError);
  EXPECT_THROW(CsvFile(folder / "none.csv", {"a"}, 5), DataError);
  EXPECT_THROW(CsvFile(folder / "no/such/folder.csv", {"a"}), DataError);
}

TEST(CsvFile, ReaderNamesTheLine) {
  const Folder folder;
  write(folder / "t.csv", "a,b\n1,2\n1,x\n");
  try {
    read_csv(folder / "t.csv");
    FAIL();
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find("t.csv:3: cell must be a number, got 'x'"), std::string::npos)
        << e.what();
  }
}

// Rows with these metrics, or an mse in every other row.
void steps(Journal& journal, int64_t from, int64_t to, const std::map<std::string, double>& valid = {}) {
  for (int64_t step = from; step <= to; ++step) {
    JournalRow row{.step = step, .epoch = 0.1 * static_cast<double>(step), .rate = 1e-3, .loss = 1.0 / step};
    row.valid = valid;
    if (valid.empty() && step % 2 == 0) {
      row.valid = {{"mse", 0.5 / static_cast<double>(step)}};
    }
    journal.record(row);
    journal.record_times(step, 2.0 * static_cast<double>(step), {.batch = 0.25, .steps = 1});
  }
}

TEST(Journal, ContinuesWhereACheckpointWas) {
  const Folder through, again;
  Journal whole(through / "", {"mse"});
  steps(whole, 1, 6);
  int64_t bytes = 0;
  {
    Journal first(again / "", {"mse"});
    steps(first, 1, 3);
    bytes = first.sync_metrics();
    steps(first, 4, 5);  // lost: the checkpoint is from step 3
  }
  Journal second(again / "", {"mse"}, 3, bytes);
  EXPECT_EQ(second.seconds_before(), 6);
  steps(second, 4, 6);
  EXPECT_EQ(read_if_there(again / "metrics.csv"), read_if_there(through / "metrics.csv"));
  EXPECT_EQ(read_if_there(again / "timing.csv"), read_if_there(through / "timing.csv"));
  const auto table = read_csv(again / "metrics.csv");
  EXPECT_EQ(table.columns,
            (std::vector<std::string>{"step", "epoch", "rate", "loss", "gradient_norm", "valid_mse"}));
  EXPECT_EQ(table.rows.size(), 6u);
  EXPECT_EQ(table.rows[1][5], 0.25);
  // Events have the wall clock in them, but the same records.
  EXPECT_EQ(fs::file_size(again / "events.out.tfevents.0.weyl"),
            fs::file_size(through / "events.out.tfevents.0.weyl"));
}

// Older versions took the columns from one sample: those of classes that it lacked were not there.
TEST(Journal, GivesAnOlderTableTheColumnsThatItLacks) {
  const Folder folder;
  int64_t bytes = 0;
  {
    Journal first(folder / "", {"accuracy", "gone"});
    JournalRow row{
        .step = 1, .epoch = 1, .rate = 0.1, .loss = 2, .gradient_norm = 1, .valid = {{"accuracy", 0.5}}};
    row.valid["gone"] = NAN;
    first.record(row);
    row.step = 2;
    row.valid.clear();
    first.record(row);
    bytes = first.sync_metrics();
    row.step = 3;
    first.record(row);  // lost: the checkpoint is from step 2
  }
  const std::vector<std::string> names{"accuracy", "accuracy_cat", "accuracy_dog"};
  for (int resumed = 0; resumed < 2;
       ++resumed) {  // and killed before the next checkpoint: `bytes` is of the old table
    Journal second(folder / "", names, 2, bytes);
    EXPECT_TRUE(second.damages().empty());
    steps(second, 3, 3, {{"accuracy_cat", 0.25}});
    const CsvTable table = read_csv(folder / "metrics.csv");
    EXPECT_EQ(table.columns,
              (std::vector<std::string>{"step", "epoch", "rate", "loss", "gradient_norm", "valid_accuracy",
                                        "valid_accuracy_cat", "valid_accuracy_dog", "valid_gone"}));
    EXPECT_EQ(table.columns, second.columns());
    ASSERT_EQ(table.rows.size(), 3u) << resumed;
    EXPECT_EQ(table.rows[0][5], 0.5);
    EXPECT_TRUE(std::isnan(table.rows[0][6]));
    EXPECT_EQ(table.rows[2][6], 0.25);
    EXPECT_EQ(table.rows[2][0], 3);
    const std::string contents = read_if_there(folder / "metrics.csv");
    EXPECT_NE(contents.find("\n1,1,0.1,2,1,0.5,,,nan\n2,1,0.1,2,1,,,,\n"), std::string::npos) << contents;
    if (resumed == 1) {  // what the next checkpoint remembers is of the new one
      const int64_t now = second.sync_metrics();
      Journal third(folder / "", names, 3, now);
      EXPECT_EQ(read_if_there(folder / "metrics.csv"), contents);
    }
  }
}

TEST(Journal, AMetricThatNobodyNamedGetsAColumn) {
  const Folder folder;
  Journal journal(folder / "", {"mse"});
  steps(journal, 1, 2);
  steps(journal, 3, 3, {{"mse", 0.5}, {"b,c", 4}});
  steps(journal, 4, 4, {{"b,c", 5}});
  const CsvTable table = read_csv(folder / "metrics.csv");
  ASSERT_EQ(table.columns.size(), 7u);
  EXPECT_EQ(table.columns[6], "valid_b,c");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_TRUE(std::isnan(table.rows[1][6]));
  EXPECT_EQ(table.rows[2][6], 4);
  EXPECT_EQ(table.rows[3][6], 5);
  Journal again(folder / "", {"mse"}, 4, journal.sync_metrics());
  EXPECT_EQ(read_csv(folder / "metrics.csv").columns, table.columns);
  EXPECT_EQ(read_csv(folder / "metrics.csv").rows.size(), 4u);
}

// No training depends on what it wrote down: whatever is wrong with a file, it is kept beside, and the run goes on.
TEST(Journal, SetsDamagedFilesAside) {
  const auto garbage = [](const std::string& path) { write(path, std::string("\0\1nonsense\n,,\n", 14)); };
  const auto word = [](const std::string& path) {
    std::string rows = read_if_there(path);
    write(path, rows.replace(rows.find("\n2,") + 3, 1, "x"));
  };
  const auto flip = [](const std::string& path) {
    std::string bytes = read_if_there(path);
    bytes[bytes.size() / 2] ^= 4;
    write(path, bytes);
  };
  const auto folder_instead = [](const std::string& path) {
    fs::remove(path);
    fs::create_directory(path);
  };
  const auto link_instead = [](const std::string& path) {  // with the same contents elsewhere
    fs::rename(path, path + ".elsewhere");
    fs::create_symlink(path + ".elsewhere", path);
  };
  const auto shorter = [](const std::string& path) { fs::resize_file(path, 40); };
  struct Case {
    const char* file;
    std::function<void(const std::string&)> damage;
  };
  const char* const metrics = "metrics.csv";
  const char* const times = "timing.csv";
  const char* const events = "events.out.tfevents.0.weyl";
  for (const Case& c : std::vector<Case>{{metrics, garbage},
                                         {metrics, word},
                                         {metrics, shorter},
                                         {metrics, folder_instead},
                                         {metrics, link_instead},
                                         {times, garbage},
                                         {times, word},
                                         {times, folder_instead},
                                         {times, link_instead},
                                         {events, flip},
                                         {events, garbage},
                                         {events, folder_instead},
                                         {events, link_instead}}) {
    const Folder folder;
    int64_t bytes = 0;
    {
      Journal first(folder / "", {"mse"});
      EXPECT_TRUE(first.damages().empty());
      steps(first, 1, 3);
      bytes = first.sync_metrics();
    }
    const std::string path = folder / c.file;
    c.damage(path);
    Journal second(folder / "", {"mse"}, 3, bytes);
    ASSERT_EQ(second.damages().size(), 1u) << c.file;
    EXPECT_NE(second.damages()[0].find(std::string(c.file) + ".damaged"), std::string::npos)
        << second.damages()[0];
    EXPECT_EQ(second.damages()[0].find('\n'), std::string::npos);
    EXPECT_TRUE(fs::exists(path + ".damaged"));
    steps(second, 4, 5);
    EXPECT_EQ(read_csv(folder / "metrics.csv").rows.back()[0], 5);
    EXPECT_EQ(read_csv(folder / "timing.csv").rows.back()[0], 5);
    EXPECT_GT(fs::file_size(folder / events), 0u);
    // The next part finds nothing wrong, and a second damage gets a name of its own.
    Journal third(folder / "", {"mse"}, 5, second.sync_metrics());
    EXPECT_TRUE(third.damages().empty());
    EXPECT_EQ(set_aside(path), path + ".damaged-2");
  }
}

// It was set aside, and a new one begun.
TEST(Journal, AFileThatTheSystemDoesNotOpenIsNotDamaged) {
  const Folder folder;
  int64_t bytes = 0;
  {
    Journal first(folder / "", {"mse"});
    steps(first, 1, 3);
    bytes = first.sync_metrics();
  }
  fs::remove(folder / "timing.csv");  // read before anything can be set aside
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none{0, limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::exception_ptr refusal;  // looked at when files can be opened again, which UBSan does to look
  try {
    const Journal second(folder / "", {"mse"}, 3, bytes);
  } catch (...) {
    refusal = std::current_exception();
  }
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ASSERT_NE(refusal, nullptr);
  std::string message;
  try {
    std::rethrow_exception(refusal);
  } catch (const UnreadableError& error) {
    message = error.what();
  } catch (const DataError& error) {
    message = std::string("taken for damage: ") + error.what();
  }
  EXPECT_EQ(message, (folder / "") + "/metrics.csv: cannot be opened: Too many open files");
  EXPECT_TRUE(fs::exists(folder / "metrics.csv"));
  EXPECT_FALSE(fs::exists(folder / "metrics.csv.damaged"));
}

TEST(Journal, KnowsItsSecondsFromADamagedFileToo) {
  const Folder folder;
  int64_t bytes = 0;
  {
    Journal first(folder / "", {"mse"});
    steps(first, 1, 3);
    bytes = first.sync_metrics();
  }
  write(folder / "timing.csv", read_if_there(folder / "timing.csv") + "3,nan,1,0,0,0,0,0,0,0\n");
  const Journal second(folder / "", {"mse"}, 3, bytes);
  ASSERT_EQ(second.damages().size(), 1u);
  EXPECT_NE(second.damages()[0].find("seconds must be finite"), std::string::npos) << second.damages()[0];
  EXPECT_EQ(second.seconds_before(), 6);
}

TEST(Journal, AFullDiskIsOneLineAndNoTornRow) {
  EXPECT_EXIT(
      {
        const Folder folder;
        signal(SIGXFSZ, SIG_IGN);
        CsvFile table(folder / "t.csv", {"a"});
        table.add({1.0});
        rlimit limit;
        limit.rlim_cur = limit.rlim_max = 8;
        setrlimit(RLIMIT_FSIZE, &limit);
        std::string message;
        try {
          for (int i = 0; i < 10; ++i) {
            table.add({0.123456});
          }
        } catch (const DataError& e) {
          message = e.what();
        }
        const bool whole = read_if_there(folder / "t.csv") == "a\n1\n";
        _exit(whole && message.find("t.csv: cannot be written: File too large") != std::string::npos ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Metrics may have the names of classes, which are anybody's.
TEST(Journal, NamesOfMetricsAreData) {
  const Folder folder;
  const std::vector<std::string> names{"dice_a,b", "=1+1", "@x", "c\"d", "e\x1b[31m\nf", "g\xff"};
  {
    Journal journal(folder / "", names);
    JournalRow row{.step = 1, .epoch = 1, .rate = 1, .loss = 1, .gradient_norm = 1, .valid = {}};
    for (const std::string& name : names) {
      row.valid[name] = 0.5;
    }
    journal.record(row);
  }
  Journal again(folder / "", names, 1, static_cast<int64_t>(fs::file_size(folder / "metrics.csv")));
  const CsvTable table = read_csv(folder / "metrics.csv");
  ASSERT_EQ(table.columns.size(), 11u);
  EXPECT_EQ(table.columns[5], "valid_dice_a,b");
  EXPECT_EQ(table.columns[8], "valid_c\"d");
  EXPECT_EQ(table.columns[9], "valid_e\\x1b[31m\\x0af");
  EXPECT_EQ(table.rows.at(0).at(5), 0.5);
  const std::string events = read_if_there(folder / "events.out.tfevents.0.weyl");
  EXPECT_NE(events.find("valid/e\\x1b[31m\\x0af"), std::string::npos);
  EXPECT_NE(events.find("valid/g\\xff"), std::string::npos);
  EXPECT_EQ(events.find("\x1b[31m"), std::string::npos);
}

TEST(ReadCsv, QuotesWhatIsWrong) {
  const Folder folder;
  write(folder / "t.csv", "a\n\x1b[31m\n");
  try {
    read_csv(folder / "t.csv");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("'\\x1b[31m'"), std::string::npos) << error.what();
  }
}

}  // namespace journal_test
}  // namespace weyl

// Whole verbs of the program on files that were changed at random, each in a forked copy of this process, which has loaded
// LibTorch once. See scripts/fuzz --verbs, which makes the cases.
//
//   fuzz.verbs CASES SECONDS FAILURES [SEED]   changes files for so many seconds of the processor, keeps what fails
//   fuzz.verbs --again CASES                   runs cases as they are, without changes
//
// Prints one line for each kind of end and exits with 1 when something failed.
#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "tests/fuzz/verbs/cases.h"
#include "tests/fuzz/verbs/mutate.h"
#include "tests/fuzz/verbs/server.h"
#include "weyl/core/check.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/program.h"

namespace {

using namespace weyl;
using namespace weyl::fuzz;
namespace fs = std::filesystem;

constexpr size_t kLongest = 1 << 17;  // bytes of a changed file: what is quadratic takes its time by then

/// A config may ask for a model of any size.
bool changes_config(const Case& c) {
  return std::ranges::any_of(c.mutate, [](const std::string& file) { return file.ends_with(".toml"); });
}

/// Many times what sound files of this length take: a quadratic reader of 10 ns a pair of bytes takes minutes.
Limits limits_of(const Case& c) {
  const std::string& verb = c.command.front();
  const bool trains = verb == "train", has_model = verb == "predict" || verb == "eval",
             fits = verb == "scale";
  Limits limits;
  limits.seconds = changes_config(c) ? 20 : fits ? 10 : trains ? 5 : has_model ? 2 : 1;
  return limits;
}

/// Why a run of a case may not end so.
std::string fault_of(const Case& c, const Ended& ended) {
  return ended.fault(changes_config(c));
}

/// Runs a case in a folder of its own in `scratch`.
Ended run(const TemporaryFolder& scratch, const Case& c, const Limits& limits) {
  const std::string folder = scratch / "work";
  fs::remove_all(folder);
  write_files(c, folder);
  return run_forked(folder, limits, [&] {
    std::vector<std::string> words{"weyl"};
    words.insert(words.end(), c.command.begin(), c.command.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    return run_program(static_cast<int>(words.size()), argv.data(), built_in_systems());
  });
}

/// What was seen of all runs.
struct Table {
  int64_t runs = 0, faults = 0, memory = 0;
  double seconds = 0, slowest = 0;
  std::map<int, int64_t> codes;

  void add(const Ended& ended) {
    ++runs;
    ++codes[ended.code];
    seconds += ended.seconds;
    slowest = std::max(slowest, ended.seconds);
    memory = std::max(memory, ended.memory);
  }
  void print() const {
    std::cout << runs << " inputs, " << faults << " faults, " << seconds << " s of the processor, slowest "
              << slowest << " s, most memory " << memory / (1 << 20) << " MB; exit codes";
    for (const auto& [code, count] : codes) {
      std::cout << " " << code << ": " << count;
    }
    std::cout << std::endl;
  }
};

void tell(const Case& c, const Ended& ended, const std::string& where) {
  std::cout << "FAULT " << c.name << " (" << c.command.front() << "): " << fault_of(c, ended) << " ("
            << ended.seconds << " s, " << ended.memory / (1 << 20) << " MB)"
            << (where.empty() ? "" : ", kept in " + where) << "\n"
            << ended.err.substr(0, 500) << std::endl;
}

int again(const std::string& folder) {
  const TemporaryFolder scratch("fuzz");
  Table table;
  for (const Case& c : read_cases(folder)) {
    // A test's verdict may not hang on how busy the machine is. A quadratic reader takes longer than this, too.
    Limits limits = limits_of(c);
    limits.seconds = 60;
    const Ended ended = run(scratch, c, limits);
    table.add(ended);
    if (!fault_of(c, ended).empty()) {
      ++table.faults;
      tell(c, ended, "");
    }
  }
  table.print();
  return table.faults == 0 ? 0 : 1;
}

int change(const std::string& folder, double seconds, const std::string& failures, uint64_t seed) {
  const std::vector<Case> cases = read_cases(folder);
  require<DataError>(!cases.empty(), folder, ": must have cases, has none");
  const TemporaryFolder scratch("fuzz");
  for (const Case& c : cases) {  // a case that fails by itself shows nothing
    const Ended ended = run(scratch, c, limits_of(c));
    require<DataError>(ended.code == 0, folder, ": case ", c.name, " must end with 0, ended with ",
                       ended.code, ": ", ended.err);
  }
  std::vector<std::string> others;
  for (const Case& c : cases) {
    for (const std::string& name : c.mutate) {
      others.push_back(c.files.at(name).substr(0, kLongest));
    }
  }
  Table table;
  std::map<std::string, int64_t> kept;  // of each kind of fault a few
  for (uint64_t input = 0; table.seconds < seconds; ++input) {
    Stream stream(seed, "fuzz verbs", {input});
    Case changed = cases[static_cast<size_t>(stream.below(static_cast<int64_t>(cases.size())))];
    const std::string name =
        changed.mutate[static_cast<size_t>(stream.below(static_cast<int64_t>(changed.mutate.size())))];
    std::string& bytes = changed.files.at(name);
    bytes = mutated_file(bytes, {stream, others, std::max(kLongest, bytes.size())});
    changed.mutate = {name};
    const Ended ended = run(scratch, changed, limits_of(changed));
    table.add(ended);
    const std::string fault = fault_of(changed, ended);
    if (!fault.empty()) {
      ++table.faults;
      if (kept[changed.name + fault]++ < 5) {
        const std::string to =
            failures + "/" + changed.name + "-" + std::to_string(seed) + "-" + std::to_string(input);
        fs::remove_all(to);
        write_case(changed, to);
        tell(changed, ended, to);
      }
    }
  }
  table.print();
  return table.faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // Threads are not in a forked copy: none may be there when it is made.
    setenv("OMP_NUM_THREADS", "1", 1);
    at::set_num_threads(1);
    at::ones({8}).sum();
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() == 2 && words[0] == "--again") {
      return again(words[1]);
    }
    require<ConfigError>(words.size() == 3 || words.size() == 4,
                         "fuzz.verbs: must be given CASES SECONDS FAILURES [SEED], or --again CASES");
    return change(words[0], std::stod(words[1]), words[2], words.size() == 4 ? std::stoull(words[3]) : 0);
  } catch (const std::exception& error) {
    std::cerr << "fuzz.verbs: " << error.what() << std::endl;
    return 2;
  }
}

// Files of frames of a test's own, and what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tests/all_samples.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/options.h"

namespace weyl {

class Molecules : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = ::testing::TempDir() + "weyl-molecules-" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& contents) const {
    std::ofstream(folder + "/" + name) << contents;
    return folder + "/" + name;
  }

  /// What the whole of one file becomes.
  static std::shared_ptr<const Dataset> whole(const std::string& path, MoleculesDataOptions o = {}) {
    return open_frames_file(path, layout_of({o}), FrameCollector::Labels::needed);
  }

  template <class E = DataError>
  static std::string refusal(const std::string& path, const MoleculesDataOptions& o = {}) {
    try {
      whole(path, o);
    } catch (const E& e) {
      return e.what();
    }
    return "(accepted)";
  }

  std::string folder;
};

inline const Points& points_of(const Batch& batch) {
  return std::get<Points>(batch.input);
}

inline bool has_label(const Dataset& data, const std::string& name) {
  return find_quantity(data.schema().labels, name) != nullptr;
}

/// One atom with a force.
inline std::string frame(const std::string& keys, const std::string& species = "O",
                         const std::string& force = "1 2 3") {
  return "1\nProperties=species:S:1:pos:R:3:forces:R:3 " + keys + "\n" + species + " 0.5 1 1.5 " + force +
         "\n";
}

}  // namespace weyl

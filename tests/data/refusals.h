#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "weyl/core/check.h"

namespace weyl {

using Table = std::map<std::string, std::string>;  // file stem, what the message must say
using Read = std::function<void(const std::string& path)>;

/// Every file of tests/fixtures/broken/FOLDER is refused with a DataError of one clean line that begins with
/// its path and says its fault; files without an entry, and entries without a file, fail.
inline void expect_refusals(const std::string& folder, const Table& faults, const Read& read) {
  Table unseen = faults;
  for (const auto& file :
       std::filesystem::directory_iterator(WEYL_SOURCE_DIR "/tests/fixtures/broken/" + folder)) {
    const auto path = file.path().string();
    const auto fault = unseen.extract(file.path().stem().string());
    if (fault.empty()) {
      ADD_FAILURE() << path << " has no entry in this test";
      continue;
    }
    try {
      read(path);
      ADD_FAILURE() << path << " was accepted";
    } catch (const DataError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(path + ": ")) << message;
      EXPECT_NE(message.find(fault.mapped()), std::string::npos)
          << "should say: " << fault.mapped() << "\n  says: " << message;
      for (const char c : message) {
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20) << "not one clean line: " << message;
      }
      EXPECT_LT(message.size(), path.size() + 300) << message;
    }
  }
  for (const auto& [name, fault] : unseen) {
    ADD_FAILURE() << folder << "/" << name << " is not there";
  }
}

}  // namespace weyl

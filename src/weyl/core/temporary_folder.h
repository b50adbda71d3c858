#pragma once

#include <string>

namespace weyl {

/// A new folder of this process and user alone, weyl-<purpose>-XXXXXX where the system keeps temporary files; removed
/// with what is in it. DataError: none can be made there.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace weyl

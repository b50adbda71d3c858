#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "weyl/train/run/append_file.h"

namespace weyl {

/// CRC-32C (Castagnoli); "123456789" gives 0xe3069283.
uint32_t crc32c(std::string_view bytes);

/// The length, in bytes, of the records of an event file up to a step. What follows is of later steps, or was torn when
/// its process or machine died. DataError when it is damage: a record is there in full but does not match its
/// checksums.
int64_t intact_events(const std::string& path, int64_t last_step);

/// A TensorBoard event file of scalars: a sequence of records (length, masked crc of it, event, masked crc of it), the
/// first of which names the version. TensorBoard finds the file in any folder by "tfevents" in its name.
class EventFile {
 public:
  /// Opens or begins a file. In an existing one the records up to `last_step` are kept. Whatever follows is cut off: it
  /// is torn, or from steps that will be done again. DataError when a record is damaged.
  explicit EventFile(const std::string& path, int64_t last_step = -1);

  /// One event at a step, with the wall clock (seconds since 1970).
  void add(int64_t step, std::span<const std::pair<std::string, double>> scalars, double wall_time);

 private:
  AppendFile file_;
};

}  // namespace weyl

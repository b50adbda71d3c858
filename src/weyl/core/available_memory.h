#pragma once

#include <cstdint>
#include <string_view>

#include "weyl/core/check.h"

namespace weyl {

/// Data that do not fit the memory there is. The message names the file. Exit code 4.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// Bytes that this process may still take: what the machine has free or can free, what the control groups of
/// the process leave it, and what is left of its limit on addresses. What is unknown does not count.
uint64_t available_memory();

/// The most memory that this process has had at one time, in bytes; 0 where the system does not say.
uint64_t peak_resident_memory();

/// MemoryError naming `where` when data of so many bytes would not fit. Asked before data are unpacked whose
/// size a file only states.
void require_memory(uint64_t bytes, std::string_view where);

}  // namespace weyl

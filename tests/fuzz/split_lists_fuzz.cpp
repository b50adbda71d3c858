#include "weyl/core/check.h"
#include "weyl/data/atoms/split_lists.h"

/// Lists of splits, as JSON and as torch.save writes them, are read, or refused with a DataError.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    weyl::parse_json_lists({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const weyl::DataError&) {
  }
  try {
    weyl::parse_torch_lists({reinterpret_cast<const std::byte*>(data), size}, "input");
  } catch (const weyl::DataError&) {
  }
  return 0;
}

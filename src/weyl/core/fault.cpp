#include "weyl/core/fault.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

bool is_want_of_threads(const std::system_error& error) {
  return error.code() == std::errc::resource_unavailable_try_again ||
         error.code() == std::errc::not_enough_memory;
}

/// By its words: LibTorch has no class for it that could be told here.
bool is_torch_out_of_memory(std::string_view said) {
  return said.find("can't allocate memory") != std::string_view::npos ||
         said.find("out of memory") != std::string_view::npos;
}

Fault sorted(const std::exception& error) {
  using Kind = Fault::Kind;
  const std::string_view said = error.what();
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) {
    return {Kind::usage, std::string(said)};
  }
  if (dynamic_cast<const DataError*>(&error) != nullptr) {
    return {Kind::data, std::string(said)};
  }
  if (dynamic_cast<const MemoryError*>(&error) != nullptr) {
    return {Kind::memory, std::string(said)};
  }
  if (dynamic_cast<const ShapeError*>(&error) != nullptr) {
    return {Kind::shape, std::string(said)};
  }
  if (const auto* failed = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return {Kind::data, failed->path1().string() + ": " + failed->code().message()};
  }
  if (const auto* lack = dynamic_cast<const std::system_error*>(&error);
      lack != nullptr && is_want_of_threads(*lack)) {
    return {Kind::memory, "out of memory: a thread could not be started; take fewer (--threads)"};
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr || is_torch_out_of_memory(said)) {
    return {Kind::memory, "out of memory: take smaller batches (train.batch, --batch) or a smaller model"};
  }
  return {Kind::failed, std::string(said.substr(0, said.find("\nException raised from")))};
}

}  // namespace

Fault fault_of(const std::exception& error) {
  Fault fault = sorted(error);
  std::ranges::replace_if(fault.line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  fault.line = visible(fault.line);
  return fault;
}

}  // namespace weyl

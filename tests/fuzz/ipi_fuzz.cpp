// Whatever another program sends to `weyl serve`: answered, or refused in one line.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weyl/core/check.h"
#include "weyl/predict/ipi.h"

namespace {

class Sent : public weyl::Connection {
 public:
  explicit Sent(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool read(std::span<std::byte> into) override {
    if (bytes_.size() < into.size()) {
      return false;
    }
    std::memcpy(into.data(), bytes_.data(), into.size());
    bytes_ = bytes_.subspan(into.size());
    return true;
  }
  void write(std::span<const std::byte>) override {}

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Sent sent(std::as_bytes(std::span(data, size)));
  try {
    weyl::answer_ipi(sent, 2, [](std::span<const weyl::IpiStructure> structures) {
      std::vector<std::vector<weyl::IpiForces>> answers;
      for (const weyl::IpiStructure& s : structures) {
        answers.push_back({{1, s.positions, s.cell}, {2, s.positions, s.cell}});
      }
      return answers;
    });
  } catch (const weyl::Error&) {
  }
  return 0;
}

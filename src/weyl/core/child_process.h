#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace weyl {

/// What a child may use.
struct ChildLimits {
  uint64_t memory = uint64_t{1} << 26;  // bytes of addresses beyond those of the parent
  uint64_t seconds = 5;                 // of the processor; ten times as many of the clock
};

/// Work in a forked copy of this process, for libraries that crash, or never end, on broken files: the parent
/// lives on. The child sees all memory as it was, may open no file, writes to none, prints nothing and
/// dumps no core; threads of the parent are not in it, so that `work` must not wait for what they hold (the
/// allocator is safe). Builds with sanitizers, which reserve addresses and open pipes, do without the limits
/// on memory and on opening.
class ChildProcess {
 public:
  /// What `work` has: the way back.
  class Sender {
   public:
    explicit Sender(int pipe) : pipe_(pipe) {}
    void send(std::span<const std::byte> bytes);
    /// Raises the limit on memory, once it is known what is needed.
    void allow(uint64_t bytes);

   private:
    friend class ChildProcess;
    void frame(char kind, std::span<const std::byte> bytes);
    int pipe_;
  };
  using Work = std::function<void(Sender&)>;

  /// `where` begins every message. DataError: there can be no process.
  ChildProcess(std::string where, const ChildLimits& limits, const Work& work);
  /// Ends the child, whatever it does.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The next bytes that were sent; each call takes those of one `send`. DataError: the message of an
  /// exception that `work` threw; or how the child died, or that it sent something else.
  void receive(std::span<std::byte> bytes);

 private:
  bool read(std::span<std::byte> bytes) const;
  std::string death();  // waits for it
  [[noreturn]] void fail();

  std::string where_;
  uint64_t seconds_;
  int pipe_ = -1;
  pid_t child_ = -1;
};

}  // namespace weyl

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weyl {

/// Bytes to and from another program.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Fills `into` whole; false where the other side has closed before the first byte. DataError: it has closed within.
  virtual bool read(std::span<std::byte> into) = 0;
  /// All of it at once. DataError: the other side has closed.
  virtual void write(std::span<const std::byte> bytes) = 0;
};

/// A stop that was asked for while one waited.
struct Interrupted {};

/// A client's end of a stream socket. Waiting ends, with Interrupted, when `stop` says so.
class Socket : public Connection {
 public:
  /// `address`: "unix:NAME", the socket NAME, or /tmp/ipi_NAME where NAME has no slash (as i-PI and ASE call theirs);
  /// or "HOST:PORT", where without a host it is this machine (":31415"). Waits ten seconds for someone to listen there.
  /// ConfigError: an address of another form, a host that there is not, nobody listens.
  Socket(const std::string& address, std::function<bool()> stop);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() override;
  bool read(std::span<std::byte> into) override;
  void write(std::span<const std::byte> bytes) override;

 private:
  void wait_for(short event) const;

  std::string address_;
  std::function<bool()> stop_;
  int descriptor_ = -1;
  bool inet_ = false;
  std::vector<std::byte> received_;
  std::span<const std::byte> unread_;  // of received_
};

}  // namespace weyl

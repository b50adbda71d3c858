#include "weyl/predict/connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr auto patience = std::chrono::seconds(10);

/// Where a socket listens: an address of the system, of whichever family.
struct Place {
  sockaddr_storage address{};
  socklen_t size = 0;
};

Place unix_place(const std::string& name) {
  Place place;
  auto& address = reinterpret_cast<sockaddr_un&>(place.address);
  const std::string path = name.find('/') == std::string::npos ? "/tmp/ipi_" + name : name;
  require<ConfigError>(!name.empty() && path.size() < sizeof address.sun_path,
                       "--ipi: unix:NAME must have a name of at most ", sizeof address.sun_path - 1,
                       " bytes with its folder, got '", name, "'");
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  place.size = sizeof address;
  return place;
}

std::vector<Place> inet_places(const std::string& given) {
  const size_t colon = given.rfind(':');
  const std::string port = colon == std::string::npos ? "" : given.substr(colon + 1);
  const auto number = parse_integer(port);
  require<ConfigError>(number && *number > 0 && *number < 65536,
                       "--ipi: must be unix:NAME or HOST:PORT with a port from 1 to 65535, got '", given,
                       "'");
  std::string host = colon == 0 ? "127.0.0.1" : given.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {  // [::1]:31415
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  const int failure = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  require<ConfigError>(failure == 0, "--ipi: ", host, ": ", gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> held(found, freeaddrinfo);
  std::vector<Place> places;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Place& place = places.emplace_back();
    place.size = at->ai_addrlen;
    std::memcpy(&place.address, at->ai_addr, at->ai_addrlen);
  }
  return places;
}

/// A descriptor that is connected, or -1 and the reason. Takes a fifth of a second at most.
int connected(const Place& place, int& reason) {
  const int descriptor = socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) {
    reason = errno;
    return -1;
  }
  const bool at_once =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&place.address), place.size) == 0;
  reason = at_once ? 0 : errno;
  pollfd ready{descriptor, POLLOUT, 0};
  if (reason == EINPROGRESS && poll(&ready, 1, 200) > 0) {
    socklen_t size = sizeof reason;
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &reason, &size);
  }
  if (reason != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

}  // namespace

Socket::Socket(const std::string& address, std::function<bool()> stop)
    : address_(address), stop_(std::move(stop)), received_(1 << 16) {
  const bool local = address.starts_with("unix:");
  const std::vector<Place> places =
      local ? std::vector{unix_place(address.substr(std::strlen("unix:")))} : inet_places(address);
  const auto end = std::chrono::steady_clock::now() + patience;
  int reason = 0;
  while (descriptor_ < 0 && std::chrono::steady_clock::now() < end) {
    for (const Place& place : places) {
      descriptor_ = descriptor_ < 0 ? connected(place, reason) : descriptor_;
    }
    if (stop_()) {
      throw Interrupted();
    }
    if (descriptor_ < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  require<ConfigError>(descriptor_ >= 0, address, ": nobody listens there: ", std::strerror(reason));
  inet_ = !local;
  if (inet_) {  // a message goes at once, not when the one before has been acknowledged
    const int on = 1;
    setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
}

Socket::~Socket() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

void Socket::wait_for(short event) const {
  pollfd ready{descriptor_, event, 0};
  do {  // asked before each wait, too: who is asked continually never waits
    if (stop_()) {
      throw Interrupted();
    }
  } while (poll(&ready, 1, 200) <= 0);
}

bool Socket::read(std::span<std::byte> into) {
  const size_t wanted = into.size();
  while (!into.empty()) {
    if (unread_.empty()) {
      wait_for(POLLIN);
      if (inet_) {  // for this read alone: the other side may wait for the acknowledgement before it sends more
        const int on = 1;
        setsockopt(descriptor_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
      }
      const ssize_t n = recv(descriptor_, received_.data(), received_.size(), 0);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        continue;
      }
      if (n == 0 || (n < 0 && errno == ECONNRESET)) {
        require<DataError>(into.size() == wanted, address_, ": was closed within a message");
        return false;
      }
      require<DataError>(n > 0, address_, ": cannot read: ", std::strerror(errno));
      unread_ = std::span(received_).first(static_cast<size_t>(n));
    }
    const size_t some = std::min(into.size(), unread_.size());
    std::ranges::copy(unread_.first(some), into.begin());
    into = into.subspan(some);
    unread_ = unread_.subspan(some);
  }
  return true;
}

void Socket::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    wait_for(POLLOUT);
    const ssize_t n = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    require<DataError>(n >= 0, address_, ": was closed before it had its answer: ", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

}  // namespace weyl

#include "weyl/train/run/tensorboard.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr auto crc_table = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) {
      c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78u : 0u);
    }
    table[i] = c;
  }
  return table;
}();

uint32_t masked_crc(std::string_view bytes) {
  const uint32_t c = crc32c(bytes);
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

// Protocol buffers: a key is field * 8 + wire type (0 varint, 1 eight bytes, 2 length-delimited, 5 four
// bytes).
template <class T>
void put_bytes(std::string& out, T value) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

void put_text(std::string& out, int field, std::string_view text) {
  put_varint(out, static_cast<uint64_t>(field) * 8 + 2);
  put_varint(out, text.size());
  out += text;
}

std::string begin_event(double wall_time, int64_t step) {
  std::string event;
  put_varint(event, 1 * 8 + 1);
  put_bytes(event, wall_time);
  put_varint(event, 2 * 8 + 0);
  put_varint(event, static_cast<uint64_t>(step));
  return event;
}

std::string record(std::string_view event) {
  std::string out;
  put_bytes(out, static_cast<uint64_t>(event.size()));
  put_bytes(out, masked_crc(out));
  out += event;
  put_bytes(out, masked_crc(event));
  return out;
}

// Step of an event as begin_event writes it.
std::optional<uint64_t> step_of(std::string_view event) {
  if (event.size() < 11 || event[0] != 9 || event[9] != 16) {
    return {};
  }
  uint64_t step = 0;
  for (size_t i = 10, shift = 0; i < event.size() && shift < 64; ++i, shift += 7) {
    step |= static_cast<uint64_t>(event[i] & 0x7f) << shift;
    if ((event[i] & 0x80) == 0) {
      return step;
    }
  }
  return {};
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t c = 0xffffffffu;
  for (const char byte : bytes) {
    c = crc_table[(c ^ static_cast<uint8_t>(byte)) & 0xff] ^ (c >> 8);
  }
  return ~c;
}

int64_t intact_events(const std::string& path, int64_t last_step) {
  const std::string file = read_if_there(path);
  const std::string_view contents = file;
  size_t kept = 0;
  const auto damaged = [&](size_t position) {
    return DataError(
        text(path, ": must hold events with their checksums, but is damaged at byte ", position));
  };
  // A file that was being written when its machine died may end in zeros.
  while (contents.size() - kept >= 12 && contents.find_first_not_of('\0', kept) != std::string_view::npos) {
    const auto head = contents.substr(kept, 8);
    uint64_t length = 0;
    std::memcpy(&length, head.data(), 8);
    uint32_t head_crc = 0;
    std::memcpy(&head_crc, contents.data() + kept + 8, 4);
    if (head_crc != masked_crc(head)) {
      throw damaged(kept);
    }
    if (contents.size() - kept < 16 || length > contents.size() - kept - 16) {
      break;
    }
    const auto event = contents.substr(kept + 12, length);
    uint32_t event_crc = 0;
    std::memcpy(&event_crc, contents.data() + kept + 12 + length, 4);
    const auto step = step_of(event);
    if (event_crc != masked_crc(event) || !step) {
      throw damaged(kept);
    }
    if (static_cast<int64_t>(*step) > last_step) {
      break;
    }
    kept += 16 + length;
  }
  return static_cast<int64_t>(kept);
}

EventFile::EventFile(const std::string& path, int64_t last_step)
    : file_(path, intact_events(path, last_step)) {}

void EventFile::add(int64_t step, std::span<const std::pair<std::string, double>> scalars, double wall_time) {
  if (file_.size() == 0) {
    std::string version = begin_event(wall_time, 0);
    put_text(version, 3, "brain.Event:2");
    file_.append(record(version));
  }
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    std::string one;
    put_text(one, 1, tag);
    put_varint(one, 2 * 8 + 5);
    put_bytes(one, static_cast<float>(value));
    put_text(summary, 1, one);
  }
  std::string event = begin_event(wall_time, step);
  put_text(event, 5, summary);
  file_.append(record(event));
}

}  // namespace weyl

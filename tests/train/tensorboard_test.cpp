#include "weyl/train/run/tensorboard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "weyl/core/check.h"

namespace weyl {
namespace tensorboard_test {

namespace fs = std::filesystem;

std::string temporary_file() {
  std::string name = (fs::temp_directory_path() / "weyl-events-XXXXXX").string();
  ::close(::mkstemp(name.data()));
  return name;
}

struct Event {
  double wall = 0;
  uint64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

// A reader of the wire format written from its description alone: it shares no code with the writer.
struct Reader {
  std::string_view bytes;
  size_t at = 0;
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
      const auto b = static_cast<uint8_t>(bytes.at(at++));
      v |= static_cast<uint64_t>(b & 127) << shift;
      if (b < 128) return v;
    }
  }
  template <class T>
  T fixed() {
    T v;
    std::memcpy(&v, bytes.substr(at).data(), sizeof v);
    at += sizeof v;
    return v;
  }
  std::string_view text() {
    const auto n = varint();
    at += n;
    return bytes.substr(at - n, n);
  }
  bool done() const { return at >= bytes.size(); }
};

uint32_t mask(uint32_t c) {
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

std::vector<Event> read_events(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(in), {});
  std::vector<Event> events;
  Reader file{all};
  while (!file.done()) {
    const std::string_view head = file.bytes.substr(file.at, 8);
    const auto length = file.fixed<uint64_t>();
    EXPECT_EQ(file.fixed<uint32_t>(), mask(crc32c(head)));
    const std::string_view body = file.bytes.substr(file.at, length);
    file.at += length;
    EXPECT_EQ(file.fixed<uint32_t>(), mask(crc32c(body)));
    Event event;
    for (Reader r{body}; !r.done();) {
      switch (r.varint()) {
        case 9:
          event.wall = r.fixed<double>();
          break;
        case 16:
          event.step = r.varint();
          break;
        case 26:
          event.version = r.text();
          break;
        case 42:
          for (Reader summary{r.text()}; !summary.done();) {
            EXPECT_EQ(summary.varint(), 10u);
            std::string tag;
            for (Reader value{summary.text()}; !value.done();) {
              const auto key = value.varint();
              if (key == 10)
                tag = value.text();
              else if (key == 21)
                event.scalars[tag] = value.fixed<float>();
              else
                ADD_FAILURE() << "key " << key;
            }
          }
          break;
        default:
          ADD_FAILURE() << "unknown key";
          return events;
      }
    }
    events.push_back(event);
  }
  return events;
}

TEST(Crc32c, HasTheKnownValue) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_NE(crc32c("123456788"), 0xe3069283u);
}

TEST(EventFile, ParsesBack) {
  const std::string path = temporary_file();
  {
    EventFile file(path);
    for (int64_t step : {1, 200, 70000}) {
      const std::pair<std::string, double> scalars[] = {{"train/loss", 0.5 * static_cast<double>(step)},
                                                        {"valid/mse", -1}};
      file.add(step, scalars, 1e9 + static_cast<double>(step));
    }
  }
  const auto events = read_events(path);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[3].step, 70000u);
  EXPECT_EQ(events[3].wall, 1e9 + 70000);
  EXPECT_EQ(events[3].scalars.at("train/loss"), 35000.0f);
  EXPECT_EQ(events[2].scalars.at("valid/mse"), -1.0f);
  fs::remove(path);
}

TEST(EventFile, IsCutBackToTheStepAndToWholeRecords) {
  const std::string path = temporary_file();
  const std::pair<std::string, double> scalars[] = {{"a", 1}};
  {
    EventFile file(path);
    for (int64_t step : {1, 2, 3}) file.add(step, scalars, 0);
  }
  fs::resize_file(path, fs::file_size(path) - 3);  // torn
  {
    EventFile file(path, 10);
  }
  EXPECT_EQ(read_events(path).size(), 3u);
  {
    EventFile file(path, 1);
    file.add(2, scalars, 5);
  }
  const auto events = read_events(path);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[2].wall, 5);
  {
    EventFile file(path);
  }
  EXPECT_EQ(fs::file_size(path), 0u);
  fs::remove(path);
}

TEST(EventFile, TellsDamageFromATornEnd) {
  const std::string path = temporary_file();
  const std::pair<std::string, double> scalars[] = {{"a", 1}};
  {
    EventFile file(path);
    for (int64_t step : {1, 2, 3}) file.add(step, scalars, 0);
  }
  std::ifstream in(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  const auto write = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  for (size_t length = 0; length < whole.size(); ++length) {  // a process that was killed
    write(whole.substr(0, length));
    EXPECT_LE(intact_events(path, 3), static_cast<int64_t>(length));
  }
  write(whole + std::string(200, '\0'));  // a machine that died
  EXPECT_EQ(intact_events(path, 3), static_cast<int64_t>(whole.size()));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 16);
    write(flipped);
    EXPECT_THROW(intact_events(path, 3), DataError) << at;
  }
  write(whole);
  EXPECT_EQ(intact_events(path, 3), static_cast<int64_t>(whole.size()));
  fs::remove(path);
}

}  // namespace tensorboard_test
}  // namespace weyl

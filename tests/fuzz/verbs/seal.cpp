#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "tests/fuzz/verbs/mutate.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/data/containers/archives.h"

// Of libhdf5, which exports it but whose headers do not declare it: the checksum of the format's version 2.
extern "C" uint32_t H5_checksum_lookup3(const void* key, size_t length, uint32_t start);

namespace weyl::fuzz {
namespace {

constexpr uint64_t kMost = 1 << 22;  // bytes that a seed unpacks to

std::span<const std::byte> bytes_of(const std::string& x) {
  return std::as_bytes(std::span(x.data(), x.size()));
}

std::string in_zip(const std::string& file, const Material& material) {
  ZipArchive archive(bytes_of(file), "seed", kMost);
  const auto chosen = material.stream.below(static_cast<int64_t>(archive.entries().size()));
  std::vector<std::string> contents, names;
  for (size_t i = 0; i < archive.entries().size(); ++i) {
    const auto unpacked = archive.unpack(i);
    std::string content(reinterpret_cast<const char*>(unpacked.data()), unpacked.size());
    contents.push_back(static_cast<int64_t>(i) == chosen ? mutated_file(content, material) : content);
    names.push_back(archive.entries()[i].name);
  }
  if (material.stream.below(8) == 0) {
    names[static_cast<size_t>(chosen)] =
        mutated_bytes(names[static_cast<size_t>(chosen)], material).substr(0, 1000);
  }
  std::vector<ZipMember> members;
  for (size_t i = 0; i < contents.size(); ++i) {
    members.push_back({names[i], bytes_of(contents[i])});
  }
  const auto packed = zip_bytes(members, material.stream.below(2) == 0);
  return {reinterpret_cast<const char*>(packed.data()), packed.size()};
}

/// Empty: the stream could not be read whole.
std::string unpacked_gzip(const std::string& file) {
  z_stream z{};
  inflateInit2(&z, 15 + 16);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  z.avail_in = static_cast<uInt>(file.size());
  std::string out(kMost, '\0');
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int code = inflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  inflateEnd(&z);
  return code == Z_STREAM_END ? out : "";
}

std::string packed_gzip(const std::string& content) {
  z_stream z{};
  deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, content.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

uint32_t big_endian(const std::string& x, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<uint8_t>(x[at + i]);
  }
  return value;
}
std::string big_endian(uint32_t value) {
  std::string x(4, '\0');
  for (size_t i = 0; i < 4; ++i) {
    x[i] = static_cast<char>(value >> (24 - 8 * i));
  }
  return x;
}

/// Changes the content of one chunk and closes it with its length and checksum.
std::string in_png(const std::string& file, const Material& material) {
  constexpr size_t frame = 12;
  std::vector<size_t> chunks;
  for (size_t at = 8; at + frame <= file.size() && big_endian(file, at) <= file.size() - at - frame;
       at += frame + big_endian(file, at)) {
    chunks.push_back(at);
  }
  if (chunks.empty()) {
    return mutated_bytes(file, material);
  }
  const size_t at = chunks[static_cast<size_t>(material.stream.below(static_cast<int64_t>(chunks.size())))];
  const uint32_t length = big_endian(file, at);
  const std::string body = file.substr(at + 4, 4) + mutated_bytes(file.substr(at + 8, length), material);
  const auto sum = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
  return file.substr(0, at) + big_endian(static_cast<uint32_t>(body.size() - 4)) + body + big_endian(sum) +
         file.substr(at + frame + length);
}

/// Writes the checksum of [begin, end) after it, where the file has room for one.
void seal_hdf5_block(std::string& file, size_t begin, size_t end) {
  if (begin < end && end + sizeof(uint32_t) <= file.size()) {
    const uint32_t sum = H5_checksum_lookup3(file.data() + begin, end - begin, 0);
    std::memcpy(file.data() + end, &sum, sizeof sum);
  }
}

/// Changes bytes anywhere and puts right the checksums of the superblock and of the object headers, which hold the
/// shapes, types, filters and places of all data. Files of the format's version 1 have none.
std::string in_hdf5(const std::string& bytes, const Material& material) {
  constexpr size_t superblock = 44, flags_at = 5, fixed = 6, times = 16, attributes = 4;
  std::string file = mutated_bytes(bytes, material);
  if (file.size() > superblock && (file[8] == 2 || file[8] == 3)) {
    seal_hdf5_block(file, 0, superblock);
  }
  for (size_t at = 0; (at = file.find("OHDR", at)) != std::string::npos; at += 4) {
    if (at + fixed > file.size()) {
      break;
    }
    const auto flags = static_cast<uint8_t>(file[at + flags_at]);
    const size_t begin =
        at + fixed + ((flags & 0x20U) != 0 ? times : 0) + ((flags & 0x10U) != 0 ? attributes : 0);
    const size_t width = size_t{1} << (flags & 3U);
    if (begin + width > file.size()) {
      continue;
    }
    uint64_t length = 0;
    std::memcpy(&length, file.data() + begin, width);
    seal_hdf5_block(file, at, begin + width + std::min<uint64_t>(length, file.size()));
  }
  return file;
}

bool is_safetensors(const std::string& file) {
  uint64_t length = 0;
  if (file.size() < 10) {
    return false;
  }
  std::memcpy(&length, file.data(), 8);
  return length >= 2 && length <= file.size() - 8 && file[8] == '{';
}

/// Changes the header and states its length, padded as writers do; without the checksums, whose absence every reader
/// allows, or all would end there.
std::string in_safetensors(const std::string& file, const Material& material) {
  uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  std::string header = file.substr(8, length), data = file.substr(8 + length);
  for (size_t at = 0; (at = header.find("weyl.xxh3_64", at)) != std::string::npos;) {
    header.replace(at, 4, "gone");
  }
  if (material.stream.below(4) == 0) {
    data = mutated_bytes(data, material);
  } else {
    header = mutated_bytes(header, material);
  }
  header.resize((header.size() + 7) / 8 * 8, ' ');
  length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

}  // namespace

std::string mutated_file(const std::string& bytes, const Material& material) {
  const bool raw = material.stream.below(4) == 0;
  try {
    if (!raw && bytes.starts_with("PK\x03\x04")) {
      return in_zip(bytes, material);
    }
    if (!raw && bytes.starts_with("\x1f\x8b")) {
      const std::string content = unpacked_gzip(bytes);
      return content.empty() ? mutated_bytes(bytes, material) : packed_gzip(mutated_file(content, material));
    }
    if (!raw && bytes.starts_with("\x89PNG")) {
      return in_png(bytes, material);
    }
    if (!raw && bytes.starts_with("\x89HDF")) {
      return in_hdf5(bytes, material);
    }
    if (!raw && is_safetensors(bytes)) {
      return in_safetensors(bytes, material);
    }
  } catch (const DataError&) {  // a seed that is broken on purpose
  }
  return mutated_bytes(bytes, material);
}

}  // namespace weyl::fuzz

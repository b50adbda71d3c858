// Files that state more than they have, or unpack to more than anybody can use: they are refused by their
// headers, before memory is taken.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>

#include "tests/data/folder.h"
#include "tests/peak_memory.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/molecule_npz.h"
#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/byte_source.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/images/digit_files.h"
#include "weyl/data/images/image.h"
#include "weyl/data/volumes/nifti.h"

namespace weyl {
namespace judged_by_header_test {

constexpr int64_t kMega = 1 << 20;

/// How much memory a call takes at most; not known under AddressSanitizer, which keeps what is freed.
template <class F>
int64_t memory_of(F call) {
  forget_peak_memory();
  const int64_t before = peak_memory();
  call();
#ifdef WEYL_SANITIZED
  return 0 * before;
#else
  return peak_memory() - before;
#endif
}

std::vector<std::byte> zeros_npy(const std::vector<int64_t>& shape, int64_t bytes) {
  auto file = npy_bytes({ElementType::u8, shape, std::vector<std::byte>(static_cast<size_t>(bytes))});
  return file;
}

/// An .npy file whose header states one shape, with the values of another.
std::vector<std::byte> lying_npy(const std::string& shape, int64_t bytes) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00\x76\x00", 10);
  start += header;
  std::vector<std::byte> file(start.size() + static_cast<size_t>(bytes));
  std::memcpy(file.data(), start.data(), start.size());
  return file;
}

std::vector<std::byte> archive_of(const std::vector<std::pair<std::string, std::vector<std::byte>>>& files) {
  std::vector<ZipMember> members;
  for (const auto& [name, bytes] : files) {
    members.push_back({name, bytes});
  }
  return zip_bytes(members, true);
}

TEST(JudgedByHeader, AnArrayOfAnArchiveIsUnpackedWhenItsHeaderFits) {
  const auto lying = archive_of({{"a.npy", lying_npy("(3, 4)", 64 * kMega)}});
  EXPECT_LT(lying.size(), static_cast<size_t>(kMega));
  std::string message;
  EXPECT_LT(memory_of([&] { message = message_of<DataError>([&] { parse_npz(lying, "x.npz"); }); }),
            16 * kMega);
  EXPECT_EQ(message, "x.npz: entry 'a.npy': U8 of shape [3, 4] must have 12 bytes, got 67108864");
}

TEST(JudgedByHeader, AnArrayTakesItsBytesOnce) {
  const auto bytes = archive_of({{"a.npy", zeros_npy({64 * kMega}, 64 * kMega)}});
  EXPECT_LT(memory_of([&] { EXPECT_EQ(parse_npz(bytes, "x.npz")[0].array.bytes.size(), 64u * kMega); }),
            80 * kMega);  // twice and more before
}

TEST(JudgedByHeader, WhoReadsAnArchiveSeesItsHeadersFirst) {
  const auto bytes = archive_of({{"a.npy", zeros_npy({64 * kMega}, 64 * kMega)}});
  const auto refuse = [&](const std::vector<NpzEntry>& entries) {
    throw DataError(text(entries.at(0).name, " of ", entries.at(0).header.bytes));
  };
  std::string message;
  EXPECT_LT(memory_of([&] {
              message = message_of<DataError>([&] { parse_npz(bytes, "x.npz", npz_limit, refuse); });
            }),
            16 * kMega);
  EXPECT_EQ(message, "a of 67108864");
}

TEST(JudgedByHeader, WhatAMoleculeDoesNotUseIsNotUnpacked) {
  const auto doubles = [](const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t n : shape) {
      count *= n;
    }
    return npy_bytes({ElementType::f64, shape, std::vector<std::byte>(static_cast<size_t>(8 * count))});
  };
  const Array numbers{ElementType::u8, {2}, {std::byte{1}, std::byte{8}}};
  const auto bytes = archive_of({{"z.npy", npy_bytes(numbers)},
                                 {"R.npy", doubles({5, 2, 3})},
                                 {"E.npy", doubles({5})},
                                 {"notes.npy", zeros_npy({48 * kMega}, 48 * kMega)}});
  EXPECT_LT(memory_of([&] {
              MoleculeNpzReader reader(bytes, "x.npz", npz_limit);
              EXPECT_EQ(reader.frames(), 5);
            }),
            16 * kMega);
  const auto wrong = archive_of({{"z.npy", npy_bytes(numbers)}, {"R.npy", doubles({1 << 21, 3, 3})}});
  std::string message;
  EXPECT_LT(memory_of([&] {
              message = message_of<DataError>([&] { MoleculeNpzReader(wrong, "x.npz", npz_limit); });
            }),
            16 * kMega);
  EXPECT_EQ(message, "x.npz: the atomic numbers must be of shape [3], got [2]");
}

TEST(JudgedByHeader, PackedDigitsAreRefusedByTheirFirstBytes) {
  std::vector<std::byte> file(static_cast<size_t>(48 * kMega));
  file[2] = std::byte{8};
  file[3] = std::byte{1};
  file[7] = std::byte{5};  // five values
  std::string message;
  const auto packed = gzip(file, "x");
  EXPECT_LT(memory_of([&] { message = message_of<DataError>([&] { parse_idx(packed, "x"); }); }), 16 * kMega);
  EXPECT_EQ(message, "x: U8 of shape [5] must have 5 bytes, got more");
}

TEST(JudgedByHeader, AVolumeIsRefusedByItsHeader) {
  NiftiHeader header;
  header.type = ElementType::u8;
  header.shape = {512, 512, 256};
  header.geometry.pixdim = {1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<std::byte> values(static_cast<size_t>(64 * kMega));
  const auto packed = gzip(nifti_bytes(header, values), "x");
  EXPECT_LT(
      memory_of([&] { EXPECT_NE(message_of<DataError>([&] { parse_nifti(packed, "x", 32 * kMega); }), ""); }),
      16 * kMega);
}

// 8192 x 8192 pixels in 200 bytes took 600 MB and a second.
TEST(JudgedByHeader, AJpegIsRefusedByItsSize) {
  std::vector<uint8_t> file{0xff, 0xd8, 0xff, 0xc0, 0,    17, 8, 0x20, 0,    0x20, 0,    3,
                            1,    0x11, 0,    2,    0x11, 0,  3, 0x11, 0,    0xff, 0xda, 0,
                            8,    1,    1,    0,    0,    63, 0, 0,    0xff, 0xd9};
  EXPECT_EQ(message_of<DataError>([&] { parse_image(std::as_bytes(std::span(file)), "x.jpg"); }),
            "x.jpg: 8192 x 8192 pixels cannot be coded in " + std::to_string(file.size()) + " bytes");
  std::vector<uint8_t> scans{0xff, 0xd8, 0xff, 0xc2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0};
  for (int i = 0; i < 200; ++i) {
    scans.insert(scans.end(), {0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0});
  }
  scans.insert(scans.end(), {0xff, 0xd9});
  EXPECT_EQ(message_of<DataError>([&] { parse_image(std::as_bytes(std::span(scans)), "x.jpg"); }),
            "x.jpg: the JPEG must have at most 128 scans");
}

TEST(JudgedByHeader, MemoryThatIsNotThereIsMissedInOneLine) {
  EXPECT_NO_THROW(require_memory(1, "x.npz"));
  EXPECT_GT(available_memory(), 0u);
  rlimit before{}, tight{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  std::string pages;
  std::ifstream("/proc/self/statm") >> pages;
  tight = before;
  tight.rlim_cur = std::stoull(pages) * 4096 + static_cast<rlim_t>(512 * kMega);
#ifndef WEYL_SANITIZED
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  const std::string message = message_of<MemoryError>([&] { require_memory(uint64_t{4} << 30, "x.npz"); });
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(message.rfind("x.npz: needs 4096 MiB of memory, ", 0), 0u) << message;
#endif
}

}  // namespace judged_by_header_test
}  // namespace weyl

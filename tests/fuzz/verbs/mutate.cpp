#include "tests/fuzz/verbs/mutate.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace weyl::fuzz {
namespace {

constexpr std::array<std::string_view, 33> kNumbers{"0",
                                                    "-0",
                                                    "1",
                                                    "-1",
                                                    "2",
                                                    "3",
                                                    "7",
                                                    "64",
                                                    "255",
                                                    "256",
                                                    "65535",
                                                    "65536",
                                                    "1000000",
                                                    "2147483647",
                                                    "2147483648",
                                                    "-2147483649",
                                                    "4294967295",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "9223372036854775808",
                                                    "-9223372036854775809",
                                                    "18446744073709551616",
                                                    "1e308",
                                                    "1e309",
                                                    "-1e309",
                                                    "1e-320",
                                                    "1e39",
                                                    "nan",
                                                    "inf",
                                                    "-inf",
                                                    "0x7f",
                                                    "1_0",
                                                    "00"};

/// Of JSON, TOML, extended XYZ, Markdown tables, number formats, and of what strings do harm with.
constexpr std::array<std::string_view, 74> kWords{"{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  "'",
                                                  ":",
                                                  ",",
                                                  "=",
                                                  "\n",
                                                  "\r\n",
                                                  "\t",
                                                  "\\",
                                                  "\\u0000",
                                                  "\\ud800",
                                                  "null",
                                                  "true",
                                                  "false",
                                                  "{}",
                                                  "[]",
                                                  "[[",
                                                  "]]",
                                                  "\"\"",
                                                  "\"\":",
                                                  "__metadata__",
                                                  "\"dtype\":",
                                                  "\"shape\":",
                                                  "\"data_offsets\":",
                                                  "F32",
                                                  "F64",
                                                  "I64",
                                                  "U8",
                                                  "BOOL",
                                                  "BF16",
                                                  "F8_E4M3",
                                                  "training",
                                                  "offsets",
                                                  "positions",
                                                  "elements",
                                                  "[data]",
                                                  "[model]",
                                                  "[task]",
                                                  "[train]",
                                                  "[[",
                                                  "set = ",
                                                  "name = ",
                                                  "system = ",
                                                  "\"\"\"",
                                                  "'''",
                                                  "#",
                                                  "1979-05-27T07:32:00Z",
                                                  "Lattice=\"",
                                                  "pbc=\"",
                                                  "Properties=species:S:1:pos:R:3",
                                                  ":R:1000000000",
                                                  ":R:-1",
                                                  ":I:0",
                                                  "energy=",
                                                  "T F T",
                                                  "%s%n",
                                                  "%500000d",
                                                  "|touch X",
                                                  "`touch X`",
                                                  "$(touch X)",
                                                  "=cmd|' /C calc'!A0",
                                                  "\x1b]0;x\x07",
                                                  "\x1b[2J",
                                                  "../../../etc/passwd",
                                                  "/dev/stdin",
                                                  "\xff\xfe",
                                                  "\xc3\x28",
                                                  "\xe2\x80\xae",
                                                  "EOD",
                                                  "weyl"};

size_t place(const std::string& x, Stream& stream) {
  return x.empty() ? 0 : static_cast<size_t>(stream.below(static_cast<int64_t>(x.size())));
}

/// A piece of a text, mostly short.
std::string_view piece(const std::string& x, Stream& stream) {
  const size_t begin = place(x, stream);
  const auto rest = static_cast<int64_t>(x.size() - begin);
  const int64_t most = stream.below(8) == 0 ? rest : std::min<int64_t>(rest, 64);
  return std::string_view(x).substr(begin, static_cast<size_t>(most > 0 ? 1 + stream.below(most) : 0));
}

std::string_view word(Stream& stream) {
  return kWords[static_cast<size_t>(stream.below(kWords.size()))];
}

void replace_number(std::string& x, Stream& stream) {
  size_t begin = place(x, stream);
  const auto digit = [&](size_t i) { return std::isdigit(static_cast<unsigned char>(x[i])) != 0; };
  while (begin < x.size() && !digit(begin)) {
    ++begin;
  }
  size_t end = begin;
  while (end < x.size() && (digit(end) || x[end] == '.' || x[end] == 'e')) {
    ++end;
  }
  x.replace(begin, end - begin, kNumbers[static_cast<size_t>(stream.below(kNumbers.size()))]);
}

void change_bytes(std::string& x, Stream& stream) {
  const size_t at = place(x, stream);
  if (x.empty()) {
    return;
  }
  switch (stream.below(4)) {
    case 0:
      x[at] = static_cast<char>(x[at] ^ (1 << stream.below(8)));
      break;
    case 1:
      x[at] = static_cast<char>(stream.below(256));
      break;
    case 2: {  // a whole number in binary, little or big end first
      constexpr std::array<uint64_t, 9> values{
          0, 1, 0x7f, 0xff, 0x7fff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, ~0ull};
      const uint64_t value = values[static_cast<size_t>(stream.below(values.size()))];
      const size_t width = size_t{1} << stream.below(4);
      const bool big = stream.below(2) == 0;
      for (size_t i = 0; i < width && at + i < x.size(); ++i) {
        x[at + i] = static_cast<char>(value >> (8 * (big ? width - 1 - i : i)));
      }
      break;
    }
    default:
      for (size_t i = at; i < std::min(x.size(), at + 16); ++i) {
        x[i] = static_cast<char>(stream.below(256));
      }
  }
}

void nest(std::string& x, Stream& stream) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> brackets{
      {{"[", "]"}, {"{\"a\":", "}"}, {"(", ")"}, {"{a=", "}"}}};
  const auto& [open, close] = brackets[static_cast<size_t>(stream.below(brackets.size()))];
  const int64_t depth = int64_t{1} << stream.below(16);
  std::string nested;
  for (int64_t i = 0; i < depth; ++i) {
    nested += open;
  }
  nested += "0";
  for (int64_t i = 0; i < depth && stream.below(1000) != 0; ++i) {
    nested += close;
  }
  x.insert(place(x, stream), nested);
}

/// What takes more than linear time shows when there is much of it.
void repeat(std::string& x, const Material& material) {
  Stream& stream = material.stream;
  std::string one(piece(x, stream));
  const size_t newline = x.find('\n', place(x, stream));
  if (newline != std::string::npos && stream.below(2) == 0) {
    one = x.substr(newline + 1, x.find('\n', newline + 1) - newline);
  }
  if (one.empty() || one.size() > material.longest) {
    return;
  }
  const auto most = static_cast<int64_t>(material.longest / one.size());
  const int64_t times = 1 + stream.below(std::min<int64_t>(most, stream.below(4) == 0 ? most : 50) + 1);
  std::string many;
  for (int64_t i = 0; i < times; ++i) {
    many += one;
    if (i % 3 == 1) {  // alike and not the same: names given twice are refused at once
      many += std::to_string(i);
    }
  }
  x.insert(newline != std::string::npos ? newline + 1 : place(x, stream), many);
}

void change(std::string& x, const Material& material) {
  Stream& stream = material.stream;
  switch (stream.below(12)) {
    case 0:
    case 1:
      change_bytes(x, stream);
      break;
    case 2:
    case 3:
      replace_number(x, stream);
      break;
    case 4:
      x.insert(place(x, stream), word(stream));
      break;
    case 5: {
      const std::string_view old = piece(x, stream);
      x.replace(static_cast<size_t>(old.data() - x.data()), old.size(), word(stream));
      break;
    }
    case 6: {
      const std::string_view gone = piece(x, stream);
      x.erase(static_cast<size_t>(gone.data() - x.data()), gone.size());
      break;
    }
    case 7: {
      const std::string again(piece(x, stream));
      x.insert(place(x, stream), again);
      break;
    }
    case 8:
      x.resize(place(x, stream));
      break;
    case 9:
      if (!material.others.empty()) {
        const auto& other =
            material.others[static_cast<size_t>(stream.below(static_cast<int64_t>(material.others.size())))];
        x.insert(place(x, stream), piece(other, stream));
      }
      break;
    case 10:
      nest(x, stream);
      break;
    default:
      repeat(x, material);
  }
}

}  // namespace

std::string mutated_bytes(std::string bytes, const Material& material) {
  const int64_t changes = 1 + material.stream.below(material.stream.below(3) == 0 ? 6 : 2);
  for (int64_t i = 0; i < changes; ++i) {
    change(bytes, material);
    if (bytes.size() > material.longest) {
      bytes.resize(material.longest);
    }
  }
  return bytes;
}

}  // namespace weyl::fuzz

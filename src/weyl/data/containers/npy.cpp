// A .npy file: "\x93NUMPY", version (2 bytes), header length (u16, from version 2.0 on u32, little endian),
// then a Python literal {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, spaces, a newline, then
// the data.
#include "weyl/data/containers/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <iterator>
#include <set>

#include "weyl/core/atomic_file.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/containers/archives.h"

namespace weyl {
namespace {

static_assert(std::endian::native == std::endian::little, "bytes are copied as they are");

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t longest_header = npy_header_limit - 12;

struct NumpyType {
  std::string_view name;
  ElementType type;
};
constexpr NumpyType numpy_types[] = {
    {"b1", ElementType::boolean}, {"i1", ElementType::i8},  {"u1", ElementType::u8},
    {"i2", ElementType::i16},     {"u2", ElementType::u16}, {"i4", ElementType::i32},
    {"u4", ElementType::u32},     {"i8", ElementType::i64}, {"u8", ElementType::u64},
    {"f2", ElementType::f16},     {"f4", ElementType::f32}, {"f8", ElementType::f64}};

/// Reads the header's Python literal, left to right.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view header, std::string_view where) : rest_(header), where_(where) {}

  NpyHeader read() {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const auto key = string();
      bool* seen = key == "descr"           ? &has_type
                   : key == "fortran_order" ? &has_order
                   : key == "shape"         ? &has_shape
                                            : nullptr;
      require<DataError>(seen != nullptr, where_, ": unknown header key ", quote(key));
      require<DataError>(!*seen, where_, ": the header has ", key, " twice");
      *seen = true;
      expect(':');
      if (seen == &has_type) {
        read_type();
      } else if (seen == &has_order) {
        header_.fortran_order = boolean();
      } else {
        read_shape();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    require<DataError>(rest_.empty(), where_, ": the header must end after its dict, got ", quote(rest_, 20));
    require<DataError>(has_type && has_order && has_shape, where_,
                       ": the header must have descr, fortran_order and shape");
    return header_;
  }

 private:
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool accept(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    require<DataError>(accept(c), where_, ": the header must be a Python dict; expected '", c, "', got ",
                       rest_.empty() ? "its end" : quote(rest_, 20));
  }

  std::string_view string() {
    skip_spaces();
    const char mark = rest_.empty() ? ' ' : rest_.front();
    const size_t end = mark == '\'' || mark == '"' ? rest_.find(mark, 1) : std::string_view::npos;
    require<DataError>(end != std::string_view::npos, where_, ": the header must have a string here, got ",
                       quote(rest_, 20));
    const auto value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_spaces();
    const bool value = rest_.starts_with("True");
    require<DataError>(value || rest_.starts_with("False"), where_,
                       ": fortran_order must be True or False, got ", quote(rest_, 20));
    rest_.remove_prefix(value ? 4 : 5);
    return value;
  }

  void read_type() {
    skip_spaces();
    require<DataError>(!rest_.starts_with('['), where_, ": structured types are not supported, got descr ",
                       quote(rest_, 40));
    const auto name = string();
    require<DataError>(name.find('O') == std::string_view::npos, where_,
                       ": object arrays hold pickled Python and are refused (descr ", quote(name, 20), ")");
    const bool has_order =
        !name.empty() && std::string_view("<>=|").find(name.front()) != std::string_view::npos;
    const auto* found = std::find_if(std::begin(numpy_types), std::end(numpy_types), [&](const NumpyType& t) {
      return t.name == name.substr(has_order ? 1 : 0);
    });
    require<DataError>(found != std::end(numpy_types), where_,
                       ": descr must be of b1, i1 to i8, u1 to u8, f2, f4 or f8, got ", quote(name, 20));
    header_.type = found->type;
    header_.big_endian = name.front() == '>';
  }

  void read_shape() {
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      int64_t dimension = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dimension);
      require<DataError>(error == std::errc() && dimension >= 0, where_,
                         ": shape must be of 63-bit integers that are not negative, got ", quote(rest_, 24));
      require<DataError>(header_.shape.size() < most_dimensions, where_, ": shape must have at most ",
                         most_dimensions, " dimensions");
      header_.shape.push_back(dimension);
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) {  // a long of Python 2
        rest_.remove_prefix(1);
      }
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view rest_;
  const std::string_view where_;
  NpyHeader header_;
};

void swap_element_bytes(std::span<std::byte> bytes, size_t element) {
  for (size_t i = 0; element > 1 && i < bytes.size(); i += element) {
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(i),
                 bytes.begin() + static_cast<ptrdiff_t>(i + element));
  }
}

/// Column-major to row-major.
std::vector<std::byte> row_major(std::span<const std::byte> columns, std::span<const int64_t> shape,
                                 size_t element) {
  std::vector<size_t> strides(shape.size());  // in bytes
  size_t stride = element;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(shape[d]);
  }
  std::vector<std::byte> rows(columns.size());
  std::vector<int64_t> index(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < rows.size(); to += element) {
    std::memcpy(rows.data() + to, columns.data() + from, element);
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d]) {
        break;
      }
      from -= strides[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return rows;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file, uint64_t size, std::string_view where) {
  const std::string_view contents(reinterpret_cast<const char*>(file.data()), file.size());
  require<DataError>(contents.starts_with(magic) && contents.size() >= magic.size() + 2, where,
                     ": must begin with \"\\x93NUMPY\" (not an .npy file?)");
  const auto byte = [&](size_t i) { return std::to_integer<size_t>(file[i]); };
  const size_t major = byte(6), minor = byte(7);
  require<DataError>(major >= 1 && major <= 3 && minor == 0, where, ": version must be 1.0, 2.0 or 3.0, got ",
                     major, ".", minor);
  const size_t begin = major == 1 ? 10 : 12;
  require<DataError>(contents.size() >= begin, where, ": ends inside its header");
  size_t length = 0;
  for (size_t i = begin; i-- > 8;) {
    length = length << 8 | byte(i);
  }
  require<DataError>(length <= longest_header, where, ": header length must be at most ", longest_header,
                     ", got ", length);
  require<DataError>(length <= contents.size() - begin, where, ": header length ", length,
                     " exceeds the file of ", size, " bytes");
  NpyHeader header = NpyHeaderReader(contents.substr(begin, length), where).read();
  header.begin = begin + length;
  const auto bytes = byte_count(header.type, header.shape);
  require<DataError>(bytes.has_value(), where, ": shape ", shape_text(header.shape), " overflows");
  header.bytes = *bytes;
  require<DataError>(size - header.begin == header.bytes, where, ": ", name_of(header.type), " of shape ",
                     shape_text(header.shape), " must have ", header.bytes, " bytes, got ",
                     size - header.begin);
  return header;
}

Array npy_array(NpyHeader header, std::vector<std::byte> values) {
  const auto element = static_cast<size_t>(size_of(header.type));
  Array array{header.type, std::move(header.shape), std::move(values)};
  if (header.fortran_order && array.shape.size() > 1) {
    array.bytes = row_major(array.bytes, array.shape, element);
  }
  if (header.big_endian) {
    swap_element_bytes(array.bytes, element);
  }
  return array;
}

Array parse_npy(std::span<const std::byte> file, std::string_view where) {
  NpyHeader header = parse_npy_header(file, file.size(), where);
  require_memory(header.bytes, where);
  const auto values = file.subspan(header.begin);
  return npy_array(std::move(header), {values.begin(), values.end()});
}

Array read_npy(const std::string& path) {
  return parse_npy(MappedFile(path).bytes(), path);
}

std::vector<std::byte> npy_bytes(const Array& array) {
  const auto* found = std::find_if(std::begin(numpy_types), std::end(numpy_types),
                                   [&](const NumpyType& t) { return t.type == array.type; });
  require<DataError>(found != std::end(numpy_types), "npy: numpy has no ", name_of(array.type));
  require(byte_count(array.type, array.shape) == array.bytes.size(), "npy: ", name_of(array.type),
          " of shape ", shape_text(array.shape), " does not have ", array.bytes.size(), " bytes");
  std::string header = text("{'descr': '", size_of(array.type) == 1 ? "|" : "<", found->name,
                            "', 'fortran_order': False, 'shape': (");
  for (size_t d = 0; d < array.shape.size(); ++d) {
    header += text(d > 0 ? " " : "", array.shape[d], d + 1 < array.shape.size() || d == 0 ? "," : "");
  }
  header += "), }";
  constexpr size_t alignment = 64, begin = 10;
  const size_t whole = (begin + header.size() + 1 + alignment - 1) / alignment * alignment;
  header.resize(whole - begin - 1, ' ');
  header += '\n';
  const std::string start = text(magic, '\x01', '\x00', static_cast<char>(header.size() & 255),
                                 static_cast<char>(header.size() >> 8), header);
  std::vector<std::byte> out(start.size() + array.bytes.size());
  std::memcpy(out.data(), start.data(), start.size());
  std::copy(array.bytes.begin(), array.bytes.end(), out.begin() + static_cast<ptrdiff_t>(start.size()));
  return out;
}

void write_npy(const std::string& path, const Array& array) {
  AtomicFile file(path);
  file.write(npy_bytes(array));
  file.commit();
}

constexpr std::string_view suffix = ".npy";

std::vector<NamedArray> parse_npz(std::span<const std::byte> file, std::string_view where, uint64_t limit,
                                  const NpzJudge& judge) {
  ZipArchive archive(file, where, limit);
  std::vector<NpzEntry> entries;
  uint64_t bytes = 0;
  for (size_t i = 0; i < archive.entries().size(); ++i) {
    const auto& [name, size, packed] = archive.entries()[i];
    require<DataError>(name.ends_with(suffix), where, ": entry ", quote(name), " must be an .npy file");
    const auto begin = archive.first(i, npy_header_limit);
    entries.push_back({name.substr(0, name.size() - suffix.size()),
                       parse_npy_header(begin, size, text(where, ": entry ", quote(name)))});
    bytes += std::min(entries.back().header.bytes, limit);
  }
  if (judge) {
    judge(entries);
  }
  require_memory(std::min(bytes, limit), where);
  std::vector<NamedArray> arrays;
  for (size_t i = 0; i < entries.size(); ++i) {
    auto& [name, header] = entries[i];
    const uint64_t begin = header.begin;
    arrays.push_back({std::move(name), npy_array(std::move(header), archive.unpack(i, begin))});
  }
  return arrays;
}

std::vector<NpzEntry> read_npz_entries(const std::string& path) {
  struct Seen {};
  std::vector<NpzEntry> entries;
  try {
    read_npz(path, npz_limit, [&](const std::vector<NpzEntry>& found) {
      entries = found;
      throw Seen{};  // the arrays themselves are not wanted
    });
  } catch (const Seen&) {
  }
  return entries;
}

std::vector<NamedArray> read_npz(const std::string& path, uint64_t limit, const NpzJudge& judge) {
  return parse_npz(MappedFile(path).bytes(), path, limit, judge);
}

std::vector<std::byte> npz_bytes(std::span<const NamedArray> arrays, bool deflate) {
  std::vector<std::vector<std::byte>> files;
  std::vector<ZipMember> members;
  std::set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    require(names.insert(name).second, "npz: ", quote(name), " is given twice");
    files.push_back(npy_bytes(array));
    members.push_back({text(name, suffix), files.back()});
  }
  return zip_bytes(members, deflate);
}

void write_npz(const std::string& path, std::span<const NamedArray> arrays, bool deflate, Existing existing) {
  AtomicFile file(path, existing);
  file.write(npz_bytes(arrays, deflate));
  file.commit();
}

}  // namespace weyl

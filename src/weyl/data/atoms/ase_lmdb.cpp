#include "weyl/data/atoms/ase_lmdb.h"

#include <zlib.h>
#include <algorithm>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/atoms/ase_row.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 28;  // of a row, packed or not
constexpr uint64_t kValueBegin = 16;                // bytes that tell what a value is
constexpr std::byte kDeflated{0x78};                // zlib's first byte for windows of 32 KiB

bool is_pickle(std::span<const std::byte> value) {
  constexpr std::byte protocol{0x80}, first{2}, last{5};
  return value.size() >= 2 && value[0] == protocol && value[1] >= first && value[1] <= last;
}

std::string kind_of_value(std::span<const std::byte> value) {
  if (is_pickle(value)) {
    return "pickled Python, which is not read because it can run programs";
  }
  return is_gzip(value)                                 ? "packed by gzip"
         : !value.empty() && value.front() == kDeflated ? "packed by zlib"
                                                        : "of another kind";
}

/// Unpacks zlib's bytes into a text; why not, or empty. No more memory than the text needs is taken.
std::string inflate_into(std::string& to, std::span<const std::byte> packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) {
    return "there is no memory to unpack it";
  }
  stream.next_in =
      const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));  // zlib does not write it
  stream.avail_in = static_cast<uInt>(packed.size());
  constexpr size_t least = 4096;
  to.resize(std::max(least, std::min(4 * packed.size(), kMostBytes)));
  size_t done = 0;
  int code = Z_OK;
  while (code == Z_OK && done < kMostBytes) {
    if (done == to.size()) {
      to.resize(std::min<size_t>(2 * to.size(), kMostBytes));
    }
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + done);
    stream.avail_out = static_cast<uInt>(to.size() - done);
    code = inflate(&stream, Z_NO_FLUSH);
    done = to.size() - stream.avail_out;
  }
  const std::string reason = stream.msg != nullptr ? text(" (", stream.msg, ")") : "";
  inflateEnd(&stream);
  to.resize(done);
  if (code == Z_STREAM_END) {
    return "";
  }
  return code == Z_OK          ? text("must have at most ", kMostBytes, " bytes unpacked")
         : code == Z_BUF_ERROR ? "the zlib stream is truncated"
                               : "the zlib stream is corrupt" + reason;
}

}  // namespace

AseLmdbReader::AseLmdbReader(const std::string& path) : file_(path) {
  const std::string next = path + ": 'nextid'", deleted = path + ": 'deleted_ids'";
  if (!unpack("nextid", next)) {
    refuse_other_tables();
  }
  const PythonJson following = parse_python_json(unpacked_, next);
  const auto* end = std::get_if<int64_t>(&following.value);
  require<DataError>(end != nullptr && *end >= 1, next, " must be a positive integer");
  if (unpack("deleted_ids", deleted)) {
    const PythonJson list = parse_python_json(unpacked_, deleted);
    const auto ids = ase_array(list, path, "deleted_ids");
    const auto* all = ids ? std::get_if<std::vector<int64_t>>(&ids->values) : nullptr;
    require<DataError>(ids && ids->shape.size() == 1 && (all != nullptr || ids->shape[0] == 0), deleted,
                       " must be a list of integers");
    deleted_ = all != nullptr ? *all : deleted_;
    std::ranges::sort(deleted_);
    const auto twice = std::ranges::unique(deleted_);
    deleted_.erase(twice.begin(), twice.end());
    std::erase_if(deleted_, [&](int64_t id) { return id < 1 || id >= *end; });
  }
  frames_ = *end - 1 - static_cast<int64_t>(deleted_.size());
  require<DataError>(static_cast<uint64_t>(frames_) <= file_.entries(), path, ": must hold ", frames_,
                     " rows by its 'nextid' and 'deleted_ids', its table has ", file_.entries(), " entries");
  require<DataError>(frames_ > 0, path, ": must hold at least one row, holds none");
}

/// A file without 'nextid' is none of ASE's: what is it?
void AseLmdbReader::refuse_other_tables() const {
  const auto first = file_.first(kValueBegin);
  require<DataError>(first.has_value(), file_.path(), ": must hold at least one row, holds none");
  // The files of OC20 and of others that fairchem reads have rows "0", "1", ...
  const bool of_fairchem = first->key == "0" && is_pickle(first->value);
  throw DataError(text(file_.path(), ": must be a database of ASE (.aselmdb), with the key 'nextid'; has ",
                       file_.entries(), " entries, the value of the first, ", quote(first->key, 40), ", is ",
                       kind_of_value(first->value),
                       of_fairchem ? "; tools/oc20_export.py writes such a database from OC20's files" : ""));
}

bool AseLmdbReader::unpack(std::string_view key, std::string_view where) {
  const auto packed = file_.find(key, kMostBytes);
  if (!packed) {
    return false;
  }
  if (packed->empty() || packed->front() != kDeflated) {
    throw DataError(text(where, ": must be JSON packed by zlib, is ", kind_of_value(*packed)));
  }
  const std::string fault = inflate_into(unpacked_, *packed);
  require<DataError>(fault.empty(), where, ": ", fault);
  return true;
}

/// The one before which so many ids are not deleted.
int64_t AseLmdbReader::id_of(int64_t frame) const {
  int64_t begin = 0, end = static_cast<int64_t>(deleted_.size());
  while (begin < end) {
    const int64_t middle = (begin + end) / 2;
    if (deleted_[static_cast<size_t>(middle)] - 1 - middle <= frame) {  // rows before that id
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return frame + 1 + begin;
}

std::string AseLmdbReader::place(int64_t frame) const {
  return text(file_.path(), ": frame ", frame + 1, ", id ", id_of(frame));
}

bool AseLmdbReader::next(AtomsFrame& frame) {
  require<DataError>(next_ >= 0, file_.path(), ": must have a frame ", next_ + 1);
  if (next_ >= frames_) {
    return false;
  }
  const std::string where = place(next_);
  require<DataError>(unpack(std::to_string(id_of(next_)), where), where,
                     ": the row is missing, 'deleted_ids' does not name it");
  ++next_;
  read_ase_row(parse_python_json(unpacked_, where), frame, where);
  return true;
}

std::vector<FramePlace> AseLmdbReader::cuts() {
  constexpr int64_t least = 256, most = 64;  // frames of a part, parts
  const int64_t parts = std::min(frames_ / least, most);
  std::vector<FramePlace> all;
  for (int64_t part = 1; part < parts; ++part) {
    all.push_back({static_cast<uint64_t>(part * frames_ / parts)});
  }
  return all;
}

std::string AseLmdbReader::where() const {
  return next_ == 0 ? file_.path() : place(next_ - 1);
}

std::string_view AseLmdbReader::unit_of(std::string_view name) const {
  const auto is_one_of = [&](auto... names) { return ((name == names) || ...); };
  return name == "pos"                                    ? "Angstrom"
         : is_one_of("energy", "free_energy", "energies") ? "eV"
         : name == "forces"                               ? "eV/Angstrom"
         : is_one_of("stress", "stresses")                ? "eV/Angstrom^3"
                                                          : "";
}

}  // namespace weyl

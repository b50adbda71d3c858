#include "weyl/core/safetensors_checksums.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr size_t length_field = 8;
constexpr std::string_view header_begin = R"({"__metadata__":{"weyl.xxh3_64.header":")";
constexpr size_t digits_at = length_field + header_begin.size();

Json parsed_or_null(const std::string& json) {
  try {
    return Json::parse(json, "");
  } catch (const DataError&) {
    return {};
  }
}

/// Of a head whose digits are zeros.
std::string digits_for(const std::string& head) {
  return checksum(std::as_bytes(std::span(head)));
}

}  // namespace

std::string tensor_checksums(std::span<const TensorBytes> tensors) {
  std::map<std::string_view, std::string> sums;
  for (const auto& tensor : tensors) {
    std::string& blocks = sums[tensor.name];
    for (auto rest = tensor.bytes; !rest.empty();
         rest = rest.subspan(std::min(rest.size(), checksum_block))) {
      blocks += checksum(rest.first(std::min(rest.size(), checksum_block)));
    }
  }
  std::string json;
  for (const auto& [name, blocks] : sums) {
    json += (json.empty() ? "{" : ",") + json_string(name) + ":\"" + blocks + '"';
  }
  return json.empty() ? "{}" : json + "}";
}

void seal_header(std::string& head) {
  head.replace(digits_at, checksum_digits, checksum_digits, '0');
  head.replace(digits_at, checksum_digits, digits_for(head));
}

bool check_header(std::span<const std::byte> head, std::string_view where) {
  std::string text(reinterpret_cast<const char*>(head.data()), head.size());
  if (!std::string_view(text).substr(length_field).starts_with(header_begin) ||
      text.size() < digits_at + checksum_digits) {
    return false;
  }
  const std::string said = text.substr(digits_at, checksum_digits);
  text.replace(digits_at, checksum_digits, checksum_digits, '0');
  const std::string found = digits_for(text);
  require<DataError>(said == found, where, ": header: the checksum must be ", printable(said), ", is ", found,
                     ": the file is damaged");
  return true;
}

void take_checksums(SafetensorsHeader& header, bool checked, std::string_view where) {
  const auto entry = header.metadata.extract(std::string(tensor_checksums_key));
  const bool sealed = !header.metadata.extract(std::string(header_checksum_key)).empty();
  require<DataError>(checked == !entry.empty() && checked == sealed, where,
                     ": header: the metadata must have ", header_checksum_key, " first and ",
                     tensor_checksums_key,
                     ", or neither: the file is damaged, or another program kept one of them");
  if (!checked) {
    return;
  }
  const Json sums = parsed_or_null(entry.mapped());
  require<DataError>(sums.is_object() && sums.members().size() == header.tensors.size(), where, ": metadata ",
                     tensor_checksums_key, ": must be a JSON object with ", header.tensors.size(),
                     " entries, one for each tensor");
  for (auto& [name, tensor] : header.tensors) {
    const Json* found = sums.find(name);
    const uint64_t blocks = (tensor.end - tensor.begin + checksum_block - 1) / checksum_block;
    tensor.checksums = found != nullptr ? found->string_or("") : "";
    require<DataError>(
        found != nullptr && found->is_string() && tensor.checksums.size() == blocks * checksum_digits, where,
        ": metadata ", tensor_checksums_key, ": tensor ", quote(name), " must have ", blocks,
        " checksums of ", checksum_digits, " digits");
  }
  header.has_checksums = true;
}

}  // namespace weyl

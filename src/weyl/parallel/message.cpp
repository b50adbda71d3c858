#include "weyl/parallel/message.h"

#include <ATen/ops/empty.h>

#include <cstring>

#include "weyl/core/check.h"

namespace weyl {

void Message::raw(void* values, size_t size) {
  if (!reads_) {
    bytes_.append(static_cast<const char*>(values), size);
    return;
  }
  require(size <= bytes_.size() - at_, "ranks: a message must have ", size, " more bytes, got ",
          bytes_.size() - at_);
  if (size > 0) {
    std::memcpy(values, bytes_.data() + at_, size);
  }
  at_ += size;
}

// What is read has at least a byte for each element, so that a wrong size asks for no memory.
void Message::put_size(size_t& size) {
  raw(&size, sizeof size);
  require(!reads_ || size <= bytes_.size() - at_, "ranks: a message must have ", size, " more bytes, got ",
          bytes_.size() - at_);
}

void Message::put(std::string& text) {
  size_t size = text.size();
  put_size(size);
  text.resize(size);
  raw(text.data(), size);
}

void Message::put(Tensor& tensor) {
  bool defined = tensor.defined();
  put(defined);
  if (!defined) {
    tensor = Tensor();
    return;
  }
  const Tensor dense = reads_ ? Tensor() : tensor.detach().cpu().contiguous();
  auto type = reads_ ? int8_t{} : static_cast<int8_t>(dense.scalar_type());
  std::vector<int64_t> shape = reads_ ? std::vector<int64_t>() : dense.sizes().vec();
  put(type);
  put(shape);
  if (reads_) {
    tensor = at::empty(shape, static_cast<at::ScalarType>(type));
  }
  if (reads_) {
    raw(tensor.mutable_data_ptr(), tensor.nbytes());
  } else {
    raw(const_cast<void*>(dense.const_data_ptr()), dense.nbytes());
  }
}

}  // namespace weyl

#pragma once

#include <ATen/core/Tensor.h>

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weyl {

using at::Tensor;

/// What one rank tells others: numbers, texts, tensors, lists and tables of them, one after the other. One function both writes
/// and reads, so that the two cannot differ:
///
///   void tell(Message& m, Sums& s) { m(s.count, s.sum, s.list); }
///
/// Between programs of one build alone: nothing in a message says what it is.
class Message {
 public:
  Message() = default;  // to be written
  explicit Message(std::string bytes) : bytes_(std::move(bytes)), reads_(true) {}

  /// Writes the values, or replaces them by what was written. Tensors are read to the CPU; an undefined one stays so.
  /// ShapeError: there is less to be read.
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }

  bool reads() const { return reads_; }
  const std::string& bytes() const { return bytes_; }
  /// The bytes, of which the message then has none.
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  void raw(void* values, size_t size);
  void put(std::string& text);
  void put(Tensor& tensor);

  template <class T>
    requires std::is_arithmetic_v<T>
  void put(T& number) {
    raw(&number, sizeof number);
  }
  void put_size(size_t& size);
  template <class T>
  void put(std::vector<T>& list) {
    size_t size = list.size();
    put_size(size);
    list.resize(size);
    for (T& one : list) {
      put(one);
    }
  }
  template <class T>
  void put(std::map<std::string, T>& table) {
    size_t size = table.size();
    put_size(size);
    if (!reads_) {
      for (auto& [name, value] : table) {
        std::string key = name;
        put(key);
        put(value);
      }
      return;
    }
    table.clear();
    for (size_t i = 0; i < size; ++i) {
      std::string name;
      put(name);
      put(table[name]);
    }
  }

  std::string bytes_;
  bool reads_ = false;
  size_t at_ = 0;
};

}  // namespace weyl

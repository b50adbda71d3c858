#include "weyl/data/containers/pickle.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

/// The stack machine of pickle on symbols. The names of opcodes are those of Python's pickletools.
class Machine {
 public:
  Machine(std::span<const std::byte> program, std::string_view where)
      : program_(reinterpret_cast<const char*>(program.data()), program.size()), where_(where) {
    require<DataError>(program.size() <= most_pickle_bytes, where, ": a pickle must have at most ",
                       most_pickle_bytes, " bytes, got ", program.size());
  }

  Pickle run() {
    while (step(take<uint8_t>())) {
    }
    return std::move(result_);
  }

 private:
  bool step(uint8_t opcode) {
    switch (opcode) {
      case 0x80: {  // PROTO
        const auto protocol = take<uint8_t>();
        check(protocol >= 2 && protocol <= 5, "protocol must be 2 to 5, got ", int{protocol});
        break;
      }
      case 0x95:  // FRAME
        take<uint64_t>();
        break;
      case '.':  // STOP
        result_.root = pop();
        return false;

      case '(':  // MARK
        marks_.push_back(stack_.size());
        break;
      case '0':  // POP
        if (stack_.size() == floor() && !marks_.empty()) {
          marks_.pop_back();
        } else {
          pop();
        }
        break;
      case '1':  // POP_MARK
        pop_to_mark();
        break;
      case '2':  // DUP
        stack_.push_back(top());
        break;

      case 'q':  // BINPUT
        memo_[take<uint8_t>()] = top();
        break;
      case 'r':  // LONG_BINPUT
        memo_[take<uint32_t>()] = top();
        break;
      case 0x94:  // MEMOIZE
        memo_[static_cast<uint32_t>(memo_.size())] = top();
        break;
      case 'h':  // BINGET
        recall(take<uint8_t>());
        break;
      case 'j':  // LONG_BINGET
        recall(take<uint32_t>());
        break;

      case 'N':  // NONE
        push({PickleKind::none});
        break;
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        push({PickleKind::boolean, opcode == 0x88});
        break;
      case 'J':  // BININT
        push({PickleKind::integer, take<int32_t>()});
        break;
      case 'K':  // BININT1
        push({PickleKind::integer, take<uint8_t>()});
        break;
      case 'M':  // BININT2
        push({PickleKind::integer, take<uint16_t>()});
        break;
      case 0x8a:  // LONG1
        push_long(text_of(take<uint8_t>()));
        break;
      case 0x8b:  // LONG4
        push_long(text_of(take<uint32_t>()));
        break;
      case 'G': {  // BINFLOAT, big endian
        push({PickleKind::real, 0, std::bit_cast<double>(__builtin_bswap64(take<uint64_t>()))});
        break;
      }

      case 'U':   // SHORT_BINSTRING
      case 0x8c:  // SHORT_BINUNICODE
        push_text(PickleKind::text, take<uint8_t>());
        break;
      case 'T':  // BINSTRING
      case 'X':  // BINUNICODE
        push_text(PickleKind::text, take<uint32_t>());
        break;
      case 0x8d:  // BINUNICODE8
        push_text(PickleKind::text, take<uint64_t>());
        break;
      case 'C':  // SHORT_BINBYTES
        push_text(PickleKind::bytes, take<uint8_t>());
        break;
      case 'B':  // BINBYTES
        push_text(PickleKind::bytes, take<uint32_t>());
        break;
      case 0x8e:  // BINBYTES8
      case 0x96:  // BYTEARRAY8
        push_text(PickleKind::bytes, take<uint64_t>());
        break;

      case ')':  // EMPTY_TUPLE
        push({PickleKind::tuple});
        break;
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        push_items(PickleKind::tuple, pop_last(opcode - 0x84U));
        break;
      case 't':  // TUPLE
        push_items(PickleKind::tuple, pop_to_mark());
        break;
      case ']':  // EMPTY_LIST
        push({PickleKind::list});
        break;
      case 'l':  // LIST
        push_items(PickleKind::list, pop_to_mark());
        break;
      case 'a':  // APPEND
        extend(PickleKind::list, pop_last(1));
        break;
      case 'e':  // APPENDS
        extend(PickleKind::list, pop_to_mark());
        break;
      case '}':  // EMPTY_DICT
        push({PickleKind::dict});
        break;
      case 'd': {  // DICT
        auto items = pop_to_mark();
        push({PickleKind::dict});
        extend(PickleKind::dict, items);
        break;
      }
      case 's':  // SETITEM
        extend(PickleKind::dict, pop_last(2));
        break;
      case 'u':  // SETITEMS
        extend(PickleKind::dict, pop_to_mark());
        break;
      case 0x8f:  // EMPTY_SET
        push({PickleKind::set});
        break;
      case 0x90:  // ADDITEMS
        extend(PickleKind::set, pop_to_mark());
        break;
      case 0x91:  // FROZENSET
        push_items(PickleKind::set, pop_to_mark());
        break;

      case 'c': {  // GLOBAL
        const auto module = line();
        push_global(module, line());
        break;
      }
      case 0x93: {  // STACK_GLOBAL
        const auto names = pop_last(2);
        const auto &module = value(names[0]), &name = value(names[1]);
        check(module.kind == PickleKind::text && name.kind == PickleKind::text,
              "a class must be named by two strings");
        push_global(module.text, name.text);
        break;
      }
      case 'R':   // REDUCE
      case 0x81:  // NEWOBJ
        push_call(pop_last(2));
        break;
      case 0x92: {  // NEWOBJ_EX: class, arguments, keywords
        auto items = pop_last(3);
        items.pop_back();
        push_call(std::move(items));
        break;
      }
      case 'b': {  // BUILD
        const uint32_t state = pop();
        if (PickleValue& object = value(top()); object.kind == PickleKind::call) {
          object.integer = 1 + static_cast<int64_t>(state);
        }
        break;
      }
      case 'Q':  // BINPERSID
        push_items(PickleKind::persistent, pop_last(1));
        break;

      default:
        throw DataError(text(here(), "opcode ", quote(std::string(1, static_cast<char>(opcode))),
                             " is none that a checkpoint needs (protocols 2 to 5)"));
    }
    return true;
  }

  std::string here() const { return text(where_, ": pickle, byte ", at_, ": "); }

  /// Like require, but says where only when it must: this is asked at every opcode.
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      throw DataError(text(here(), parts...));
    }
  }

  std::string_view text_of(uint64_t length) {
    check(length <= program_.size() - at_, "cut short");
    const auto bytes = program_.substr(at_, length);
    at_ += length;
    return bytes;
  }

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, text_of(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view line() {
    const auto end = program_.find('\n', at_);
    check(end != std::string_view::npos, "cut short");
    const auto bytes = program_.substr(at_, end - at_);
    at_ = end + 1;
    return bytes;
  }

  PickleValue& value(uint32_t index) { return result_.values[index]; }

  /// The stack belongs to the innermost mark: what lies below it is out of reach.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  uint32_t top() const {
    check(stack_.size() > floor(), "the stack is empty");
    return stack_.back();
  }

  uint32_t pop() {
    const auto index = top();
    stack_.pop_back();
    return index;
  }

  std::vector<uint32_t> pop_last(size_t count) {
    check(stack_.size() - floor() >= count, "the stack is empty");
    std::vector<uint32_t> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }

  std::vector<uint32_t> pop_to_mark() {
    check(!marks_.empty(), "no mark on the stack");
    auto items = pop_last(stack_.size() - floor());
    marks_.pop_back();
    return items;
  }

  void push(PickleValue value) {
    check(result_.values.size() < most_pickle_values, "more than ", most_pickle_values, " values");
    stack_.push_back(static_cast<uint32_t>(result_.values.size()));
    result_.values.push_back(std::move(value));
  }

  void push_text(PickleKind kind, uint64_t length) { push({kind, 0, 0, text_of(length)}); }

  void push_items(PickleKind kind, std::vector<uint32_t> items) {
    push({kind, 0, 0, {}, {}, std::move(items)});
  }

  void push_global(std::string_view module, std::string_view name) {
    push({PickleKind::global, 0, 0, module, name});
  }

  /// A little-endian two's complement integer of any length.
  void push_long(std::string_view bytes) {
    if (bytes.size() > sizeof(uint64_t)) {
      push({PickleKind::other});
      return;
    }
    uint64_t number = bytes.empty() || static_cast<signed char>(bytes.back()) >= 0 ? 0 : ~uint64_t{0};
    for (size_t i = bytes.size(); i-- > 0;) {
      number = number << 8 | static_cast<uint8_t>(bytes[i]);
    }
    push({PickleKind::integer, static_cast<int64_t>(number)});
  }

  /// OrderedDict() is a dict, whose items come by SETITEMS; any other call stays one.
  void push_call(std::vector<uint32_t> items) {
    const auto &callable = value(items[0]), &arguments = value(items[1]);
    if (callable.kind == PickleKind::global && callable.text == "collections" &&
        callable.name == "OrderedDict" && arguments.kind == PickleKind::tuple && arguments.items.empty()) {
      push({PickleKind::dict});
    } else {
      push_items(PickleKind::call, std::move(items));
    }
  }

  void extend(PickleKind kind, const std::vector<uint32_t>& items) {
    check(kind != PickleKind::dict || items.size() % 2 == 0, "a dict must be given keys with values");
    auto& container = value(top());
    if (container.kind == PickleKind::call) {
      return;  // an object that is none of ours fills itself
    }
    check(container.kind == kind, "items must go into a ",
          kind == PickleKind::dict   ? "dict"
          : kind == PickleKind::list ? "list"
                                     : "set");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  void recall(uint32_t key) {
    const auto found = memo_.find(key);
    check(found != memo_.end(), "memo ", key, " was never set");
    stack_.push_back(found->second);
  }

  const std::string_view program_, where_;
  size_t at_ = 0;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, uint32_t> memo_;
  Pickle result_;
};

}  // namespace

Pickle parse_pickle(std::span<const std::byte> pickle, std::string_view where) {
  return Machine(pickle, where).run();
}

}  // namespace weyl

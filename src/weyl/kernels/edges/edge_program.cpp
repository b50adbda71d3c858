#include "weyl/kernels/edges/edge_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace weyl::kernels {
namespace {

/// A number as it depends on a parameter: registers of its value and of its derivative (-1: zero).
struct Dual {
  int64_t value = -1, slope = -1;
  bool given() const { return value >= 0; }
};

/// A sum of at most two products of registers.
struct Sum {
  int64_t a = -1, b = -1, c = -1, d = -1;
  bool dot = false;  // over the components, too
  bool zero() const { return a < 0; }
  void add(int64_t left, int64_t right) {
    if (left >= 0 && right >= 0) {
      (a < 0 ? a : c) = left;
      (b < 0 ? b : d) = right;
    }
  }
};

/// Makes the steps, term by term. The factors of a term are the leaves of a tree of products; the gradient of
/// a leaf is the product of all that is outside of it, which goes down the tree. The two vectors of a term
/// are one leaf, their dot product. Everything is made when it is first asked for.
class Builder {
 public:
  Builder(const EdgeSums& sums, const EdgeQuestion& question, int64_t padding)
      : sums_(sums), question_(question), padding_(padding) {
    for (const auto* list : {&sums.inputs, &sums.outputs, &sums.inputs, &sums.inputs, &sums.outputs}) {
      p_.arrays.insert(p_.arrays.end(), list->begin(), list->end());
    }
    for (const EdgeTerm& term : sums.terms) {
      answer(term);
    }
    for (size_t a = 0; a < p_.arrays.size(); ++a) {
      bool whole = p_.arrays[a].rows == EdgeRows::edge || p_.arrays[a].rows == EdgeRows::bond;
      for (int64_t part = 0; part < p_.arrays[a].parts; ++part) {
        whole = whole && begun_.contains({static_cast<int64_t>(a), part});
      }
      p_.whole.push_back(whole);
    }
    drop_unused();
    const auto apart = [&](int64_t at) { return at < 0 ? 0 : p_.registers[at].component; };
    for (EdgeStep& s : p_.steps) {
      s.to_apart = apart(s.to);
      s.a_apart = apart(s.a);
      s.b_apart = apart(s.b);
      s.c_apart = apart(s.c);
      s.d_apart = apart(s.d);
    }
  }
  EdgeProgram result() && { return std::move(p_); }

 private:
  void answer(const EdgeTerm& term) {
    const auto inputs = static_cast<int64_t>(sums_.inputs.size()),
               outputs = static_cast<int64_t>(sums_.outputs.size());
    // Slots: the cotangent of the output first, so that a value is the product of all the others.
    std::vector<Slot> slots{{inputs + term.output.tensor, term.output.part, -1,
                             2 * inputs + outputs + inputs + term.output.tensor,
                             question_.outputs[term.output.tensor]}};
    for (const EdgeFactor& f : term.factors) {
      const bool tangent = !question_.tangents.empty() && question_.tangents[f.tensor];
      slots.push_back({f.tensor, f.part, tangent ? inputs + outputs + f.tensor : -1,
                       2 * inputs + outputs + f.tensor, question_.inputs[f.tensor]});
    }
    EdgeWidth widest = EdgeWidth::one;
    for (const Slot& s : slots) {
      widest = std::max(widest, p_.arrays[s.array].width);
    }
    length_ = numbers_of(widest);
    Leaf pair;
    std::vector<Leaf> leaves;
    for (const Slot& s : slots) {
      (p_.arrays[s.array].vector ? pair : leaves.emplace_back()).slots.push_back(s);
    }
    if (!pair.slots.empty()) {
      leaves.push_back(pair);
    }
    nodes_.clear();
    grow(leaves, 0, leaves.size());
    for (size_t n = 0; n < nodes_.size(); ++n) {
      for (size_t s = 0; s < nodes_[n].leaf.slots.size(); ++s) {
        if (nodes_[n].leaf.slots[s].wanted) {
          contribute(static_cast<int64_t>(n), s);
        }
      }
    }
  }

  /// Steps whose results no later step reads.
  void drop_unused() {
    std::vector<bool> read(p_.registers.size(), false);
    std::vector<EdgeStep> kept;
    for (auto s = p_.steps.rbegin(); s != p_.steps.rend(); ++s) {
      if (p_.registers[s->to].array < 0 && !read[s->to]) {
        continue;
      }
      for (const int64_t r : {s->a, s->b, s->c, s->d}) {
        if (r >= 0) {
          read[r] = true;
        }
      }
      kept.push_back(*s);
    }
    p_.steps.assign(kept.rbegin(), kept.rend());
  }

  struct Slot {
    int64_t array = 0, part = 0, tangent = -1, answer = 0;
    bool wanted = false;
  };
  struct Leaf {
    std::vector<Slot> slots;  // one, or two vectors
  };
  struct Node {
    int64_t parent = -1, left = -1, right = -1;
    Leaf leaf;
    Dual inside, outside;
  };

  int64_t numbers_of(EdgeWidth width) const { return edge_numbers(sums_, width); }
  bool dual() const { return !question_.tangents.empty(); }

  int64_t grow(const std::vector<Leaf>& leaves, size_t first, size_t last) {
    const auto at = static_cast<int64_t>(nodes_.size());
    nodes_.emplace_back();
    if (last - first == 1) {
      nodes_[at].leaf = leaves[first];
      return at;
    }
    // The first leaf (the output) by itself when the number is odd: its gradient is then one product less.
    const size_t middle = (last - first) % 2 == 1 ? first + 1 : first + (last - first) / 2;
    const int64_t left = grow(leaves, first, middle), right = grow(leaves, middle, last);
    nodes_[at].left = left;
    nodes_[at].right = right;
    nodes_[left].parent = nodes_[right].parent = at;
    return at;
  }

  int64_t scratch(int64_t components) {
    const int64_t row = (length_ + padding_ - 1) / padding_ * padding_;
    p_.registers.push_back({-1, p_.scratch, components > 1 ? row : 0});
    p_.scratch += row * components;
    return static_cast<int64_t>(p_.registers.size()) - 1;
  }

  /// A register of a part of a tensor, in rows of this term's length.
  int64_t read(int64_t array, int64_t part) {
    const EdgeTensor& tensor = p_.arrays[array];
    const int64_t numbers = numbers_of(tensor.width), components = tensor.vector ? sums_.dimension : 1;
    const auto key = std::tuple{array, part, length_};
    const auto found = spread_.find(key);
    if (found != spread_.end()) {
      return found->second;
    }
    int64_t at = in_tensor(array, part);
    if (numbers != length_) {
      const int64_t to = scratch(components);
      p_.steps.push_back(
          {EdgeStep::Kind::spread, false, false, to, at, -1, -1, -1, length_, numbers, components});
      at = to;
    }
    spread_[key] = at;
    return at;
  }
  int64_t in_tensor(int64_t array, int64_t part) {
    const EdgeTensor& tensor = p_.arrays[array];
    const int64_t numbers = numbers_of(tensor.width), all = numbers * tensor.parts;
    p_.registers.push_back({array, part * numbers, tensor.vector && sums_.dimension > 1 ? all : 0});
    return static_cast<int64_t>(p_.registers.size()) - 1;
  }
  Dual read(const Slot& s) {
    Dual x;
    x.value = read(s.array, s.part);
    x.slope = s.tangent >= 0 ? read(s.tangent, s.part) : -1;
    return x;
  }
  int64_t ones() {
    const auto key = std::tuple{int64_t{-1}, int64_t{0}, length_};
    const auto found = spread_.find(key);
    if (found != spread_.end()) {
      return found->second;
    }
    const int64_t at = scratch(1);
    p_.ones.emplace_back(p_.registers[at].offset, p_.registers[at].offset + length_);
    spread_[key] = at;
    return at;
  }

  int64_t made(const Sum& sum) {
    if (sum.zero()) {
      return -1;
    }
    const int64_t to = scratch(1);
    const bool dot = sum.dot && sums_.dimension > 1;
    p_.steps.push_back({dot ? EdgeStep::Kind::dot : EdgeStep::Kind::product, false, false, to, sum.a, sum.b,
                        sum.c, sum.d, length_, 0, dot ? sums_.dimension : 1});
    return to;
  }

  static Sum value_of(const Dual& x, const Dual& y) {
    Sum s;
    s.add(x.value, y.value);
    return s;
  }
  static Sum slope_of(const Dual& x, const Dual& y) {
    Sum s;
    s.add(x.slope, y.value);
    s.add(x.value, y.slope);
    return s;
  }

  /// The product of everything under a node, as sums not yet made.
  void unmade(int64_t n, Sum& value, Sum& slope) {
    const Leaf& leaf = nodes_[n].leaf;
    if (leaf.slots.size() == 1) {
      const Dual x = read(leaf.slots[0]);
      value.add(x.value, ones());
      slope.add(x.slope, x.slope >= 0 ? ones() : -1);
      return;
    }
    const Dual x = leaf.slots.empty() ? inside(nodes_[n].left) : read(leaf.slots[0]),
               y = leaf.slots.empty() ? inside(nodes_[n].right) : read(leaf.slots[1]);
    value = value_of(x, y);
    slope = slope_of(x, y);
    value.dot = slope.dot = !leaf.slots.empty();
  }
  Dual inside(int64_t n) {
    if (!nodes_[n].inside.given()) {
      if (nodes_[n].leaf.slots.size() == 1) {
        nodes_[n].inside = read(nodes_[n].leaf.slots[0]);
      } else {
        Sum value, slope;
        unmade(n, value, slope);
        Dual x;
        x.value = made(value);
        x.slope = dual() ? made(slope) : -1;
        nodes_[n].inside = x;
      }
    }
    return nodes_[n].inside;
  }
  int64_t sibling(int64_t n) const {
    const Node& parent = nodes_[nodes_[n].parent];
    return parent.left == n ? parent.right : parent.left;
  }
  /// The product of everything but what is under a node; not given at the root.
  Dual outside(int64_t n) {
    if (nodes_[n].parent < 0 || nodes_[n].outside.given()) {
      return nodes_[n].outside;
    }
    const Dual above = outside(nodes_[n].parent), beside = inside(sibling(n));
    Dual x = beside;
    if (above.given()) {
      x.value = made(value_of(above, beside));
      x.slope = dual() ? made(slope_of(above, beside)) : -1;
    }
    nodes_[n].outside = x;
    return x;
  }

  /// Adds the product of all others to the answer of a slot.
  void contribute(int64_t n, size_t slot) {
    const Leaf& leaf = nodes_[n].leaf;
    Sum value, slope;
    if (leaf.slots.size() == 2) {  // the other vector, times what is outside of both
      const Dual other = read(leaf.slots[1 - slot]);
      Dual rest = outside(n);
      if (!rest.given()) {
        rest.value = ones();
      }
      value = value_of(rest, other);
      slope = slope_of(rest, other);
    } else if (nodes_[n].parent >= 0) {
      const Dual above = outside(nodes_[n].parent);
      if (above.given()) {
        const Dual beside = inside(sibling(n));
        value = value_of(above, beside);
        slope = slope_of(above, beside);
      } else {
        unmade(sibling(n), value, slope);
      }
    }
    const Sum& sum = dual() ? slope : value;
    if (sum.zero()) {
      return;
    }
    const Slot& s = leaf.slots[slot];
    const EdgeTensor& tensor = p_.arrays[s.answer];
    const int64_t numbers = numbers_of(tensor.width);
    const bool dot = sum.dot && sums_.dimension > 1;
    EdgeStep step;
    step.kind = numbers == length_ ? (dot ? EdgeStep::Kind::dot : EdgeStep::Kind::product)
                                   : (dot ? EdgeStep::Kind::total : EdgeStep::Kind::gather);
    step.to = in_tensor(s.answer, s.part);
    step.a = sum.a;
    step.b = sum.b;
    step.c = sum.c;
    step.d = sum.d;
    step.length = length_;
    step.groups = numbers;
    step.components = dot || tensor.vector ? sums_.dimension : 1;
    const bool first = begun_.insert({s.answer, s.part}).second;
    step.add = !first || tensor.rows != EdgeRows::edge;
    step.opens = first && tensor.rows == EdgeRows::bond;
    p_.steps.push_back(step);
  }

  const EdgeSums& sums_;
  const EdgeQuestion& question_;
  int64_t padding_, length_ = 0;
  EdgeProgram p_;
  std::vector<Node> nodes_;                                          // of the term at hand
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> spread_;  // (array, part, length): register
  std::set<std::pair<int64_t, int64_t>> begun_;                      // (array, part) of answers
};

}  // namespace

EdgeProgram edge_program(const EdgeSums& sums, const EdgeQuestion& question, int64_t padding) {
  return Builder(sums, question, padding).result();
}

int64_t edge_numbers(const EdgeSums& sums, EdgeWidth width) {
  return width == EdgeWidth::one ? 1 : (width == EdgeWidth::heads ? sums.heads : sums.channels);
}
int64_t edge_row_size(const EdgeSums& sums, const EdgeTensor& tensor) {
  return edge_numbers(sums, tensor.width) * tensor.parts * (tensor.vector ? sums.dimension : 1);
}

}  // namespace weyl::kernels

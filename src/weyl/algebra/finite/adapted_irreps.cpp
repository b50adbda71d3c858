#include "weyl/algebra/finite/adapted_irreps.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weyl {
namespace {

// Columns (or rows) p and q turn by the angle of cosine c and sine s; `step` is from one entry to the next.
void turn_pair(DoubleDouble* p, DoubleDouble* q, int64_t n, int64_t step, DoubleDouble c, DoubleDouble s) {
  for (int64_t i = 0; i < n; ++i) {
    const DoubleDouble a = p[i * step], b = q[i * step];
    p[i * step] = c * a - s * b;
    q[i * step] = s * a + c * b;
  }
}

}  // namespace

std::vector<DoubleDouble> top_eigenvector(int64_t n, std::vector<DoubleDouble> matrix) {
  std::vector<DoubleDouble> vectors(n * n);  // as columns
  double size = 0;
  for (int64_t i = 0; i < n; ++i) {
    vectors[i * n + i] = 1;
    for (int64_t j = 0; j < n; ++j) {
      size += std::abs(matrix[i * n + j].high);
    }
  }
  for (bool turned = true; turned;) {
    turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const DoubleDouble off = matrix[p * n + q];
        if (std::abs(off.high) < 1e-29 * size) {
          continue;
        }
        turned = true;
        const DoubleDouble theta = (matrix[q * n + q] - matrix[p * n + p]) / (off * 2);
        const DoubleDouble root = abs(theta) + sqrt(theta * theta + 1);
        const DoubleDouble t = (theta.high < 0 ? DoubleDouble(-1) : DoubleDouble(1)) / root;
        const DoubleDouble c = DoubleDouble(1) / sqrt(t * t + 1), s = t * c;
        turn_pair(&matrix[p], &matrix[q], n, n, c, s);
        turn_pair(&matrix[p * n], &matrix[q * n], n, 1, c, s);
        turn_pair(&vectors[p], &vectors[q], n, n, c, s);
      }
    }
  }
  int64_t top = 0;
  for (int64_t i = 1; i < n; ++i) {
    top = matrix[i * n + i] > matrix[top * n + top] ? i : top;
  }
  std::vector<DoubleDouble> vector(n);
  for (int64_t i = 0; i < n; ++i) {
    vector[i] = vectors[i * n + top];
  }
  return vector;
}

Combination translated(const GroupTable& group, int64_t x, const Combination& f) {
  Combination moved(f.size());
  for (int64_t g = 0; g < group.order(); ++g) {
    moved[group.product(x, g)] = f[g];
  }
  return moved;
}

Combination product(const GroupTable& group, std::span<const int64_t> elements,
                    std::span<const DoubleDouble> weights, const Combination& f) {
  Combination sum(f.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (weights[i].high == 0) {
      continue;
    }
    for (int64_t g = 0; g < group.order(); ++g) {
      sum[group.product(elements[i], g)] += weights[i] * f[g];
    }
  }
  return sum;
}

Combination product(const GroupTable& group, const Combination& a, const Combination& b) {
  std::vector<int64_t> all(group.order());
  for (int64_t g = 0; g < group.order(); ++g) {
    all[g] = g;
  }
  return product(group, all, a, b);
}

DoubleDouble dot(const Combination& a, const Combination& b) {
  DoubleDouble sum;
  for (size_t g = 0; g < a.size(); ++g) {
    sum += a[g] * b[g];
  }
  return sum;
}

void scale(DoubleDouble factor, Combination& f) {
  for (auto& x : f) {
    x *= factor;
  }
}

void remove_along(const Combination& unit, Combination& f) {
  const DoubleDouble part = dot(unit, f);
  for (size_t g = 0; g < f.size(); ++g) {
    f[g] -= part * unit[g];
  }
}

Combination top_idempotent(const GroupTable& group, const Combination& idempotent, int64_t x) {
  // Powers of s = e (x + x^-1) e, orthonormal, span the idempotents of its eigenvalues.
  Combination both = translated(group, x, idempotent);
  const Combination back = translated(group, group.inverse(x), idempotent);
  for (size_t g = 0; g < both.size(); ++g) {
    both[g] += back[g];
  }
  const Combination s = product(group, idempotent, both);
  std::vector<Combination> basis, images;
  for (Combination next = idempotent;;) {
    for (int64_t twice = 0; twice < 2; ++twice) {
      for (const auto& unit : basis) {
        remove_along(unit, next);
      }
    }
    const DoubleDouble length = sqrt(dot(next, next));
    if (length.high < 1e-12) {  // others are above 1e-3
      break;
    }
    scale(DoubleDouble(1) / length, next);
    basis.push_back(next);
    next = product(group, s, next);
    images.push_back(next);
  }
  const auto n = static_cast<int64_t>(basis.size());
  std::vector<DoubleDouble> matrix(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      matrix[i * n + j] = matrix[j * n + i] = dot(basis[i], images[j]);
    }
  }
  const auto top = top_eigenvector(n, matrix);
  Combination vector(idempotent.size());
  for (int64_t i = 0; i < n; ++i) {
    for (size_t g = 0; g < vector.size(); ++g) {
      vector[g] += top[i] * basis[i][g];
    }
  }
  scale(dot(vector, idempotent), vector);
  return vector;
}

namespace {

constexpr double nothing =
    1e-6;  // of a length: those that are not zero are above 1e-3, errors are near 1e-28

int64_t nearest_integer(const DoubleDouble& x) {
  return std::llround(x.high);
}

// An irrep of the subgroup H, with the weights of what it does in the group algebra:
// E_i = (d/H) sum_h sigma(h)_i0 h takes the first vector of a copy to the i-th, and E_0 is a projection on first vectors.
struct Restricted {
  const AdaptedIrrep* irrep = nullptr;
  int64_t copies = 0;
  std::vector<std::vector<DoubleDouble>> units;  // (d, H)
};

class Builder {
 public:
  Builder(const GroupTable& group, std::span<const int64_t> subgroup, const std::vector<AdaptedIrrep>& below)
      : group_(group), subgroup_(subgroup), cosets_(group.left_cosets(subgroup)) {
    const auto H = static_cast<int64_t>(subgroup.size());
    for (const auto& irrep : below) {
      const int64_t d = irrep.character.dimension;
      Restricted restricted{&irrep, 0, {}};
      for (int64_t i = 0; i < d; ++i) {
        auto& unit = restricted.units.emplace_back();
        for (int64_t h = 0; h < H; ++h) {
          unit.push_back(irrep.matrices[(h * d + i) * d] * static_cast<double>(d) / static_cast<double>(H));
        }
      }
      parts_.push_back(std::move(restricted));
    }
  }

  AdaptedIrrep build(RealCharacter character) {
    count_copies(character);
    const Combination seed = minimal_idempotent(character);
    const auto basis = adapted_basis(seed);
    AdaptedIrrep irrep{std::move(character), {}, {}};
    fill_matrices(basis, irrep);
    choose_rows(irrep);
    return irrep;
  }

 private:
  // How often each irrep of H is in the irrep: (1/H) sum_h chi(h) chi_sigma(h) / delta_sigma.
  void count_copies(const RealCharacter& character) {
    for (auto& part : parts_) {
      DoubleDouble sum;
      for (size_t h = 0; h < subgroup_.size(); ++h) {
        sum += character.values[subgroup_[h]] * part.irrep->character.values[h];
      }
      const auto each =
          static_cast<int64_t>(subgroup_.size()) * commutant_dimension(part.irrep->character.type);
      part.copies = nearest_integer(sum / static_cast<double>(each));
    }
  }

  // An idempotent e that maps the irrep onto a space of delta dimensions, and others to zero: left multiples of e are one
  // copy of the irrep. It is below E_0 of the part of H that leaves fewest choices; those that are left are made by
  // elements x, the first that tell something apart.
  Combination minimal_idempotent(const RealCharacter& character) const {
    const int64_t G = group_.order(), delta = commutant_dimension(character.type);
    const auto room = [&](const Restricted& part) {
      return part.copies * commutant_dimension(part.irrep->character.type);
    };
    const Restricted* least = nullptr;
    for (const auto& part : parts_) {
      least = room(part) > 0 && (!least || room(part) < room(*least)) ? &part : least;
    }
    // The central idempotent (d / (delta G)) sum_g chi(g) g: characters of real irreps are those of inverses too.
    Combination central = character.values;
    scale(DoubleDouble(static_cast<double>(character.dimension)) / static_cast<double>(delta * G), central);
    Combination e = product(group_, subgroup_, least->units[0], central);
    const auto rank = [&] {  // of e in the irrep, from its trace on the whole algebra
      return nearest_integer(e[group_.identity()] * static_cast<double>(G * delta) /
                             static_cast<double>(character.dimension));
    };
    for (int64_t x = 0; x < G && rank() > delta; ++x) {
      if (!std::ranges::binary_search(subgroup_, x)) {  // elements of H tell nothing apart
        e = top_idempotent(group_, e, x);
      }
    }
    return e;
  }

  // Orthonormal functions, copies of H's irreps one after the other. A copy begins where the seed's translates first
  // have a component that is new.
  std::vector<Combination> adapted_basis(const Combination& seed) const {
    std::vector<Combination> basis;
    for (const auto& part : parts_) {
      int64_t left = part.copies;
      const size_t first = basis.size();
      const auto search = [&](int64_t g) {
        Combination start = product(group_, subgroup_, part.units[0], translated(group_, g, seed));
        const DoubleDouble whole = dot(seed, seed);
        for (size_t b = first; b < basis.size(); ++b) {
          remove_along(basis[b], start);
        }
        const DoubleDouble size = dot(start, start);
        if (size.high < nothing * nothing * whole.high) {
          return;
        }
        scale(DoubleDouble(1) / sqrt(size), start);
        for (const auto& unit : part.units) {
          basis.push_back(product(group_, subgroup_, unit, start));
        }
        --left;
      };
      if (left > 0) {
        search(group_.identity());
      }
      for (int64_t g = 0; g < group_.order() && left > 0; ++g) {
        search(g);
      }
    }
    return basis;
  }

  // rho(t h) = rho(t) rho(h) for the representatives t of cosets; rho(h) is block diagonal.
  void fill_matrices(const std::vector<Combination>& basis, AdaptedIrrep& irrep) const {
    const int64_t d = irrep.character.dimension;
    irrep.matrices.resize(group_.order() * d * d);
    for (const int64_t t : cosets_) {
      std::vector<DoubleDouble> moved(d * d);
      for (int64_t j = 0; j < d; ++j) {
        const Combination image = translated(group_, t, basis[j]);
        for (int64_t i = 0; i < d; ++i) {
          moved[i * d + j] = dot(basis[i], image);
        }
      }
      for (size_t h = 0; h < subgroup_.size(); ++h) {
        DoubleDouble* matrix = &irrep.matrices[group_.product(t, subgroup_[h]) * d * d];
        int64_t first = 0;
        for (const auto& part : parts_) {
          const int64_t n = part.irrep->character.dimension;
          const DoubleDouble* sigma = &part.irrep->matrices[static_cast<int64_t>(h) * n * n];
          for (int64_t copy = 0; copy < part.copies; ++copy, first += n) {
            for (int64_t i = 0; i < d; ++i) {
              for (int64_t j = 0; j < n; ++j) {
                DoubleDouble sum;
                for (int64_t k = 0; k < n; ++k) {
                  sum += moved[i * d + first + k] * sigma[k * n + j];
                }
                matrix[i * d + first + j] = std::abs(sum.high) < 1e-20 ? DoubleDouble() : sum;
              }
            }
          }
        }
      }
    }
  }

  // The first basis vectors that what commutes with the irrep does not make from those before. The projection on what it
  // makes of a unit vector u is (d/G) sum_g (u^T rho(g) u) rho(g).
  void choose_rows(AdaptedIrrep& irrep) const {
    const int64_t d = irrep.character.dimension, G = group_.order();
    const int64_t wanted = irrep.multiplicity();
    std::vector<DoubleDouble> projection(d * d);
    for (int64_t candidate = 0; static_cast<int64_t>(irrep.rows.size()) < wanted * d; ++candidate) {
      std::vector<DoubleDouble> u(d);
      DoubleDouble size;
      for (int64_t i = 0; i < d; ++i) {
        u[i] = DoubleDouble(i == candidate ? 1 : 0) - projection[i * d + candidate];
        size += u[i] * u[i];
      }
      if (size.high < nothing * nothing) {
        continue;
      }
      for (auto& x : u) {
        x = x / sqrt(size);
        x = std::abs(x.high) < 1e-20 ? DoubleDouble() : x;
      }
      irrep.rows.insert(irrep.rows.end(), u.begin(), u.end());
      for (int64_t g = 0; g < G; ++g) {
        const DoubleDouble* matrix = &irrep.matrices[g * d * d];
        DoubleDouble weight;
        for (int64_t i = 0; i < d; ++i) {
          for (int64_t j = 0; j < d; ++j) {
            weight += u[i] * matrix[i * d + j] * u[j];
          }
        }
        weight = weight * static_cast<double>(d) / static_cast<double>(G);
        for (int64_t i = 0; i < d * d; ++i) {
          projection[i] += weight * matrix[i];
        }
      }
    }
  }

  const GroupTable& group_;
  std::span<const int64_t> subgroup_;
  std::vector<int64_t> cosets_;
  std::vector<Restricted> parts_;
};

}  // namespace

std::vector<AdaptedIrrep> trivial_irreps() {
  std::vector<AdaptedIrrep> irreps(1);
  irreps[0].character.dimension = 1;
  irreps[0].character.values = irreps[0].matrices = irreps[0].rows = {1};
  return irreps;
}

std::vector<AdaptedIrrep> adapted_irreps(const GroupTable& group, std::span<const int64_t> subgroup,
                                         const std::vector<AdaptedIrrep>& below) {
  Builder builder(group, subgroup, below);
  std::vector<AdaptedIrrep> irreps;
  for (auto& character : real_characters(group)) {
    irreps.push_back(builder.build(std::move(character)));
  }
  return irreps;
}

}  // namespace weyl

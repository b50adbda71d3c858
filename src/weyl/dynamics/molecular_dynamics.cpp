#include "weyl/dynamics/molecular_dynamics.h"

#include <array>
#include <cmath>
#include <utility>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

/// eV/amu in A^2/fs^2: of kT/m and of force / mass times length.
double velocity_scale() {
  static const double scale = unit_factor("eV/amu", "Angstrom^2/fs^2");
  return scale;
}

Vector3 at(std::span<const double> x, size_t atom) {
  return {x[3 * atom], x[3 * atom + 1], x[3 * atom + 2]};
}

Vector3 mean(std::span<const double> masses, std::span<const double> x) {
  Vector3 sum{};
  double total = 0;
  for (size_t i = 0; i < masses.size(); ++i) {
    total += masses[i];
    for (size_t d = 0; d < 3; ++d) {
      sum[d] += masses[i] * x[3 * i + d];
    }
  }
  for (double& s : sum) {
    s /= total;
  }
  return sum;
}

void subtract(std::span<double> x, const Vector3& shift) {
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] -= shift[i % 3];
  }
}

/// x of A x = b, A symmetric and positive definite, by cofactors.
Vector3 solved(const std::array<Vector3, 3>& a, const Vector3& b) {
  const std::array<Vector3, 3> c = cofactors(a);
  const double det = dot(a[0], c[0]);
  Vector3 x{};
  for (size_t d = 0; d < 3; ++d) {
    x[d] = (c[0][d] * b[0] + c[1][d] * b[1] + c[2][d] * b[2]) / det;
  }
  return x;
}

/// One turn less: with the inertia I + 1e-9 tr(I) 1, which is regular for linear molecules too and leaves
/// 1e-9 of the angular momentum.
void remove_rotation(std::span<const double> masses, std::span<const double> x, const Vector3& centre,
                     std::span<double> v) {
  std::array<Vector3, 3> inertia{};
  Vector3 momentum{};
  double trace = 0;
  const auto place = [&](size_t i) {
    Vector3 r = at(x, i);
    for (size_t d = 0; d < 3; ++d) {
      r[d] -= centre[d];
    }
    return r;
  };
  for (size_t i = 0; i < masses.size(); ++i) {
    const Vector3 r = place(i), l = cross(r, at(v, i));
    const double square = dot(r, r);
    for (size_t a = 0; a < 3; ++a) {
      momentum[a] += masses[i] * l[a];
      for (size_t b = 0; b < 3; ++b) {
        inertia[a][b] += masses[i] * ((a == b ? square : 0) - r[a] * r[b]);
      }
    }
    trace += 2 * masses[i] * square;
  }
  if (trace == 0) {
    return;  // one atom
  }
  for (size_t d = 0; d < 3; ++d) {
    inertia[d][d] += 1e-9 * trace;
  }
  const Vector3 turn = solved(inertia, momentum);
  for (size_t i = 0; i < masses.size(); ++i) {
    const Vector3 of_turn = cross(turn, place(i));
    for (size_t d = 0; d < 3; ++d) {
      v[3 * i + d] -= of_turn[d];
    }
  }
}

}  // namespace

void centre_masses(std::span<const double> masses, std::span<double> positions) {
  subtract(positions, mean(masses, positions));
}

void remove_rigid_motion(std::span<const double> masses, std::span<const double> positions,
                         std::span<double> velocities) {
  const Vector3 centre = mean(masses, positions);
  subtract(velocities, mean(masses, velocities));
  remove_rotation(masses, positions, centre, velocities);
  remove_rotation(masses, positions, centre, velocities);  // of what the first one leaves
}

MolecularDynamics::MolecularDynamics(std::vector<double> masses, double time_step, EnergySurface surface,
                                     std::vector<double> positions, std::vector<double> velocities)
    : masses_(std::move(masses)),
      time_step_(time_step),
      surface_(std::move(surface)),
      positions_(std::move(positions)),
      velocities_(std::move(velocities)) {
  require(
      !masses_.empty() && positions_.size() == 3 * masses_.size() && velocities_.size() == positions_.size(),
      "dynamics: there must be 3 positions and 3 velocities a mass, got ", positions_.size(), " and ",
      velocities_.size(), " for ", masses_.size());
  point_ = surface_(positions_);
}

void MolecularDynamics::draw_velocities(double temperature, Stream& stream) {
  for (size_t i = 0; i < velocities_.size(); ++i) {
    velocities_[i] =
        std::sqrt(kBoltzmann * temperature / masses_[i / 3] * velocity_scale()) * stream.normal();
  }
  remove_rigid_motion(masses_, positions_, velocities_);
}

void MolecularDynamics::kick() {
  for (size_t i = 0; i < velocities_.size(); ++i) {
    velocities_[i] += time_step_ / 2 * point_.forces[i] / masses_[i / 3] * velocity_scale();
  }
}

void MolecularDynamics::drift() {
  for (size_t i = 0; i < positions_.size(); ++i) {
    positions_[i] += time_step_ / 2 * velocities_[i];
  }
}

void MolecularDynamics::verlet_step() {
  kick();
  drift();
  drift();
  point_ = surface_(positions_);
  kick();
}

void MolecularDynamics::langevin_step(double temperature, double friction, Stream& noise) {
  const double c = std::exp(-friction * time_step_);
  const double spread = std::sqrt((1 - c * c) * kBoltzmann * temperature * velocity_scale());
  kick();
  drift();
  for (size_t i = 0; i < velocities_.size(); ++i) {
    velocities_[i] = c * velocities_[i] + spread / std::sqrt(masses_[i / 3]) * noise.normal();
  }
  remove_rigid_motion(masses_, positions_, velocities_);
  drift();
  point_ = surface_(positions_);
  kick();
}

double MolecularDynamics::kinetic_energy() const {
  double sum = 0;
  for (size_t i = 0; i < velocities_.size(); ++i) {
    sum += masses_[i / 3] * velocities_[i] * velocities_[i] / 2;
  }
  return sum / velocity_scale();
}

}  // namespace weyl

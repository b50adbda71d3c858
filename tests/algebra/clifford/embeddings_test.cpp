// The table of embeddings: the components of the authors' code, what motions do to each, and back.
#include "weyl/algebra/clifford/embeddings.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/algebra/clifford/multivectors.h"
#include "weyl/algebra/lie/dual.h"
#include "weyl/algebra/lie/formulas.h"

namespace weyl::clifford {
namespace embeddings_test {

using M = Multivector<double>;
using V = Vector<double, 3>;
using Q = Vector<double, 4>;

M of(std::initializer_list<std::pair<int, double>> entries) {
  M x = zero<double>();
  for (const auto& [place, value] : entries) {
    x[place] = value;
  }
  return x;
}

TEST(Embeddings, ComponentsOfTheAuthorsCode) {
  const V p{{2, 3, 5}}, v{{7, 11, 13}};
  EXPECT_EQ(embed_scalar(4.0), of({{0, 4}}));
  EXPECT_EQ(embed_pseudoscalar(4.0), of({{15, 4}}));
  EXPECT_EQ(embed_point(p), of({{14, 1}, {13, -2}, {12, 3}, {11, -5}}));
  EXPECT_EQ(embed_plane(v, p), of({{2, 7}, {3, 11}, {4, 13}, {1, -(14 + 33 + 65)}}));
  EXPECT_EQ(embed_translation(p), of({{0, 1}, {5, -1}, {6, -1.5}, {7, -2.5}}));
  EXPECT_EQ(rotation(Q{{0.1, 0.2, 0.3, 0.4}}), of({{0, 0.4}, {8, -0.3}, {9, 0.2}, {10, -0.1}}));
  EXPECT_EQ(embed_direction(v), of({{5, 7}, {6, 11}, {7, 13}}));
  EXPECT_EQ(embed_ray(Ray<double>{p, v}), of({{5, 7}, {6, 11}, {7, 13}, {8, 5}, {9, -3}, {10, 2}}));
  // A quarter turn about z takes x to y.
  const double h = std::sqrt(0.5);
  EXPECT_LT(
      distance(extract_point(sandwich(rotation(Q{{0, 0, h, h}}), embed_point(V{{1, 0, 0}}))), V{{0, 1, 0}}),
      1e-15);
}

TEST(Embeddings, MoveAsWhatTheyEmbed) {
  Stream stream(14, "embeddings");
  for (int sample = 0; sample < 60; ++sample) {
    const Motion<double> g =
        sample < 50 ? random_motion<double>(stream, sample % 5) : random_shift<double>(stream);
    const V p = random_vector<double, 3>(stream), v = random_vector<double, 3>(stream), o = g.moved(p);
    const V axial = g.sign * g.turned(v);
    EXPECT_LT(distance(g(embed_scalar(2.0)), embed_scalar(2.0)), 1e-13);
    EXPECT_LT(distance(g(embed_pseudoscalar(2.0)), embed_pseudoscalar(2 * g.sign)), 1e-13);
    EXPECT_LT(distance(g(embed_point(p)), scaled(g.sign, embed_point(o))), 1e-12);
    EXPECT_LT(distance(extract_point(g(embed_point(p))), o), 1e-12);  // the sign cancels on the way back
    EXPECT_LT(distance(g(embed_plane(v, p)), embed_plane(g.turned(v), o)), 1e-12);
    EXPECT_LT(distance(g(embed_direction(v)), embed_direction(g.turned(v))), 1e-12);
    EXPECT_LT(distance(g(embed_axial_vector(v, p)), embed_axial_vector(axial, o)), 1e-12);
    EXPECT_LT(distance(g(embed_translation(v)), embed_translation(g.turned(v))), 1e-12);
    // Controls: each differs from its neighbours where they must.
    if (g.sign < 0) {
      EXPECT_GT(distance(g(embed_point(p)), embed_point(o)), 0.1);
      EXPECT_GT(distance(g(embed_axial_vector(v, p)), embed_axial_vector(g.turned(v), o)), 1e-2);
      EXPECT_GT(distance(g(embed_direction(v)), embed_direction(axial)), 1e-2);
    }
  }
  // A bare vector is not free: a translation t gives it the e0 component -v.t ([V] of the fact sheet).
  const V v{{1, 2, 3}}, t{{5, -1, 4}}, origin{{0, 0, 0}};
  EXPECT_LT(distance(sandwich(translation(t), embed_plane(v, origin)),
                     sum(embed_plane(v, origin), blade(e0, -15.0))),
            1e-14);
  // The mirror of x changes e01 alone of the lines at infinity.
  const M mirrored = sandwich(reflection(V{{1, 0, 0}}, origin), embed_direction(v));
  EXPECT_EQ(distance(mirrored, embed_direction(V{{-1, 2, 3}})), 0);
}

TEST(Embeddings, BackFromMultivectors) {
  Stream stream(15, "back");
  for (int sample = 0; sample < 20; ++sample) {
    const V p = random_vector<double, 3>(stream), v = random_vector<double, 3>(stream);
    EXPECT_EQ(extract_scalar(embed_scalar(p[0])), p[0]);
    EXPECT_EQ(extract_pseudoscalar(embed_pseudoscalar(p[0])), p[0]);
    EXPECT_EQ(distance(extract_point(embed_point(p)), p), 0);
    EXPECT_LT(distance(extract_point(scaled(-3.0, embed_point(p))), p), 1e-15);
    EXPECT_EQ(distance(extract_normal(embed_plane(v, p)), v), 0);
    EXPECT_EQ(distance(extract_direction(embed_direction(v)), v), 0);
    EXPECT_EQ(distance(extract_translation(embed_translation(v)), v), 0);
    const auto ray = extract_ray(embed_ray(Ray<double>{p, v}));
    EXPECT_EQ(distance(ray.direction, p), 0);
    EXPECT_EQ(distance(ray.moment, v), 0);
    EXPECT_EQ(distance(extract_axial_vector(embed_axial_vector(v, p)), v), 0);
    const auto q = random_unit<double, 4>(stream);
    EXPECT_EQ(distance(rotation_of(rotation(q)), q), 0);
    EXPECT_EQ(distance(aligned(-q, q), q), 0);
    EXPECT_EQ(distance(aligned(q, q), q), 0);
  }
}

TEST(Embeddings, PointsBelowTheSmallestWeight) {
  const V p{{2, 3, 5}};
  const auto at = [&](double weight) {
    M x = embed_point(p);
    x[e123] = weight;
    return extract_point(x);
  };
  // Above 1e-3 the sign of the weight is the point's; at and below it the point is divided by +1e-3, whatever the sign.
  EXPECT_LT(distance(at(2e-3), 500.0 * p), 1e-9);
  EXPECT_LT(distance(at(-2e-3), -500.0 * p), 1e-9);
  EXPECT_LT(distance(at(5e-4), 1000.0 * p), 1e-9);
  EXPECT_LT(distance(at(-5e-4), 1000.0 * p), 1e-9);
  EXPECT_LT(distance(at(-1e-3), 1000.0 * p), 1e-9);
  EXPECT_LT(distance(at(0), 1000.0 * p), 1e-9);
  EXPECT_DOUBLE_EQ(point_defect(embed_point(p)), 0);
  EXPECT_DOUBLE_EQ(point_defect(scaled(-1.5, embed_point(p))), 0.5);

  // In single precision too, and its derivative is that of the side taken: none by the weight below it.
  Multivector<float> single = zero<float>();
  single[e013] = 1;
  single[e123] = -5e-4f;
  EXPECT_FLOAT_EQ(extract_point(single)[1], 1000);
  using D = numbers::Dual<double, 1>;
  for (const double weight : {5e-4, -5e-4, 2e-3}) {
    Multivector<D> x = zero<D>();
    x[e013] = D(1.0);
    x[e123] = D(weight);
    x[e123].d[0] = 1;
    const double slope = weight > 1e-3 ? -1 / (weight * weight) : 0;
    EXPECT_NEAR(extract_point(x)[1].d[0], slope, 1e-6);
  }
}

TEST(Embeddings, BodiesByPlaceAndAttitude) {
  Stream stream(16, "bodies");
  std::vector<Q> attitudes{
      {{0, 0, 0, 1}}, {{1, 0, 0, 0}}, {{0, 1, 0, 0}}, {{0, 0, 1, 0}}, {{0.6, 0, 0.8, 0}}};
  for (int k = 0; k < 20; ++k) {
    attitudes.push_back(random_unit<double, 4>(stream));
  }
  for (const Q& q : attitudes) {
    const V place = random_vector<double, 3>(stream);
    const auto body = embed_object(place, q);
    EXPECT_LT(distance(extract_meeting_point(body), place), 1e-13);
    EXPECT_LT(distance(extract_point(body[3]), place), 1e-15);
    EXPECT_LT(distance(aligned(extract_attitude(body), q), q), 1e-14);
    const M m = motor(q, place);
    for (int i = 0; i < 3; ++i) {  // the planes e1, e2, e3 moved by the motor
      EXPECT_LT(distance(body[i], sandwich(m, blade(static_cast<Blade>(e1 + i), 1.0))), 1e-13);
    }
    // The authors' sum, 1 + sum_i n_i e_i, is 4 w times the rotation: the same until half turns.
    M authors = blade(one, 1.0);
    for (int i = 0; i < 3; ++i) {
      M normal = body[i];
      normal[e0] = 0;
      authors = sum(authors, geometric_product(normal, blade(static_cast<Blade>(e1 + i), 1.0)));
    }
    EXPECT_LT(distance(authors, scaled(4 * q[3], rotation(q))), 1e-13);
  }
}

TEST(Embeddings, BodiesByTwoDirections) {
  Stream stream(17, "frames");
  const V place = random_vector<double, 3>(stream), a = random_vector<double, 3>(stream),
          b = random_vector<double, 3>(stream);
  const auto body = embed_frame(place, a, b);
  EXPECT_EQ(distance(extract_point(body[0]), place), 0);
  EXPECT_EQ(distance(extract_normal(body[1]), a), 0);
  EXPECT_EQ(distance(extract_normal(body[2]), b), 0);
  EXPECT_EQ(distance(extract_normal(body[3]), cross(a, b)), 0);
  const Motion<double> g = random_motion<double>(stream, 4);
  const auto moved = embed_frame(g.moved(place), g.turned(a), g.turned(b));
  for (int channel = 0; channel < 4; ++channel) {
    EXPECT_LT(distance(g(body[channel]), moved[channel]), 1e-12);
  }
}

}  // namespace embeddings_test
}  // namespace weyl::clifford

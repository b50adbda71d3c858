#pragma once

#include <map>
#include <memory>
#include <string>

#include "weyl/models/geomformer/geomformer.h"

namespace weyl {

/// ET or GeoMFormer as they are written down in any library of tensors: molecules padded to the longest,
/// atoms (B, n), pairs (B, n, n), a mask; torch expressions alone, differentiated by autograd. It shares the
/// weights of a Geomformer, so that the outputs of both can be compared. For energies, with the options of
/// the preset (ET) or the default ones (GeoMFormer), widths and depths free; of GeoMFormer order,
/// shared_query and equ_scale too.
class PaddedGeomformer : public PointsModel {
 public:
  /// ConfigError: other options.
  explicit PaddedGeomformer(std::shared_ptr<geomformer::Geomformer> of);
  Named forward(const Points& points) override;
  Symmetry symmetry() const override { return of_->symmetry(); }
  Work work(double /*nodes*/) const override { return of_->work_of_token(); }

 private:
  struct Atoms {
    Tensor positions, types, real;  // (B, n, 3), (B, n) int64, (B, n) in the dtype
    Tensor lengths, directions, pairs,
        others;  // (B, n, n), (B, n, n, 3); of real atoms, not i = i: 1, else 0
  };
  struct Streams {
    Tensor inv, equ;  // (B, n, d), (B, n, 3, d)
  };
  Atoms padded(const Points& points) const;
  Tensor et(const Atoms& a) const;  // (B, n), energies of atoms
  void et_layer(const std::string& name, const Atoms& a, const Tensor& envelope, const Tensor& basis,
                Streams& streams) const;
  Streams gated_block(const std::string& name, const Streams& s, bool last) const;
  Tensor geomformer(const Atoms& a) const;
  /// What self- and cross-attentions add to the streams; `add.equ` undefined in a layer without equivariant
  /// ones.
  Streams attentions(const std::string& name, const Atoms& a, const Tensor& bias, const Streams& s, bool self,
                     bool cross) const;
  Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Atoms& a,
                   const Tensor& bias) const;
  Tensor gaussians(const std::string& name, const Tensor& d, const Tensor& types) const;
  Tensor linear(const std::string& name, const Tensor& x) const;
  Tensor norm(const std::string& name, const Tensor& x) const;
  Tensor vector_norm(const std::string& name, const Tensor& z) const;

  std::shared_ptr<geomformer::Geomformer> of_;
  std::map<std::string, Tensor> weights_;
};

}  // namespace weyl

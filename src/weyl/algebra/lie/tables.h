// Blocks and norms of the Lie algebras as arrays, in the namespace of the instruction set that they are compiled for.
#pragma once

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/core/instruction_set.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// The blocks of each algebra, in the order of its coordinates: translation, rotation, scale, traceless
/// symmetric.
inline constexpr LieBlock so2_blocks[] = {{LiePart::rotation, 0, 1}};
inline constexpr LieBlock se2_blocks[] = {{LiePart::translation, 0, 2}, {LiePart::rotation, 2, 1}};
inline constexpr LieBlock so3_blocks[] = {{LiePart::rotation, 0, 3}};
inline constexpr LieBlock se3_blocks[] = {{LiePart::translation, 0, 3}, {LiePart::rotation, 3, 3}};
inline constexpr LieBlock aff2_blocks[] = {{LiePart::translation, 0, 2},
                                           {LiePart::rotation, 2, 1},
                                           {LiePart::scale, 3, 1},
                                           {LiePart::traceless_symmetric, 4, 2}};
inline constexpr LieBlock aff3_blocks[] = {{LiePart::translation, 0, 3},
                                           {LiePart::rotation, 3, 3},
                                           {LiePart::scale, 6, 1},
                                           {LiePart::traceless_symmetric, 7, 5}};
inline constexpr const LieBlock* block_tables[] = {so2_blocks, se2_blocks,  so3_blocks,
                                                   se3_blocks, aff2_blocks, aff3_blocks};

/// The Frobenius norm of each coordinate's generator.
inline constexpr double r2 = 1.41421356237309504880, r3 = 1.73205080756887729353, r6 = r2 * r3;
inline constexpr double so2_norms[] = {r2};
inline constexpr double se2_norms[] = {1, 1, r2};
inline constexpr double so3_norms[] = {r2, r2, r2};
inline constexpr double se3_norms[] = {1, 1, 1, r2, r2, r2};
inline constexpr double aff2_norms[] = {1, 1, r2, r2, r2, r2};
inline constexpr double aff3_norms[] = {1, 1, 1, r2, r2, r2, r3, r2, r2, r2, r2, r6};
inline constexpr const double* norm_tables[] = {so2_norms, se2_norms,  so3_norms,
                                                se3_norms, aff2_norms, aff3_norms};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels

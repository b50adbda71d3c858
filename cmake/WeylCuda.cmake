# Kernels for CUDA devices: files of src/weyl/kernels, compiled by nvcc as well, with vectors of one number
# (kernels/cuda/launch.h): those whose functions are constexpr. They belong to the library that has LibTorch, which brings
# CUDA's runtime. Included where that library is made.
set(cuda_kernels multivectors/gate.cpp multivectors/norm.cpp multivectors/products.cpp cuda/launch.cu)
foreach(file ${cuda_kernels})
  string(REPLACE "/" "_" object "${file}")
  set(object "${CMAKE_CURRENT_BINARY_DIR}/cuda_${object}.o")
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/kernels/${file}")
  add_custom_command(OUTPUT "${object}"
    COMMAND "${WEYL_NVCC}" -x cu -std=c++20 -O3 --expt-relaxed-constexpr -DWEYL_ISA=cuda
      "-I${PROJECT_SOURCE_DIR}/src" ${WEYL_CUDA_ARCHITECTURES} -Xcompiler -fPIC -MD -MF "${object}.d" -c "${source}" -o "${object}"
    DEPENDS "${source}" DEPFILE "${object}.d" JOB_POOL compile COMMENT "Building CUDA object ${file}" VERBATIM)
  target_sources(weyl PRIVATE "${object}")
endforeach()
target_link_libraries(weyl PRIVATE "${WEYL_CUDART}")

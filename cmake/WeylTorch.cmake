# The target `torch` from WEYL_TORCH, for the project and for its installed package.
#
# WEYL_TORCH_COMPANIONS: the library folders of CUDA's own packages (nvidia/*/lib beside the torch package), which a
# CUDA wheel needs at run time and a CPU wheel does not have.
macro(weyl_find_torch)
  set(WEYL_TORCH_COMPANIONS "")
  if(WEYL_TORCH)
    file(GLOB WEYL_TORCH_COMPANIONS LIST_DIRECTORIES true "${WEYL_TORCH}/../nvidia/*/lib")
  endif()
  if(WEYL_TORCH AND EXISTS "${WEYL_TORCH}/lib/libtorch_cuda.so")
    # A CUDA build's own CMake package refuses a machine without nvcc, though nothing here is compiled with it.
    if(NOT TARGET torch)
      add_library(torch INTERFACE IMPORTED)
      set_target_properties(torch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
        "${WEYL_TORCH}/include;${WEYL_TORCH}/include/torch/csrc/api/include"
        INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO")  # as that package says
      # Linked though no symbol asks for it: the CUDA half registers itself when it is loaded.
      # Behind the compiler's own library: libtorch.so of a CUDA wheel exports std::filesystem of another one, unfinished,
      # and remove_all of that is a call of nothing.
      set(weyl_torch_all "-Wl,--push-state,--no-as-needed,-lstdc++")
      foreach(weyl_torch_part torch torch_cpu torch_cuda c10_cuda)
        string(APPEND weyl_torch_all ",\"${WEYL_TORCH}/lib/lib${weyl_torch_part}.so\"")
      endforeach()
      set_target_properties(torch PROPERTIES INTERFACE_LINK_LIBRARIES
        "${weyl_torch_all},--pop-state;${WEYL_TORCH}/lib/libtorch_cpu.so;${WEYL_TORCH}/lib/libc10.so")
    endif()
  else()
    if(WEYL_TORCH)
      list(PREPEND CMAKE_PREFIX_PATH "${WEYL_TORCH}")
      if(NOT kineto_LIBRARY)
        # LibTorch's package looks for a static library that the wheel does not have, and warns.
        set(kineto_LIBRARY "${WEYL_TORCH}/lib/libc10.so" CACHE FILEPATH "not in the wheel, not used" FORCE)
        mark_as_advanced(kineto_LIBRARY)
      endif()
    endif()
    find_package(Torch REQUIRED)
    if(TARGET caffe2::mkl)
      # Folders of an MKL that is not installed would end in every RPATH.
      set_property(TARGET caffe2::mkl PROPERTY INTERFACE_LINK_DIRECTORIES "")
    endif()
  endif()
endmacro()

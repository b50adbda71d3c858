# cmake -DBUILD=<build tree> -DSOURCE=<source tree> -DWORK=<scratch> -DCOMPILER=<c++> -DPYTHON= -DREADELF=
#   -DTORCH=<LibTorch> -DTOLD=<WEYL_TORCH_RUNPATH> -DMODELS=<run folders painn and painn_2> -P run.cmake
# Installs the build tree to a new prefix, checks that nothing installed points back into the trees, builds
# tests/consumer and examples/ against the prefix as foreign projects and runs them; then moves the prefix and runs the
# program there, without LibTorch and with it.
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what}: exit code ${code}\n${output}")
  endif()
  message(STATUS "${what}: ok")
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")
step("install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

# Where programs and libraries look for others, the trees do not matter: they could be renamed.
file(GLOB library "${prefix}/lib*/libweyl.so" "${prefix}/lib*/*/libweyl.so")
get_filename_component(libraries "${library}" DIRECTORY)
string(REPLACE ":" ";" told "${TOLD}")
list(TRANSFORM told PREPEND "--but=")
step("RUNPATHs" "${PYTHON}" "${SOURCE}/tools/check_elf.py" --readelf "${READELF}" --hardened "--outside=${BUILD}"
  "--outside=${SOURCE}" "--outside=${TORCH}" ${told} "${prefix}/bin" "${libraries}")
file(GLOB_RECURSE package "${prefix}/*.cmake")
foreach(file ${package})
  file(READ "${file}" content)
  string(FIND "${content}" "${BUILD}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} names the build tree")
  endif()
endforeach()

# What users include is there, and nothing else.
foreach(folder kernels app makers)
  if(EXISTS "${prefix}/include/weyl/${folder}")
    message(FATAL_ERROR "headers of ${folder}/ are installed")
  endif()
endforeach()

foreach(file share/weyl/configs/nbody/platonic.toml share/weyl/python/weyl/__init__.py share/doc/weyl/LICENSE share/doc/weyl/docs/glossary.md)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()

# As some systems do by default, a program is linked to the libraries alone that it uses itself.
foreach(project tests/consumer examples)
  string(MAKE_C_IDENTIFIER "${project}" tree)
  step("configure ${project}" "${CMAKE_COMMAND}" -S "${SOURCE}/${project}" -B "${WORK}/${tree}" -G Ninja
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Debug
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed)
  step("build ${project}" "${CMAKE_COMMAND}" --build "${WORK}/${tree}" --parallel 1)
endforeach()
step("run consumer" "${WORK}/tests_consumer/consumer")
# Linked to weyl::potential alone, it is told of no LibTorch: the library finds it where the install was told to look.
set(with_torch "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${TORCH}/lib")
set(of_weyl_h "${WORK}/tests_consumer/consumer_of_weyl_h")
step("run consumer of weyl.h" ${with_torch} "${of_weyl_h}" "${MODELS}/painn")
step("run consumer of weyl.h in C++" ${with_torch} "${of_weyl_h}_in_cpp" "${MODELS}/painn" "${MODELS}/painn_2")
execute_process(COMMAND ${with_torch} "${of_weyl_h}" RESULT_VARIABLE code OUTPUT_VARIABLE output)
if(NOT code EQUAL 3 OR NOT output MATCHES "^no/such/model.safetensors: [^\n]*\n$")
  message(FATAL_ERROR "a model that is not there: exit code ${code}\n${output}")
endif()
# Another LibTorch, by what is written beside it.
if(NOT TOLD)
  file(MAKE_DIRECTORY "${WORK}/other")
  step("another LibTorch" cp -rlL "${TORCH}/lib" "${WORK}/other/lib")
  file(WRITE "${WORK}/other/version.py" "__version__ = '1.2.3'\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${WORK}/other/lib" "${of_weyl_h}" "${MODELS}/painn"
    RESULT_VARIABLE code OUTPUT_VARIABLE output)
  if(NOT code EQUAL 2 OR NOT output MATCHES "^weyl_load: LibTorch must be [^\n]*but the process has 1.2.3 [^\n]*\n$")
    message(FATAL_ERROR "another LibTorch: exit code ${code}\n${output}")
  endif()
endif()
step("run examples" "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/examples" --output-on-failure)
step("weyl --help" "${prefix}/bin/weyl" --help)

# Moved, with a blank in its name, and nothing that helps to find libraries.
set(moved "${WORK}/moved prefix")
file(RENAME "${prefix}" "${moved}")
string(REPLACE "${prefix}" "${moved}" libraries "${libraries}")
set(config "${SOURCE}/configs/bench/platonic.toml")
set(weyl "${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH --unset=LD_PRELOAD "${moved}/bin/weyl")

# Without LibTorch: one line that says which library is missing and what to do; what needs none is answered.
if(NOT TOLD)
  execute_process(COMMAND ${weyl} info "${config}" RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE said)
  if(NOT code EQUAL 2 OR NOT output STREQUAL "" OR
     NOT said MATCHES "^weyl: lib(torch|c10)[^ ]*: is needed by [^\n]*WEYL_TORCH_RUNPATH[^\n]*\n$")
    message(FATAL_ERROR "weyl info without LibTorch: exit code ${code}\n${output}${said}")
  endif()
  execute_process(COMMAND ${weyl} doctor RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE said)
  if(NOT code EQUAL 1 OR NOT output MATCHES "torch     none.*problem   lib(torch|c10)" OR NOT said STREQUAL "")
    message(FATAL_ERROR "weyl doctor without LibTorch: exit code ${code}\n${output}${said}")
  endif()
  step("weyl --help without LibTorch" ${weyl} --help)
  step("weyl config without LibTorch" ${weyl} config check "${config}")
  message(STATUS "weyl without LibTorch: ok")
endif()

# With links to it in PREFIX/lib; those of a CUDA build need their companions there too.
file(GLOB torch "${TORCH}/lib/*.so*" "${TORCH}/../nvidia/*/lib/*.so*")
foreach(file ${torch})
  get_filename_component(name "${file}" NAME)
  file(CREATE_LINK "${file}" "${moved}/lib/${name}" SYMBOLIC)
endforeach()
step("weyl doctor" ${weyl} doctor)
if(EXISTS "${libraries}/libweyl_rdkit.so" AND output MATCHES "rdkit +none")
  message(FATAL_ERROR "the moved program does not find its module:\n${output}")
endif()
step("weyl info" ${weyl} info "${config}")
foreach(file weyl weyl_base weyl_makers weyl_hdf5 weyl_archives)
  step("libraries of lib${file}.so" "${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH ldd "${libraries}/lib${file}.so")
  foreach(tree "${BUILD}/lib/" "${TORCH}" "${prefix}" "not found")
    string(FIND "${output}" "${tree}" at)
    if(NOT at EQUAL -1 AND NOT TOLD)
      message(FATAL_ERROR "lib${file}.so does not find its libraries in the moved prefix:\n${output}")
    endif()
  endforeach()
endforeach()

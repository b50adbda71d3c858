# cmake -DBUILD=<build tree> -DSOURCE=<source tree> -DWORK=<scratch> -DCOMPILER=<c++> -P run.cmake
# Installs the build tree to a new prefix, checks that nothing installed points back into the trees, builds
# tests/consumer and examples/ against the prefix as foreign projects and runs them.
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

# Libraries are found from the prefix and from LibTorch alone: the trees could be renamed.
file(GLOB programs "${prefix}/bin/*" "${prefix}/lib*/*.so")
foreach(file ${programs})
  step("RPATH of ${file}" readelf -d "${file}")
  string(FIND "${output}" "${BUILD}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "RPATH of ${file} points into the build tree:\n${output}")
  endif()
  step("libraries of ${file}" ldd "${file}")
  if(output MATCHES "not found" OR output MATCHES "${BUILD}/lib/")
    message(FATAL_ERROR "${file} does not find its libraries in the prefix:\n${output}")
  endif()
endforeach()
file(GLOB_RECURSE package "${prefix}/*.cmake")
foreach(file ${package})
  file(READ "${file}" content)
  string(FIND "${content}" "${BUILD}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} names the build tree")
  endif()
endforeach()

# What users include is there, and nothing else.
foreach(folder kernels app data/makers)
  if(EXISTS "${prefix}/include/weyl/${folder}")
    message(FATAL_ERROR "headers of ${folder}/ are installed")
  endif()
endforeach()

foreach(project tests/consumer examples)
  string(MAKE_C_IDENTIFIER "${project}" tree)
  step("configure ${project}" "${CMAKE_COMMAND}" -S "${SOURCE}/${project}" -B "${WORK}/${tree}" -G Ninja
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Debug
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
  step("build ${project}" "${CMAKE_COMMAND}" --build "${WORK}/${tree}" --parallel 1)
endforeach()
step("run consumer" "${WORK}/tests_consumer/consumer")
step("run examples" "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/examples" --output-on-failure)
step("weyl --help" "${prefix}/bin/weyl" --help)

# Trains the models that the tests of this folder put to work, with -DWEYL= into -DOUT=: of water, for three epochs.
file(REMOVE_RECURSE "${OUT}")
function(train name)
  execute_process(COMMAND "${WEYL}" train potential.toml train.epochs=3 ${ARGN} --out "${OUT}/${name}" --quiet --no-pictures
    WORKING_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/../../examples/potential" RESULT_VARIABLE code OUTPUT_QUIET)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "train ${name}: exit ${code}")
  endif()
endfunction()
train(painn)
train(painn_2 train.seed=1)
train(et model.geomformer.preset=et model.geomformer.heads=4)

# Flags shared by every target of the project: `braid_options` is linked by braid_api.
add_library(braid_options INTERFACE)
target_compile_features(braid_options INTERFACE cxx_std_20)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# -ffp-contract=off: a score must not depend on whether the compiler fuses a multiply and an add.
# -Wno-restrict: gcc 12 sees overlaps in std::string that are not there (GCC bug 105651).
set(BRAID_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror -Wno-restrict
    -Wno-missing-field-initializers)  # designated initialisers leave defaults on purpose
# -fmacro-prefix-map: __FILE__ names a file of the project, not a place on the builder's disk.
add_compile_options(-ffp-contract=off -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# Reuses earlier compilations where ccache is installed and can write its cache.
find_program(BRAID_CCACHE ccache)
if(BRAID_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/ccache_probe.cpp "")
  execute_process(
    COMMAND ${BRAID_CCACHE} ${CMAKE_CXX_COMPILER} -c ccache_probe.cpp -o ccache_probe.o
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/CMakeFiles RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${BRAID_CCACHE})
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endif()

# Test programs spend their time in the modules: optimising their own code costs more than it saves.
set(BRAID_TEST_OPTIONS ${BRAID_WARNINGS} -O1)
if(BRAID_SANITIZE)
  # Several files are compiled as one: most of what they share is read, instrumented and optimised
  # once. So two files of a folder cannot each have a helper of their own by one name.
  set(CMAKE_UNITY_BUILD ${BRAID_UNITY})
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  list(APPEND BRAID_WARNINGS -Wno-subobject-linkage)      # sees a header in a file that is included
  # With the sanitizers' checks in between, gcc takes moved-from variants for uninitialised memory.
  list(APPEND BRAID_WARNINGS -Wno-maybe-uninitialized)
  set(BRAID_TEST_OPTIONS ${BRAID_WARNINGS} -O0)
  add_compile_options(-fsanitize=${BRAID_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BRAID_SANITIZE})
  if(BRAID_SANITIZE MATCHES address)
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
  endif()
  if(BRAID_SANITIZE MATCHES thread)
    # It knows no fences; Asio's locks, which it does know, order the same.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
    # ThreadSanitizer of gcc 12 stops on the address layouts of newer kernels unless they are fixed.
    execute_process(COMMAND setarch -R true RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(BRAID_TEST_LAUNCHER setarch -R)
    endif()
  endif()
endif()

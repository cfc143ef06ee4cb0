# What nearly every source file reads first, read once: gtest alone costs a second of each test file.
# each source file proves that its own header needs nothing before it.
set(BRAID_PRECOMPILED <algorithm> <chrono> <cmath> <cstdint> <functional> <map> <memory> <mutex> <optional>
    <span> <stop_token> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
    <tl/expected.hpp>)

# The first call makes the target whose headers all others of its kind share.
function(braid_precompile target owner)
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch/${owner}.cpp CONTENT "int main() { return 0; }\n")
    if(${owner} MATCHES test)                             # programs are compiled with -fPIE, libraries with -fPIC
      add_executable(${owner} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/pch/${owner}.cpp)
      target_compile_options(${owner} PRIVATE ${BRAID_TEST_OPTIONS})
      target_precompile_headers(${owner} PRIVATE ${BRAID_PRECOMPILED} <gtest/gtest.h>)
      target_link_libraries(${owner} PRIVATE braid_api GTest::gtest)
    else()
      add_library(${owner} OBJECT ${PROJECT_BINARY_DIR}/pch/${owner}.cpp)
      target_compile_options(${owner} PRIVATE ${BRAID_WARNINGS})
      target_precompile_headers(${owner} PRIVATE ${BRAID_PRECOMPILED})
      target_link_libraries(${owner} PRIVATE braid_api)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

add_custom_target(header_probes)                          # every header alone

# The targets of folders: net/client is braid_net_client.
function(braid_targets out)
  set(targets ${ARGN})
  list(TRANSFORM targets REPLACE "/" "_")
  list(TRANSFORM targets PREPEND braid_)
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# One folder under src/ = one library. It sees its own headers, those of the folders it names, no others.
#   DEPS: appear in this folder's headers (passed on)     USES: only in its .cpp files (not passed on)
#   LIBS: third-party targets, private to the folder
#   COLD: its own code takes no noticeable part of a search or a write: compiled in two thirds of the time
function(braid_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;HEADERS;DEPS;USES;LIBS")
  braid_targets(target ${name})
  set(view ${PROJECT_BINARY_DIR}/view/${name})            # an include root holding this folder only
  cmake_path(GET name PARENT_PATH above)
  file(MAKE_DIRECTORY ${view}/braid/${above})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/braid/${name} SYMBOLIC)

  add_library(${target} STATIC ${arg_SOURCES})
  target_compile_options(${target} PRIVATE ${BRAID_WARNINGS} $<$<BOOL:${arg_COLD}>:-O1>)
  target_include_directories(${target} PUBLIC ${view})
  target_link_libraries(${target} PUBLIC braid_api PRIVATE ${arg_LIBS})
  foreach(dep IN LISTS arg_DEPS arg_USES)
    braid_targets(needed ${dep})
    if(NOT TARGET ${needed})                              # folders are added lowest layer first
      message(FATAL_ERROR "layering: '${name}' may not depend on '${dep}'")
    endif()
  endforeach()
  braid_targets(deps ${arg_DEPS})
  braid_targets(uses ${arg_USES})
  target_link_libraries(${target} PUBLIC ${deps} PRIVATE ${uses})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
  if(BRAID_SANITIZE)
    braid_precompile(${target} braid_pch)
  elseif(BRAID_UNITY_MODULES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_property(GLOBAL APPEND PROPERTY BRAID_MODULES ${target})
  set_property(TARGET ${target} PROPERTY BRAID_LIBS ${arg_LIBS})
  # A source file includes its own header first (tests/layering), which proves that header where
  # each is compiled alone.
  set(unproved ${arg_HEADERS})
  if(NOT BRAID_UNITY_MODULES)
    foreach(source IN LISTS arg_SOURCES)
      string(REGEX REPLACE "[.]cpp$" ".hpp" proved ${source})
      list(REMOVE_ITEM unproved ${proved})
    endforeach()
  endif()
  list(TRANSFORM unproved PREPEND braid/${name}/)
  if(NOT arg_SOURCES)
    braid_probe_headers(${target} ${unproved})
  elseif(unproved AND NOT BRAID_SANITIZE)                 # once is enough: sanitizer builds are lean
    add_library(${target}_probes OBJECT)                  # apart: who builds the program needs none
    target_compile_options(${target}_probes PRIVATE ${BRAID_WARNINGS})
    target_link_libraries(${target}_probes PRIVATE ${target} ${uses} ${arg_LIBS})
    braid_probe_headers(${target}_probes ${unproved})
    add_dependencies(header_probes ${target}_probes)
    if(BRAID_UNITY_MODULES)                               # all headers, for minutes: left to `make test-long`
      set_target_properties(${target}_probes PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endif()
endfunction()

# Every header must compile on its own.
function(braid_probe_headers target)
  foreach(header IN LISTS ARGN)
    set(probe ${PROJECT_BINARY_DIR}/probe/${header}.cpp)
    file(CONFIGURE OUTPUT ${probe} CONTENT "#include \"${header}\"\n")
    target_sources(${target} PRIVATE ${probe})
    set_source_files_properties(${probe} PROPERTIES COMPILE_OPTIONS "-O0"
                                SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# A test program of one folder: tests/<name>/*_test.cpp, run by ctest as `<name>`.
#   MODULES: folders whose headers the tests include    LABELS: ctest labels (slow, concurrency, fuzz, memory)
#   SHARDS: run as so many parts side by side, <name>_1 and so on    COST: seconds; the longest begin first
function(braid_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS;COST" "SOURCES;MODULES;LIBS;LABELS;ENVIRONMENT")
  add_executable(${name}_test ${arg_SOURCES})
  target_compile_options(${name}_test PRIVATE ${BRAID_TEST_OPTIONS})
  braid_targets(modules ${arg_MODULES})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE braid_api ${modules} ${arg_LIBS} GTest::gtest_main)
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD ${BRAID_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  braid_precompile(${name}_test braid_test_pch)
  if(NOT arg_COST)
    set(arg_COST 1)
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(test ${name})
    set(environment ${arg_ENVIRONMENT})
    if(arg_SHARDS GREATER 1)
      math(EXPR index "${shard} - 1")
      set(test ${name}_${shard})
      list(APPEND environment GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index})
    endif()
    add_test(NAME ${test} COMMAND ${BRAID_TEST_LAUNCHER} $<TARGET_FILE:${name}_test>)
    set_tests_properties(${test} PROPERTIES TIMEOUT 600 LABELS "unit;${arg_LABELS}" COST ${arg_COST}
                         ENVIRONMENT "${environment}")
  endforeach()
  foreach(label IN LISTS arg_LABELS)                      # ninja slow_tests builds those, and so on
    add_dependencies(${label}_tests ${name}_test)
  endforeach()
  if(NOT "slow" IN_LIST arg_LABELS)
    add_dependencies(unit_tests ${name}_test)
  endif()
endfunction()

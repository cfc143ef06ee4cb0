# Third-party packages, all from Debian (tools/setup installs them). Each is named by one folder only.
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
find_package(simdjson REQUIRED)                         # src/json
find_package(CURL REQUIRED)                             # src/net/client
find_package(Boost 1.81 REQUIRED)                       # src/net/http: Asio and Beast, headers only
find_package(OpenSSL REQUIRED)                          # src/core, src/net/http

if(BRAID_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)  # any: these tests need its library only
endif()
if(BRAID_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
if(BRAID_PYTHON_BINDINGS)                               # bindings/python says so where one is missing
  if(NOT DEFINED Python_EXECUTABLE)
    set(Python_EXECUTABLE ${BRAID_PYTHON})
  endif()
  find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
  if(Python_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT ERROR_QUIET)
    find_package(nanobind CONFIG)
  endif()
endif()
include(braid_plain_library)
braid_plain_library(utf8proc::utf8proc utf8proc.h utf8proc)      # src/text, src/embed
braid_plain_library(stemmer::stemmer libstemmer.h stemmer)       # src/text
braid_plain_library(zstd::zstd zstd.h zstd)                      # src/docs, src/ingest
braid_plain_library(zlib::zlib zlib.h z)                         # src/ingest
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)                      # src/core, header only
add_library(xxhash::xxhash INTERFACE IMPORTED)
set_target_properties(xxhash::xxhash PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${XXHASH_INCLUDE})

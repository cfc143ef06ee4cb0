#include <string>
#include <vector>

#include "braid/cli/program.hpp"

int main(int count, char** arguments) {
    return braid::cli::run_program(std::vector<std::string>(arguments + 1, arguments + count));
}

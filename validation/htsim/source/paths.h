// The paths that Pathweave draws, as a file has them.
#pragma once

#include <string>
#include <vector>

namespace permutation
{

// Names of nodes in order, both hosts included.
using Path = std::vector<std::string>;

struct SubflowPaths
{
    Path data;
    Path acknowledgements;
};

// Two lines for each subflow. Ends the program with a message when the file is not of this form.
std::vector<SubflowPaths> ReadPaths(const std::string& file);

} // namespace permutation

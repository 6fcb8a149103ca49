#include "paths.h"

#include "settings.h"

#include <fstream>
#include <sstream>

namespace permutation
{

namespace
{

Path
ReadPath(const std::string& place, const std::string& line)
{
    std::istringstream words(line);
    Path path;
    for (std::string name; words >> name;)
    {
        path.push_back(name);
    }
    if (path.size() < 2)
    {
        Refuse(place + ": a path of fewer than two nodes");
    }
    return path;
}

} // namespace

std::vector<SubflowPaths>
ReadPaths(const std::string& file)
{
    std::ifstream input(file);
    if (!input)
    {
        Refuse("cannot read " + file);
    }
    std::vector<SubflowPaths> subflows;
    size_t number = 0;
    for (std::string line; std::getline(input, line);)
    {
        ++number;
        const std::string place = file + ":" + std::to_string(number);
        const Path path = ReadPath(place, line);
        if (number % 2 == 1)
        {
            subflows.push_back({path, {}});
            continue;
        }
        SubflowPaths& subflow = subflows.back();
        subflow.acknowledgements = path;
        if (path.front() != subflow.data.back() || path.back() != subflow.data.front())
        {
            Refuse(place + ": the acknowledgements do not lead back to the sender");
        }
    }
    if (number == 0 || number % 2 != 0)
    {
        Refuse(file + ": expected two lines for each subflow, of its data and its acknowledgements");
    }
    return subflows;
}

} // namespace permutation

#include "pathweave_rules.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

namespace validation
{

const std::vector<PathweaveRule>&
PathweaveRules()
{
    static const std::vector<PathweaveRule> rules{
        {"clear-count", "validation::VariedDctcp::ClearsCount"},
        {"alpha-first", "validation::VariedDctcp::AlphaFirst"},
        {"smooth-growth", "validation::VariedDctcp::GrowsSmoothly"},
        {"round-beyond", "validation::VariedDctcp::RoundEndsBeyond"},
        {"two-packets", "validation::VariedDctcp::KeepsTwoPackets"},
        {"ack-before-change", "validation::VariedDctcp::AcknowledgesBefore"},
        {"count-once", "validation::VariedPrr::CountsOnce"},
        {"flight-before", "validation::VariedPrr::FlightBefore"},
        {"whole-packets", "validation::VariedPrr::WholePackets"},
        {"one-packet-more", "validation::VariedPrr::OnePacketMore"},
    };
    return rules;
}

std::string
PathweaveRuleNames()
{
    std::string names;
    for (const PathweaveRule& rule : PathweaveRules())
    {
        names += names.empty() ? rule.name : "," + rule.name;
    }
    return names;
}

std::vector<PathweaveRule>
PathweaveRulesOf(const std::string& list)
{
    std::vector<PathweaveRule> chosen;
    if (list == "none")
    {
        return chosen;
    }
    std::istringstream names(list == "all" ? PathweaveRuleNames() : list);
    for (std::string name; std::getline(names, name, ',');)
    {
        const auto rule =
            std::find_if(PathweaveRules().begin(), PathweaveRules().end(), [&](const PathweaveRule& candidate) {
                return candidate.name == name;
            });
        if (rule == PathweaveRules().end())
        {
            std::cerr << "comparison: --pathweave-rules: no rule " << name << "; there are "
                      << PathweaveRuleNames() << '\n';
            std::exit(2);
        }
        chosen.push_back(*rule);
    }
    return chosen;
}

} // namespace validation

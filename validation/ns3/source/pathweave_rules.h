// The points in which ns-3's congestion control can follow the rule that Pathweave has, Linux's or an
// RFC's, to explain differences.
#pragma once

#include <string>
#include <vector>

namespace validation
{

struct PathweaveRule
{
    // What --pathweave-rules calls it.
    std::string name;
    // The attribute of VariedDctcp or VariedPrr that switches it on; what it means stands there.
    std::string attribute;
};

// All of them.
const std::vector<PathweaveRule>& PathweaveRules();

// Their names, with commas between them.
std::string PathweaveRuleNames();

// Those that a list with commas names; "all" stands for all, and "none" for
// none of them, which is ns-3 as it is, in the code that can be varied. Ends the program with a message when it
// does not know a name.
std::vector<PathweaveRule> PathweaveRulesOf(const std::string& list);

} // namespace validation

// What a run depends on, with defaults.
#pragma once

#include <cstdint>
#include <string>

namespace permutation
{

struct Settings
{
    // The file with the paths: for each subflow a line with the nodes that its data pass and one with
    // those that its acknowledgements pass.
    std::string paths;
    // "dctcp", or "lia": htsim's COUPLED_INC over connections of several subflows.
    std::string controller{"dctcp"};
    // This many subflows that follow each other in the file are one connection.
    uint32_t subflows{1};
    uint32_t seed{1};
    uint64_t stopAtNanoseconds{20'000'000};
    uint64_t linkRateMbps{1000};
    uint64_t linkDelayNanoseconds{10'000};
    // Packets that wait at a port at most, the one that is being sent not counted.
    uint32_t queueLimitPackets{100};
    // A packet that leaves more than this many behind it is marked; 0 for ports that do not mark.
    uint32_t markingThresholdPackets{0};
    // Size of a data packet on the wire, which is also its payload: htsim has no headers.
    uint32_t packetBytes{1500};
    // Counting slows a run down a little, so that runs that are timed go without.
    bool countHops{false};
};

// Ends the program with exit code 2 and a message when an option is unknown or makes no sense.
Settings ParseCommandLine(int argumentCount, char** arguments);

// Ends the program with exit code 2 and this message.
[[noreturn]] void Refuse(const std::string& message);

} // namespace permutation

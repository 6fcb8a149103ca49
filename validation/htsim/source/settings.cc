#include "settings.h"

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <map>

namespace permutation
{

namespace
{

constexpr const char* kUsage =
    R"(usage: permutation --paths=FILE [OPTION...]

Unlimited flows on given paths, in htsim; prints what the run cost as one line of JSON.

  --paths=FILE             two lines for each subflow: the nodes on its data's
                           path, and on that of its acknowledgements
  --controller=NAME        dctcp (default), or lia
  --subflows=N             subflows of a connection (1)
  --seed=N                 seed of rand() (1)
  --stop-at-ns=TIME        length of the run (20000000)
  --link-rate-mbps=RATE    rate of every link (1000)
  --link-delay-ns=TIME     one-way delay of every link (10000)
  --queue-limit=PACKETS    packets that wait at a port at most (100)
  --marking-threshold=PACKETS
                           ports mark above it; 0 for none (0)
  --packet=BYTES           size of a data packet (1500)
  --count-hops             count packet-hops, for runs that are not timed
)";

uint64_t
WholeNumber(const std::string& option, const std::string& text, uint64_t least, uint64_t most)
{
    const bool digits =
        !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    errno = 0;
    const uint64_t value = digits ? std::strtoull(text.c_str(), nullptr, 10) : 0;
    if (!digits || errno != 0 || value < least || value > most)
    {
        Refuse(option + "=" + text + ": expected a whole number from " + std::to_string(least) +
               " to " + std::to_string(most));
    }
    return value;
}

} // namespace

void
Refuse(const std::string& message)
{
    std::cerr << "permutation: " << message << '\n';
    std::exit(2);
}

Settings
ParseCommandLine(int argumentCount, char** arguments)
{
    Settings settings;
    constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();
    constexpr uint64_t kMostTime = 1'000'000'000'000; // 1,000 s
    // htsim keeps a packet's size in 16 bits.
    constexpr uint64_t kMostBytes = std::numeric_limits<uint16_t>::max();
    const auto number32 = [](uint32_t& target, uint64_t least, uint64_t most) {
        return [&target, least, most](const std::string& option, const std::string& text) {
            target = static_cast<uint32_t>(WholeNumber(option, text, least, most));
        };
    };
    const auto number64 = [](uint64_t& target, uint64_t least, uint64_t most) {
        return [&target, least, most](const std::string& option, const std::string& text) {
            target = WholeNumber(option, text, least, most);
        };
    };
    const std::map<std::string, std::function<void(const std::string&, const std::string&)>>
        options{
            {"--paths", [&](const auto&, const auto& text) { settings.paths = text; }},
            {"--controller", [&](const auto&, const auto& text) { settings.controller = text; }},
            {"--subflows", number32(settings.subflows, 1, 64)},
            {"--seed", number32(settings.seed, 0, kMost32)},
            {"--stop-at-ns", number64(settings.stopAtNanoseconds, 1, kMostTime)},
            {"--link-rate-mbps", number64(settings.linkRateMbps, 1, 1'000'000)},
            {"--link-delay-ns", number64(settings.linkDelayNanoseconds, 1, kMostTime)},
            {"--queue-limit", number32(settings.queueLimitPackets, 1, 1'000'000)},
            {"--marking-threshold", number32(settings.markingThresholdPackets, 0, 1'000'000)},
            {"--packet", number32(settings.packetBytes, 2, kMostBytes)},
        };
    for (int index = 1; index < argumentCount; ++index)
    {
        const std::string argument = arguments[index];
        if (argument == "--help")
        {
            std::cout << kUsage;
            std::exit(0);
        }
        if (argument == "--count-hops")
        {
            settings.countHops = true;
            continue;
        }
        const size_t equals = argument.find('=');
        const auto option = options.find(argument.substr(0, equals));
        if (option == options.end() || equals == std::string::npos)
        {
            Refuse("unknown option " + argument + "; --help lists them");
        }
        option->second(option->first, argument.substr(equals + 1));
    }
    if (settings.paths.empty())
    {
        Refuse("--paths=FILE is missing");
    }
    if (settings.controller != "dctcp" && settings.controller != "lia")
    {
        Refuse("--controller=" + settings.controller + ": expected dctcp or lia");
    }
    if (settings.controller == "dctcp" && settings.subflows != 1)
    {
        Refuse("--subflows=" + std::to_string(settings.subflows) +
               ": htsim's DCTCP is not coupled; only lia takes several");
    }
    return settings;
}

} // namespace permutation

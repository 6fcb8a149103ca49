#include "settings.h"

#include "pathweave_rules.h"

#include "ns3/command-line.h"

#include <cstdlib>
#include <initializer_list>
#include <iostream>

namespace validation
{

namespace
{

constexpr uint32_t kInternetHeaderBytes = 20;
constexpr uint32_t kTransportHeaderBytes = 20;
constexpr uint32_t kTimestampOptionBytes = 12; // 10, padded to whole words
constexpr uint32_t kPointToPointHeaderBytes = 2;
constexpr uint32_t kLargestInternetPacketBytes = 1500;

uint32_t
HeaderWireBytes(const Settings& settings)
{
    return kInternetHeaderBytes + kTransportHeaderBytes +
           (settings.timestamps ? kTimestampOptionBytes : 0) + kPointToPointHeaderBytes;
}

void
Require(bool condition, const std::string& message)
{
    if (!condition)
    {
        std::cerr << "comparison: " << message << '\n';
        std::exit(2);
    }
}

void
RequireOneOf(const std::string& option,
             const std::string& value,
             std::initializer_list<const char*> accepted)
{
    std::string list;
    for (const char* candidate : accepted)
    {
        if (value == candidate)
        {
            return;
        }
        list += list.empty() ? candidate : std::string(", ") + candidate;
    }
    Require(false, "--" + option + "=" + value + ": expected one of " + list);
}

} // namespace

bool
Settings::IsDctcp() const
{
    return controller == "dctcp";
}

uint32_t
Settings::DataPacketWireBytes() const
{
    return segmentBytes + HeaderWireBytes(*this);
}

uint32_t
Settings::AcknowledgementWireBytes() const
{
    return HeaderWireBytes(*this);
}

double
Settings::WireCeilingBitsPerSecond() const
{
    return static_cast<double>(linkRate.GetBitRate()) * segmentBytes / DataPacketWireBytes();
}

ns3::Time
Settings::BaseRoundTripTime(uint32_t links) const
{
    const ns3::Time oneLinkBothWays =
        linkDelay + linkRate.CalculateBytesTxTime(DataPacketWireBytes()) + linkDelay +
        linkRate.CalculateBytesTxTime(AcknowledgementWireBytes());
    return oneLinkBothWays * static_cast<int64_t>(links);
}

Settings
ParseCommandLine(int argumentCount, char** arguments)
{
    Settings settings;
    ns3::CommandLine commandLine;
    commandLine.Usage("TCP flows over a network; prints what was measured as JSON.");
    commandLine.AddValue("case", "name of the case, copied to the result", settings.caseName);
    commandLine.AddValue("network", "dumbbell or routed", settings.network);
    commandLine.AddValue("flows", "number of flows on the dumbbell, 1 or 2", settings.flows);
    commandLine.AddValue("paths",
                         "file with the paths of a routed network: two lines for each flow",
                         settings.paths);
    commandLine.AddValue("report", "full, or cost: CPU time and packet-hops alone", settings.report);
    commandLine.AddValue("count-hops", "count packet-hops in a report of the cost", settings.countHops);
    commandLine.AddValue("seed", "seed of the start offsets", settings.seed);
    commandLine.AddValue("start-jitter", "upper end of the start offsets", settings.startJitter);
    commandLine.AddValue("second-flow-start",
                         "when the second flow starts, before its offset",
                         settings.secondFlowStart);
    commandLine.AddValue("measure-from",
                         "start of the measurement window, which ends with the run",
                         settings.measureFrom);
    commandLine.AddValue("stop-at", "length of the run", settings.stopAt);
    commandLine.AddValue("series-bin", "bin of the goodput series", settings.seriesBin);
    commandLine.AddValue("link-rate", "rate of every link", settings.linkRate);
    commandLine.AddValue("link-delay", "one-way delay of every link", settings.linkDelay);
    commandLine.AddValue("first-extra-delay",
                         "what the link of the first sender has more",
                         settings.firstExtraDelay);
    commandLine.AddValue("second-extra-delay",
                         "what the link of the second sender has more",
                         settings.secondExtraDelay);
    commandLine.AddValue("order-jitter",
                         "upper end of what a data packet takes more on its host's link",
                         settings.orderJitter);
    commandLine.AddValue("queue", "step-marking or drop-tail", settings.queue);
    commandLine.AddValue("queue-limit", "packets that a queue holds", settings.queueLimitPackets);
    commandLine.AddValue("marking-threshold",
                         "packets in the queue from which step-marking marks",
                         settings.markingThresholdPackets);
    commandLine.AddValue("controller", "dctcp, linux-reno or new-reno", settings.controller);
    commandLine.AddValue("pathweave-rules",
                         "where DCTCP and PRR follow Pathweave's rule: all, none, or some of " +
                             PathweaveRuleNames() + ", with commas between them",
                         settings.pathweaveRules);
    commandLine.AddValue("recovery", "prr or classic", settings.recovery);
    commandLine.AddValue("sack",
                         "selective acknowledgements",
                         settings.selectiveAcknowledgements);
    commandLine.AddValue("timestamps", "TCP's timestamp option", settings.timestamps);
    commandLine.AddValue("segment", "payload of a data packet, bytes", settings.segmentBytes);
    commandLine.AddValue("initial-window", "packets", settings.initialWindowPackets);
    commandLine.AddValue("initial-slow-start-threshold",
                         "bytes; 0 for none",
                         settings.initialSlowStartThresholdBytes);
    commandLine.AddValue("acknowledge-every", "packets", settings.acknowledgeEvery);
    commandLine.AddValue("acknowledge-timeout",
                         "longest delay of an acknowledgement",
                         settings.acknowledgeTimeout);
    commandLine.AddValue("minimum-retransmission-timeout",
                         "lower bound of the retransmission timer",
                         settings.minimumRetransmissionTimeout);
    commandLine.AddValue("socket-buffer",
                         "send and receive buffers, bytes",
                         settings.socketBufferBytes);
    commandLine.Parse(argumentCount, arguments);

    RequireOneOf("network", settings.network, {"dumbbell", "routed"});
    Require(settings.flows == 1 || settings.flows == 2, "--flows: expected 1 or 2");
    Require((settings.network == "routed") == !settings.paths.empty(),
            "--network=routed and --paths go together");
    RequireOneOf("report", settings.report, {"full", "cost"});
    Require(settings.report == "full" || settings.network == "routed",
            "--report=cost needs --network=routed");
    Require(!settings.countHops || settings.report == "cost", "--count-hops needs --report=cost");
    RequireOneOf("queue", settings.queue, {"step-marking", "drop-tail"});
    RequireOneOf("controller",
                 settings.controller,
                 {"dctcp", "linux-reno", "new-reno"});
    PathweaveRulesOf(settings.pathweaveRules);
    RequireOneOf("recovery", settings.recovery, {"prr", "classic"});
    Require(!settings.IsDctcp() || settings.queue == "step-marking",
            "dctcp needs --queue=step-marking");
    Require(settings.measureFrom < settings.stopAt, "--measure-from must be before --stop-at");
    Require(settings.seriesBin.IsStrictlyPositive(), "--series-bin must be positive");
    Require(settings.startJitter.IsPositive(), "--start-jitter must not be negative");
    Require(settings.orderJitter.IsPositive(), "--order-jitter must not be negative");
    Require(settings.segmentBytes > 0, "--segment must be positive");
    Require(settings.DataPacketWireBytes() - kPointToPointHeaderBytes <= kLargestInternetPacketBytes,
            "--segment: the packet would be split (at most 1448 bytes fit beside timestamps, "
            "1460 without)");
    return settings;
}

} // namespace validation

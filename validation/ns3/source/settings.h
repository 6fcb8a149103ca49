// Everything that a run depends on, with the defaults that the README states.
#pragma once

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>

namespace validation
{

struct Settings
{
    // Names the case in the result; it changes nothing in the run.
    std::string caseName{"unnamed"};

    // "dumbbell" or "routed".
    std::string network{"dumbbell"};
    // The number of flows on the dumbbell, 1 or 2.
    uint32_t flows{2};
    // The file with the paths of a routed network.
    std::string paths;
    // "full": all that is measured. "cost": what the run cost and nothing else, with no monitors at
    // the ports.
    std::string report{"full"};
    // Whether a report of the cost counts packet-hops, which slows the run down a little.
    bool countHops{false};

    // Each seed gives the flows other start offsets, drawn uniformly from [0, startJitter).
    uint32_t seed{1};
    ns3::Time startJitter{ns3::MicroSeconds(225)};
    ns3::Time secondFlowStart{ns3::Seconds(0)};
    ns3::Time measureFrom{ns3::Seconds(1)};
    ns3::Time stopAt{ns3::Seconds(6)};
    ns3::Time seriesBin{ns3::MilliSeconds(1)};

    ns3::DataRate linkRate{"1Gbps"};
    ns3::Time linkDelay{ns3::NanoSeconds(31250)};
    // What the links of the two senders have more. Zero leaves the network symmetric, so that
    // packets of both flows reach the bottleneck at the same instants.
    ns3::Time firstExtraDelay{ns3::Seconds(0)};
    ns3::Time secondExtraDelay{ns3::Seconds(0)};
    // Each data packet takes up to this much more on its host's link, drawn again each time. A few
    // nanoseconds draw the order of packets that would reach a port at the same instant, as
    // Pathweave does. On all links, and for acknowledgements, they would add up to an offset that
    // the packets which one acknowledgement releases have in common.
    ns3::Time orderJitter{ns3::Seconds(0)};

    // "step-marking" or "drop-tail", at every port of the network.
    std::string queue{"step-marking"};
    uint32_t queueLimitPackets{100};
    uint32_t markingThresholdPackets{20};

    // "dctcp", "linux-reno" or "new-reno".
    std::string controller{"dctcp"};
    // Points in which DCTCP and PRR follow Pathweave's rule instead of ns-3's, with commas between
    // them (pathweave_rules.h).
    std::string pathweaveRules;
    // "prr" (RFC 6937) or "classic" (the inflated window of RFC 6582).
    std::string recovery{"prr"};
    bool selectiveAcknowledgements{true};
    // ns-3's timestamps count milliseconds, and so would the round-trip times that it takes from
    // them.
    bool timestamps{false};

    uint32_t segmentBytes{1460};
    uint32_t initialWindowPackets{10};
    // Zero for none: slow start then ends with the first loss or mark.
    uint32_t initialSlowStartThresholdBytes{0};
    uint32_t acknowledgeEvery{2};
    ns3::Time acknowledgeTimeout{ns3::MilliSeconds(40)};
    ns3::Time minimumRetransmissionTimeout{ns3::MilliSeconds(200)};
    // More than a link carries while a sender waits for its retransmission timer, so that a
    // receiver which misses one packet never limits the sender.
    uint32_t socketBufferBytes{32'000'000};

    bool IsDctcp() const;

    // Bytes that a full data packet occupies on the wire: segment, TCP, IPv4 and PPP headers.
    uint32_t DataPacketWireBytes() const;

    // Bytes of an acknowledgement that reports no gap.
    uint32_t AcknowledgementWireBytes() const;

    // Goodput, in bit/s, of a link that carries full data packets back to back.
    double WireCeilingBitsPerSecond() const;

    // Round trip of one full data packet and its acknowledgement through empty queues, over so
    // many links each way.
    ns3::Time BaseRoundTripTime(uint32_t links) const;
};

// Ends the program with a message when a value makes no sense.
Settings ParseCommandLine(int argumentCount, char** arguments);

} // namespace validation

// The network: two senders, two routers and two receivers.
//
//     sender 1 ──┐                                ┌── receiver 1
//                left router ── bottleneck ── right router
//     sender 2 ──┘                                └── receiver 2
#pragma once

#include "settings.h"

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"

#include <array>

namespace validation
{

constexpr size_t kFlows = 2;

// An output port; the discipline is null under drop-tail.
struct Port
{
    ns3::Ptr<ns3::PointToPointNetDevice> device;
    ns3::Ptr<ns3::QueueDisc> discipline;
};

struct Host
{
    ns3::Ptr<ns3::Node> node;
    ns3::Ipv4Address address;
    Port port;
};

struct Dumbbell
{
    std::array<Host, kFlows> senders;
    std::array<Host, kFlows> receivers;
    Port bottleneck;
};

// Sets the defaults of every TCP socket; call it before any node exists.
void ConfigureTransport(const Settings& settings);

Dumbbell BuildDumbbell(const Settings& settings);

} // namespace validation

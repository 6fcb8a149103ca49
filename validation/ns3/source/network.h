// What a network offers to the flows and to the monitors, whatever its shape.
#pragma once

#include "settings.h"

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"

#include <string>
#include <vector>

namespace validation
{

// An output port, named as Pathweave names the link behind it; the discipline is null under
// drop-tail.
struct Port
{
    std::string name;
    ns3::Ptr<ns3::PointToPointNetDevice> device;
    ns3::Ptr<ns3::QueueDisc> discipline;
};

// The two ends of a flow. Its data leave from the sender's address and its acknowledgements from
// the receiver's.
struct FlowEnds
{
    ns3::Ptr<ns3::Node> sender;
    ns3::Ipv4Address senderAddress;
    ns3::Ptr<ns3::Node> receiver;
    ns3::Ipv4Address receiverAddress;
};

struct Network
{
    std::vector<FlowEnds> flows;
    // The ports that are monitored.
    std::vector<Port> ports;
};

} // namespace validation

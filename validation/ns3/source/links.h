// Links with a queue at both ends.
#pragma once

#include "network.h"
#include "settings.h"

#include "ns3/net-device-container.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traffic-control-helper.h"

#include <array>
#include <string>

namespace validation
{

// A node and the name that Pathweave has for it.
struct NamedNode
{
    ns3::Ptr<ns3::Node> node;
    std::string name;
};

// The devices at the two ends of a link, and their output ports.
struct Link
{
    ns3::NetDeviceContainer devices;
    std::array<Port, 2> ports;
};

class LinkBuilder
{
  public:
    explicit LinkBuilder(const Settings& settings);

    // Both nodes must have an internet stack.
    Link Connect(const NamedNode& left, const NamedNode& right, ns3::Time delay);

  private:
    // Gives each data packet that a host sends a delay of its own.
    void DrawOrder(const ns3::NetDeviceContainer& devices, ns3::Time delay);

    bool m_marks;
    ns3::Time m_orderJitter;
    uint32_t m_segmentBytes;
    ns3::Ptr<ns3::UniformRandomVariable> m_draw;
    ns3::PointToPointHelper m_links;
    ns3::TrafficControlHelper m_disciplines;
};

} // namespace validation

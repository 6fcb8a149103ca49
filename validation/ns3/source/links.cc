#include "links.h"

#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/double.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

namespace validation
{

LinkBuilder::LinkBuilder(const Settings& settings)
    : m_marks(settings.queue == "step-marking"),
      m_orderJitter(settings.orderJitter),
      m_segmentBytes(settings.segmentBytes),
      m_draw(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_draw->SetStream(1);
    m_links.SetDeviceAttribute("DataRate", ns3::DataRateValue(settings.linkRate));

    const ns3::QueueSize limit(ns3::QueueSizeUnit::PACKETS, settings.queueLimitPackets);
    if (m_marks)
    {
        // A longer device queue would hide the backlog from the discipline that marks.
        m_links.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("1p"));
        // Gentle would spread marking over K to 2 K; a weight of 1 is the instantaneous
        // queue, and equal thresholds make a step of it.
        const ns3::DoubleValue threshold(settings.markingThresholdPackets);
        m_disciplines.SetRootQueueDisc("ns3::RedQueueDisc",
                                       "MaxSize",
                                       ns3::QueueSizeValue(limit),
                                       "MinTh",
                                       threshold,
                                       "MaxTh",
                                       threshold,
                                       "QW",
                                       ns3::DoubleValue(1.0),
                                       "Gentle",
                                       ns3::BooleanValue(false),
                                       "UseEcn",
                                       ns3::BooleanValue(true),
                                       "UseHardDrop",
                                       ns3::BooleanValue(false),
                                       "MeanPktSize",
                                       ns3::UintegerValue(settings.DataPacketWireBytes()),
                                       "LinkBandwidth",
                                       ns3::DataRateValue(settings.linkRate),
                                       "LinkDelay",
                                       ns3::TimeValue(settings.linkDelay));
    }
    else
    {
        m_links.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::QueueSizeValue(limit));
        // Without flow control ns-3 puts no discipline before the device queue.
        m_links.DisableFlowControl();
    }
}

void
LinkBuilder::DrawOrder(const ns3::NetDeviceContainer& devices, ns3::Time delay)
{
    for (uint32_t end = 0; end < devices.GetN(); ++end)
    {
        const ns3::Ptr<ns3::NetDevice> device = devices.Get(end);
        // The device says that a packet begins to leave before it asks the channel for the delay.
        const ns3::Callback<void, ns3::Ptr<const ns3::Packet>> draw =
            [device, delay, variable = m_draw, jitter = m_orderJitter, data = m_segmentBytes](
                ns3::Ptr<const ns3::Packet> packet) {
                // A host has its link and the loopback.
                const bool drawn =
                    device->GetNode()->GetNDevices() <= 2 && packet->GetSize() >= data;
                const auto most = static_cast<uint32_t>(drawn ? jitter.GetNanoSeconds() : 0);
                const ns3::Time extra = ns3::NanoSeconds(variable->GetInteger(0, most));
                device->GetChannel()->SetAttribute("Delay", ns3::TimeValue(delay + extra));
            };
        device->TraceConnectWithoutContext("PhyTxBegin", draw);
    }
}

Link
LinkBuilder::Connect(const NamedNode& left, const NamedNode& right, ns3::Time delay)
{
    m_links.SetChannelAttribute("Delay", ns3::TimeValue(delay));
    Link link;
    link.devices = m_links.Install(left.node, right.node);
    if (m_marks)
    {
        m_disciplines.Install(link.devices);
    }
    if (m_orderJitter.IsStrictlyPositive())
    {
        DrawOrder(link.devices, delay);
    }
    const std::array<std::string, 2> names{left.name + "->" + right.name,
                                           right.name + "->" + left.name};
    for (uint32_t end = 0; end < 2; ++end)
    {
        const auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(link.devices.Get(end));
        const auto trafficControl = device->GetNode()->GetObject<ns3::TrafficControlLayer>();
        link.ports[end] = {names[end], device, trafficControl->GetRootQueueDiscOnDevice(device)};
    }
    return link;
}

} // namespace validation

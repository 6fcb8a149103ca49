#include "dumbbell.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <string>

namespace validation
{

namespace
{

ns3::TypeId
ControllerType(const std::string& name)
{
    if (name == "dctcp")
    {
        return ns3::TcpDctcp::GetTypeId();
    }
    return name == "linux-reno" ? ns3::TcpLinuxReno::GetTypeId() : ns3::TcpNewReno::GetTypeId();
}

// The output ports at the two ends of a link, and the addresses of these ends.
struct Link
{
    std::array<Port, 2> ports;
    std::array<ns3::Ipv4Address, 2> addresses;
};

class LinkBuilder
{
  public:
    explicit LinkBuilder(const Settings& settings)
        : m_marks(settings.queue == "step-marking")
    {
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
        m_addresses.SetBase("10.0.0.0", "255.255.255.0");
    }

    Link Connect(ns3::Ptr<ns3::Node> left, ns3::Ptr<ns3::Node> right, ns3::Time delay)
    {
        m_links.SetChannelAttribute("Delay", ns3::TimeValue(delay));
        const ns3::NetDeviceContainer devices = m_links.Install(left, right);
        if (m_marks)
        {
            m_disciplines.Install(devices);
        }
        const ns3::Ipv4InterfaceContainer interfaces = m_addresses.Assign(devices);
        m_addresses.NewNetwork();
        Link link;
        for (uint32_t end = 0; end < 2; ++end)
        {
            const auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(end));
            const auto trafficControl = device->GetNode()->GetObject<ns3::TrafficControlLayer>();
            link.ports[end] = {device, trafficControl->GetRootQueueDiscOnDevice(device)};
            link.addresses[end] = interfaces.GetAddress(end);
        }
        return link;
    }

  private:
    bool m_marks;
    ns3::PointToPointHelper m_links;
    ns3::TrafficControlHelper m_disciplines;
    ns3::Ipv4AddressHelper m_addresses;
};

} // namespace

void
ConfigureTransport(const Settings& settings)
{
    using ns3::Config::SetDefault;

    const ns3::TypeId recovery = settings.recovery == "prr"
                                     ? ns3::TcpPrrRecovery::GetTypeId()
                                     : ns3::TcpClassicRecovery::GetTypeId();
    SetDefault("ns3::TcpL4Protocol::SocketType",
               ns3::TypeIdValue(ControllerType(settings.controller)));
    SetDefault("ns3::TcpL4Protocol::RecoveryType", ns3::TypeIdValue(recovery));
    SetDefault("ns3::TcpSocketBase::UseEcn",
               ns3::EnumValue(settings.controller == "dctcp" ? ns3::TcpSocketState::On
                                                             : ns3::TcpSocketState::Off));
    SetDefault("ns3::TcpSocketBase::Sack", ns3::BooleanValue(settings.selectiveAcknowledgements));
    SetDefault("ns3::TcpSocketBase::Timestamp", ns3::BooleanValue(settings.timestamps));
    SetDefault("ns3::TcpSocketBase::MinRto",
               ns3::TimeValue(settings.minimumRetransmissionTimeout));
    SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(settings.segmentBytes));
    SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(settings.initialWindowPackets));
    if (settings.initialSlowStartThresholdBytes > 0)
    {
        SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                   ns3::UintegerValue(settings.initialSlowStartThresholdBytes));
    }
    SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(settings.acknowledgeEvery));
    SetDefault("ns3::TcpSocket::DelAckTimeout", ns3::TimeValue(settings.acknowledgeTimeout));
    SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(settings.socketBufferBytes));
    SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(settings.socketBufferBytes));
}

Dumbbell
BuildDumbbell(const Settings& settings)
{
    ns3::NodeContainer senders;
    senders.Create(kFlows);
    ns3::NodeContainer receivers;
    receivers.Create(kFlows);
    ns3::NodeContainer routers;
    routers.Create(2);
    const ns3::Ptr<ns3::Node> leftRouter = routers.Get(0);
    const ns3::Ptr<ns3::Node> rightRouter = routers.Get(1);

    ns3::InternetStackHelper internet;
    internet.Install(senders);
    internet.Install(receivers);
    internet.Install(routers);

    LinkBuilder links(settings);
    Dumbbell dumbbell;
    dumbbell.bottleneck = links.Connect(leftRouter, rightRouter, settings.linkDelay).ports[0];
    for (uint32_t flow = 0; flow < kFlows; ++flow)
    {
        const ns3::Time extraDelay =
            flow == 0 ? settings.firstExtraDelay : settings.secondExtraDelay;
        const Link access =
            links.Connect(senders.Get(flow), leftRouter, settings.linkDelay + extraDelay);
        dumbbell.senders[flow] = {senders.Get(flow), access.addresses[0], access.ports[0]};
        const Link egress = links.Connect(rightRouter, receivers.Get(flow), settings.linkDelay);
        dumbbell.receivers[flow] = {receivers.Get(flow), egress.addresses[1], egress.ports[1]};
    }
    ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return dumbbell;
}

} // namespace validation

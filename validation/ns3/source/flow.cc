#include "flow.h"

#include "ns3/inet-socket-address.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-factory.h"

namespace validation
{

namespace
{

constexpr uint16_t kReceiverPort = 5001;

} // namespace

Flow::Flow(const Settings& settings,
           MeasurementWindow window,
           const FlowEnds& ends,
           ns3::Time start)
    : m_segmentBytes(settings.segmentBytes),
      m_seriesBin(settings.seriesBin),
      m_window(window),
      m_ends(ends),
      m_start(start),
      m_smoothedRoundTripTime(window)
{
    const ns3::InetSocketAddress listening(ns3::Ipv4Address::GetAny(), kReceiverPort);
    ns3::PacketSinkHelper sinkHelper("ns3::TcpSocketFactory", listening);
    const ns3::ApplicationContainer sinks = sinkHelper.Install(ends.receiver);
    sinks.Get(0)->TraceConnectWithoutContext("Rx", ns3::MakeCallback(&Flow::OnDelivered, this));

    // Whole bins only: the series ends with the last complete one.
    const int64_t bins = settings.stopAt.GetNanoSeconds() / m_seriesBin.GetNanoSeconds();
    m_deliveredBytesByBin.resize(static_cast<size_t>(bins), 0);

    ns3::Simulator::ScheduleWithContext(ends.sender->GetId(), start, &Flow::Connect, this);
}

ns3::Time
Flow::Start() const
{
    return m_start;
}

ns3::Ipv4Address
Flow::SenderAddress() const
{
    return m_ends.senderAddress;
}

const EventCount&
Flow::DataPackets() const
{
    return m_dataPackets;
}

const EventCount&
Flow::Retransmissions() const
{
    return m_retransmissions;
}

const EventCount&
Flow::Timeouts() const
{
    return m_timeouts;
}

void
Flow::Finish()
{
    m_smoothedRoundTripTime.Finish();
}

double
Flow::MeanSmoothedRoundTripTime() const
{
    return m_smoothedRoundTripTime.Mean();
}

uint64_t
Flow::DeliveredBytesInWindow() const
{
    return m_deliveredBytesInWindow;
}

const std::vector<uint64_t>&
Flow::DeliveredBytesByBin() const
{
    return m_deliveredBytesByBin;
}

void
Flow::Connect()
{
    m_socket = ns3::Socket::CreateSocket(m_ends.sender, ns3::TcpSocketFactory::GetTypeId());
    m_socket->TraceConnectWithoutContext("Tx", ns3::MakeCallback(&Flow::OnSegmentSent, this));
    m_socket->TraceConnectWithoutContext("RTO",
                                         ns3::MakeCallback(&Flow::OnRetransmissionTimer, this));
    m_socket->SetConnectCallback(ns3::MakeCallback(&Flow::OnConnected, this),
                                 ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    m_socket->SetSendCallback(ns3::MakeCallback(&Flow::OnSendSpace, this));
    m_socket->TraceConnectWithoutContext("RTT",
                                         ns3::MakeCallback(&Flow::OnSmoothedRoundTripTime, this));
    m_socket->Bind();
    m_socket->Connect(ns3::InetSocketAddress(m_ends.receiverAddress, kReceiverPort));
}

void
Flow::FillSendBuffer(ns3::Ptr<ns3::Socket> socket)
{
    // Writes of whole segments, so that every data packet is a full one.
    while (socket->GetTxAvailable() >= m_segmentBytes)
    {
        if (socket->Send(ns3::Create<ns3::Packet>(m_segmentBytes)) < 0)
        {
            return;
        }
    }
}

void
Flow::OnConnected(ns3::Ptr<ns3::Socket> socket)
{
    FillSendBuffer(socket);
}

void
Flow::OnSendSpace(ns3::Ptr<ns3::Socket> socket, uint32_t)
{
    FillSendBuffer(socket);
}

void
Flow::OnSegmentSent(ns3::Ptr<const ns3::Packet> payload,
                    const ns3::TcpHeader& header,
                    ns3::Ptr<const ns3::TcpSocketBase>)
{
    if (payload->GetSize() == 0)
    {
        return;
    }
    m_dataPackets.Add(m_window);
    const ns3::SequenceNumber32 sequence = header.GetSequenceNumber();
    if (m_nextNewSequence && sequence < *m_nextNewSequence)
    {
        m_retransmissions.Add(m_window);
        return;
    }
    m_nextNewSequence = sequence + payload->GetSize();
}

void
Flow::OnRetransmissionTimer(ns3::Time before, ns3::Time after)
{
    // The back-off of a timeout is what doubles the timer; round-trip samples leave it at its
    // lower bound, which is far above the round-trip times of this network.
    if (before.IsStrictlyPositive() && after == before + before)
    {
        m_timeouts.Add(m_window);
    }
}

void
Flow::OnSmoothedRoundTripTime(ns3::Time, ns3::Time after)
{
    // What ns-3 3.37 traces as "RTT" is the estimator's smoothed value, not its last sample.
    m_smoothedRoundTripTime.Set(after.GetSeconds());
}

void
Flow::OnDelivered(ns3::Ptr<const ns3::Packet> payload, const ns3::Address&)
{
    const uint32_t bytes = payload->GetSize();
    m_deliveredBytesInWindow += m_window.ContainsNow() ? bytes : 0;
    const int64_t bin = ns3::Simulator::Now().GetNanoSeconds() / m_seriesBin.GetNanoSeconds();
    if (static_cast<size_t>(bin) < m_deliveredBytesByBin.size())
    {
        m_deliveredBytesByBin[static_cast<size_t>(bin)] += bytes;
    }
}

} // namespace validation

// One TCP connection that always has data to send, and what its two ends saw.
#pragma once

#include "measurement.h"
#include "network.h"
#include "settings.h"

#include "ns3/address.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-socket-base.h"

#include <optional>
#include <vector>

namespace validation
{

class Flow
{
  public:
    Flow(const Settings& settings,
         MeasurementWindow window,
         const FlowEnds& ends,
         ns3::Time start);
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    ns3::Time Start() const;
    ns3::Ipv4Address SenderAddress() const;

    // Data packets sent, retransmissions included.
    const EventCount& DataPackets() const;
    const EventCount& Retransmissions() const;
    const EventCount& Timeouts() const;

    // Accounts for the time since the last round-trip sample; call it when the run has ended.
    void Finish();

    // Mean over the measurement window of the sender's smoothed round-trip time, in seconds.
    double MeanSmoothedRoundTripTime() const;

    // Bytes that reached the receiving application, in order, within the measurement window.
    uint64_t DeliveredBytesInWindow() const;

    // The same bytes by bin of the series, from time zero on.
    const std::vector<uint64_t>& DeliveredBytesByBin() const;

  private:
    void Connect();
    void FillSendBuffer(ns3::Ptr<ns3::Socket> socket);
    void OnConnected(ns3::Ptr<ns3::Socket> socket);
    void OnSendSpace(ns3::Ptr<ns3::Socket> socket, uint32_t freeBytes);
    void OnSegmentSent(ns3::Ptr<const ns3::Packet> payload,
                       const ns3::TcpHeader& header,
                       ns3::Ptr<const ns3::TcpSocketBase> socket);
    void OnRetransmissionTimer(ns3::Time before, ns3::Time after);
    void OnSmoothedRoundTripTime(ns3::Time before, ns3::Time after);
    void OnDelivered(ns3::Ptr<const ns3::Packet> payload, const ns3::Address& source);

    uint32_t m_segmentBytes;
    ns3::Time m_seriesBin;
    MeasurementWindow m_window;
    FlowEnds m_ends;
    ns3::Time m_start;
    ns3::Ptr<ns3::Socket> m_socket;
    std::optional<ns3::SequenceNumber32> m_nextNewSequence;
    EventCount m_dataPackets;
    EventCount m_retransmissions;
    EventCount m_timeouts;
    MeanOverTime m_smoothedRoundTripTime;
    uint64_t m_deliveredBytesInWindow{0};
    std::vector<uint64_t> m_deliveredBytesByBin;
};

} // namespace validation

// Proportional rate reduction that can take Pathweave's rule instead of ns-3's in single points.
#pragma once

#include "ns3/tcp-recovery-ops.h"

namespace validation
{

// Without an attribute it does what ns3::TcpPrrRecovery does with its defaults.
class VariedPrr : public ns3::TcpClassicRecovery
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    void EnterRecovery(ns3::Ptr<ns3::TcpSocketState> socket,
                       uint32_t duplicates,
                       uint32_t unacknowledgedBytes,
                       uint32_t deliveredBytes) override;
    void DoRecovery(ns3::Ptr<ns3::TcpSocketState> socket, uint32_t deliveredBytes) override;
    void ExitRecovery(ns3::Ptr<ns3::TcpSocketState> socket) override;
    void UpdateBytesSent(uint32_t bytes) override;
    ns3::Ptr<ns3::TcpRecoveryOps> Fork() override;

  private:
    // ns-3 counts what the acknowledgement that enters CWR delivers twice: on entering, and again
    // when it processes that acknowledgement. Linux counts it once.
    bool m_countsOnce{false};
    // ns-3's RecoverFS is the flight after the acknowledgement that enters CWR, that of RFC 9937 the
    // flight before it.
    bool m_flightBefore{false};
    // ns-3 computes in bytes, and less than a segment does not leave. Linux rounds up to whole
    // packets.
    bool m_wholePackets{false};
    // Below ssthresh Linux and RFC 9937 send a packet more than what was delivered after each
    // acknowledgement that advances and finds no new loss, ns-3 after that of a retransmission only.
    bool m_onePacketMore{false};

    uint32_t m_deliveredBytes{0};
    uint32_t m_sentBytes{0};
    uint32_t m_recoverFlightBytes{0};
};

} // namespace validation

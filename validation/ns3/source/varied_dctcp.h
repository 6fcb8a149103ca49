// DCTCP that can take Pathweave's rule instead of ns-3's in single points.
#pragma once

#include "ns3/sequence-number.h"
#include "ns3/tcp-dctcp.h"

namespace validation
{

// Without an attribute it does what ns3::TcpDctcp does with its defaults.
class VariedDctcp : public ns3::TcpDctcp
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> socket,
                         uint32_t bytesInFlight) override;
    void PktsAcked(ns3::Ptr<ns3::TcpSocketState> socket,
                   uint32_t segmentsAcked,
                   const ns3::Time& roundTripTime) override;
    void CwndEvent(ns3::Ptr<ns3::TcpSocketState> socket,
                   const ns3::TcpSocketState::TcpCAEvent_t event) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  protected:
    void CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> socket,
                             uint32_t segmentsAcked) override;

  private:
    void OnMark(ns3::Ptr<ns3::TcpSocketState> socket, bool marked);
    void CountAcknowledged(uint32_t bytes,
                           bool marked,
                           ns3::SequenceNumber32 acknowledged,
                           ns3::SequenceNumber32 next);

    // In congestion avoidance a window grows by a packet when a window of packets has been
    // acknowledged. ns-3 keeps its count of these over a cut, and so the window often grows by a
    // packet as soon as the round of the cut is over. Linux clears the count
    // (tcp_init_cwnd_reduction).
    bool m_clearsCount{false};
    // ns-3 cuts by alpha as it was before the acknowledgement that makes the cut, Pathweave by
    // alpha with that acknowledgement in it.
    bool m_alphaFirst{false};
    // ns-3 grows by whole packets. Pathweave adds acknowledged packets over the window to a window
    // that has fractions (RFC 5681, equation 3).
    bool m_growsSmoothly{false};
    // ns-3, like Linux, ends a round of alpha when what was sent at its beginning has been
    // acknowledged; RFC 8257, section 3.3, with the first acknowledgement beyond that.
    bool m_roundEndsBeyond{false};
    // ns-3 has no least window, Linux 2 packets.
    bool m_keepsTwoPackets{false};
    // When marks change while an acknowledgement is delayed, ns-3's receiver acknowledges again
    // what it had acknowledged. RFC 8257 and Linux acknowledge all that came before the change.
    bool m_acknowledgesBefore{false};

    uint32_t m_acknowledged{0};

    double m_share{1.0};
    double m_weight{1.0 / 16};
    uint32_t m_markedBytes{0};
    uint32_t m_bytes{0};
    bool m_roundKnown{false};
    bool m_alreadyCounted{false};
    ns3::SequenceNumber32 m_roundEnd{0};

    bool m_lastMarked{false};
    bool m_ackDelayed{false};
    bool m_priorKnown{false};
    ns3::SequenceNumber32 m_priorNext{0};
};

} // namespace validation

// DCTCP whose cuts clear what was counted towards the window's next packet.
#pragma once

#include "ns3/tcp-dctcp.h"

namespace validation
{

// In congestion avoidance a window grows by a packet when a window of packets has been
// acknowledged. ns-3 keeps its count of these over a cut, and so the window often grows by a packet
// as soon as the round of the cut is over. Linux clears the count (tcp_init_cwnd_reduction).
class ClearingDctcp : public ns3::TcpDctcp
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> socket,
                         uint32_t bytesInFlight) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  protected:
    void CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> socket,
                             uint32_t segmentsAcked) override;

  private:
    uint32_t m_acknowledged{0};
};

} // namespace validation

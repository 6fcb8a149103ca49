// DCTCP whose window grows by fractions of a packet.
#pragma once

#include "ns3/tcp-dctcp.h"

namespace validation
{

// In congestion avoidance ns-3 counts acknowledged packets, and the window grows by one when as
// many have been acknowledged as it holds whole packets. What was counted stays counted over a cut:
// the window often grows as soon as the round of the cut is over. Here each acknowledged packet
// lets the window grow by its share of a packet, as in Pathweave, and nothing is counted.
class FractionalDctcp : public ns3::TcpDctcp
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  protected:
    void CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> socket,
                             uint32_t segmentsAcked) override;

  private:
    // What is too little for a byte of window.
    double m_fractionOfByte{0};
};

} // namespace validation

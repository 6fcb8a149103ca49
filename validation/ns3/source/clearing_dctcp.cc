#include "clearing_dctcp.h"

#include <algorithm>

namespace validation
{

ns3::TypeId
ClearingDctcp::GetTypeId()
{
    static ns3::TypeId type = ns3::TypeId("validation::ClearingDctcp")
                                  .SetParent<ns3::TcpDctcp>()
                                  .AddConstructor<ClearingDctcp>();
    return type;
}

std::string
ClearingDctcp::GetName() const
{
    return "ClearingDctcp";
}

uint32_t
ClearingDctcp::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> socket, uint32_t bytesInFlight)
{
    // ns-3 asks for the threshold when it cuts the window, and at no other time.
    m_acknowledged = 0;
    return TcpDctcp::GetSsThresh(socket, bytesInFlight);
}

ns3::Ptr<ns3::TcpCongestionOps>
ClearingDctcp::Fork()
{
    return ns3::CopyObject<ClearingDctcp>(this);
}

void
ClearingDctcp::CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> socket, uint32_t segmentsAcked)
{
    const uint32_t segment = socket->m_segmentSize;
    const uint32_t window = std::max<uint32_t>(socket->m_cWnd / segment, 1);
    m_acknowledged += segmentsAcked;
    const uint32_t growth = m_acknowledged / window;
    m_acknowledged -= growth * window;
    socket->m_cWnd += growth * segment;
}

} // namespace validation

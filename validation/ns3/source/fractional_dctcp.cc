#include "fractional_dctcp.h"

namespace validation
{

ns3::TypeId
FractionalDctcp::GetTypeId()
{
    static ns3::TypeId type = ns3::TypeId("validation::FractionalDctcp")
                                  .SetParent<ns3::TcpDctcp>()
                                  .AddConstructor<FractionalDctcp>();
    return type;
}

std::string
FractionalDctcp::GetName() const
{
    return "FractionalDctcp";
}

ns3::Ptr<ns3::TcpCongestionOps>
FractionalDctcp::Fork()
{
    return ns3::CopyObject<FractionalDctcp>(this);
}

void
FractionalDctcp::CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> socket, uint32_t segmentsAcked)
{
    const double segment = socket->m_segmentSize;
    for (uint32_t packet = 0; packet < segmentsAcked; ++packet)
    {
        const double window = socket->m_cWnd;
        m_fractionOfByte += segment * segment / window;
        const auto bytes = static_cast<uint32_t>(m_fractionOfByte);
        m_fractionOfByte -= bytes;
        socket->m_cWnd += bytes;
    }
}

} // namespace validation

#include "varied_prr.h"

#include "ns3/boolean.h"
#include "ns3/tcp-socket-state.h"

#include <algorithm>
#include <cmath>

namespace validation
{

ns3::TypeId
VariedPrr::GetTypeId()
{
    using ns3::BooleanValue;
    using ns3::MakeBooleanAccessor;
    using ns3::MakeBooleanChecker;
    static ns3::TypeId type =
        ns3::TypeId("validation::VariedPrr")
            .SetParent<ns3::TcpClassicRecovery>()
            .AddConstructor<VariedPrr>()
            .AddAttribute("CountsOnce",
                          "Count what the acknowledgement that enters CWR delivers once",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedPrr::m_countsOnce),
                          MakeBooleanChecker())
            .AddAttribute("FlightBefore",
                          "Take RecoverFS before the acknowledgement that enters recovery",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedPrr::m_flightBefore),
                          MakeBooleanChecker())
            .AddAttribute("WholePackets",
                          "Round up to whole packets",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedPrr::m_wholePackets),
                          MakeBooleanChecker())
            .AddAttribute("OnePacketMore",
                          "Send one packet more than was delivered when below ssthresh",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedPrr::m_onePacketMore),
                          MakeBooleanChecker());
    return type;
}

std::string
VariedPrr::GetName() const
{
    return "VariedPrr";
}

void
VariedPrr::EnterRecovery(ns3::Ptr<ns3::TcpSocketState> socket,
                         uint32_t,
                         uint32_t unacknowledgedBytes,
                         uint32_t deliveredBytes)
{
    m_sentBytes = 0;
    m_deliveredBytes = 0;
    m_recoverFlightBytes = unacknowledgedBytes + (m_flightBefore ? deliveredBytes : 0);
    // In CWR ns-3 calls DoRecovery for the same acknowledgement again; after a loss it does not.
    if (!m_countsOnce || socket->m_congState != ns3::TcpSocketState::CA_CWR)
    {
        DoRecovery(socket, deliveredBytes);
    }
}

void
VariedPrr::DoRecovery(ns3::Ptr<ns3::TcpSocketState> socket, uint32_t deliveredBytes)
{
    const auto segment = static_cast<int64_t>(socket->m_segmentSize);
    const auto flight = static_cast<int64_t>(socket->m_bytesInFlight);
    const auto target = static_cast<int64_t>(socket->m_ssThresh);
    const auto delivered = static_cast<int64_t>(deliveredBytes);
    m_deliveredBytes += deliveredBytes;
    const auto owed = static_cast<int64_t>(m_deliveredBytes) - static_cast<int64_t>(m_sentBytes);

    int64_t maySend = 0;
    if (flight > target)
    {
        const double due =
            1.0 * m_deliveredBytes * static_cast<double>(target) / m_recoverFlightBytes;
        const auto dueBytes = m_wholePackets
                                  ? segment * static_cast<int64_t>(std::ceil(due / segment))
                                  : static_cast<int64_t>(std::ceil(due));
        maySend = dueBytes - static_cast<int64_t>(m_sentBytes);
    }
    else
    {
        const bool more = m_onePacketMore || socket->m_isRetransDataAcked;
        const int64_t limit = more ? std::max(owed, delivered) + segment : delivered;
        maySend = std::min(limit, target - flight);
    }
    // The first packet, a fast retransmission after a loss, leaves in any case.
    maySend = std::max(maySend, m_sentBytes > 0 ? 0 : segment);
    socket->m_cWnd = static_cast<uint32_t>(flight + maySend);
    socket->m_cWndInfl = socket->m_cWnd;
}

void
VariedPrr::ExitRecovery(ns3::Ptr<ns3::TcpSocketState> socket)
{
    socket->m_cWndInfl = socket->m_cWnd;
}

void
VariedPrr::UpdateBytesSent(uint32_t bytes)
{
    m_sentBytes += bytes;
}

ns3::Ptr<ns3::TcpRecoveryOps>
VariedPrr::Fork()
{
    return ns3::CopyObject<VariedPrr>(this);
}

} // namespace validation

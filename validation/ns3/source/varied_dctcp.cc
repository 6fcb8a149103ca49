#include "varied_dctcp.h"

#include "ns3/boolean.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-rx-buffer.h"

#include <algorithm>

namespace validation
{

ns3::TypeId
VariedDctcp::GetTypeId()
{
    using ns3::BooleanValue;
    using ns3::MakeBooleanAccessor;
    using ns3::MakeBooleanChecker;
    static ns3::TypeId type =
        ns3::TypeId("validation::VariedDctcp")
            .SetParent<ns3::TcpDctcp>()
            .AddConstructor<VariedDctcp>()
            .AddAttribute("ClearsCount",
                          "Clear the count of acknowledged packets at a cut",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedDctcp::m_clearsCount),
                          MakeBooleanChecker())
            .AddAttribute("AlphaFirst",
                          "Bring alpha up to date before the cut",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedDctcp::m_alphaFirst),
                          MakeBooleanChecker())
            .AddAttribute("GrowsSmoothly",
                          "Grow by a part of a packet with each acknowledgement",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedDctcp::m_growsSmoothly),
                          MakeBooleanChecker())
            .AddAttribute("RoundEndsBeyond",
                          "End a round of alpha beyond its last packet",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedDctcp::m_roundEndsBeyond),
                          MakeBooleanChecker())
            .AddAttribute("KeepsTwoPackets",
                          "Cut no window below two packets",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedDctcp::m_keepsTwoPackets),
                          MakeBooleanChecker())
            .AddAttribute("AcknowledgesBefore",
                          "Acknowledge what came before a change of marks",
                          BooleanValue(false),
                          MakeBooleanAccessor(&VariedDctcp::m_acknowledgesBefore),
                          MakeBooleanChecker());
    return type;
}

std::string
VariedDctcp::GetName() const
{
    return "VariedDctcp";
}

uint32_t
VariedDctcp::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> socket, uint32_t)
{
    // ns-3 asks for the threshold when it cuts the window, and at no other time.
    if (m_clearsCount)
    {
        m_acknowledged = 0;
    }
    if (m_alphaFirst && socket->m_ecnState == ns3::TcpSocketState::ECN_ECE_RCVD)
    {
        // The last acknowledged number is brought up to date after the cut only.
        const uint32_t bytes = socket->m_lastAckedSackedBytes;
        CountAcknowledged(bytes,
                          true,
                          socket->m_lastAckedSeq + bytes,
                          socket->m_nextTxSequence);
        m_alreadyCounted = true;
    }
    const auto threshold = static_cast<uint32_t>((1 - m_share / 2) * socket->m_cWnd);
    return m_keepsTwoPackets ? std::max(threshold, 2 * socket->m_segmentSize) : threshold;
}

void
VariedDctcp::PktsAcked(ns3::Ptr<ns3::TcpSocketState> socket,
                       uint32_t segmentsAcked,
                       const ns3::Time&)
{
    if (m_alreadyCounted)
    {
        m_alreadyCounted = false;
        return;
    }
    CountAcknowledged(segmentsAcked * socket->m_segmentSize,
                      socket->m_ecnState == ns3::TcpSocketState::ECN_ECE_RCVD,
                      socket->m_lastAckedSeq,
                      socket->m_nextTxSequence);
}

void
VariedDctcp::CountAcknowledged(uint32_t bytes,
                               bool marked,
                               ns3::SequenceNumber32 acknowledged,
                               ns3::SequenceNumber32 next)
{
    m_bytes += bytes;
    m_markedBytes += marked ? bytes : 0;
    if (!m_roundKnown)
    {
        m_roundEnd = next;
        m_roundKnown = true;
    }
    if (m_roundEndsBeyond ? acknowledged > m_roundEnd : acknowledged >= m_roundEnd)
    {
        const double share = m_bytes > 0 ? static_cast<double>(m_markedBytes) / m_bytes : 0.0;
        m_share = (1 - m_weight) * m_share + m_weight * share;
        m_roundEnd = next;
        m_bytes = 0;
        m_markedBytes = 0;
    }
}

void
VariedDctcp::CwndEvent(ns3::Ptr<ns3::TcpSocketState> socket,
                       const ns3::TcpSocketState::TcpCAEvent_t event)
{
    switch (event)
    {
    case ns3::TcpSocketState::CA_EVENT_ECN_IS_CE:
        OnMark(socket, true);
        break;
    case ns3::TcpSocketState::CA_EVENT_ECN_NO_CE:
        OnMark(socket, false);
        break;
    case ns3::TcpSocketState::CA_EVENT_DELAYED_ACK:
        m_ackDelayed = true;
        break;
    case ns3::TcpSocketState::CA_EVENT_NON_DELAYED_ACK:
        m_ackDelayed = false;
        break;
    default:
        break;
    }
}

void
VariedDctcp::OnMark(ns3::Ptr<ns3::TcpSocketState> socket, bool marked)
{
    // The packet itself has not been put into the buffer yet.
    const ns3::SequenceNumber32 next = socket->m_rxBuffer->NextRxSequence();
    if (m_lastMarked != marked && m_ackDelayed && m_priorKnown)
    {
        const auto flags = static_cast<uint8_t>(
            marked ? ns3::TcpHeader::ACK : ns3::TcpHeader::ACK | ns3::TcpHeader::ECE);
        socket->m_rxBuffer->SetNextRxSequence(m_acknowledgesBefore ? next : m_priorNext);
        socket->m_sendEmptyPacketCallback(flags);
        socket->m_rxBuffer->SetNextRxSequence(next);
    }
    m_priorKnown = true;
    m_priorNext = next;
    m_lastMarked = marked;
    if (marked)
    {
        socket->m_ecnState = ns3::TcpSocketState::ECN_CE_RCVD;
    }
    else if (socket->m_ecnState == ns3::TcpSocketState::ECN_CE_RCVD ||
             socket->m_ecnState == ns3::TcpSocketState::ECN_SENDING_ECE)
    {
        socket->m_ecnState = ns3::TcpSocketState::ECN_IDLE;
    }
}

ns3::Ptr<ns3::TcpCongestionOps>
VariedDctcp::Fork()
{
    return ns3::CopyObject<VariedDctcp>(this);
}

void
VariedDctcp::CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> socket, uint32_t segmentsAcked)
{
    const uint32_t segment = socket->m_segmentSize;
    if (m_growsSmoothly)
    {
        socket->m_cWnd += static_cast<uint32_t>(1.0 * segmentsAcked * segment * segment /
                                                socket->m_cWnd);
        return;
    }
    const uint32_t window = std::max<uint32_t>(socket->m_cWnd / segment, 1);
    if (m_acknowledged >= window)
    {
        m_acknowledged = 0;
        socket->m_cWnd += segment;
    }
    m_acknowledged += segmentsAcked;
    const uint32_t growth = m_acknowledged / window;
    m_acknowledged -= growth * window;
    socket->m_cWnd += growth * segment;
}

} // namespace validation

#include "transport.h"

#include "pathweave_rules.h"
#include "varied_dctcp.h"
#include "varied_prr.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/enum.h"
#include "ns3/nstime.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/uinteger.h"

#include <string>

namespace validation
{

namespace
{

ns3::TypeId
ControllerType(const std::string& name, bool varied)
{
    if (name == "dctcp")
    {
        return varied ? VariedDctcp::GetTypeId() : ns3::TcpDctcp::GetTypeId();
    }
    return name == "linux-reno" ? ns3::TcpLinuxReno::GetTypeId() : ns3::TcpNewReno::GetTypeId();
}

} // namespace

void
ConfigureTransport(const Settings& settings)
{
    using ns3::Config::SetDefault;

    // Without such a rule it is ns-3's own code that runs.
    const bool varied = !settings.pathweaveRules.empty();
    const ns3::TypeId proportional =
        varied ? VariedPrr::GetTypeId() : ns3::TcpPrrRecovery::GetTypeId();
    const ns3::TypeId recovery =
        settings.recovery == "prr" ? proportional : ns3::TcpClassicRecovery::GetTypeId();
    // An attribute can be set when its type is known.
    VariedDctcp::GetTypeId();
    VariedPrr::GetTypeId();
    for (const PathweaveRule& rule : PathweaveRulesOf(settings.pathweaveRules))
    {
        SetDefault(rule.attribute, ns3::BooleanValue(true));
    }
    SetDefault("ns3::TcpL4Protocol::SocketType",
               ns3::TypeIdValue(ControllerType(settings.controller, varied)));
    SetDefault("ns3::TcpL4Protocol::RecoveryType", ns3::TypeIdValue(recovery));
    SetDefault("ns3::TcpSocketBase::UseEcn",
               ns3::EnumValue(settings.IsDctcp() ? ns3::TcpSocketState::On
                                                             : ns3::TcpSocketState::Off));
    SetDefault("ns3::TcpSocketBase::Sack", ns3::BooleanValue(settings.selectiveAcknowledgements));
    SetDefault("ns3::TcpSocketBase::Timestamp", ns3::BooleanValue(settings.timestamps));
    SetDefault("ns3::TcpSocketBase::MinRto",
               ns3::TimeValue(settings.minimumRetransmissionTimeout));
    SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(settings.segmentBytes));
    SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(settings.initialWindowPackets));
    if (settings.initialSlowStartThresholdBytes > 0)
    {
        SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                   ns3::UintegerValue(settings.initialSlowStartThresholdBytes));
    }
    SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(settings.acknowledgeEvery));
    SetDefault("ns3::TcpSocket::DelAckTimeout", ns3::TimeValue(settings.acknowledgeTimeout));
    SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(settings.socketBufferBytes));
    SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(settings.socketBufferBytes));
}

} // namespace validation

#include "port_monitor.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ppp-header.h"
#include "ns3/queue.h"

#include <algorithm>
#include <utility>

namespace validation
{

namespace
{

ns3::Ipv4Address
SourceOfItem(ns3::Ptr<const ns3::QueueDiscItem> item)
{
    const auto internetItem = ns3::DynamicCast<const ns3::Ipv4QueueDiscItem>(item);
    return internetItem ? internetItem->GetHeader().GetSource() : ns3::Ipv4Address::GetAny();
}

ns3::Ipv4Address
SourceOfFrame(ns3::Ptr<const ns3::Packet> frame)
{
    const ns3::Ptr<ns3::Packet> copy = frame->Copy();
    ns3::PppHeader pointToPointHeader;
    copy->RemoveHeader(pointToPointHeader);
    ns3::Ipv4Header internetHeader;
    copy->PeekHeader(internetHeader);
    return internetHeader.GetSource();
}

} // namespace

PortMonitor::PortMonitor(std::string name,
                         ns3::Ptr<ns3::PointToPointNetDevice> device,
                         ns3::Ptr<ns3::QueueDisc> discipline,
                         MeasurementWindow window)
    : m_name(std::move(name)),
      m_window(window)
{
    const auto deviceQueue = device->GetQueue();
    deviceQueue->TraceConnectWithoutContext(
        "PacketsInQueue",
        ns3::MakeCallback(&PortMonitor::OnDeviceQueueLength, this));
    deviceQueue->TraceConnectWithoutContext(
        "Drop",
        ns3::MakeCallback(&PortMonitor::OnDeviceQueueDrop, this));
    device->TraceConnectWithoutContext("PhyTxBegin",
                                       ns3::MakeCallback(&PortMonitor::OnTransmissionBegin, this));
    device->TraceConnectWithoutContext("PhyTxEnd",
                                       ns3::MakeCallback(&PortMonitor::OnTransmissionEnd, this));
    if (discipline)
    {
        discipline->TraceConnectWithoutContext(
            "PacketsInQueue",
            ns3::MakeCallback(&PortMonitor::OnDisciplineLength, this));
        discipline->TraceConnectWithoutContext(
            "Enqueue",
            ns3::MakeCallback(&PortMonitor::OnDisciplineEnqueue, this));
        discipline->TraceConnectWithoutContext(
            "DropBeforeEnqueue",
            ns3::MakeCallback(&PortMonitor::OnDisciplineRefusal, this));
        discipline->TraceConnectWithoutContext(
            "Drop",
            ns3::MakeCallback(&PortMonitor::OnDisciplineDrop, this));
        discipline->TraceConnectWithoutContext(
            "Mark",
            ns3::MakeCallback(&PortMonitor::OnDisciplineMark, this));
    }
    else
    {
        // A packet arrives at the device queue only where no discipline stands before it.
        deviceQueue->TraceConnectWithoutContext(
            "Enqueue",
            ns3::MakeCallback(&PortMonitor::OnDeviceQueueEnqueue, this));
        deviceQueue->TraceConnectWithoutContext(
            "DropBeforeEnqueue",
            ns3::MakeCallback(&PortMonitor::OnDeviceQueueRefusal, this));
    }
}

void
PortMonitor::Finish()
{
    AccountForTimeSinceLastChange();
}

const std::string&
PortMonitor::Name() const
{
    return m_name;
}

const PacketDistribution&
PortMonitor::InDiscipline() const
{
    return m_disciplineOverTime;
}

const PacketDistribution&
PortMonitor::Waiting() const
{
    return m_waitingOverTime;
}

const PacketDistribution&
PortMonitor::WaitingAndInService() const
{
    return m_waitingAndInServiceOverTime;
}

const PacketDistribution&
PortMonitor::WaitingSeenByArrivals() const
{
    return m_waitingSeenByArrivals;
}

SourceCounts
PortMonitor::CountsOf(ns3::Ipv4Address source) const
{
    const auto found = m_counts.find(source);
    return found == m_counts.end() ? SourceCounts{} : found->second;
}

void
PortMonitor::AccountForTimeSinceLastChange()
{
    const ns3::Time now = ns3::Simulator::Now();
    const ns3::Time begin = std::max(m_lastChange, m_window.from);
    const ns3::Time end = std::min(now, m_window.to);
    m_lastChange = now;
    const int64_t duration = (end - begin).GetNanoSeconds();
    const uint32_t waiting = m_inDiscipline + m_inDeviceQueue;
    m_disciplineOverTime.Add(m_inDiscipline, duration);
    m_waitingOverTime.Add(waiting, duration);
    m_waitingAndInServiceOverTime.Add(waiting + m_inService, duration);
}

void
PortMonitor::CountDrop(ns3::Ipv4Address source)
{
    m_counts[source].drops.Add(m_window);
}

void
PortMonitor::RecordArrival(uint32_t waitingBefore)
{
    if (m_window.ContainsNow())
    {
        m_waitingSeenByArrivals.Add(waitingBefore, 1);
    }
}

void
PortMonitor::OnDisciplineLength(uint32_t, uint32_t after)
{
    AccountForTimeSinceLastChange();
    m_inDiscipline = after;
}

void
PortMonitor::OnDeviceQueueLength(uint32_t, uint32_t after)
{
    AccountForTimeSinceLastChange();
    m_inDeviceQueue = after;
}

void
PortMonitor::OnTransmissionBegin(ns3::Ptr<const ns3::Packet>)
{
    AccountForTimeSinceLastChange();
    m_inService = 1;
}

void
PortMonitor::OnTransmissionEnd(ns3::Ptr<const ns3::Packet>)
{
    AccountForTimeSinceLastChange();
    m_inService = 0;
}

void
PortMonitor::OnDisciplineEnqueue(ns3::Ptr<const ns3::QueueDiscItem>)
{
    // The packet itself is counted already.
    RecordArrival(m_inDiscipline + m_inDeviceQueue - 1);
}

void
PortMonitor::OnDisciplineRefusal(ns3::Ptr<const ns3::QueueDiscItem>, const char*)
{
    RecordArrival(m_inDiscipline + m_inDeviceQueue);
}

void
PortMonitor::OnDisciplineDrop(ns3::Ptr<const ns3::QueueDiscItem> item)
{
    CountDrop(SourceOfItem(item));
}

void
PortMonitor::OnDisciplineMark(ns3::Ptr<const ns3::QueueDiscItem> item, const char*)
{
    m_counts[SourceOfItem(item)].marks.Add(m_window);
}

void
PortMonitor::OnDeviceQueueEnqueue(ns3::Ptr<const ns3::Packet>)
{
    // The packet itself is counted already.
    RecordArrival(m_inDeviceQueue - 1);
}

void
PortMonitor::OnDeviceQueueRefusal(ns3::Ptr<const ns3::Packet>)
{
    RecordArrival(m_inDeviceQueue);
}

void
PortMonitor::OnDeviceQueueDrop(ns3::Ptr<const ns3::Packet> frame)
{
    CountDrop(SourceOfFrame(frame));
}

} // namespace validation

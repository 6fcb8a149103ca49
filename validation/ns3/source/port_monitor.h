// Watches one output port: its queueing discipline (if any), its device queue and its transmitter.
#pragma once

#include "measurement.h"

#include "ns3/ipv4-address.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"

#include <map>
#include <string>

namespace validation
{

struct SourceCounts
{
    EventCount marks;
    EventCount drops;
};

class PortMonitor
{
  public:
    // `discipline` is null at a port without a traffic-control layer.
    PortMonitor(std::string name,
                ns3::Ptr<ns3::PointToPointNetDevice> device,
                ns3::Ptr<ns3::QueueDisc> discipline,
                MeasurementWindow window);
    PortMonitor(const PortMonitor&) = delete;
    PortMonitor& operator=(const PortMonitor&) = delete;

    // Accounts for the time since the last change; call it when the run has ended.
    void Finish();

    const std::string& Name() const;

    // Distributions over time.
    const PacketDistribution& InDiscipline() const;
    const PacketDistribution& Waiting() const;
    const PacketDistribution& WaitingAndInService() const;

    // The number waiting as each arriving packet found it, dropped packets included.
    const PacketDistribution& WaitingSeenByArrivals() const;

    SourceCounts CountsOf(ns3::Ipv4Address source) const;

  private:
    void AccountForTimeSinceLastChange();
    void CountDrop(ns3::Ipv4Address source);
    void RecordArrival(uint32_t waitingBefore);

    void OnDisciplineLength(uint32_t before, uint32_t after);
    void OnDeviceQueueLength(uint32_t before, uint32_t after);
    void OnTransmissionBegin(ns3::Ptr<const ns3::Packet> packet);
    void OnTransmissionEnd(ns3::Ptr<const ns3::Packet> packet);

    void OnDisciplineEnqueue(ns3::Ptr<const ns3::QueueDiscItem> item);
    void OnDisciplineRefusal(ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);
    void OnDisciplineDrop(ns3::Ptr<const ns3::QueueDiscItem> item);
    void OnDisciplineMark(ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);
    void OnDeviceQueueEnqueue(ns3::Ptr<const ns3::Packet> frame);
    void OnDeviceQueueRefusal(ns3::Ptr<const ns3::Packet> frame);
    void OnDeviceQueueDrop(ns3::Ptr<const ns3::Packet> frame);

    std::string m_name;
    MeasurementWindow m_window;
    ns3::Time m_lastChange{0};
    uint32_t m_inDiscipline{0};
    uint32_t m_inDeviceQueue{0};
    uint32_t m_inService{0};
    PacketDistribution m_disciplineOverTime;
    PacketDistribution m_waitingOverTime;
    PacketDistribution m_waitingAndInServiceOverTime;
    PacketDistribution m_waitingSeenByArrivals;
    std::map<ns3::Ipv4Address, SourceCounts> m_counts;
};

} // namespace validation

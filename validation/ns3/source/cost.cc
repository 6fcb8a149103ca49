#include "cost.h"

#include "ns3/callback.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <ctime>

namespace validation
{

namespace
{

double
CpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// A device says so when it has received the whole of a packet, data or acknowledgement.
void
CountHopsInto(uint64_t& hops, const Network& network)
{
    const ns3::Callback<void, ns3::Ptr<const ns3::Packet>> count =
        [&hops](ns3::Ptr<const ns3::Packet>) { ++hops; };
    for (const Port& port : network.ports)
    {
        port.device->TraceConnectWithoutContext("PhyRxEnd", count);
    }
}

} // namespace

void
RunAndReportCost(std::ostream& output,
                 const Settings& settings,
                 const Network& network,
                 const std::vector<std::unique_ptr<Flow>>& flows)
{
    uint64_t hops = 0;
    if (settings.countHops)
    {
        CountHopsInto(hops, network);
    }
    ns3::Simulator::Stop(settings.stopAt);
    const double before = CpuSeconds();
    ns3::Simulator::Run();
    const double cpu = CpuSeconds() - before;

    uint64_t delivered = 0;
    for (const auto& flow : flows)
    {
        delivered += flow->DeliveredBytesInWindow();
    }
    output << "{\"simulator\": \"ns3\", \"flows\": " << flows.size()
           << ", \"subflows\": 1, \"delivered_bytes\": " << delivered << ", \"cpu_s\": " << cpu
           << ", \"packet_hops\": ";
    if (settings.countHops)
    {
        output << hops;
    }
    else
    {
        output << "null";
    }
    output << "}" << std::endl;
}

} // namespace validation

// A permutation of unlimited flows in htsim, and what it cost.

#include "hop_counter.h"
#include "links.h"
#include "paths.h"
#include "settings.h"

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <vector>

#include "dctcp.h"
#include "eventlist.h"
#include "tcp.h"
// Last: it defines macros with the names A and B.
#include "mtcp.h"

namespace
{

using namespace permutation;

// How often htsim looks for timeouts, as its own programs have it.
constexpr double kTimeoutScanMilliseconds = 10;

// A subflow's two ends and its routes, which htsim refers to and does not own.
struct Subflow
{
    std::unique_ptr<TcpSrc> source;
    std::unique_ptr<TcpSink> sink;
    std::unique_ptr<Route> data;
    std::unique_ptr<Route> acknowledgements;
};

Subflow
MakeSubflow(const Settings& settings,
            const SubflowPaths& paths,
            Links& links,
            TrafficLogger* counter,
            EventList& events)
{
    Subflow subflow;
    subflow.source.reset(settings.controller == "dctcp" ? new DCTCPSrc(nullptr, counter, events)
                                                        : new TcpSrc(nullptr, counter, events));
    subflow.sink.reset(new TcpSink());
    subflow.data = links.RouteAlong(paths.data);
    subflow.data->push_back(subflow.sink.get());
    subflow.acknowledgements = links.RouteAlong(paths.acknowledgements);
    subflow.acknowledgements->push_back(subflow.source.get());
    return subflow;
}

double
CpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

} // namespace

int
main(int argumentCount, char** arguments)
{
    const Settings settings = ParseCommandLine(argumentCount, arguments);
    const std::vector<SubflowPaths> paths = ReadPaths(settings.paths);
    if (paths.size() % settings.subflows != 0)
    {
        Refuse(settings.paths + ": " + std::to_string(paths.size()) +
               " subflows do not make connections of " + std::to_string(settings.subflows));
    }
    std::srand(settings.seed);
    Packet::set_packet_size(static_cast<int>(settings.packetBytes));
    EventList& events = EventList::getTheEventList();
    EventList::setEndtime(settings.stopAtNanoseconds * 1000);

    HopCounter counter;
    Links links(settings, events);
    TcpRtxTimerScanner timeouts(timeFromMs(kTimeoutScanMilliseconds), events);
    std::vector<Subflow> subflows;
    std::vector<std::unique_ptr<MultipathTcpSrc>> connections;
    for (const SubflowPaths& each : paths)
    {
        const bool isFirst = subflows.size() % settings.subflows == 0;
        subflows.push_back(
            MakeSubflow(settings, each, links, settings.countHops ? &counter : nullptr, events));
        Subflow& subflow = subflows.back();
        if (settings.controller == "lia")
        {
            if (isFirst)
            {
                connections.emplace_back(new MultipathTcpSrc(COUPLED_INC, events, nullptr));
            }
            connections.back()->addSubflow(subflow.source.get());
        }
        timeouts.registerTcp(*subflow.source);
        subflow.source->connect(*subflow.data, *subflow.acknowledgements, *subflow.sink, 0);
    }

    const double before = CpuSeconds();
    while (EventList::doNextEvent())
    {
    }
    const double cpu = CpuSeconds() - before;

    uint64_t delivered = 0;
    for (const Subflow& subflow : subflows)
    {
        // What waits behind a gap has come, too.
        delivered += subflow.sink->_cumulative_ack +
                     subflow.sink->_received.size() * settings.packetBytes;
    }
    // htsim writes to standard output itself; this is the last line.
    std::cout << "\n{\"simulator\": \"htsim\", \"flows\": " << paths.size() / settings.subflows
              << ", \"subflows\": " << settings.subflows << ", \"delivered_bytes\": " << delivered
              << ", \"cpu_s\": " << cpu << ", \"packet_hops\": ";
    if (settings.countHops)
    {
        std::cout << counter.Hops();
    }
    else
    {
        std::cout << "null";
    }
    std::cout << "}" << std::endl;
    return 0;
}

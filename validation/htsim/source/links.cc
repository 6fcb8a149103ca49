#include "links.h"

#include "ecnqueue.h"

namespace permutation
{

Links::Links(const Settings& settings, EventList& events)
    : m_settings(settings),
      m_events(events)
{
}

std::unique_ptr<Queue>
Links::MakeQueue()
{
    const linkspeed_bps rate = m_settings.linkRateMbps * 1'000'000;
    // htsim counts bytes, and the packet that is being sent among them.
    const mem_b limit = memFromPkt(m_settings.queueLimitPackets + 1);
    if (m_settings.markingThresholdPackets == 0)
    {
        return std::unique_ptr<Queue>(new Queue(rate, limit, m_events, nullptr));
    }
    const mem_b threshold = memFromPkt(m_settings.markingThresholdPackets + 1);
    return std::unique_ptr<Queue>(new ECNQueue(rate, limit, m_events, nullptr, threshold));
}

Links::Link&
Links::LinkBetween(const std::string& from, const std::string& to)
{
    Link& link = m_links[{from, to}];
    if (!link.queue)
    {
        link.queue = MakeQueue();
        link.queue->forceName(from + "->" + to);
        link.pipe.reset(new Pipe(m_settings.linkDelayNanoseconds * 1000, m_events));
    }
    return link;
}

std::unique_ptr<Route>
Links::RouteAlong(const Path& path)
{
    std::unique_ptr<Route> route(new Route());
    for (size_t hop = 0; hop + 1 < path.size(); ++hop)
    {
        Link& link = LinkBetween(path[hop], path[hop + 1]);
        route->push_back(link.queue.get());
        route->push_back(link.pipe.get());
    }
    return route;
}

} // namespace permutation

// Links of htsim, one way: a queue that sends at the link's rate, and a pipe that delays.
#pragma once

#include "paths.h"
#include "settings.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

// htsim's other headers need this one before them.
#include "config.h"

#include "eventlist.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"

namespace permutation
{

class Links
{
  public:
    Links(const Settings& settings, EventList& events);

    // The queues and pipes along a path, in order, without the end that receives. A link is made
    // when a path first takes it.
    std::unique_ptr<Route> RouteAlong(const Path& path);

  private:
    struct Link
    {
        std::unique_ptr<Queue> queue;
        std::unique_ptr<Pipe> pipe;
    };

    Link& LinkBetween(const std::string& from, const std::string& to);
    std::unique_ptr<Queue> MakeQueue();

    Settings m_settings;
    EventList& m_events;
    std::map<std::pair<std::string, std::string>, Link> m_links;
};

} // namespace permutation
